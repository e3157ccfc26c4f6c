#include "onset/io/run_folder.hpp"

#include <system_error>

#include "io/json_record.hpp"
#include "onset/core/error.hpp"

namespace onset::io {
namespace {

std::string manifest(const RunRecord& record, const Machine& machine) {
  detail::Json object = detail::record_head(record);
  object["method"] = record.method;
  object["machine"] = {{"simd", machine.simd}, {"threads", machine.threads}};
  object["files"] = detail::Json::array({"result.csv"});
  object["row_count"] = record.result.table.rows().size();
  detail::append_record_tail(object, record);
  return detail::dump(object);
}

}  // namespace

void prepare_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(folder.string(), "cannot make the folder: " + error.message());
  // Permissions, quotas and read-only mounts are only known for certain by trying.
  const std::filesystem::path probe = folder / ".onset-probe";
  write_file_atomically(probe, "");
  std::filesystem::remove(probe, error);
}

void write_run_folder(const std::filesystem::path& folder, const RunRecord& record,
                      const Machine& machine) {
  prepare_folder(folder);
  write_file_atomically(folder / "result.csv", to_csv(record.result.table));
  // Last, so that a folder with a manifest is a finished one.
  write_file_atomically(folder / "manifest.json", manifest(record, machine));
}

}  // namespace onset::io
