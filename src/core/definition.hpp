#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/fields.hpp"
#include "onset/core/error.hpp"
#include "onset/core/verb.hpp"

namespace onset {

/// What is said of a verb, whatever its request.
struct VerbDescription {
  std::string family;
  std::string name;
  std::string summary;
  std::string details;
  std::string primary = {};  ///< the column that `tol` speaks of
  bool needs_folder = false;
  int method = 1;
  std::vector<std::string> examples;
  std::vector<RowKind> rows;
  /// What is said of `tol` where its default depends on other fields, say "1e-2, or 5e-2 beyond two
  /// layers".
  std::string usual_tolerance = {};
};

namespace detail {

/// A request that was settled: what it costs, and how it is run.
struct Prepared {
  Cost cost;
  std::function<void(const Context&, Result&)> run;
};

/// What a verb does with requests, whose type its own source knows.
struct RequestHooks {
  std::shared_ptr<void> (*make)();  ///< a new request, with its defaults
  std::function<Prepared(const std::shared_ptr<void>& request)> prepare;
};

/// The sentence of the field `tol`.
[[nodiscard]] std::string tolerance_text(const VerbDescription& said);

/// The verb of a description, with the fields of its request.
[[nodiscard]] Verb make_verb(const VerbDescription& said, const FieldList& fields,
                             const RequestHooks& hooks);

}  // namespace detail

/// A verb in full: the request with the description of its fields, and the three functions that
/// answer it. `Settled` is what settling makes of a request besides its effective fields: the model
/// and whatever else the cost and the run need.
template <class Request, class Settled>
struct Definition : VerbDescription {
  Fields<Request> fields;
  /// Fills what depends on other fields and files, `tol` included; throws InvalidArgument or
  /// IoError for what cannot be meant, and Refused for what cannot be answered. What it has filled
  /// settles again to the same.
  Settled (*settle)(Request& request) = nullptr;
  Cost (*cost)(const Request& request, const Settled& settled) = nullptr;
  void (*run)(const Request& request, const Settled& settled, const Context& context,
              Result& result) = nullptr;

  [[nodiscard]] VerbOf<Request> verb() const {
    const Fields<Request> all = with_common_fields();
    return {detail::make_verb(*this, all.untyped(), {make_request, preparation()}),
            [all](const Request& request) { return all.write(request); }};
  }

 private:
  static std::shared_ptr<void> make_request() { return std::make_shared<Request>(); }

  [[nodiscard]] auto preparation() const {
    return [settle = settle, cost = cost,
            run = run](const std::shared_ptr<void>& untyped) -> detail::Prepared {
      const auto request = std::static_pointer_cast<Request>(untyped);
      const auto settled = std::make_shared<const Settled>(settle(*request));
      return {cost(*request, *settled),
              [request, settled, run](const Context& context, Result& result) {
                run(*request, *settled, context, result);
              }};
    };
  }

  [[nodiscard]] Fields<Request> with_common_fields() const {
    Fields<Request> all = fields;
    all.add("seed", &Request::seed, {.min = 0.0},
            "Key of all random streams; the same seed gives the same bits.");
    all.add("tol", &Request::tol, {.min = 0.0}, detail::tolerance_text(*this));
    // A verb that is exact to rounding, or takes what comes, has a default of 0.
    Parameter& tol = all.edit("tol");
    const double* usual = std::get_if<double>(&tol.fallback);
    tol.open_min = !usual || *usual > 0.0;
    return all;
  }
};

}  // namespace onset
