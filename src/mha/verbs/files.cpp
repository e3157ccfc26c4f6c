#include "mha/verbs/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t max_file_tokens = 1024;
constexpr const char* bit_types = "int8 with entries 1 and -1";
constexpr const char* real_types = "float64 (or float32, which is less exact), little-endian";

std::string shape_of(const Array& array) {
  return fmt::format("({})", fmt::join(array.shape, ", "));
}

[[noreturn]] void wrong(const std::filesystem::path& path, const std::string& message) {
  throw IoError(path.string(), message);
}

/// Where a flat index lies, as people write it.
std::string place(std::size_t index, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) {
    at[axis] = index % shape[axis];
  }
  return fmt::format("[{}]", fmt::join(at, ", "));
}

Array read_cube(const std::filesystem::path& path, const char* axes, const char* types) {
  Array array = io::read_npy(path, types);
  if (array.shape.size() != 3 || array.size() == 0) {
    wrong(path,
          fmt::format("has the shape {}; allowed: {}, none of them 0", shape_of(array), axes));
  }
  return array;
}

void require_finite(const std::filesystem::path& path, const Array& array,
                    const std::vector<double>& values) {
  const auto bad =
      std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  if (bad != values.end()) {
    wrong(path,
          fmt::format("{} is {}; allowed: finite numbers",
                      place(static_cast<std::size_t>(bad - values.begin()), array.shape), *bad));
  }
}

const std::vector<double>& real_values(const std::filesystem::path& path, const Array& array) {
  const auto* values = std::get_if<std::vector<double>>(&array.values);
  if (values == nullptr) wrong(path, fmt::format("holds whole numbers; allowed: {}", real_types));
  require_finite(path, array, *values);
  return *values;
}

}  // namespace

Examples read_examples(const std::filesystem::path& folder) {
  const std::filesystem::path x_path = folder / "X.npy";
  const std::filesystem::path y_path = folder / "Y.npy";
  Array x = read_cube(x_path, "examples x tokens x dim", bit_types);
  auto* bits = std::get_if<std::vector<std::int8_t>>(&x.values);
  if (bits == nullptr) wrong(x_path, fmt::format("is not int8; allowed: {}", bit_types));
  const auto bad =
      std::find_if(bits->begin(), bits->end(), [](std::int8_t v) { return v != 1 && v != -1; });
  if (bad != bits->end()) {
    wrong(x_path,
          fmt::format("{} is {}; allowed: 1 and -1",
                      place(static_cast<std::size_t>(bad - bits->begin()), x.shape), int{*bad}));
  }
  if (x.shape[1] > max_file_tokens || x.shape[2] > static_cast<std::size_t>(max_dim)) {
    wrong(x_path, fmt::format("has the shape {}; allowed: up to {} tokens of dimension up to {}",
                              shape_of(x), max_file_tokens, max_dim));
  }
  Array y = read_cube(y_path, "examples x tokens x dim", real_types);
  if (y.shape != x.shape) {
    wrong(y_path, fmt::format("has the shape {}, but X.npy has {}", shape_of(y), shape_of(x)));
  }
  (void)real_values(y_path, y);
  return {x.shape[0], static_cast<int>(x.shape[1]), static_cast<int>(x.shape[2]), std::move(*bits),
          std::move(std::get<std::vector<double>>(y.values))};
}

Layer read_layer(const std::filesystem::path& folder) {
  const std::filesystem::path theta_path = folder / "theta.npy";
  const std::filesystem::path w_path = folder / "w.npy";
  const Array theta = read_cube(theta_path, "heads x dim x dim", real_types);
  if (theta.shape[1] != theta.shape[2] || theta.shape[0] > static_cast<std::size_t>(max_heads) ||
      theta.shape[1] > static_cast<std::size_t>(max_dim)) {
    wrong(theta_path,
          fmt::format("has the shape {}; allowed: up to {} square matrices of size up to {}",
                      shape_of(theta), max_heads, max_dim));
  }
  const Array w = read_cube(w_path, "heads x dim x dim", real_types);
  if (w.shape != theta.shape) {
    wrong(w_path,
          fmt::format("has the shape {}, but theta.npy has {}", shape_of(w), shape_of(theta)));
  }
  return {static_cast<int>(theta.shape[0]), static_cast<int>(theta.shape[1]),
          real_values(theta_path, theta), real_values(w_path, w)};
}

double example_bytes(const std::filesystem::path& folder) {
  double bytes = 0.0;
  for (const char* name : {"X.npy", "Y.npy"}) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(folder / name, error);
    if (!error) bytes += static_cast<double>(size);
  }
  return bytes;
}

void add_examples(const Examples& examples, std::vector<Artifact>& artifacts) {
  const std::vector<std::size_t> shape{examples.count, static_cast<std::size_t>(examples.tokens),
                                       static_cast<std::size_t>(examples.dim)};
  artifacts.push_back({"X.npy", Array{shape, examples.x}});
  artifacts.push_back({"Y.npy", Array{shape, examples.y}});
}

void add_layer(const Layer& layer, const std::string& prefix, std::vector<Artifact>& artifacts) {
  const std::vector<std::size_t> shape{static_cast<std::size_t>(layer.heads),
                                       static_cast<std::size_t>(layer.dim),
                                       static_cast<std::size_t>(layer.dim)};
  artifacts.push_back({prefix + "theta.npy", Array{shape, layer.theta}});
  artifacts.push_back({prefix + "w.npy", Array{shape, layer.w}});
}

}  // namespace onset::mha
