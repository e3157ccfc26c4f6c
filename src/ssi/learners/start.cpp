#include "onset/ssi/learners/start.hpp"

namespace onset::ssi {

std::string_view to_string(Start start) {
  switch (start) {
    case Start::zero: return "zero";
    case Start::random: return "random";
    case Start::overlapped: return "overlapped";
  }
  return "";
}

}  // namespace onset::ssi
