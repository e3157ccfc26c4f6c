#include "onset/core/error.hpp"

#include <utility>

namespace onset {

InvalidArgument::InvalidArgument(std::string field, std::string message)
    : std::invalid_argument(field + ": " + message),
      field_(std::move(field)),
      message_(std::move(message)) {}

IoError::IoError(std::string path, const std::string& message)
    : std::runtime_error(path + ": " + message), path_(std::move(path)) {}

}  // namespace onset
