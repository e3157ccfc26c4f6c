#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "device/device.hpp"
#include "io/child_process.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/context.hpp"
#include "onset/core/error.hpp"
#include "onset/version.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/data_folder.hpp"
#include "tool/mpi/session.hpp"
#include "tool/options/common_options.hpp"
#include "tool/output.hpp"
#include "tool/serve/server.hpp"

extern "C" char* openblas_get_corename();

namespace onset::tool {
namespace {

/// The program as a shell would find it; empty when there is none.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder.empty() ? "." : folder) / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) {
      return file.string();
    }
  }
  return {};
}

/// Finds the program behind `smi text`, beside this one or where a shell would find it.
std::string find_text_program() {
  constexpr const char* name = "onset-text";
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path() / name;
  return std::filesystem::exists(beside, error) ? beside.string() : find_program(name);
}

/// Asks the interpreter that a shell would start for the module. A broken or slow one says nothing.
std::string ask_python(const std::string& program) {
  constexpr auto patience = std::chrono::seconds(10);
  constexpr std::string_view question = R"(
try:
    import onset
    print('module onset ' + onset.__version__)
except ImportError as error:
    print(error)
)";
  try {
    io::ChildProcess python({program, {}, question, ""});
    return python.read_line(patience).value_or("");
  } catch (const IoError&) {
    return {};
  }
}

std::string python_state() {
  const std::string program = find_program("python3");
  if (program.empty()) return "not found (onset is a Python module too: install python3)";
  const std::string answer = ask_python(program);
  if (answer.starts_with("module")) return fmt::format("{} has the {}", program, answer);
  return fmt::format(
      "{} cannot import onset{}{} (`pip install .` in the source folder, or the package "
      "python3-onset)",
      program, answer.empty() ? "" : ": ", answer);
}

std::string mpi_state() {
  if (!has_mpi()) {
    return "not in this build (sweeps over machines by mpirun need it: install libopenmpi-dev and "
           "openmpi-bin, and build; --shard works without)";
  }
  const std::string launcher = find_program("mpirun");
  return launcher.empty() ? "in this build, but no mpirun was found (install openmpi-bin)"
                          : launcher;
}

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown";
#endif
}

}  // namespace

int doctor_command(Arguments arguments) {
  const std::vector<Parameter> options = show_parameters();
  if (wants_help(arguments)) {
    write_stdout(command_help("doctor", options));
    return 0;
  }
  auto given = read_options(arguments, options);
  const std::string gnuplot = find_program("gnuplot");
  const std::string text = find_text_program();
  const std::string data = data_folder().string();

  io::RunRecord record;
  record.command = "doctor";
  record.result.table = Table({{"item", "", "", false}, {"value", "", "", false}});
  const auto add = [&](std::string item, std::string value) {
    record.result.table.add_row({std::move(item), std::move(value)});
  };
  constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
  add("version", std::string(version()));
  add("compiler", compiler());
  add("simd", numerics::simd::level());
  add("blas", fmt::format("OpenBLAS with its kernels for {}", openblas_get_corename()));
  add("threads", fmt::format("{}", available_threads()));
  add("memory", fmt::format("{:.1f} GiB", static_cast<double>(available_memory()) / gibibyte));
  add("gnuplot", gnuplot.empty() ? "not found (figures need it: install gnuplot-nox)" : gnuplot);
  add("libtorch", text.empty()
                      ? "not in this build (smi text needs it: install libtorch-dev, and build)"
                      : text);
  add("gpu", device::device().text);
  add("mpi", mpi_state());
  add("python", python_state());
  add("server", has_server() ? "yes" : "no (serve needs it: install libcpp-httplib-dev and build)");
  add("data", data.empty() ? "not found (looked in ONSET_DATA and ../share/onset)" : data);
  write_stdout(render_texts(record, take_common_options(given).format));
  return 0;
}

}  // namespace onset::tool
