#include "explore/explorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>

#include "core/field_names.hpp"
#include "explore/calls.hpp"
#include "explore/catalogue.hpp"
#include "explore/gallery.hpp"
#include "explore/guard.hpp"
#include "explore/page.hpp"
#include "explore/studies.hpp"
#include "explore/watch.hpp"
#include "io/file_status.hpp"
#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"
#include "onset/study/sweep.hpp"
#include "report/html_report.hpp"

namespace onset::explore {
namespace {

/// The longest time that a request waits for a run; the page then asks again.
constexpr std::uint64_t longest_wait_ms = 2000;

/// The page may load from this server only, and no other page may show it in a frame.
constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A report is one file with everything in it. It is made of what others wrote, so it gets no
/// origin: nothing in it could ask this server anything.
constexpr std::string_view report_policy =
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:";

template <class Number>
std::optional<Number> read_number(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

std::string media_type(std::string_view name) {
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/html; charset=utf-8";
}

Response no_such() {
  return refusal(http_not_found, "there is nothing at this address");
}

Response wrong_method() {
  return refusal(http_wrong_method, "this address does not take this method");
}

Response page_file(const std::string& name) {
  for (const auto files : {own_page_files(), report::shared_page_files()}) {
    for (const report::PageFile& file : files) {
      if (file.name == (name.empty() ? "index.html" : name)) {
        return {http_ok, media_type(file.name), std::string(file.text), {}};
      }
    }
  }
  return no_such();
}

std::uint64_t number_in(const Address& address, const std::string& name, std::uint64_t fallback) {
  const auto found = address.query.find(name);
  if (found == address.query.end()) return fallback;
  return read_number<std::uint64_t>(found->second).value_or(fallback);
}

std::chrono::milliseconds bounded_patience(std::uint64_t milliseconds) {
  return std::chrono::milliseconds(std::min(milliseconds, longest_wait_ms));
}

/// Whether an answer must have the rows: always at the end, and before it only when they grew.
bool has_news(const RunState& state, std::size_t rows_seen) {
  return state.ended || state.record->table.rows().size() > rows_seen;
}

void secure(Response& response) {
  response.headers.try_emplace("Content-Security-Policy", page_policy);
  response.headers["Cache-Control"] = "no-store";
  response.headers["Referrer-Policy"] = "no-referrer";
  response.headers["X-Content-Type-Options"] = "nosniff";
  response.headers["X-Frame-Options"] = "DENY";
  response.headers["Cross-Origin-Resource-Policy"] = "same-origin";
}

}  // namespace

Explorer::Explorer(ExplorerSettings settings, Runs& runs, Sweeps& sweeps)
    : settings_(std::move(settings)), runs_(runs), sweeps_(sweeps), stores_(settings_.stores) {}

Response Explorer::respond(const Request& request) {
  Response response;
  try {
    const std::optional<Response> refused = refuse(request, settings_.token);
    response = refused ? *refused : answer(request);
  } catch (const InvalidArgument& error) {
    response = refusal(http_invalid, with_keys(error.message()), parameter_name(error.field()));
  } catch (const Refused& refused) {
    response = refusal(http_invalid, with_keys(refused.what()));
  } catch (const IoError& error) {
    response = refusal(http_invalid, with_keys(error.what()));
  } catch (const Interrupted&) {
    response = refusal(http_busy, "the server is ending");
  } catch (const std::bad_alloc&) {
    response = refusal(http_internal, "out of memory");
  } catch (const std::exception& error) {
    response = refusal(http_internal, error.what());
  }
  secure(response);
  return response;
}

Response Explorer::answer(const Request& request) {
  Address address = read_address(request.target);
  address.path.erase(address.path.begin());  // the token
  const std::size_t depth = address.path.size();
  // Without the slash after the token the page's own relative addresses would lose the token.
  if (depth == 0) return no_such();
  if (address.path[0] == "api") return answer_api(request, address);
  if (request.method != "GET") return wrong_method();
  if (address.path[0] == "report" && depth == 2) {
    const auto index = read_number<std::size_t>(address.path[1]);
    return index ? show_report(*index) : no_such();
  }
  return depth == 1 ? page_file(address.path[0]) : no_such();
}

Response Explorer::answer_api(const Request& request, const Address& address) {
  const std::vector<std::string>& path = address.path;
  if (path.size() == 3) {
    const auto number = read_number<std::uint64_t>(path[2]);
    return number ? answer_numbered(request.method, address, *number) : no_such();
  }
  if (path.size() == 4 && path[1] == "stores") return show_study(request.method, address);
  if (path.size() != 2) return no_such();
  if (request.method == "GET") return answer_get(path[1]);
  if (request.method != "POST") return wrong_method();
  const std::optional<Json> body = io::json_or_nothing(request.body);
  if (!body) return refusal(http_bad_request, "the body is not JSON");
  return answer_post(path[1], *body);
}

Response Explorer::answer_get(const std::string& what) {
  if (what == "catalog") return json_response(catalogue_json(settings_.verbs, settings_.threads));
  if (what == "stores") return list_stores();
  if (what == "figures") return json_response(gallery_json(settings_.figure_folders));
  return no_such();
}

Response Explorer::answer_numbered(const std::string& method, const Address& address,
                                   std::uint64_t number) {
  const bool get = method == "GET";
  if (!get && method != "DELETE") return wrong_method();
  if (address.path[1] == "runs") {
    if (get) {
      return run_state(number,
                       {bounded_patience(number_in(address, "wait", 0)),
                        static_cast<std::size_t>(number_in(address, "rows", 0))},
                       http_ok);
    }
    return runs_.stop(number) ? json_response({{"stopped", number}}) : no_such();
  }
  if (address.path[1] != "stores") return no_such();
  if (get) {
    const auto seen = address.query.find("seen");
    return show_store(number, seen == address.query.end() ? "" : seen->second);
  }
  const auto store = store_at(number);
  return store && sweeps_.stop(*store) ? json_response({{"stopped", number}}) : no_such();
}

Response Explorer::answer_post(const std::string& what, const Json& body) {
  if (what == "settle") return json_response(settled_json(read_call(body, settings_.verbs)));
  if (what == "runs") return start_run(body);
  if (what == "compose") {
    return json_response(composed_json(compose_study(body, "study", settings_.verbs)));
  }
  if (what == "studies") return start_study(body);
  return no_such();
}

Response Explorer::start_run(const Json& body) {
  const CallRequest request = read_call(body, settings_.verbs);
  const Verb& verb = *request.verb;
  if (verb.needs_folder) {
    return refusal(http_invalid, "it writes files; run its command in a shell, with --out");
  }
  const Call call = verb.settle(request.given);
  require_memory(verb, call, settings_.memory);
  const auto id = runs_.start(study::begin_point(verb, call.parameters, settings_.threads));
  if (!id) return refusal(http_busy, "too many runs are under way; stop one first");
  const auto wait = body.contains("wait") && body["wait"].is_number_unsigned()
                        ? body["wait"].get<std::uint64_t>()
                        : 0;
  return run_state(*id, {bounded_patience(wait), 0}, http_created);
}

Response Explorer::run_state(std::uint64_t id, const RunQuestion& question, int status) {
  const std::optional<RunState> state = runs_.wait(id, question.patience);
  if (!state) return no_such();
  Json out = {{"id", id},
              {"ended", state->ended},
              {"seconds", state->seconds},
              {"progress", state->progress}};
  if (state->record && has_news(*state, question.rows_seen)) {
    out["result"] = !state->ended    ? result_json(*state->record, "running")
                    : state->stopped ? result_json(*state->record, "interrupted")
                                     : result_json(*state->record);
  }
  return json_response(out, status);
}

Response Explorer::start_study(const Json& body) {
  const std::string name = study_name(body);
  const ComposedStudy study = compose_study(body, name, settings_.verbs);
  const std::filesystem::path file = settings_.folder / (name + ".toml");
  const std::filesystem::path store = settings_.folder / (name + ".db");
  const std::lock_guard lock(stores_mutex_);
  for (const std::filesystem::path& path : {file, store}) {
    if (io::is_taken(path)) {
      return refusal(http_conflict,
                     fmt::format("{} is there already; choose another name", path.string()),
                     "name");
    }
  }
  io::write_file_atomically(file, study.text);
  sweeps_.start(file, store);
  stores_.push_back(store);
  return json_response(
      {{"study", file.string()}, {"store", store.string()}, {"index", stores_.size() - 1}},
      http_created);
}

std::optional<std::filesystem::path> Explorer::store_at(std::size_t index) {
  const std::lock_guard lock(stores_mutex_);
  if (index >= stores_.size()) return std::nullopt;
  return stores_[index];
}

Response Explorer::list_stores() {
  const std::lock_guard lock(stores_mutex_);
  Json out = Json::array();
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    out.push_back({{"index", i},
                   {"file", stores_[i].string()},
                   {"running", sweeps_.running(stores_[i])},
                   {"ours", i >= settings_.stores.size()}});
  }
  return json_response(out);
}

Response Explorer::show_store(std::size_t index, const std::string& seen) {
  const auto path = store_at(index);
  if (!path) return no_such();
  const std::string version = file_version(*path);
  Json out = {{"file", path->string()}, {"version", version}, {"running", sweeps_.running(*path)}};
  if (!version.empty() && version != seen) {
    const study::Store store(*path, study::Store::Mode::read, settings_.stop);
    out["studies"] = store_json(store, settings_.verbs);
  }
  return json_response(out);
}

Response Explorer::show_study(const std::string& method, const Address& address) {
  if (method != "GET") return wrong_method();
  const auto store_index = read_number<std::size_t>(address.path[2]);
  const auto study_index = read_number<std::size_t>(address.path[3]);
  const auto path = store_index ? store_at(*store_index) : std::nullopt;
  if (!path || !study_index) return no_such();
  const study::Store store(*path, study::Store::Mode::read, settings_.stop);
  const WatchedPart part{number_in(address, "first", 0), number_in(address, "stride", 0),
                         number_in(address, "problems", 0)};
  const auto shown = study_part_json(store, *study_index, part, settings_.verbs);
  return shown ? json_response(*shown) : no_such();
}

Response Explorer::show_report(std::size_t index) {
  const auto path = store_at(index);
  if (!path) return no_such();
  const study::Store store(*path, study::Store::Mode::read, settings_.stop);
  return {http_ok,
          "text/html; charset=utf-8",
          report::html_report(store, settings_.verbs),
          {{"Content-Security-Policy", std::string(report_policy)}}};
}

}  // namespace onset::explore
