#include "ssi/verbs/named_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/prose.hpp"
#include "io/arrays.hpp"
#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

namespace onset::ssi {
namespace {

/// Throws unless squares of what is computed from the link are numbers.
void require_scale(const Link& link, const std::string& option) {
  constexpr std::size_t count = 64;
  constexpr double max_size = 1e100;
  std::vector<double> z(link.tokens() * count);
  for (std::size_t i = 0; i < z.size(); ++i) {
    z[i] = 2.0 * std::sin(1.0 + 3.0 * static_cast<double>(i));
  }
  std::vector<double> values(link.outputs() * count);
  link.values(count, z.data(), values.data());
  double size = 0.0;
  for (const double x : values) size = std::max(size, std::abs(x));
  if (size == 0.0 || (size >= 1.0 / max_size && size <= max_size)) return;
  throw InvalidArgument(option, "has values of the size " + to_text(Value(size)) +
                                    "; allowed: sizes from 1e-100 to 1e100");
}

LinkPointer named_target(const std::string& text, std::size_t tokens) {
  try {
    return read_target(text, tokens);
  } catch (const numerics::SyntaxError& e) {
    throw InvalidArgument("target", e.what());
  }
}

[[noreturn]] void wrong_encoding(const std::string& what) {
  throw InvalidArgument("encodings", what + prose(R"(
      ; allowed: rows of numbers from -{:g} to {:g}, one row for each token, such as '0,1; 0,-1')",
                                                  max_encoding, max_encoding));
}

/// One row of numbers that commas separate.
std::vector<double> read_row(const std::string& text) {
  std::vector<double> row;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    std::istringstream word(item);
    double x = 0.0;
    std::string rest;
    if (!(word >> x) || word >> rest) wrong_encoding("'" + item + "' is no number");
    if (!(std::abs(x) <= max_encoding)) wrong_encoding(item + " is too large");
    row.push_back(x);
  }
  return row;
}

Encodings read_encodings(const std::string& text) {
  std::vector<std::vector<double>> rows;
  std::istringstream list(text);
  for (std::string row; std::getline(list, row, ';');) rows.push_back(read_row(row));
  if (rows.empty()) wrong_encoding("is empty");
  return reduced_encodings(rows);
}

}  // namespace

std::string typed_encodings(const std::string& text) {
  if (!text.ends_with(".npy")) return text;
  const io::ArrayOf<double> array =
      io::read_reals(text, {{"tokens", 0}, {"components, along the teacher and across it", 0}});
  const auto width = static_cast<std::ptrdiff_t>(array.shape[1]);
  std::vector<std::vector<double>> rows;
  for (auto at = array.values.begin(); at != array.values.end(); at += width) {
    rows.emplace_back(at, at + width);
  }
  const Encodings encodings = reduced_encodings(rows);
  std::vector<std::string> typed;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> row{encodings.teacher[i]};
    for (const auto& own : encodings.own) row.push_back(own[i]);
    for (const double x : row) {
      if (std::abs(x) <= max_encoding) continue;
      throw IoError(text, prose("has an encoding with a component of {:g}; allowed: up to {:g}", x,
                                max_encoding));
    }
    typed.push_back(fmt::format("{}", fmt::join(row, ",")));
  }
  return fmt::format("{}", fmt::join(typed, "; "));
}

SequenceModel named_model(const ModelTexts& texts) {
  if (!texts.target) {
    throw InvalidArgument("target", "is missing; allowed: an expression of z1, .., zL, or a name");
  }
  SequenceModel model;
  model.target = named_target(*texts.target, texts.options.tokens);
  model.positional = texts.positional;
  if (texts.encodings) {
    if (texts.positional) {
      throw InvalidArgument("positional", prose(R"(
          says which encodings tokens carry, and `encodings` says it too; allowed: one of the
          two)"));
    }
    model.encodings = read_encodings(*texts.encodings);
    model.positional = !model.encodings->own.empty();
  }
  model.loss = texts.loss;
  StudentOptions options = texts.options;
  options.outputs = model.target->outputs();
  model.student = make_student(texts.student, options);
  require_scale(*model.target, "target");
  require_scale(*model.student.link, "student");
  model.validate();
  return model;
}

SequenceModel mixture_model(double a, double omega, SampleLoss loss) {
  SequenceModel model;
  model.target = mixture_link(a, omega);
  model.student = make_student("attention", {.tokens = 2, .reduction = Reduction::none});
  model.positional = true;
  model.loss = loss;
  return model;
}

}  // namespace onset::ssi
