#pragma once

#include <cstdint>

#include "onset/aim/model/attention_indexed.hpp"
#include "onset/aim/model/data.hpp"

/// Problems that the tests of data and learners draw.
namespace onset::aim {

inline AttentionIndexed model_of(ChannelKind channel, int tokens) {
  AttentionIndexed model;
  model.channel = channel;
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
  p.data = sample_data(model, p.teacher, samples_of(alpha, dim), 1, index, {});
  return p;
}

}  // namespace onset::aim
