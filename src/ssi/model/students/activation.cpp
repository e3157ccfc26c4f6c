// Students sigma(u), u = L^{-1/2} sum_i z_i: tied, with one weight vector, and untied, with one per
// token. [ssi 4]
#include <cmath>

#include "onset/core/error.hpp"
#include "onset/ssi/model/student.hpp"
#include "ssi/model/single_word.hpp"

namespace onset::ssi {
namespace {

using numerics::Expression;

class TiedLink final : public Link {
 public:
  TiedLink(std::shared_ptr<const Expression> activation, std::size_t tokens)
      : activation_(std::move(activation)), tokens_(tokens) {}
  [[nodiscard]] std::size_t tokens() const override { return tokens_; }
  [[nodiscard]] double value_ns() const override {
    return activation_->operations() + static_cast<double>(tokens_);
  }
  void values(std::size_t count, const double* z, double* out) const override {
    activation_->values(count, field(count, z), out);
  }
  void pullback(std::size_t count, const double* z, const double*, const double* weight,
                double* delta) const override {
    thread_local std::vector<double> value;
    value.resize(count);
    const double* u = field(count, z);
    double* first = delta;
    activation_->gradient(count, u, value.data(), first);
    const double scale = 1.0 / std::sqrt(static_cast<double>(tokens_));
    for (std::size_t p = 0; p < count; ++p) first[p] *= scale * weight[p];
    for (std::size_t i = 1; i < tokens_; ++i) {
      for (std::size_t p = 0; p < count; ++p) delta[i * count + p] = first[p];
    }
  }

 private:
  [[nodiscard]] const double* field(std::size_t count, const double* z) const {
    thread_local std::vector<double> u;
    u.assign(count, 0.0);
    for (std::size_t i = 0; i < tokens_; ++i) {
      for (std::size_t p = 0; p < count; ++p) u[p] += z[i * count + p];
    }
    const double scale = 1.0 / std::sqrt(static_cast<double>(tokens_));
    for (std::size_t p = 0; p < count; ++p) u[p] *= scale;
    return u.data();
  }
  std::shared_ptr<const Expression> activation_;
  std::size_t tokens_;
};

Student make_tied(const StudentOptions& options) {
  Student student;
  try {
    student.activation = read_activation(options.activation.value_or("relu"));
  } catch (const numerics::SyntaxError& e) {
    throw InvalidArgument("activation", e.what());
  }
  student.link = tied_link(student.activation, options.tokens);
  return student;
}

Student make_untied(const StudentOptions& options) {
  Student student = make_tied(options);
  student.vector_per_token = true;
  return student;
}

}  // namespace

LinkPointer tied_link(std::shared_ptr<const Expression> activation, std::size_t tokens) {
  return std::make_shared<TiedLink>(std::move(activation), tokens);
}

std::shared_ptr<const Expression> read_activation(const std::string& text) {
  const std::string formula = is_single_word(text) ? text + "(u)" : text;
  return std::make_shared<const Expression>(formula, numerics::ExpressionNames{{"u"}, ""});
}

StudentKind tied_student() {
  return {"tied", {"activation"}, make_tied};
}

StudentKind untied_student() {
  return {"untied", {"activation"}, make_untied};
}

}  // namespace onset::ssi
