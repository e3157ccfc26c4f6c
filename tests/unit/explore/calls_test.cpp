#include "explore/calls.hpp"

#include <gtest/gtest.h>

#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "unit/explore/toy_explorer.hpp"

namespace onset::explore {
namespace {

CallRequest call_of(const std::string& command, const Json& given) {
  return read_call({{"command", command}, {"given", given}}, catalog());
}

TEST(Call, ShowsACurveAsAShellAStudyFileAndPythonWriteIt) {
  const Json settled =
      settled_json(call_of("aim curve", {{"alpha", "0.1:0.3:0.1"}, {"noise-variance", "0.25"}}));
  EXPECT_EQ(settled["shell"], "onset aim curve --alpha 0.1:0.3:0.1 --noise-variance 0.25");
  EXPECT_EQ(settled["toml"],
            "command = \"aim curve\"\n\n[fixed]\nalpha = \"0.1:0.3:0.1\"\nnoise-variance = 0.25\n");
  EXPECT_EQ(settled["python"],
            "import onset\nresult = onset.aim.curve(alpha=\"0.1:0.3:0.1\", noise_variance=0.25)\n");
  EXPECT_EQ(settled["parameters"]["alpha"].size(), 3U);
  EXPECT_GT(settled["cost"]["core_seconds"], 0.0);
}

TEST(Call, QuotesWhatPythonWouldReadOtherwise) {
  const CallRequest call = call_of("ssi sie", {{"target", "a\"b\\\n'"}});
  EXPECT_EQ(python_text(call), "import onset\nresult = onset.ssi.sie(target=\"a\\\"b\\\\\\n'\")\n");
}

TEST(Call, NamesTheParameterAtFaultAndTheNearestWord) {
  const auto complaint = [](const std::string& command, const Json& given) {
    try {
      (void)call_of(command, given);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(complaint("aim curv", {}).find("did you mean 'aim curve'?"), std::string::npos);
  EXPECT_NE(complaint("aim curve", {{"alhpa", "1"}}).find("did you mean 'alpha'?"),
            std::string::npos);
  EXPECT_EQ(complaint("aim curve", {{"alpha", 1}}).substr(0, 6), "alpha:");
  EXPECT_EQ(complaint("aim curve", {{"rho", "-1"}}).substr(0, 4), "rho:");
  EXPECT_THROW((void)read_call(Json::array(), catalog()), InvalidArgument);
  EXPECT_THROW((void)read_call({{"command", "aim curve"}, {"given", 3}}, catalog()),
               InvalidArgument);
}

TEST(Call, GivesTheCommandsOwnJsonWithTheColumns) {
  const Verb verb = study::toy_verb();
  const auto record = study::compute_point(
      verb, study::begin_point(verb, verb.settle({{"slope", 3.0}}).parameters, 1), {});
  const Json result = result_json(*record);
  EXPECT_EQ(result["record"]["command"], "toy line");
  EXPECT_EQ(result["record"]["rows"][0]["y"], 6.0);
  EXPECT_EQ(result["record"]["rows"][0]["y_err"], 0.5);
  EXPECT_EQ(result["record"]["status"], "ok");
  EXPECT_EQ(result["columns"][1]["name"], "y");
  EXPECT_EQ(result["columns"][1]["estimate"], true);
}

}  // namespace
}  // namespace onset::explore
