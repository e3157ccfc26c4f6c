#pragma once

#include "smi/limits/typed/sample_form.hpp"

namespace onset::smi {

/// The number of independent symmetric tensors of a degree, over the normals that make open fields,
/// which all signed permutations of the fields leave alone that leave the link and the known fields
/// alone [links 31]. Where it is 0, labels say nothing of that degree, exactly.
[[nodiscard]] int symmetric_tensors(const TypedLink& link, const KnownDirections& state,
                                    int degree);

/// The same of E[y h | z_U] of a single output y, which maps that turn y into c - y change the sign
/// of.
[[nodiscard]] int projected_tensors(const TypedLink& link, const KnownDirections& state,
                                    int degree);

}  // namespace onset::smi
