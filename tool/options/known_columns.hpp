#pragma once

#include <string>
#include <vector>

#include "onset/core/verb.hpp"

namespace onset::tool {

/// Throws InvalidArgument for a word of --columns that names no column of any rows of the verb, so
/// that a slip is said before a long run and not after it. Which of its numbered columns there are
/// (Q11, Q22, ..) is known only from the rows: any number is let through here.
void require_columns(const Verb& verb, const std::vector<std::string>& asked);

}  // namespace onset::tool
