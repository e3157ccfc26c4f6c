#include "core/plain_verb.hpp"

#include "onset/core/error.hpp"

namespace onset {

Verb to_verb(PlainVerb plain) {
  Parameter seed;
  seed.name = "seed";
  seed.kind = ParameterKind::integer;
  seed.fallback = std::int64_t{1};
  seed.min = 0.0;
  seed.text = "Key of all random streams; the same seed gives the same bits.";
  plain.parameters.push_back(std::move(seed));

  Parameter tol;
  tol.name = "tol";
  tol.fallback = plain.default_tol;
  tol.min = 0.0;
  tol.open_min = plain.default_tol > 0.0;
  tol.text = plain.primary.empty() ? "Target standard error (absolute)."
                                   : "Target standard error (absolute) of " + plain.primary + ".";
  plain.parameters.push_back(std::move(tol));

  Verb verb{plain.family,
            plain.name,
            plain.summary,
            plain.details,
            plain.parameters,
            {{"", plain.columns}},
            plain.primary,
            plain.needs_folder,
            plain.method,
            plain.examples,
            {}};
  verb.settle = [plain](const std::map<std::string, Value>& given) {
    Call call;
    call.parameters = complete(plain.parameters, given);
    if (plain.read_files) plain.read_files(call.parameters);
    if (plain.tol_for && !given.contains("tol")) {
      try {
        call.parameters.set("tol", plain.tol_for(call.parameters));
      } catch (const InvalidArgument&) {
      } catch (const Refused&) {
      }
    }
    try {
      if (plain.cost) call.cost = plain.cost(call.parameters);
    } catch (const InvalidArgument&) {
    } catch (const Refused&) {
    }
    call.run = [plain, parameters = call.parameters](const Context& context, Result& result) {
      result = plain.run(parameters, context);
    };
    return call;
  };
  return verb;
}

}  // namespace onset
