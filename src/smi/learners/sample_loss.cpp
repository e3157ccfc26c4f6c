#include "smi/learners/sample_loss.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "smi/learners/attention_loss.hpp"
#include "smi/learners/semidefinite_root.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/typed/symmetries.hpp"
#include "smi/model/typed/typed_model.hpp"

namespace onset::smi {
namespace {

/// The squared distance of predictions from the labels of a typed link [smi 49].
class LinkLoss final : public SampleLoss {
 public:
  /// `noise` times a standard normal is added to every output of labels.
  LinkLoss(const TypedLink& teacher, const TypedLink& student, double noise)
      : teacher_(&teacher),
        student_(&student),
        noise_(noise),
        inputs_(student.fields().size()),
        label_inputs_(teacher.fields().size()),
        values_(student.outputs()),
        slopes_(student.outputs() * inputs_.size()) {}

  double operator()(std::span<const double> target, std::span<const double> fields,
                    std::span<double> gradient) override {
    read(fields);
    student_->gradient(1, inputs_.data(), values_.data(), slopes_.data());
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
    student_->values(1, inputs_.data(), y.data());
  }

  void label(std::span<const double> fields, std::span<const double> noise,
             std::span<double> y) override {
    std::size_t next_noise = 0;
    for (std::size_t f = 0; f < label_inputs_.size(); ++f) {
      const TypedField& field = teacher_->fields()[f];
      label_inputs_[f] = field.direction ? fields[place(field)] : noise[next_noise++];
    }
    teacher_->values(1, label_inputs_.data(), y.data());
    if (!(noise_ > 0.0)) return;
    for (double& output : y) output += noise_ * noise[next_noise++];
  }

 private:
  [[nodiscard]] std::size_t place(const TypedField& field) const {
    return *field.direction * student_->tokens() + field.token;
  }
  [[nodiscard]] std::size_t at(std::size_t f) const { return place(student_->fields()[f]); }
  void read(std::span<const double> fields) {
    for (std::size_t f = 0; f < inputs_.size(); ++f) inputs_[f] = fields[at(f)];
  }

  const TypedLink* teacher_;
  const TypedLink* student_;
  double noise_;
  std::vector<double> inputs_, label_inputs_, values_, slopes_;
};

std::size_t noise_fields(const TypedLink& link) {
  const auto& fields = link.fields();
  return static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(),
                                                [](const TypedField& f) { return !f.direction; }));
}

/// The text of a link with 0 in place of e1, e2, ..
std::string text_without_noise(std::string_view text) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    // A word or a number, with its exponent: 2e1 is no field.
    const std::size_t begin = at;
    while (at < text.size() && belongs(text[at])) ++at;
    if (at == begin) {
      out += text[at++];
      continue;
    }
    const std::string_view word = text.substr(begin, at - begin);
    const bool is_noise =
        word.size() > 1 && word[0] == 'e' && std::all_of(word.begin() + 1, word.end(), is_digit);
    out += is_noise ? "0" : word;
  }
  return out;
}

constexpr const char* other_ways =
    "; smi amp, smi thresholds and smi spectral use the whole law of noisy labels";

[[noreturn]] void refuse_prediction(const std::string& link, const std::string& why) {
  throw Refused("the student predicts labels with all noise fields at 0, where this link is \"" +
                link + "\", which cannot be descended on: " + why + other_ways);
}

/// The link of predictions, whose noise fields are 0.
std::shared_ptr<const TypedLink> without_noise(std::string_view text) {
  const std::string own = text_without_noise(text);
  try {
    return std::make_shared<const TypedLink>(own, 0.0);
  } catch (const InvalidArgument& error) {
    refuse_prediction(own, "it " + error.message());
  } catch (const Refused& error) {
    refuse_prediction(own, error.what());
  }
}

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

void SampleLoss::label(std::span<const double> fields, std::span<const double> /*noise*/,
                       std::span<double> y) {
  predict(fields, y);
}

SgdModel::SgdModel(const DeepAttention& attention)
    : attention_(attention),
      model_(attention_model(attention)),
      label_size_(static_cast<std::size_t>(attention.tokens) *
                  static_cast<std::size_t>(attention.tokens)) {}

SgdModel::SgdModel(std::string_view link, double noise)
    : link_(std::make_shared<const TypedLink>(link, 0.0)), student_(link_), noise_(noise) {
  if (noise_fields(*link_) > 0) student_ = without_noise(link);
  const bool is_noisy = student_ != link_ || noise > 0.0;
  if (student_->is_discrete()) {
    throw Refused(
        std::string("the label of this link ") +
        (is_noisy ? "without noise, which is what a student predicts, " : "") +
        "is discrete: it does not change with the weights, but for jumps, so that the squared loss "
        "has no gradient to descend" +
        (is_noisy ? other_ways : ""));
  }
  model_ = typed_model(student_, student_->tokens());
  label_size_ = student_->outputs();
}

std::size_t SgdModel::noise_size() const {
  if (!link_) return 0;
  return noise_fields(*link_) + (noise_ > 0.0 ? label_size_ : 0);
}

std::unique_ptr<SampleLoss> SgdModel::loss() const {
  if (link_) return std::make_unique<LinkLoss>(*link_, *student_, noise_);
  return std::make_unique<AttentionLoss>(attention_);
}

double SgdModel::noise_loss(const Overlaps& o, std::size_t points, std::uint64_t seed,
                            std::uint64_t run) const {
  const double added = noise_ * noise_ * static_cast<double>(label_size_);
  if (!link_ || noise_fields(*link_) == 0) return added;
  // Fields of the teacher and of the student are jointly Gaussian, token by token [smi 42].
  const std::size_t p = o.directions, size = 2 * p;
  std::vector<double> joint(size * size), root(size * size);
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) {
      joint[i * size + j] = o.teacher[i * p + j];
      joint[(p + i) * size + p + j] = o.student[i * p + j];
      joint[(p + i) * size + j] = joint[j * size + p + i] = o.cross[i * p + j];
    }
  }
  semidefinite_root(joint.data(), size, root.data());
  const auto tokens = static_cast<std::size_t>(shape().tokens);
  LinkLoss loss(*link_, *student_, 0.0);
  numerics::Stream stream(seed, "smi noise loss", run);
  std::vector<double> normals(size * tokens), z(size * tokens), noise(noise_fields(*link_));
  std::vector<double> target(label_size_), prediction(label_size_);
  const auto distance = [&] {
    double sum = 0.0;
    for (std::size_t k = 0; k < label_size_; ++k) {
      sum += (prediction[k] - target[k]) * (prediction[k] - target[k]);
    }
    return sum;
  };
  double sum = 0.0;
  for (std::size_t i = 0; i < points; ++i) {
    stream.normal(normals);
    stream.normal(noise);
    std::fill(z.begin(), z.end(), 0.0);
    for (std::size_t row = 0; row < size; ++row) {
      for (std::size_t k = 0; k <= row; ++k) {
        for (std::size_t t = 0; t < tokens; ++t) {
          z[row * tokens + t] += root[row * size + k] * normals[k * tokens + t];
        }
      }
    }
    const auto teacher = std::span(z).first(p * tokens);
    loss.predict(std::span(z).subspan(p * tokens), prediction);
    loss.predict(teacher, target);
    sum -= distance();
    // Noise of both signs: what is odd in it cancels.
    for (int sign = 0; sign < 2; ++sign) {
      loss.label(teacher, noise, target);
      sum += 0.5 * distance();
      for (double& e : noise) e = -e;
    }
  }
  return added + sum / static_cast<double>(points);
}

std::vector<std::size_t> SgdModel::signs() const {
  if (link_) return sign_changes(*link_);
  // Every layer's sign is lost.
  std::vector<std::size_t> out(std::size_t{1} << shape().directions());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

std::vector<std::size_t> SgdModel::directions_not_named() const {
  if (!student_) return {};
  std::vector<bool> occurs(student_->directions(), false);
  for (const TypedField& field : student_->fields()) occurs[*field.direction] = true;
  return places_of_false(occurs);
}

std::vector<std::size_t> SgdModel::directions_of_noise() const {
  if (student_ == link_) return {};
  // Wide apart, so that kinks far out are met too.
  constexpr std::size_t points = 4096;
  constexpr double width = 3.0;
  const std::size_t fields = shape().fields();
  const auto tokens = static_cast<std::size_t>(shape().tokens);
  const std::unique_ptr<SampleLoss> loss = this->loss();
  numerics::Stream stream(1, "predictions of a noisy link");
  std::vector<double> z(2 * fields), y(label_size_), moved(label_size_);
  std::vector<bool> counts(shape().directions(), false);
  for (std::size_t i = 0; i < points; ++i) {
    stream.normal(z);
    for (double& x : z) x *= width;
    const auto here = std::span(z).first(fields);
    loss->predict(here, y);
    for (std::size_t p = 0; p < counts.size(); ++p) {
      const auto own = here.subspan(p * tokens, tokens);
      const auto other = std::span(z).subspan(fields + p * tokens, tokens);
      std::swap_ranges(own.begin(), own.end(), other.begin());
      loss->predict(here, moved);
      std::swap_ranges(own.begin(), own.end(), other.begin());
      if (moved != y) counts[p] = true;
    }
  }
  for (const std::size_t p : directions_not_named()) counts[p] = true;  // nothing changes with it
  return places_of_false(counts);
}

std::vector<std::size_t> SgdModel::directions_without_gradient() const {
  if (!student_) return {};
  std::vector<bool> moves(student_->directions(), false);
  for (const std::size_t f : student_->fields_with_slope()) {
    moves[*student_->fields()[f].direction] = true;
  }
  for (const std::size_t p : directions_not_named()) moves[p] = true;  // nothing jumps
  return places_of_false(moves);
}

double SgdModel::seconds() const {
  constexpr double per_normal = 1.5e-8;
  if (link_) {
    return 4.0 * student_->seconds() + link_->seconds() +
           per_normal * static_cast<double>(noise_size());
  }
  const double layers = static_cast<double>(shape().directions()), tokens = attention_.tokens;
  return 1.5e-8 * layers * tokens * tokens * tokens + 2e-8 * layers * tokens * tokens;
}

}  // namespace onset::smi
