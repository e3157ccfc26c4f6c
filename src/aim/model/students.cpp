#include "onset/aim/model/students.hpp"

namespace onset::aim {

std::string_view to_string(Student student) {
  switch (student) {
    case Student::direct: return "direct";
    case Student::tied: return "tied";
    case Student::untied: break;
  }
  return "untied";
}

std::string_view to_string(SgdLoss loss) {
  return loss == SgdLoss::squared ? "squared" : "cross-entropy";
}

std::string_view to_string(StudentStart start) {
  switch (start) {
    case StudentStart::gaussian: return "gaussian";
    case StudentStart::identity: return "identity";
    case StudentStart::zero: break;
  }
  return "zero";
}

std::string_view to_string(TeacherSpectrum spectrum) {
  return spectrum == TeacherSpectrum::quantiles ? "quantiles" : "random";
}

}  // namespace onset::aim
