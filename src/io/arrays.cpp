#include "io/arrays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"

namespace onset::io {
namespace {

std::string wanted_text(const Extents& wanted) {
  std::string text;
  for (const Extent& extent : wanted) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " x ",
                        extent.size > 0 ? fmt::format("{} ", extent.size) : "", extent.name);
  }
  return text;
}

void require_shape(const std::filesystem::path& path, const std::vector<std::size_t>& shape,
                   const Extents& wanted) {
  bool fits = shape.size() == wanted.size();
  for (std::size_t k = 0; fits && k < wanted.size(); ++k) {
    fits = shape[k] > 0 && (wanted[k].size == 0 || wanted[k].size == shape[k]);
  }
  if (fits) return;
  throw IoError(path.string(), fmt::format("has the shape {}; allowed: {}, none of them 0",
                                           shape_text(shape), wanted_text(wanted)));
}

Array read_shaped(const std::filesystem::path& path, const Extents& wanted) {
  Array array = read_npy(path);
  require_shape(path, array.shape, wanted);
  return array;
}

[[noreturn]] void wrong_entry(const std::filesystem::path& path, const Array& array,
                              std::size_t index, double value, const char* allowed) {
  throw IoError(path.string(), fmt::format("{} is {}; allowed: {}", entry_text(index, array.shape),
                                           value, allowed));
}

}  // namespace

std::vector<std::size_t> read_shape(const std::filesystem::path& path, const Extents& wanted) {
  std::vector<std::size_t> shape = read_npy_shape(path);
  require_shape(path, shape, wanted);
  return shape;
}

ArrayOf<double> read_reals(const std::filesystem::path& path, const Extents& wanted) {
  Array array = read_shaped(path, wanted);
  ArrayOf<double> out{array.shape, {}};
  if (auto* reals = std::get_if<std::vector<double>>(&array.values)) {
    out.values = std::move(*reals);
  } else {
    out.values =
        std::visit([](const auto& list) { return std::vector<double>(list.begin(), list.end()); },
                   array.values);
  }
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    if (!std::isfinite(out.values[i])) {
      wrong_entry(path, array, i, out.values[i], "finite numbers");
    }
  }
  return out;
}

ArrayOf<std::int8_t> read_signs(const std::filesystem::path& path, const Extents& wanted,
                                const char* allowed) {
  const Array array = read_shaped(path, wanted);
  ArrayOf<std::int8_t> out{array.shape, {}};
  out.values.reserve(array.size());
  std::visit(
      [&](const auto& list) {
        for (std::size_t i = 0; i < list.size(); ++i) {
          const auto value = static_cast<double>(list[i]);
          if (value != 1.0 && value != -1.0) wrong_entry(path, array, i, value, allowed);
          out.values.push_back(value > 0.0 ? 1 : -1);
        }
      },
      array.values);
  return out;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  return shape.empty() ? "()" : fmt::format("{}", fmt::join(shape, " x "));
}

std::string entry_text(std::size_t index, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) {
    at[axis] = index % shape[axis];
  }
  return fmt::format("[{}]", fmt::join(at, ", "));
}

}  // namespace onset::io
