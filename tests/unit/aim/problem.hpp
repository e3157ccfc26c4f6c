#pragma once

#include <cstdint>

#include "aim/model/attention_indexed.hpp"
#include "aim/model/data.hpp"

/// Problems that the tests of data and learners draw.
namespace onset::aim {

inline AttentionIndexed model_of(const char* channel, int tokens) {
  AttentionIndexed model;
  model.channel = &channel_named(channel);
  model.tokens = tokens;
  return model;
}

struct Problem {
  Teacher teacher;
  Dataset data;
};

inline Problem draw(const AttentionIndexed& model, std::size_t dim, double alpha,
                    std::uint64_t index = 0) {
  Problem p;
  p.teacher = sample_teacher(model, dim, 1, index, {});
  p.data = sample_data(model, p.teacher, samples_of(alpha, dim), {.index = index}, {});
  return p;
}

}  // namespace onset::aim
