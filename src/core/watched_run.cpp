#include "core/watched_run.hpp"

#include <string_view>

namespace onset {

Result watched_run(const Verb& verb, const Call& call, const Context& context,
                   const ResultWatcher& watch) {
  Call watched = call;
  watched.run = [&](const Context& inner, Result& result) {
    Context telling = inner;
    telling.progress = [&inner, &result, &watch](double fraction, std::string_view what) {
      inner.report(fraction, what);
      watch(result);
    };
    call.run(telling, result);
  };
  Result result = run(verb, watched, context);
  if (result.status == ResultStatus::interrupted) watch(result);
  return result;
}

}  // namespace onset
