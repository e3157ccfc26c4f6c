#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onset/core/parameters.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

inline constexpr const char* alpha_meaning = "sample ratio alpha = N/D (samples over dimension)";

/// The model that a user describes: deep attention, or a link by name or as an expression.
struct NamedModel {
  std::unique_ptr<SequenceModel> model;
  /// The link behind the model, where one was typed.
  std::shared_ptr<const TypedLink> typed = {};
  /// The network, where the model is attention.
  std::optional<DeepAttention> attention = {};
  device::DeviceKind device = device::DeviceKind::cpu;

  /// Core seconds of a posterior in closed form, where they were measured.
  std::optional<double> closed_form = {};

  /// Moves the posteriors to a device, and says in `wanted` which one it is where that was left
  /// open. Throws InvalidArgument for a model that has none there, and Refused without a device.
  void move_to(device::DeviceKind& wanted);
  /// Estimated core seconds of `evaluations` of the channel.
  [[nodiscard]] double channel_seconds(double evaluations, double points, double nodes) const;
  /// Largest power of two of outer points for which one evaluation takes some ten seconds at most.
  [[nodiscard]] std::size_t affordable_points(double nodes) const;
  /// Bytes of an evaluation.
  [[nodiscard]] double memory(double nodes) const;
  /// Accurate at little cost: a link, one layer, or two layers of two tokens.
  [[nodiscard]] bool is_cheap() const;
};

/// The largest number of layers that the command takes: beyond it a run would not end.
inline constexpr int supported_layers = 12;

/// "none" and the names of the links.
[[nodiscard]] std::vector<std::string> link_words();
/// Whether a text says a covariance itself, and is not the name of a file with one.
[[nodiscard]] bool is_correlation(const std::string& text);
/// The text of a covariance with the matrix in place of the name of its file, so that results are
/// filed under what was computed. Throws InvalidArgument.
[[nodiscard]] std::string read_correlation(const std::string& text);
/// The matrix of such a text, row by row; empty for independent tokens. Throws InvalidArgument.
[[nodiscard]] std::vector<double> token_covariance(const std::string& text, int tokens);
[[nodiscard]] NamedModel named_link(const std::string& link);
/// Throws InvalidArgument naming the option of what validate() finds wrong.
void check_options(const DeepAttention& model);
/// Throws InvalidArgument naming the option, and Refused for what has no posterior.
[[nodiscard]] NamedModel named_attention(DeepAttention attention,
                                         const std::string& token_correlation);

/// Query and key weights of their own: one layer, or more where only the `first_stage` is wanted.
/// Throws Refused for what is not offered.
[[nodiscard]] NamedModel named_untied(const DeepAttention& attention,
                                      const std::string& token_correlation, bool first_stage);

/// What the blocks of such a model are, for those who read its columns.
inline constexpr const char* untied_note =
    "With `weights = untied` blocks 2l - 1 and 2l have the weights of the queries and of the keys "
    "of "
    "layer l.";

/// As NamedModel::move_to, of what stays on the processor.
void stay_on_processor(device::DeviceKind& wanted);

/// Says before a run that its tolerance is too small.
[[nodiscard]] std::string out_of_reach(double tolerance, double reachable);

/// Numbers of layers as people count them, "1,2".
[[nodiscard]] std::string names(const std::vector<std::size_t>& blocks);

}  // namespace onset::smi
