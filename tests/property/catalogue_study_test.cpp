#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <set>

#include "io/run_files.hpp"
#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "onset/study/sweep.hpp"

/// A study computes what the command computes: for every verb of the catalogue, and axes of every
/// kind of parameter that it has, a point of a study has the parameters and the key of the command
/// with the same options, and what the command refuses the study refuses.
namespace onset::study {
namespace {

using Given = std::map<std::string, Value>;

/// Small sizes, so that every verb settles and runs in a moment; verbs that read folders are not
/// for studies.
std::optional<Given> small_request(const Verb& verb) {
  static const std::map<std::string, Given> requests = {
      {"smi thresholds", {{"layers", std::int64_t{1}}, {"tol", 0.05}}},
      {"smi curve", {{"layers", std::int64_t{1}}, {"alpha", std::string("0.3")}, {"tol", 0.1}}},
      {"smi evolution",
       {{"layers", std::int64_t{1}},
        {"alpha", std::string("0.3")},
        {"iterations", std::int64_t{3}}}},
      {"smi potential", {{"layers", std::int64_t{1}}, {"alpha", std::string("0.3")}}},
      {"smi amp",
       {{"layers", std::int64_t{1}},
        {"dim", std::int64_t{40}},
        {"alpha", std::string("0.6")},
        {"runs", std::int64_t{2}},
        {"iterations", std::int64_t{5}}}},
      {"smi sgd", {{"dim", std::int64_t{20}}, {"time", 1.0}, {"records", std::int64_t{2}}}},
      {"smi exponent", {{"link", std::string("z1^2")}}},
      {"smi spectral",
       {{"link", std::string("z1^2")},
        {"alpha", std::string("1")},
        {"dim", std::int64_t{30}},
        {"runs", std::int64_t{2}}}},
      {"aim curve", {{"alpha", std::string("0.1")}}},
      {"aim thresholds", {}},
      {"aim potential", {{"alpha", std::string("0.1")}, {"points", std::int64_t{5}}}},
      {"aim spectrum", {{"delta", 0.1}, {"points", std::int64_t{5}}}},
      {"aim erm", {{"alpha", std::string("0.3")}, {"loss", std::string("fields")}}},
      {"aim amp",
       {{"dim", std::int64_t{10}}, {"alpha", std::string("0.3")}, {"runs", std::int64_t{2}}}},
      {"aim gd",
       {{"dim", std::int64_t{6}},
        {"alpha", std::string("0.3")},
        {"starts", std::int64_t{2}},
        {"runs", std::int64_t{2}},
        {"steps", std::int64_t{5}}}},
      {"aim flow", {{"time", std::string("0.1")}}},
      {"aim sgd",
       {{"dim", std::int64_t{6}},
        {"student", std::string("direct")},
        {"runs", std::int64_t{2}},
        {"time", std::string("0.1")}}},
      {"ssi sie", {{"target", std::string("He2(z1)+He2(z2)")}}},
      {"ssi loss", {{"target", std::string("z1*z2")}}},
      {"ssi flow", {{"a", 1.0}, {"omega", 0.5}}},
      {"ssi phase", {{"a", std::string("1")}, {"omega", std::string("0.5")}}},
      {"ssi sgd",
       {{"a", 1.0},
        {"omega", std::string("0.5")},
        {"dim", 100.0},
        {"steps", 100.0},
        {"runs", std::int64_t{4}}}},
      {"ssi scaling",
       {{"target", std::string("H2sum")},
        {"student", std::string("tied")},
        {"dim", std::string("20,40")},
        {"runs", std::int64_t{4}}}},
      {"ssi gain", {{"tokens", std::string("2,4")}, {"dim", 50.0}, {"runs", std::int64_t{4}}}},
      {"mha compare",
       {{"heads", std::int64_t{1}},
        {"dim", std::int64_t{4}},
        {"tokens", std::int64_t{2}},
        {"samples", std::int64_t{300}},
        {"starts", std::int64_t{2}},
        {"adam-steps", std::int64_t{2}}}},
      {"mha trial",
       {{"heads", std::int64_t{1}},
        {"dim", std::int64_t{4}},
        {"tokens", std::int64_t{2}},
        {"samples", std::int64_t{300}}}},
  };
  const auto found = requests.find(verb.full_name());
  if (found == requests.end()) return std::nullopt;
  return found->second;
}

/// Two values that a parameter allows, the second one other than its default.
std::vector<Value> two_values(const Parameter& parameter, const Value& now) {
  const auto number = [&](double usual) {
    std::vector<double> out{usual};
    for (const double factor : {0.9, 1.1, 2.0, 0.5}) {
      const double x = parameter.whole || parameter.kind == ParameterKind::integer
                           ? std::round(usual * factor + (factor > 1.0 ? 1.0 : 0.0))
                           : usual * factor;
      const bool low = parameter.open_min ? x > parameter.min : x >= parameter.min;
      if (x != usual && low && x <= parameter.max) {
        out.push_back(x);
        break;
      }
    }
    return out;
  };
  std::vector<Value> out;
  switch (parameter.kind) {
    case ParameterKind::flag: return {false, true};
    case ParameterKind::word:
      for (const std::string& word : parameter.words) out.emplace_back(word);
      return out;
    case ParameterKind::integer:
      if (const auto* x = std::get_if<std::int64_t>(&now)) {
        for (const double v : number(static_cast<double>(*x))) {
          out.emplace_back(static_cast<std::int64_t>(v));
        }
      }
      return out;
    case ParameterKind::real:
      if (const auto* x = std::get_if<double>(&now)) {
        for (const double v : number(*x)) out.emplace_back(v);
      }
      return out;
    case ParameterKind::reals:
    case ParameterKind::grid:
      if (const auto* list = std::get_if<std::vector<double>>(&now); list && !list->empty()) {
        for (const double v : number(list->front())) out.emplace_back(std::vector<double>{v});
      }
      return out;
    case ParameterKind::text: return {};
  }
  return out;
}

std::optional<Call> settled(const Verb& verb, const Given& given) {
  try {
    return verb.settle(given);
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

Study study_of(const Verb& verb, const Given& fixed, const std::string& axis,
               const std::vector<Value>& values) {
  Study study;
  study.name = "property";
  study.command = verb.full_name();
  study.fixed = fixed;
  study.fixed.erase(axis);
  study.axes = {{axis, values, {}, {}}};
  return study;
}

/// The points of an axis against the command with each value; returns how many there were.
std::size_t compare_axis(const Verb& verb, const Given& fixed, const std::string& axis,
                         const std::vector<Value>& values) {
  const std::string what = verb.full_name() + ", axis " + axis;
  std::vector<Value> accepted;
  std::vector<Call> calls;
  for (const Value& value : values) {
    Given given = fixed;
    given[axis] = value;
    if (auto call = settled(verb, given)) {
      accepted.push_back(value);
      calls.push_back(std::move(*call));
      continue;
    }
    // What the command refuses, a study of that value refuses.
    EXPECT_THROW((void)make_plan(study_of(verb, fixed, axis, {value}), {&verb, 1}), InvalidArgument)
        << what << " = " << to_text(value);
  }
  if (accepted.empty()) return 0;
  Plan plan;
  try {
    plan = make_plan(study_of(verb, fixed, axis, accepted), {&verb, 1});
  } catch (const InvalidArgument& error) {
    // Two values may ask for the same thing; the plan says so, and only then.
    std::set<std::string> keys;
    for (const Call& call : calls) keys.insert(identity(verb, call.parameters));
    EXPECT_LT(keys.size(), calls.size()) << what << ": " << error.what();
    return accepted.size();
  }
  EXPECT_EQ(plan.points.size(), accepted.size()) << what;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    EXPECT_EQ(plan.points[i].parameters.values(), calls[i].parameters.values())
        << what << " = " << to_text(accepted[i]);
    EXPECT_EQ(plan.points[i].key, identity(verb, calls[i].parameters)) << what;
    EXPECT_EQ(plan.points[i].core_seconds, calls[i].cost.core_seconds) << what;
  }
  return accepted.size();
}

TEST(CatalogueStudy, EveryPointHasTheParametersAndKeyOfTheCommand) {
  for (const Verb& verb : catalog()) {
    const std::optional<Given> fixed = small_request(verb);
    if (!fixed) continue;
    const Call base = verb.settle(*fixed);
    std::size_t compared = 0;
    for (const Parameter& parameter : verb.parameters) {
      if (parameter.folder) continue;
      const auto now = base.parameters.values().find(parameter.name);
      compared += compare_axis(verb, *fixed, parameter.name, two_values(parameter, now->second));
    }
    EXPECT_GT(compared, 2u) << verb.full_name();
  }
}

TEST(CatalogueStudy, EffectiveParametersSettleToThemselves) {
  for (const Verb& verb : catalog()) {
    const std::optional<Given> fixed = small_request(verb);
    if (!fixed) continue;
    for (const Parameter& parameter : verb.parameters) {
      if (parameter.folder) continue;
      const Call base = verb.settle(*fixed);
      for (const Value& value :
           two_values(parameter, base.parameters.values().at(parameter.name))) {
        Given given = *fixed;
        given[parameter.name] = value;
        const auto once = settled(verb, given);
        if (!once) continue;
        const auto twice = settled(verb, once->parameters.values());
        ASSERT_TRUE(twice) << verb.full_name() << " --" << parameter.name << " " << to_text(value);
        EXPECT_EQ(once->parameters.values(), twice->parameters.values())
            << verb.full_name() << " --" << parameter.name << " " << to_text(value);
      }
    }
  }
}

TEST(CatalogueStudy, AFileOnAnAxisIsReadForItsPoint) {
  const std::string folder = ::testing::TempDir();
  std::ofstream(folder + "/onset-weak.txt") << "1 0.1\n0.1 1\n";
  std::ofstream(folder + "/onset-strong.txt") << "1 0.5\n0.5 1\n";
  const Verb& verb = find_verb("smi", "thresholds");
  const Plan plan = make_plan(study_of(verb, {}, "token-correlation",
                                       {folder + "/onset-weak.txt", folder + "/onset-strong.txt"}),
                              {&verb, 1});
  ASSERT_EQ(plan.points.size(), 2u);
  EXPECT_EQ(plan.points[0].parameters.text("token-correlation"), "matrix:1,0.1,0.1,1");
  EXPECT_EQ(plan.points[1].parameters.text("token-correlation"), "matrix:1,0.5,0.5,1");
}

bool same_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool same_bits(const Cell& a, const Cell& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, Estimate>) {
          return same_number(x.value, y.value) && same_number(x.error, y.error);
        } else if constexpr (std::is_same_v<T, double>) {
          return same_number(x, y);
        } else {
          return x == y;
        }
      },
      a);
}

TEST(CatalogueStudy, APointHasTheRowsAndBitsOfTheCommand) {
  for (const Verb& verb : catalog()) {
    const std::optional<Given> fixed = small_request(verb);
    if (!fixed) continue;
    const std::vector<Value> seeds{std::int64_t{2}, std::int64_t{3}};
    const Plan plan = make_plan(study_of(verb, *fixed, "seed", seeds), {&verb, 1});
    Given given = *fixed;
    given["seed"] = seeds[1];
    const Result command = run(verb, verb.settle(given), {});
    for (const Artifact& artifact : command.artifacts) {
      EXPECT_TRUE(io::is_file_of(verb.full_name(), artifact.path)) << artifact.path;
    }
    const auto point = compute_point(verb, begin_point(plan, 1, 1), {});
    ASSERT_TRUE(point) << verb.full_name();
    EXPECT_NE(point->status, PointStatus::failed) << verb.full_name() << ": " << point->reason;
    ASSERT_EQ(point->table.rows().size(), command.table.rows().size()) << verb.full_name();
    for (std::size_t r = 0; r < command.table.rows().size(); ++r) {
      for (std::size_t c = 0; c < command.table.columns().size(); ++c) {
        EXPECT_TRUE(same_bits(point->table.rows()[r][c], command.table.rows()[r][c]))
            << verb.full_name() << " row " << r << " " << command.table.columns()[c].name;
      }
    }
  }
}

}  // namespace
}  // namespace onset::study
