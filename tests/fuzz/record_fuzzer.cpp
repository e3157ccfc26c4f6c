// A record as the columns of a store have it, one to a line; checksums are no help against somebody
// who writes them anew. What can be read comes back the same after a trip to another process.
#include <sstream>

#include "fuzz/fuzzing.hpp"
#include "study/store/point_row.hpp"
#include "study/store/study_row.hpp"

namespace {

using namespace onset;

void read_point(std::istream& in) {
  study::PointRow row;
  for (std::string* field :
       {&row.key, &row.parameters, &row.status, &row.result, &row.summary, &row.notes}) {
    std::getline(in, *field);
  }
  const std::string wire = study::to_wire(study::from_row(row));
  fuzz::require(study::to_wire(study::from_wire(wire)) == wire);
}

void read_study(std::istream& in) {
  study::StudyRow row;
  std::getline(in, row.axes);
  for (std::string values; std::getline(in, values);) row.points.push_back({"key", values});
  (void)study::from_row(row);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in{std::string(fuzz::text_of(data, size))};
  std::string kind;
  std::getline(in, kind);
  try {
    if (kind == "point") read_point(in);
    if (kind == "study") read_study(in);
    if (kind == "wire") (void)study::from_wire(in.str().substr(5));
  } catch (const std::exception&) {
    // The store names the record, whatever was wrong with it.
  }
  return 0;
}
