#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// A named link, as listed to users.
struct LinkInfo {
  std::string name;
  std::string summary;  ///< one line, with the formula
  std::string blocks;   ///< what the fields are, block by block
  /// The same as a typed link, up to the names of its directions; empty where there is none.
  std::string expression;
};

/// The named links, all noiseless (docs/links.md).
[[nodiscard]] const std::vector<LinkInfo>& links();

/// The model of a named link. Throws InvalidArgument with the nearest name for an unknown one.
[[nodiscard]] std::unique_ptr<SequenceModel> link_model(std::string_view name);

}  // namespace onset::smi
