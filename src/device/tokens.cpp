#include "device/tokens.hpp"

#include "device/device.hpp"
#include "onset/core/error.hpp"

namespace onset::device {
namespace {

OnsetTokens* made(OnsetTokens* tokens, const OnsetDevicePlugin& plugin) {
  if (tokens == nullptr) throw IoError("device", plugin.error());
  return tokens;
}

}  // namespace

Tokens::Tokens(OnsetTokenShape shape, std::span<const double> tokens)
    : plugin_(needed_plugin()),
      shape_(shape),
      tokens_(made(plugin_.copy_tokens(shape, tokens.data()), plugin_)) {}

Tokens::Tokens(OnsetTokenShape shape, OnsetDraws draws)
    : plugin_(needed_plugin()),
      shape_(shape),
      tokens_(made(plugin_.draw_tokens(shape, draws), plugin_)) {}

Tokens::~Tokens() {
  plugin_.forget_tokens(tokens_);
}

void Tokens::check(int result) const {
  if (result != 0) throw IoError("device", plugin_.error());
}

void Tokens::pair_products(std::span<const double> matrix, std::span<double> out) {
  check(plugin_.pair_products(tokens_, matrix.data(), out.data()));
}

void Tokens::squared_norms(std::span<double> out) {
  check(plugin_.squared_norms(tokens_, out.data()));
}

void Tokens::weighted_products(std::span<const double> weights, std::span<double> out) {
  check(plugin_.weighted_products(tokens_, weights.data(), out.data()));
}

void Tokens::eigenvalues(std::span<const double> matrix, std::span<double> values) {
  check(plugin_.eigenvalues(tokens_, matrix.data(), values.data()));
}

void Tokens::with_eigenvalues(std::span<const double> values, std::span<double> out) {
  check(plugin_.with_eigenvalues(tokens_, values.data(), out.data()));
}

void Tokens::student_products(std::span<const double> weights, std::size_t width, std::size_t count,
                              std::span<double> out) {
  check(plugin_.student_products(tokens_, weights.data(), width, count, out.data()));
}

void Tokens::student_gradients(std::span<const double> slopes, std::span<double> out) {
  check(plugin_.student_gradients(tokens_, slopes.data(), out.data()));
}

}  // namespace onset::device
