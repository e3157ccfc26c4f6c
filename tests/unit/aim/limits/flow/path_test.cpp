#include "aim/limits/flow/path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "unit/aim/limits/flow/flow_models.hpp"

namespace onset::aim {
namespace {

/// A student at some times, as another program found it (NumPy; other rules and another solver).
struct Reference {
  double time;
  double p, q, trace, mse, risk;
};

FlowModel tied(FlowModel model, double kappa, double s, double decay = 0.0) {
  model.student = Student::tied;
  model.start = StudentStart::gaussian;
  model.width_ratio = kappa;
  model.scale = s;
  model.decay = decay;
  return model;
}

FlowModel squared(double rho = 0.5, double beta = 1.0) {
  return flow_model(softmax_channel(), TrainingLoss::squared, 2, rho, beta);
}

FlowModel cross_entropy(int tokens, double rho) {
  return flow_model(softmax_channel(), TrainingLoss::cross_entropy, tokens, rho);
}

FlowModel linear(int tokens, double rho) {
  return flow_model(linear_channel(), TrainingLoss::squared, tokens, rho);
}

FlowPath path_of(const FlowModel& model, const std::vector<double>& times,
                 Precision precision = Precision::fine) {
  return FlowSolver(model, precision, times.back(), 1).path(times, {});
}

/// The tables have ten significant digits and more.
constexpr double last_digits = 2e-10;

void expect_reference(const FlowModel& model, const std::vector<Reference>& table,
                      const std::string& what, double tolerance = last_digits) {
  std::vector<double> times;
  for (const Reference& row : table) times.push_back(row.time);
  const FlowPath path = path_of(model, times);
  ASSERT_EQ(path.students.size(), table.size()) << what;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const StudentMoments& at = path.students[i];
    const auto near = [&](double value, double expected, const char* name) {
      EXPECT_NEAR(value, expected, tolerance * std::max(1.0, std::abs(expected)))
          << what << " at " << table[i].time << ": " << name;
    };
    near(at.scores.p, table[i].p, "p");
    near(at.scores.q, table[i].q, "q");
    near(at.trace, table[i].trace, "trace");
    near(at.mse(), table[i].mse, "mse");
    near(path.risks[i], table[i].risk, "risk");
  }
}

TEST(AimFlowPath, TiedSquaredAgreesWithAnotherProgram) {
  expect_reference(tied(squared(), 0.75, 0.4),
                   {{.1, .2431786268, .2893821281, .3328139641, 1.16441437061, .16641667886},
                    {.4, .2648217450, .4809287560, .3414247962, .80296423294, .09821868046},
                    {1, .5465499782, .8572415109, .4357108491, .33206695636, .03221236951},
                    {3, 1.1624514778, 1.3136349945, .6221352078, .03518148870, .00325956269}},
                   "wide");
  expect_reference(tied(squared(), 0.3, 0.4, 0.1),
                   {{.4, .1457951996, .2839278386, .1880875073, 1.07793952248, .13943522590},
                    {3, .7114954141, .9955569117, .4045666651, .22038159078, .02151406024}},
                   "narrow");
  expect_reference(tied(squared(0.2, 2.0), 0.2, 1.0),
                   {{.4, .4367100367, .5107930739, .2647881161, .61512388892, .18932875460}},
                   "beta = 2");
}

TEST(AimFlowPath, TiedCrossEntropyAgreesWithAnotherProgram) {
  expect_reference(tied(cross_entropy(2, 1.0), 0.5, 0.5, 0.1),
                   {{.4, .4573262548, .8283984978, .3964093722, .80052925926, 1.02624169997},
                    {3, 1.5304707326, 1.7262690959, .7762821301, .07793254073, .84626771796}},
                   "two tokens");
  expect_reference(tied(cross_entropy(3, 0.5), 1.0, 0.1),
                   {{.4, .9597516609, 1.1772810806, .5240952136, .10518949970, 2.31449265596}},
                   "three tokens", 1e-8);
  expect_reference(tied(flow_model(hardmax_channel(), TrainingLoss::cross_entropy, 2), 0.5, 0.3),
                   {{.4, 1.0852710055, 1.1803496989, .5158918549, .22457160764, .68751178391},
                    {3, 21.616230596, 5.6855927879, 2.6032649203, 11.745045020, .16997199038}},
                   "hardmax");
}

TEST(AimFlowPath, TiedLinearAgreesWithAnotherProgram) {
  expect_reference(tied(linear(2, 0.5), 0.5, 1.0),
                   {{.1, 1.3216164210, 1.3572233319, .6322052292, .10716975715, .32150927144},
                    {1, 1.4987105992, 1.4989910873, .7034384485, .00072842450, .00218527351}},
                   "two tokens");
  expect_reference(tied(linear(1, 2.0), 0.5, 0.1),
                   {{.4, 2.3462308884, 2.4642260497, .9540039653, .41777878892, .41777878892}},
                   "one token");
}

TEST(AimFlowPath, IdentityStartsAgreeWithAnotherProgram) {
  const auto expect = [](FlowModel model, double s, double decay, std::vector<double> times,
                         std::vector<double> mse, std::vector<double> risk) {
    model.start = StudentStart::identity;
    model.scale = s;
    model.decay = decay;
    const FlowPath path = path_of(model, times);
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_NEAR(path.students[i].mse(), mse[i], last_digits);
      EXPECT_NEAR(path.risks[i], risk[i], last_digits);
    }
  };
  expect(squared(), 0.5, 0.0, {.4, 3}, {.47583545178, .01440460272}, {.04883280850, .00192358465});
  FlowModel untied = squared();
  untied.student = Student::untied;
  expect(untied, 0.3, 0.0, {1, 3}, {.73609295419, .14696482178}, {.06795454428, .00869165230});
  untied = cross_entropy(2, 1.0);
  untied.student = Student::untied;
  expect(untied, 0.3, 0.05, {1, 3}, {.46074561166, .04269809313}, {.91104735280, .83037746826});
}

TEST(AimFlowPath, DirectAgreesWithAnotherProgramAtEveryRate) {
  FlowModel model = squared(1.0);
  model.student = Student::direct;
  model.start = StudentStart::zero;
  const auto expect = [&model](double rate, double mse, double risk) {
    model.rate = rate;
    const FlowPath path = path_of(model, {1.0});
    EXPECT_NEAR(path.students[0].mse(), mse, 1e-9);  // nine digits in the table
    EXPECT_NEAR(path.risks[0], risk, last_digits);
  };
  expect(0.0, 1.064526455, .0796018983);
  expect(1.0, 1.085735846, .0882953599);
  // A third program, with an integral over four normals for the noise, says so too.
  expect(3.0, 1.146320901, .1100257647);
  model = cross_entropy(2, 0.5);
  model.student = Student::direct;
  model.start = StudentStart::identity;
  model.scale = std::sqrt(0.5);
  model.decay = 0.2;
  expect(0.0, .311360449, .9707545817);
  expect(0.5, .321635041, .9776977187);
}

}  // namespace
}  // namespace onset::aim
