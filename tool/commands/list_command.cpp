#include "onset/catalog.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/options/common_options.hpp"
#include "tool/output.hpp"

namespace onset::tool {

int list_command(Arguments arguments) {
  const std::vector<Parameter> options = show_parameters();
  if (wants_help(arguments)) {
    write_stdout(command_help("list", options));
    return 0;
  }
  auto given = read_options(arguments, options);
  io::RunRecord record;
  record.command = "list";
  record.result.table =
      Table({{"verb", "what follows `onset`", "", false}, {"summary", "", "", false}});
  for (const Verb& verb : catalog()) record.result.table.add_row({verb.full_name(), verb.summary});
  for (const Command& command : commands()) {
    record.result.table.add_row({command.name, command.summary});
  }
  write_stdout(render_texts(record, take_common_options(given).format));
  return 0;
}

}  // namespace onset::tool
