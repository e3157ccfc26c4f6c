#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mha/learners/net.hpp"
#include "mha/learners/slabs.hpp"
#include "onset/mha/learners/six_phases.hpp"

namespace onset::mha {

/// Relative residual that counts as zero.
inline constexpr double zero_residual = 1e-10;
/// Sums of projections below this share of what they should be have cancelled.
inline constexpr double vanishing_projection = 0.05;

/// Ends the run with a reason.
struct Refusal {
  std::string reason;
};

/// One run of the six phases; what a phase finds is there for the next.
class SixPhases {
 public:
  SixPhases(const Examples& examples, const LearnOptions& options, const Context& context)
      : options_(options), context_(context) {
    train_.examples = held_.examples = &examples;
  }

  Learned run() {
    try {
      split();
      crude();
      refine();
      find_hull();
      find_heads();
      polish();
      judge();
    } catch (const Refusal& refusal) {
      out_.verdict = Verdict::refused;
      out_.reason = refusal.reason;
      out_.layer = out_.geometry = {};  // nothing that could be taken for an answer
    }
    return std::move(out_);
  }

 private:
  void split();
  void crude();
  void refine();
  void find_hull();
  void find_heads();
  void polish();
  void judge();
  void refuse_cancelling() const;

  [[nodiscard]] std::optional<Matrix> margin_projection(double inflation);
  void require_counting(int heads) const;
  [[nodiscard]] std::string missing_certificates() const;
  [[nodiscard]] double violations(const Vector& theta) const;
  PhaseReport& report(int phase, const char* name, std::size_t rows);
  void add_tuple_certificates(const NetSearch& net);

  const LearnOptions& options_;
  const Context& context_;
  Sample train_;
  Sample held_;
  Learned out_;
  double label_size_ = 0.0;
  double noise_bound_ = 0.0;  // what the best rows allow for noise, per coordinate
  bool all_rows_agree_ = false;
  Matrix w_;
  std::vector<Slab> slabs_;
  Body body_;  // the best slabs, for linear programs
  Hull hull_;
};

}  // namespace onset::mha
