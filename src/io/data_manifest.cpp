#include "io/data_manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "core/field_names.hpp"
#include "core/printable.hpp"

namespace onset::io {

FromManifest take_from_manifest(const std::filesystem::path& folder,
                                const std::vector<std::string>& writers,
                                const detail::FieldList& fields, void* request,
                                const SameMeaning& same) {
  FromManifest out{(folder / "manifest.json").string(), read_run_identity(folder), {}};
  const std::string& file = out.file;
  const std::optional<RunIdentity>& identity = out.identity;
  if (!identity) return out;
  if (std::find(writers.begin(), writers.end(), identity->command) == writers.end()) {
    throw IoError(file, fmt::format("says that {} wrote the folder; allowed: a folder of '{}', or "
                                    "one without manifest.json",
                                    in_quotes(identity->command), writers.front()));
  }
  for (const Parameter& parameter : fields.parameters()) {
    const std::string& name = parameter.name;
    const auto found = identity->parameters.find(name);
    if (found == identity->parameters.end()) continue;
    const Value said = [&] {
      try {
        return complete({&parameter, 1}, {{name, found->second}}).values().at(name);
      } catch (const InvalidArgument&) {
        throw IoError(file,
                      fmt::format("has the value {} of '{}'; allowed: {}",
                                  printable(to_text(found->second)), name, parameter.allowed()));
      }
    }();
    const Value now = fields.get(name, request);
    if (std::holds_alternative<std::monostate>(now)) {
      fields.set(name, said, request);
      out.taken.push_back(field_name(name));
    } else if (now != said && !(same && same(name, now, said))) {
      throw InvalidArgument(field_name(name),
                            to_text(now) + " contradicts manifest.json of the data; allowed: " +
                                to_text(said) + ", or leaving it out with `data`");
    }
  }
  return out;
}

}  // namespace onset::io
