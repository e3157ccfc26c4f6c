#include "smi/learners/sample_loss.hpp"

#include <algorithm>
#include <numeric>

#include "onset/core/error.hpp"
#include "smi/learners/attention_loss.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/typed/symmetries.hpp"
#include "smi/model/typed/typed_model.hpp"

namespace onset::smi {
namespace {

/// The squared distance of the labels of a typed link [smi 49].
class LinkLoss final : public SampleLoss {
 public:
  explicit LinkLoss(const TypedLink& link)
      : link_(&link),
        inputs_(link.fields().size()),
        values_(link.outputs()),
        slopes_(link.outputs() * inputs_.size()) {}

  double operator()(std::span<const double> target, std::span<const double> fields,
                    std::span<double> gradient) override {
    read(fields);
    link_->gradient(1, inputs_.data(), values_.data(), slopes_.data());
    std::fill(gradient.begin(), gradient.end(), 0.0);
    double loss = 0.0;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const double miss = values_[k] - target[k];
      const double* slopes = slopes_.data() + k * inputs_.size();
      for (std::size_t f = 0; f < inputs_.size(); ++f) gradient[at(f)] += 2.0 * miss * slopes[f];
      loss += miss * miss;
    }
    return loss;
  }

  void predict(std::span<const double> fields, std::span<double> y) override {
    read(fields);
    link_->values(1, inputs_.data(), y.data());
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t f) const {
    const TypedField& field = link_->fields()[f];
    return *field.direction * link_->tokens() + field.token;
  }
  void read(std::span<const double> fields) {
    for (std::size_t f = 0; f < inputs_.size(); ++f) inputs_[f] = fields[at(f)];
  }

  const TypedLink* link_;
  std::vector<double> inputs_, values_, slopes_;
};

/// The signed symmetries that only change signs, as bits.
std::vector<std::size_t> sign_changes(const TypedLink& link) {
  std::vector<std::size_t> out{0};
  for (const Eigen::MatrixXd& map : signed_symmetries(link, LabelUnder::same)) {
    if (!map.isDiagonal()) continue;
    std::size_t bits = 0;
    for (Eigen::Index p = 0; p < map.rows(); ++p) {
      if (map(p, p) < 0.0) bits |= std::size_t{1} << static_cast<unsigned>(p);
    }
    if (bits != 0) out.push_back(bits);
  }
  return out;
}

std::vector<std::size_t> places_of_false(const std::vector<bool>& truths) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < truths.size(); ++k) {
    if (!truths[k]) out.push_back(k);
  }
  return out;
}

}  // namespace

SgdModel::SgdModel(const DeepAttention& attention)
    : attention_(attention),
      model_(attention_model(attention)),
      label_size_(static_cast<std::size_t>(attention.tokens) *
                  static_cast<std::size_t>(attention.tokens)) {}

SgdModel::SgdModel(std::shared_ptr<const TypedLink> link) : link_(std::move(link)) {
  const auto& fields = link_->fields();
  if (std::any_of(fields.begin(), fields.end(), [](const TypedField& f) { return !f.direction; })) {
    throw Refused(
        "gradient descent is offered for links without noise fields: the student of a noisy "
        "teacher has no noise of its own to predict with");
  }
  if (link_->is_discrete()) {
    throw Refused(
        "the label of this link is discrete: it does not change with the weights, but for jumps, "
        "so that the squared loss has no gradient to descend");
  }
  model_ = typed_model(link_, link_->tokens());
  label_size_ = link_->outputs();
}

std::unique_ptr<SampleLoss> SgdModel::loss() const {
  if (link_) return std::make_unique<LinkLoss>(*link_);
  return std::make_unique<AttentionLoss>(attention_);
}

std::vector<std::size_t> SgdModel::signs() const {
  if (link_) return sign_changes(*link_);
  // Every layer's sign is lost.
  std::vector<std::size_t> out(std::size_t{1} << shape().directions());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

std::vector<std::size_t> SgdModel::directions_not_named() const {
  if (!link_) return {};
  std::vector<bool> occurs(link_->directions(), false);
  for (const TypedField& field : link_->fields()) occurs[*field.direction] = true;
  return places_of_false(occurs);
}

std::vector<std::size_t> SgdModel::directions_without_gradient() const {
  if (!link_) return {};
  std::vector<bool> moves(link_->directions(), false);
  for (const std::size_t f : link_->fields_with_slope()) {
    moves[*link_->fields()[f].direction] = true;
  }
  for (const std::size_t p : directions_not_named()) moves[p] = true;  // nothing jumps
  return places_of_false(moves);
}

double SgdModel::seconds() const {
  if (link_) return 5.0 * link_->seconds();
  const double layers = static_cast<double>(shape().directions()), tokens = attention_.tokens;
  return 1.5e-8 * layers * tokens * tokens * tokens + 2e-8 * layers * tokens * tokens;
}

}  // namespace onset::smi
