#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/fields.hpp"
#include "onset/core/error.hpp"
#include "onset/core/verb.hpp"

namespace onset {

/// A verb in full: the request with the description of its fields, and the three functions that
/// answer it. `Settled` is what settling makes of a request besides its effective fields: the model
/// and whatever else the cost and the run need.
template <class Request, class Settled>
struct Definition {
  std::string family;
  std::string name;
  std::string summary;
  std::string details;
  std::string primary = {};  ///< the column that `tol` speaks of
  bool needs_folder = false;
  int method = 1;
  std::vector<std::string> examples;
  std::vector<RowKind> rows;
  Fields<Request> fields;
  /// What is said of `tol` where its default depends on other fields, say "1e-2, or 5e-2 beyond two
  /// layers".
  std::string usual_tolerance = {};
  /// Fills what depends on other fields and files, `tol` included; throws InvalidArgument or
  /// IoError for what cannot be meant, and Refused for what cannot be answered. What it has filled
  /// settles again to the same.
  Settled (*settle)(Request& request) = nullptr;
  Cost (*cost)(const Request& request, const Settled& settled) = nullptr;
  void (*run)(const Request& request, const Settled& settled, const Context& context,
              Result& result) = nullptr;

  [[nodiscard]] VerbOf<Request> verb() const {
    const Fields<Request> all = with_common_fields();
    VerbOf<Request> out{{.family = family,
                         .name = name,
                         .summary = summary,
                         .details = details,
                         .parameters = all.parameters(),
                         .rows = rows,
                         .primary = primary,
                         .needs_folder = needs_folder,
                         .method = method,
                         .examples = examples,
                         .settle = {}},
                        [all](const Request& request) { return all.write(request); }};
    out.settle = [all, parameters = out.parameters, settle = settle, cost = cost,
                  run = run](const std::map<std::string, Value>& given) {
      auto request = std::make_shared<Request>(all.read(complete(parameters, given)));
      Call call;
      try {
        auto settled = std::make_shared<const Settled>(settle(*request));
        call.cost = cost(*request, *settled);
        call.run = [request, settled, run](const Context& context, Result& result) {
          run(*request, *settled, context, result);
        };
      } catch (const Refused& refusal) {
        // Told when it is run: a refusal is an answer, filed under its parameters like others.
        call.cost = {"Refused: " + std::string(refusal.what()), 0.0, 0.0};
        call.run = [refusal](const Context&, Result&) { throw refusal; };
      }
      call.parameters = all.write(*request);
      return call;
    };
    return out;
  }

 private:
  [[nodiscard]] Fields<Request> with_common_fields() const {
    Fields<Request> all = fields;
    all.add("seed", &Request::seed, {.min = 0.0},
            "Key of all random streams; the same seed gives the same bits.");
    all.add("tol", &Request::tol, {.min = 0.0},
            "Target standard error (absolute)" + (primary.empty() ? "" : " of " + primary) +
                (usual_tolerance.empty() ? "." : "; " + usual_tolerance + " unless given."));
    // A verb that is exact to rounding, or takes what comes, has a default of 0.
    Parameter& tol = all.edit("tol");
    const double* usual = std::get_if<double>(&tol.fallback);
    tol.open_min = !usual || *usual > 0.0;
    return all;
  }
};

}  // namespace onset
