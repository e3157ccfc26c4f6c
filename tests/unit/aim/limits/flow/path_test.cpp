#include "aim/limits/flow/path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "aim/limits/flow/numbers.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/limits/flow/flow_models.hpp"
#include "unit/aim/limits/flow/random_models.hpp"

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
  return flow_model(softmax_channel(), SgdLoss::squared, 2, rho, beta);
}

FlowModel cross_entropy(int tokens, double rho) {
  return flow_model(softmax_channel(), SgdLoss::cross_entropy, tokens, rho);
}

FlowModel linear(int tokens, double rho) {
  return flow_model(linear_channel(), SgdLoss::squared, tokens, rho);
}

FlowPath path_of(const FlowModel& model, const std::vector<double>& times,
                 Precision precision = Precision::fine) {
  return FlowSolver(model, precision, times.back(), 1).path(times, {});
}

/// A student that has become the teacher is not followed any further: the way to 1e6 takes as long
/// as that to 1e3, and ends where it does.
TEST(FlowPath, AStudentThatIsTheTeacherStaysThere) {
  for (const FlowModel& model :
       {tied(cross_entropy(2, 0.5), 0.5, 1.0), tied(squared(), 0.5, 1.0)}) {
    const FlowPath path = path_of(model, {40.0, 1e3, 1e6}, Precision::coarse);
    ASSERT_EQ(path.students.size(), 3U);
    EXPECT_TRUE(path.status.converged());
    EXPECT_LT(path.students[1].mse(), tolerance::hundreds_of_roundings);
    EXPECT_EQ(path.students[2].mse(), path.students[1].mse());
    EXPECT_NEAR(path.risks[2], path.risks[1], tolerance::hundreds_of_roundings);
    EXPECT_LE(path.risks[2], path.risks[0]);
  }
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
  expect_reference(tied(flow_model(hardmax_channel(), SgdLoss::cross_entropy, 2), 0.5, 0.3),
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
  // The errors in the table have nine decimals, and this is a unit of the last.
  constexpr double ninth_digit = 1e-9;
  const auto expect = [&model](double rate, double mse, double risk) {
    model.rate = rate;
    const FlowPath path = path_of(model, {1.0});
    EXPECT_NEAR(path.students[0].mse(), mse, ninth_digit);
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

TEST(AimFlowPath, MarksAgreeWithAnotherProgram) {
  constexpr double last_digit = 5.1e-4;  // of a table with three decimals
  const std::vector<std::vector<double>> table{
      {.1, .333, .874}, {.01, .334, 1.311}, {.001, .335, 1.819}};
  for (const auto& row : table) {
    const FlowPath path = path_of(tied(squared(), 0.5, row[0]), {3.0});
    EXPECT_NEAR(path.escape.value(), row[1], last_digit) << row[0];
    // The other program read these off a grid of times.
    EXPECT_NEAR(path.half.value(), row[2], 2.0 * last_digit) << row[0];
  }
  // Starts of the same trace: wide students find the direction sooner.
  // This is half a unit of the last of four decimals and a little more for the solver.
  constexpr double fourth_digit = 5.1e-5;
  const std::vector<std::vector<double>> widths{
      {.1, .7405}, {.25, .4799}, {.5, .3481}, {1, .2556}, {2, .1893}};
  for (const auto& row : widths) {
    const FlowPath path = path_of(tied(squared(), row[0], 0.2 / std::sqrt(row[0])), {3.0});
    EXPECT_NEAR(path.escape.value(), row[1], fourth_digit) << row[0];
  }
}

TEST(AimFlowPath, HardmaxDisagreementAgreesWithAnotherProgram) {
  const FlowModel model = tied(flow_model(hardmax_channel(), SgdLoss::cross_entropy, 2), 0.5, 0.3);
  const FlowPath path = path_of(model, {0.4, 3.0});
  const auto disagreement = [&](std::size_t i) {
    return flow_numbers(model, path.students[i], path.risks[i])[FlowNumber::disagreement];
  };
  EXPECT_NEAR(disagreement(0), .1239678894, last_digits);
  EXPECT_NEAR(disagreement(1), .0175423992, last_digits);
}

/// A student narrower than the teacher keeps the top of its spectrum only, and gets there like
/// 1/tau^2: extrapolated from two times, the end is known to a few 1/tau^4.
TEST(AimFlowPath, NarrowStudentsKeepTheTopOfTheSpectrum) {
  const auto end = [](const FlowModel& model) {
    const FlowPath path = path_of(model, {20.0, 40.0});
    const double near = path.students[1].mse();
    return near + (near - path.students[0].mse()) / 3.0;
  };
  // The extrapolation leaves terms beyond 1/(4 A tau)^2, where 4 A tau is 480 at the first time.
  constexpr double higher_order = 2e-8;
  EXPECT_NEAR(end(tied(linear(2, 2.0), 0.5, 0.1)), .2206405512, higher_order);
  EXPECT_NEAR(end(tied(linear(2, 0.5), 0.3, 0.1)), .0565538284, higher_order);
}

TEST(AimFlowPath, VeryLongTimesKeepTheirDigits) {
  // exp(-4 Theta lambda) is far below the smallest number here.
  const FlowPath path = path_of(tied(linear(2, 2.0), 0.5, 0.1), {100.0, 200.0});
  // What is left decays like 1/(4 A tau)^2, which is 1.7e-7 at the first time.
  constexpr double rest = 1e-6;
  EXPECT_NEAR(path.students[0].mse(), .2206405512, rest);
  EXPECT_NEAR(path.students[1].mse(), .2206405512, rest);
}

/// F of a forgotten direction grows like exp(2 gamma tau) [aim 79]: by 2000 e-folds here, each of
/// which would take steps of its own.
TEST(AimFlowPath, StrongDecayIsNotStiff) {
  FlowModel model = tied(squared(), 0.5, 0.3);
  model.decay = 50.0;
  const FlowPath path = path_of(model, {0.01, 20.0});
  EXPECT_TRUE(path.status.converged());
  constexpr int some_steps = 1000;
  EXPECT_LT(path.status.iterations, some_steps);
  // What is learned until then is a small share of what decays: t = s sqrt(kappa) exp(-2 gamma
  // tau).
  const double start = 0.3 * std::sqrt(0.5);
  EXPECT_NEAR(path.students[0].trace, start * std::exp(-1.0), 0.02 * start);
  EXPECT_EQ(path.students[1].trace, 0.0);
  EXPECT_NEAR(path.students[1].mse(), 1.5, tolerance::hundreds_of_roundings);
}

TEST(AimFlowPath, DecayEndsAtTheSoftThreshold) {
  // m = (B lambda - gamma/2)_+/A: with linear labels (gamma/2c)^2 rho is left of the error.
  const FlowPath path = path_of(tied(linear(2, 0.5), 0.9, 0.3, 0.5), {40.0});
  EXPECT_NEAR(path.students[0].mse(), std::pow(0.5 / 12.0, 2) * 0.5,
              tolerance::thousands_of_roundings);
}

TEST(AimFlowPath, SurplusWidthIsForgottenAsAPowerOfTime) {
  // mse -> min(kappa - rho, 1 - rho)/(4 A tau)^2, from below.
  constexpr double time = 640.0;
  const auto prefactor = [](double kappa) {
    const FlowPath path = path_of(tied(linear(1, 0.5), kappa, 0.4), {time});
    return path.students[0].mse() * std::pow(4.0 * 2.0 * time, 2);
  };
  constexpr double next_order = 0.01;  // relative, of order 1/(4 A s tau)
  EXPECT_NEAR(prefactor(0.75), 0.25, 0.25 * next_order);
  EXPECT_NEAR(prefactor(2.0), 0.5, 0.5 * next_order);
}

TEST(AimFlowPath, WideStartsApproachTheIdentity) {
  // At the same trace the difference is .184/kappa.
  FlowModel identity = squared();
  identity.start = StudentStart::identity;
  identity.scale = 0.5;
  const double limit = path_of(identity, {0.4}).students[0].mse();
  for (const double kappa : {200.0, 800.0}) {
    const double mse =
        path_of(tied(squared(), kappa, 0.5 / std::sqrt(kappa)), {0.4}).students[0].mse();
    EXPECT_NEAR(kappa * (mse - limit), .184, 1e-3 + 1.0 / kappa);
  }
}

TEST(AimFlowPath, DirectLinearIsAnExponential) {
  // [aim 71]: mse = m_inf + (mse_0 - m_inf) exp(-c (2 - ep) tau), with noise on the labels.
  FlowModel model = linear(3, 0.7);
  model.student = Student::direct;
  model.start = StudentStart::identity;
  model.scale = 0.2;
  model.labels.noise_variance = 0.3;
  model.rate = 0.8;
  const double c = 12.0;
  const double rest = model.rate * 0.3 / (2.0 - model.rate);
  const FlowPath path = path_of(model, {0.0, 0.05, 0.2});
  const double first = path.students[0].mse();
  // The solver has a relative tolerance of 1e-11, and its errors may add up to a hundred of them.
  constexpr double solved = 1e-9;
  for (std::size_t i = 1; i < 3; ++i) {
    const double time = i == 1 ? 0.05 : 0.2;
    const double expected = rest + (first - rest) * std::exp(-c * (2.0 - model.rate) * time);
    EXPECT_NEAR(path.students[i].mse(), expected, solved);
  }
}

TEST(AimFlowPath, DirectHardmaxGrowsLikeTheCubeRootOfTime) {
  // S -> zeta S*, zeta^3 = B pi^2 tau/(6 beta^2 Q_0).
  FlowModel model = flow_model(hardmax_channel(), SgdLoss::cross_entropy, 2);
  model.student = Student::direct;
  model.start = StudentStart::zero;
  // The other program printed two decimals.
  constexpr double half_of_second_digit = 0.005;
  constexpr double time = 1000.0;
  const FlowPath path = path_of(model, {time});
  const double zeta = path.students[0].scores.q / model.teacher_norm();
  EXPECT_NEAR(zeta, 10.67, half_of_second_digit);
  const double teacher = FlowSolver(model, Precision::fine, 1.0, 1).risk().drift({}).teacher;
  EXPECT_NEAR(std::cbrt(teacher * std::numbers::pi * std::numbers::pi * time / (6.0 * 1.5)), 10.74,
              half_of_second_digit);
}

TEST(AimFlowPath, StartsHaveTheMomentsOfAScaledTeacher) {
  for (const FlowModel& model : random_models(24, 1)) {
    const StudentMoments at = path_of(model, {0.0}).students[0];
    const double s = model.scale;
    const double kappa = model.width_ratio;
    EXPECT_NEAR(at.scores.p, s * s * (1.0 + kappa), 1e-12 * s * s * (1.0 + kappa));
    EXPECT_NEAR(at.scores.q, s * std::sqrt(kappa * model.labels.rho), 1e-12 * s);
    EXPECT_NEAR(at.trace, s * std::sqrt(kappa), 1e-12 * s * (1.0 + kappa));
  }
}

/// t' = -4 A p + 4 B q - 2 gamma t tests the p of the deterministic equivalent: it enters the
/// equations nowhere else.
TEST(AimFlowPath, TheTraceMovesAsItsEquationSays) {
  constexpr double step = 2e-3;
  constexpr double stencil_error = 1e-7;  // relative; a step^4 term and the solver's 1e-11/step
  for (const FlowModel& model : random_models(16, 2)) {
    const double time = 0.3 / (model.labels.tokens * (model.labels.tokens + 1.0));
    const FlowSolver solver(model, Precision::fine, time, 1);
    const FlowPath path =
        solver.path({time - 2.0 * step, time - step, time, time + step, time + 2.0 * step}, {});
    const auto t = [&](int i) { return path.students[static_cast<std::size_t>(i)].trace; };
    const double found = (8.0 * (t(3) - t(1)) - (t(4) - t(0))) / (12.0 * step);
    const StudentMoments& at = path.students[2];
    const Drift drift = solver.risk().drift(at.scores);
    const double pull = 4.0 * drift.teacher * at.scores.q;
    const double push = 4.0 * drift.symmetric * at.scores.p;
    const double expected = pull - push - 2.0 * model.decay * at.trace;
    const double curvature =
        std::pow(4.0 * drift.teacher * (2.0 + model.labels.rho + 1.0 / model.labels.rho) * step, 4);
    EXPECT_NEAR(found, expected, (stencil_error + curvature) * (pull + push))
        << model.labels.rho << " " << model.width_ratio;
  }
}

/// R + (gamma/2) |weights|^2 over d never grows.
TEST(AimFlowPath, ThePotentialNeverGrows) {
  for (FlowModel model : random_models(16, 3)) {
    for (const Student student : {Student::direct, Student::tied, Student::untied}) {
      model.student = student;
      model.start = student == Student::tied ? StudentStart::gaussian : StudentStart::identity;
      std::vector<double> times;
      for (int i = 0; i <= 20; ++i) times.push_back(0.1 * i);
      const FlowPath path = path_of(model, times);
      double last = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < path.students.size(); ++i) {
        const StudentMoments& at = path.students[i];
        // Of an untied student Tr U U^T + Tr V V^T = 2 s e^{-2 gamma tau} <cosh y> is not a moment.
        if (student == Student::untied && model.decay > 0.0) break;
        const double norm = student == Student::direct ? at.scores.p : at.trace;
        const double potential = path.risks[i] + 0.5 * model.decay * norm;
        constexpr double rounding = 1e-12;
        EXPECT_LE(potential, last + rounding * (1.0 + std::abs(last))) << i;
        last = potential;
      }
    }
  }
}

/// First slopes at a gaussian start, where the third moments of two free matrices are known.
TEST(AimFlowPath, FirstSlopesFollowFromTheThirdMoments) {
  for (const FlowModel& model : random_models(16, 4)) {
    const double rho = model.labels.rho;
    const double s = model.scale;
    const double kappa = model.width_ratio;
    const FlowSolver solver(model, Precision::fine, 1.0, 1);
    const StudentMoments start = solver.dynamics().moments(solver.dynamics().start());
    const Drift drift = solver.risk().drift(start.scores);
    const double third =
        s * s * s * (1.0 / std::sqrt(kappa) + 3.0 * std::sqrt(kappa) + kappa * std::sqrt(kappa));
    const double mixed = std::sqrt(rho) * start.scores.p;
    const double far = model.teacher_norm() * start.trace;
    const double p_slope = -8.0 * drift.symmetric * third + 8.0 * drift.teacher * mixed -
                           4.0 * model.decay * start.scores.p;
    const double q_slope = -4.0 * drift.symmetric * mixed + 4.0 * drift.teacher * far -
                           2.0 * model.decay * start.scores.q;
    // One-sided differences of second order along the slope of the state, which is exact.
    const numerics::OdeState state = solver.dynamics().start();
    const numerics::OdeState slope = solver.dynamics().slope(state);
    const auto at = [&](double h) {
      numerics::OdeState there = state;
      for (std::size_t i = 0; i < state.size(); ++i) there[i] += h * slope[i];
      return solver.dynamics().moments(there).scores;
    };
    constexpr double h = 1e-5;
    const auto derivative = [&](double ScoreMoments::*member) {
      return (4.0 * (at(h).*member) - 3.0 * (at(0.0).*member) - at(2.0 * h).*member) / (2.0 * h);
    };
    const double size = 8.0 * (drift.symmetric * third + drift.teacher * (mixed + far));
    const double speed = 4.0 * (drift.teacher + drift.symmetric) *
                         (2.0 + rho + 1.0 / rho + s * (2.0 + kappa + 1.0 / kappa));
    const double tolerance = size * (speed * speed * h * h + 1e-9);
    EXPECT_NEAR(derivative(&ScoreMoments::p), p_slope, tolerance);
    EXPECT_NEAR(derivative(&ScoreMoments::q), q_slope, tolerance);
  }
}

/// Linear labels have a formula; the equations that it solves give the same.
TEST(AimFlowPath, TheFormulaOfLinearLabelsSolvesTheEquations) {
  for (const FlowModel& model : random_models(16, 5)) {
    if (model.labels.channel != &linear_channel()) continue;
    const FlowSolver solver(model, Precision::fine, 0.2, 1);
    const Dynamics& dynamics = solver.dynamics();
    numerics::OdeOptions options;
    options.relative_tolerance = 1e-11;
    const auto solution =
        numerics::solve_ode([&](const numerics::OdeState& state) { return dynamics.slope(state); },
                            dynamics.start(), {0.2}, options, {});
    const StudentMoments integrated = dynamics.moments(solution.states.at(0));
    const StudentMoments closed = dynamics.moments(dynamics.closed(0.2).value());
    EXPECT_NEAR(integrated.mse(), closed.mse(), 1e-9 * model.teacher_norm());
    EXPECT_NEAR(integrated.scores.p, closed.scores.p, 1e-9 * model.teacher_norm());
  }
}

}  // namespace
}  // namespace onset::aim
