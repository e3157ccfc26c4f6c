#include "core/rows.hpp"

namespace onset::detail {

Column column(std::string_view name, std::string_view meaning, std::string_view unit,
              bool estimate) {
  return {std::string(name), std::string(meaning), std::string(unit), estimate};
}

}  // namespace onset::detail
