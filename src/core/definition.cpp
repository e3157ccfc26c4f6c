#include "core/definition.hpp"

#include <map>
#include <utility>

namespace onset::detail {

std::string tolerance_text(const VerbDescription& said) {
  return "Target standard error (absolute)" + (said.primary.empty() ? "" : " of " + said.primary) +
         (said.usual_tolerance.empty() ? "." : "; " + said.usual_tolerance + " unless given.");
}

Verb make_verb(const VerbDescription& said, const FieldList& fields, const RequestHooks& hooks) {
  Verb out{.family = said.family,
           .name = said.name,
           .summary = said.summary,
           .details = said.details,
           .parameters = fields.parameters(),
           .rows = said.rows,
           .primary = said.primary,
           .needs_folder = said.needs_folder,
           .method = said.method,
           .examples = said.examples,
           .settle = {}};
  out.settle = [fields, parameters = out.parameters,
                hooks](const std::map<std::string, Value>& given) {
    const std::shared_ptr<void> request = hooks.make();
    fields.read(complete(parameters, given), request.get());
    Call call;
    try {
      Prepared prepared = hooks.prepare(request);
      call.cost = std::move(prepared.cost);
      call.run = std::move(prepared.run);
    } catch (const Refused& refusal) {
      // Told when it is run: a refusal is an answer, filed under its parameters like others.
      call.cost = {"Refused: " + std::string(refusal.what()), 0.0, 0.0};
      call.run = [refusal](const Context&, Result&) { throw refusal; };
    }
    call.parameters = fields.write(request.get());
    return call;
  };
  return out;
}

}  // namespace onset::detail
