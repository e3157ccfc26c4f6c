#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "aim/limits/flow/dynamics.hpp"
#include "onset/core/context.hpp"
#include "onset/core/status.hpp"

namespace onset::aim {

/// What a student is at some times, and when it passed two marks.
struct FlowPath {
  std::vector<StudentMoments> students;  ///< at the asked times, as far as they were reached
  std::vector<double> risks;
  std::optional<double> escape;  ///< first time at which the alignment is 1/2
  std::optional<double> half;    ///< first time at which the squared error is half of the first
  Status status;
};

/// A model at one precision: risk, dynamics, and their solution.
class FlowSolver {
 public:
  /// `last` is the latest time that will be asked for: it sets how many nodes the teacher's law
  /// needs. Smoothed spectra need 10/smoothing besides. The model has an ordinary differential
  /// equation: a direct student, or without rate a tied one, or an untied one from the identity.
  FlowSolver(const FlowModel& model, Precision precision, double last, std::uint64_t seed,
             std::size_t min_nodes = 0);

  /// Times increase. About 0.1 s for two tokens.
  [[nodiscard]] FlowPath path(const std::vector<double>& times, const Context& context) const;
  /// The states themselves; fewer than asked where the integration ended early.
  [[nodiscard]] std::vector<numerics::OdeState> states(const std::vector<double>& times,
                                                       const Context& context) const;
  [[nodiscard]] const Dynamics& dynamics() const { return *dynamics_; }
  [[nodiscard]] const Risk& risk() const { return *risk_; }

 private:
  struct Checkpoint;
  /// How far a student is past a mark: negative before it.
  using Mark = std::function<double(const StudentMoments&)>;
  [[nodiscard]] numerics::OdeSolution solve(const numerics::OdeState& start,
                                            const std::vector<double>& times,
                                            const Context& context) const;
  [[nodiscard]] numerics::OdeSolution until_learned(const std::vector<double>& times,
                                                    const Context& context) const;
  [[nodiscard]] bool is_teacher(const numerics::OdeState& state) const;
  /// By the formula where there is one.
  [[nodiscard]] numerics::OdeSolution from_start(const std::vector<double>& times,
                                                 const Context& context) const;
  [[nodiscard]] std::optional<double> passage(const std::vector<Checkpoint>& checkpoints,
                                              const Mark& mark, const Context& context) const;
  void add_marks(const std::vector<Checkpoint>& checkpoints, const Context& context,
                 FlowPath& path) const;

  FlowModel model_;
  numerics::OdeOptions ode_;
  std::unique_ptr<const Risk> risk_;
  std::unique_ptr<const Dynamics> dynamics_;
};

}  // namespace onset::aim
