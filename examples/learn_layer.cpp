// Which multi-head attention layer made these Boolean examples? Drawn here, written to a folder as
// any program could, learned from the folder, and certified. Usage: learn_layer FOLDER

#include <cstdio>

#include "onset/onset.hpp"

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: learn_layer FOLDER\n", stderr);
    return 2;
  }
  const std::string folder(words[1]);
  const onset::mha::Generate layer{
      .heads = 2, .dim = 8, .tokens = 2, .scale = 2.0, .samples = 30'000};
  onset::io::RunRecord record;
  record.command = "mha generate";
  record.parameters = layer.settle().parameters;
  record.result = layer.run();
  onset::io::write_run_folder(folder, record, {});

  const onset::Result result = onset::mha::Learn{.examples = folder}.run({.threads = 2});
  std::fputs(onset::io::to_table(result).c_str(), stdout);
  return result.status == onset::ResultStatus::ok ? 0 : 1;
}
