#pragma once

#include <cstddef>
#include <vector>

namespace onset::ssi {

/// The positional encodings P_1, .., P_L of the tokens as overlaps see them: their components along
/// the teacher, and along orthonormal directions across it. [ssi 41]
struct Encodings {
  std::vector<double> teacher = {};           ///< one for each token
  std::vector<std::vector<double>> own = {};  ///< own[k][i]: of token i along direction k

  /// Whether some encoding has a component along the teacher.
  [[nodiscard]] bool see_teacher() const;
};

/// +P, -P, +P, .. with |P| = 1, across the teacher.
[[nodiscard]] Encodings opposite_encodings(std::size_t tokens);

/// Any vectors, one row for each token: first the component along the teacher, then those along
/// orthonormal directions across it. As few directions as possible are kept; the first one is that
/// of the first token that has any. Throws InvalidArgument naming `encodings` for rows of different
/// lengths and numbers that are not finite.
[[nodiscard]] Encodings reduced_encodings(const std::vector<std::vector<double>>& rows);

}  // namespace onset::ssi
