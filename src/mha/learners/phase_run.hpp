#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mha/learners/net/net_search.hpp"
#include "mha/learners/sculpt/slabs.hpp"
#include "mha/learners/six_phases.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {

/// Relative residuals that count as zero.
inline constexpr double agreeing_rows = 1e-9;  // score below which all heads agree in a row
inline constexpr double zero_residual = 1e-10;
/// More of the labels than this share is not explained.
inline constexpr double max_residual = 0.2;
/// Residual over what the best rows allow for noise, and of one example over that of all.
inline constexpr double max_over_noise = 10.0;
/// Sums of projections below this share of what they should be have cancelled.
inline constexpr double vanishing_projection = 0.05;

/// How many slabs are sculpted for each entry of theta; a certificate has as many [mha 33].
inline constexpr std::size_t slabs_per_unknown = 8;

/// Heads nearer to one another than this share of the largest theta are one.
inline constexpr double merge_tolerance = 1e-7;

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
      refuse(refusal.reason);
    } catch (const Interrupted&) {
      out_.interrupted = true;
      refuse("stopped on request");
    }
    return std::move(out_);
  }

 private:
  void split();
  void refuse_outliers() const;
  void crude();
  [[nodiscard]] std::size_t min_slabs() const;
  void require_slabs(double score) const;
  void refine();
  void find_hull();
  void find_heads();
  void polish();
  void judge();
  void refuse(const std::string& reason) {
    out_.verdict = Verdict::refused;
    out_.reason = reason;
    out_.layer = {};  // leave nothing that could be taken for an answer
    if (!out_.interrupted) out_.geometry = {};
  }

  [[nodiscard]] std::optional<Matrix> margin_projection(double inflation);
  void require_counting(int heads) const;
  [[nodiscard]] bool one_head_fits(const Spectrum& spectrum) const;
  [[nodiscard]] std::string blind_reason() const;
  [[nodiscard]] int count_heads(const Spectrum& spectrum, PhaseReport& entry);
  void compare_with_all();
  [[nodiscard]] bool judges_single_examples() const;
  [[nodiscard]] double explained() const;
  [[nodiscard]] double usual_residual(const Layer& layer) const;
  [[nodiscard]] std::string disagreement() const;
  [[nodiscard]] std::string leftover_cause() const;
  [[nodiscard]] std::string missing_certificates() const;
  [[nodiscard]] double violations(const Vector& theta) const;
  /// Records that a phase is finished, and what is known after it.
  void finish(PhaseReport entry);
  void add_tuple_certificates(const NetSearch& net);
  void check_posterior();
  void count_again(const Spectrum& spectrum, const Matrix& sum);

  const LearnOptions& options_;
  const Context& context_;
  Subset train_;
  Subset held_;
  Learned out_;
  double label_size_ = 0.0;
  double noise_bound_ = 0.0;     // what the best rows allow for noise, per coordinate
  double usual_residual_ = 0.0;  // on held-out examples without a few that are far off
  bool all_rows_agree_ = false;
  bool single_precision_ = false;  // every label is a float32
  Matrix w_;
  std::vector<Slab> slabs_;
  Body body_;  // the best slabs, for linear programs
  Hull hull_;
};

}  // namespace onset::mha
