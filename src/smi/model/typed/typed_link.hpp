#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onset/numerics/expression.hpp"

namespace onset::smi {

/// Fields beyond which no rule of the posterior is accurate, noise fields included.
inline constexpr int max_typed_fields = 4;
/// Outputs of a link, parted by commas.
inline constexpr std::size_t max_outputs = 3;

/// A field that a typed link reads.
struct TypedField {
  /// From 0; nothing for e1, e2, .., the standard normals that belong to a sample.
  std::optional<std::size_t> direction;
  std::size_t token = 0;
};

/// A label of a typed link: one number for every output, and which of them have a density where it
/// was made. On a piece of the link r of its outputs change independently and the others follow
/// from them; of all pieces that can make a label only those of the smallest r carry posterior mass
/// [links 10].
struct TypedLabel {
  std::array<double, max_outputs> value = {};
  unsigned density = 1;  ///< bit k: output k is solved for; 0: a region of positive mass has it

  TypedLabel() = default;
  /// Of a link of one output.
  TypedLabel(double only, bool is_region) : value{only}, density(is_region ? 0U : 1U) {}
  [[nodiscard]] bool is_atom() const { return density == 0; }
  /// r.
  [[nodiscard]] std::size_t rank() const;
};

/// A link read from text: a function of the fields z1, z2, .. (z1_1, z1_2, .. = direction_token
/// with several tokens) and of noise fields e1, e2, .., or a few such functions parted by commas.
/// Only the fields that occur are kept: tokens and directions that do not occur make no difference
/// to anything.
///
/// It is smooth but for the zeros of its switches. On a piece between them it is either flat, its
/// value then being an atom of the label's law, or its values have a density.
class TypedLink {
 public:
  /// `noise` > 0 adds that many times another noise field to every output. Throws InvalidArgument,
  /// which names the field `link`, with a caret below the place of a syntax error, and Refused for
  /// what the posterior cannot integrate.
  TypedLink(std::string_view text, double noise);

  /// The link without the outermost functions of its outputs that take no value twice, as z1^2 for
  /// tanh(z1^2): its labels say as much of the fields [links 17].
  [[nodiscard]] TypedLink up_to_injections() const;

  /// The largest index of a direction that occurs.
  [[nodiscard]] std::size_t directions() const { return directions_; }
  /// The largest token that occurs; 1 where none is named.
  [[nodiscard]] std::size_t tokens() const { return tokens_; }
  [[nodiscard]] const std::vector<TypedField>& fields() const { return fields_; }

  [[nodiscard]] std::size_t outputs() const { return expressions_.size(); }

  // At points inputs[f * count + i], f being one of fields(): out[k * count + i] for output k, and
  // derivatives[(k * fields + f) * count + i].
  void values(std::size_t count, const double* inputs, double* out) const;
  void gradient(std::size_t count, const double* inputs, double* out, double* derivatives) const;
  /// One output with its slope along a direction.
  void along(std::size_t output, std::size_t count, const double* inputs, const double* direction,
             double* out, double* slope) const;
  void switch_values(std::size_t count, const double* inputs, double* out) const;
  [[nodiscard]] std::size_t switches() const { return switches_.size(); }

  /// Whether some piece of positive mass is flat.
  [[nodiscard]] bool has_atoms() const { return has_atoms_; }
  /// Whether the whole label is discrete.
  [[nodiscard]] bool is_discrete() const { return is_discrete_; }
  /// Whether there may be points near which it changes within any distance, however short.
  [[nodiscard]] bool may_be_singular() const { return may_be_singular_; }
  /// The places in fields() of those that some output changes with by more than jumps.
  [[nodiscard]] std::vector<std::size_t> fields_with_slope() const;
  /// The sets of outputs that have a density together on some piece, as bits, small sets first.
  [[nodiscard]] const std::vector<unsigned>& densities() const { return densities_; }
  /// The largest number of outputs that change independently.
  [[nodiscard]] std::size_t max_rank() const;
  /// Roughly the seconds of one value with its slope along a line, with all that is done for it.
  [[nodiscard]] double seconds() const;

  /// Whether a gradient, that of one point, is that of a flat piece.
  [[nodiscard]] static bool is_flat(const double* gradient, std::size_t size);
  /// Whether two values are the same atom.
  [[nodiscard]] static bool same_atom(double a, double b);
  /// Whether the outputs of a point that are not solved for are those of a label: output k of the
  /// point is value[k * stride].
  [[nodiscard]] bool has_atoms_of(const TypedLabel& label, const double* value,
                                  std::size_t stride) const;
  /// Throws Refused where a kink or jump comes so often along a line that posteriors would miss
  /// some.
  void refuse_dense_switches() const;
  /// Whether two labels have the same values in all outputs.
  [[nodiscard]] bool same_label(const TypedLabel& a, const TypedLabel& b) const;

 private:
  void look_for_switches();
  void look_for_atoms();
  std::size_t directions_ = 0;
  std::size_t tokens_ = 1;
  std::vector<TypedField> fields_;
  std::vector<std::string> names_;  ///< of the fields, for messages
  /// One for every output; their variables are fields_.
  std::vector<numerics::Expression> expressions_;
  /// A switch of an output that is none of an earlier one.
  struct Switch {
    std::size_t output;
    std::size_t index;
  };
  std::vector<Switch> switches_;
  std::vector<unsigned> densities_;
  bool has_atoms_ = false;
  bool is_discrete_ = false;
  bool may_be_singular_ = false;
};

}  // namespace onset::smi
