#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "onset/core/parameters.hpp"
#include "onset/smi/model/field_shape.hpp"
#include "onset/smi/model/posterior.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// A link whose posterior treats its blocks one by one, see Link.
template <class L>
concept LinkWithoutCross =
    requires(const L& link, std::span<const double> in, std::span<double> out) {
      // posterior(label, omega, variance, mean, second)
      { link.posterior(in, in, in, out, out) } -> std::convertible_to<double>;
    };

/// A link of several blocks that also writes `cross`, the sums over tokens of <zeta_p zeta_q> for
/// pairs of directions in different blocks (see PosteriorMoments). Message passing then uses what a
/// label says about two blocks together.
template <class L>
concept LinkWithCross = requires(const L& link, std::span<const double> in, std::span<double> out) {
  // posterior(label, omega, variance, mean, second, cross)
  { link.posterior(in, in, in, out, out, out) } -> std::convertible_to<double>;
};

/// A link: a label as a function of the fields of one sample, and the posterior of the fields given
/// a label, exact or to quadrature accuracy. A small value type; make_model() turns it into a
/// SequenceModel, and testing::check_model() tells whether its parts agree with one another.
///
/// `posterior` answers for the prior z_b ~ N(omega_b, V_b I): it writes the moments of
/// zeta = (z - omega) / sqrt(V), `mean` one per field and `second` the lower triangle of
/// <zeta zeta^T> block after block (the layout of FieldShape), and returns log Z_out: the log
/// density of the label, or its log probability where labels are discrete. It is called from
/// several threads at once.
template <class L>
concept Link = std::copy_constructible<L> &&
               requires(const L& link, std::span<const double> in, std::span<double> out) {
                 // The blocks of directions, each with one overlap; SequenceModel says when that
                 // closes.
                 { link.shape() } -> std::convertible_to<FieldShape>;
                 // How many numbers describe a label.
                 { link.label_size() } -> std::convertible_to<int>;
                 // How many real numbers a label fixes exactly, on average; 0 when labels are
                 // discrete.
                 { link.constraints() } -> std::convertible_to<double>;
                 // label(fields, label)
                 link.label(in, out);
               } && (LinkWithoutCross<L> || LinkWithCross<L>);

/// Optional: what prediction errors compare, where that is not the label's own description.
template <class L>
concept LinkWithPrediction =
    Link<L> && requires(const L& link, std::span<const double> in, std::span<double> out) {
      { link.prediction_size() } -> std::convertible_to<int>;
      link.prediction(in, out);  // prediction(fields, out)
    };

/// Asks a link for one sample after another. Both halves are the same, since there is no inner
/// error.
template <Link L>
class LinkPosterior final : public Posterior {
 public:
  LinkPosterior(L link, FieldShape shape) : link_(std::move(link)), shape_(std::move(shape)) {}

  void moments(const PosteriorQuery& query, PosteriorMoments& out) const override {
    const auto labels = static_cast<std::size_t>(link_.label_size());
    std::vector<double> label(labels);
    std::vector<double> omega(shape_.fields());
    std::vector<double> mean(shape_.fields());
    std::vector<double> second(shape_.all_pairs());
    std::vector<double> cross(LinkWithCross<L> ? shape_.direction_pairs() : 0);
    PosteriorMoments::Half& half = out.half[0];
    for (std::size_t i = 0; i < query.count; ++i) {
      gather(query.label, query.count, i, label);
      gather(query.omega, query.count, i, omega);
      half.log_z[i] = ask(label, omega, query.variance, mean, second, cross);
      scatter(mean, query.count, i, half.mean);
      scatter(second, query.count, i, half.second);
      if (!half.cross.empty()) scatter(cross, query.count, i, half.cross);
    }
    out.half[1] = half;
  }
  [[nodiscard]] bool exact() const override { return true; }
  [[nodiscard]] bool between_blocks() const override { return LinkWithCross<L>; }

 private:
  [[nodiscard]] double ask(std::span<const double> label, std::span<const double> omega,
                           std::span<const double> variance, std::span<double> mean,
                           std::span<double> second, std::span<double> cross) const {
    if constexpr (LinkWithCross<L>) {
      return link_.posterior(label, omega, variance, mean, second, cross);
    } else {
      return link_.posterior(label, omega, variance, mean, second);
    }
  }
  static void gather(std::span<const double> from, std::size_t count, std::size_t i,
                     std::span<double> to) {
    for (std::size_t row = 0; row < to.size(); ++row) to[row] = from[row * count + i];
  }
  static void scatter(std::span<const double> from, std::size_t count, std::size_t i,
                      std::span<double> to) {
    for (std::size_t row = 0; row < from.size(); ++row) to[row * count + i] = from[row];
  }

  L link_;
  FieldShape shape_;
};

/// Optional: roughly the core-seconds of one posterior, where it has no closed form.
template <class L>
concept LinkWithSeconds = Link<L> && requires(const L& link) {
  { link.posterior_seconds() } -> std::convertible_to<double>;
};

/// Optional, for links that describe labels by other numbers than those observed, because that
/// keeps digits or is simpler. One function turns a description into the observed number, the other
/// turns it back (to a number that is not finite where no label looks like that).
template <class L>
concept LinkWithForm = Link<L> && requires(double x) {
  { L::observed(x) } -> std::convertible_to<double>;
  { L::described(x) } -> std::convertible_to<double>;
};

/// Files the labels of such a link as they are observed.
template <LinkWithForm L>
class LinkForm final : public LabelForm {
 public:
  explicit LinkForm(int label_size) : size_(static_cast<std::size_t>(label_size)) {}

  [[nodiscard]] std::vector<std::size_t> shape() const override { return {size_}; }
  void write(std::span<const double> label, std::span<double> observed) const override {
    for (std::size_t k = 0; k < size_; ++k) observed[k] = L::observed(label[k]);
  }
  [[nodiscard]] bool keeps_description() const override { return false; }
  [[nodiscard]] std::string read(std::span<const double> observed,
                                 std::span<double> label) const override {
    for (std::size_t k = 0; k < size_; ++k) {
      label[k] = L::described(observed[k]);
      if (!std::isfinite(label[k])) {
        return "is " + to_text(Value(observed[k])) + ", which is none of this link";
      }
    }
    return {};
  }
  void choose_representative(std::span<double> /*label*/) const override {}

 private:
  std::size_t size_;
};

/// Stands in for the form of a link that has none of its own.
template <class L>
struct FormOf {
  explicit FormOf(int /*label_size*/) {}
  [[nodiscard]] const LabelForm* get() const { return nullptr; }
};
template <LinkWithForm L>
struct FormOf<L> {
  explicit FormOf(int label_size) : form(label_size) {}
  [[nodiscard]] const LabelForm* get() const { return &form; }
  LinkForm<L> form;
};

/// A link behind the interface of all sequence models.
template <Link L>
class LinkModel final : public SequenceModel {
 public:
  explicit LinkModel(L link)
      : link_(std::move(link)), shape_(link_.shape()), form_(link_.label_size()) {}

  [[nodiscard]] const FieldShape& shape() const override { return shape_; }
  [[nodiscard]] int label_size() const override { return link_.label_size(); }
  [[nodiscard]] double constraints() const override { return link_.constraints(); }
  void label(std::span<const double> fields, std::span<const double> /*noise*/,
             std::span<double> label) const override {
    link_.label(fields, label);
  }
  [[nodiscard]] const LabelForm* label_form() const override { return form_.get(); }
  [[nodiscard]] int prediction_size() const override {
    if constexpr (LinkWithPrediction<L>) return link_.prediction_size();
    return link_.label_size();
  }
  void prediction(std::span<const double> fields, std::span<double> out) const override {
    if constexpr (LinkWithPrediction<L>) {
      link_.prediction(fields, out);
    } else {
      link_.label(fields, out);
    }
  }
  [[nodiscard]] std::unique_ptr<Posterior> posterior(
      const PosteriorOptions& /*options*/) const override {
    return std::make_unique<LinkPosterior<L>>(link_, shape_);
  }
  [[nodiscard]] double posterior_seconds(double nodes) const override {
    if constexpr (LinkWithSeconds<L>) return link_.posterior_seconds();
    return SequenceModel::posterior_seconds(nodes);
  }

 private:
  L link_;
  FieldShape shape_;
  FormOf<L> form_;
};

/// A link of one's own as a sequence model, usable wherever the shipped ones are.
template <Link L>
[[nodiscard]] std::unique_ptr<SequenceModel> make_model(L link) {
  return std::make_unique<LinkModel<L>>(std::move(link));
}

}  // namespace onset::smi
