#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onset/numerics/expression.hpp"

namespace onset::smi {

/// Fields beyond which no rule of the posterior is accurate, noise fields included.
inline constexpr int max_typed_fields = 4;

/// A field that a typed link reads.
struct TypedField {
  /// From 0; nothing for e1, e2, .., the standard normals that belong to a sample.
  std::optional<std::size_t> direction;
  std::size_t token = 0;
};

/// A link read from text: a function of the fields z1, z2, .. (z1_1, z1_2, .. = direction_token
/// with several tokens) and of noise fields e1, e2, .. Only the fields that occur are kept: tokens
/// and directions that do not occur make no difference to anything.
///
/// It is smooth but for the zeros of its switches. On a piece between them it is either flat, its
/// value then being an atom of the label's law, or its values have a density.
class TypedLink {
 public:
  /// `noise` > 0 adds that many times another noise field. Throws InvalidArgument, which names
  /// the field `link`, with a caret below the place of a syntax error, and Refused for what the
  /// posterior cannot integrate.
  TypedLink(std::string_view text, double noise);

  /// The largest index of a direction that occurs.
  [[nodiscard]] std::size_t directions() const { return directions_; }
  /// The largest token that occurs; 1 where none is named.
  [[nodiscard]] std::size_t tokens() const { return tokens_; }
  [[nodiscard]] const std::vector<TypedField>& fields() const { return fields_; }

  // At points inputs[f * count + i], f being one of fields().
  void values(std::size_t count, const double* inputs, double* out) const;
  void gradient(std::size_t count, const double* inputs, double* out, double* derivatives) const;
  void along(std::size_t count, const double* inputs, const double* direction, double* out,
             double* slope) const;
  void switch_values(std::size_t count, const double* inputs, double* out) const;
  [[nodiscard]] std::size_t switches() const { return expression_->switches(); }

  /// Whether some piece of positive mass is flat.
  [[nodiscard]] bool has_atoms() const { return has_atoms_; }
  /// Whether the whole label is discrete.
  [[nodiscard]] bool is_discrete() const { return is_discrete_; }
  /// Roughly the seconds of one value with its slope along a line, with all that is done for it.
  [[nodiscard]] double seconds() const { return 3e-10 * expression_->operations() + 3e-8; }

  /// Whether a gradient, that of one point, is that of a flat piece.
  [[nodiscard]] static bool is_flat(const double* gradient, std::size_t size);
  /// Whether two values are the same atom.
  [[nodiscard]] static bool same_atom(double a, double b);

 private:
  void look_for_atoms();
  std::size_t directions_ = 0;
  std::size_t tokens_ = 1;
  std::vector<TypedField> fields_;
  /// Its variables are fields_.
  std::optional<numerics::Expression> expression_;
  bool has_atoms_ = false;
  bool is_discrete_ = false;
};

}  // namespace onset::smi
