#include "ssi/verbs/model_options.hpp"

#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"
#include "onset/core/words.hpp"

namespace onset::ssi {
namespace {

/// Calls `read`; a mistake in the expression becomes one of the option.
template <class Read>
auto read_expression(const std::string& option, const Read& read) {
  try {
    return read();
  } catch (const numerics::SyntaxError& e) {
    throw InvalidArgument(option, e.what());
  }
}

/// A student that is an expression; a single word that is none was meant to be a name.
LinkPointer read_student(const std::string& text, std::size_t tokens) {
  try {
    return expression_link(text, tokens);
  } catch (const numerics::SyntaxError& e) {
    const std::vector<std::string> names{"attention", "tied", "untied"};
    const std::string hint = suggestion(text, names);
    if (hint.empty()) throw InvalidArgument("--student", e.what());
    throw InvalidArgument(
        "--student", "no student '" + text +
                         "'; allowed: attention, tied, untied, or an expression of z1, .., zL" +
                         hint);
  }
}

std::vector<double> reals_or_empty(const Parameters& p, const std::string& name) {
  return p.has(name) ? p.reals(name) : std::vector<double>{};
}

/// auto: the trace for a target of one output, the matrix for a matrix.
std::string reduction_word(const Parameters& p, std::size_t outputs) {
  const std::string& word = p.text("reduction");
  if (word == "auto") return outputs == 1 ? "trace" : "none";
  return word == "trace/sqrt(L)" ? "trace-sqrt" : word;
}

LinkPointer read_attention(const Parameters& p, std::size_t tokens, const std::string& word) {
  Attention attention;
  attention.tokens = tokens;
  attention.left = reals_or_empty(p, "left");
  attention.right = reals_or_empty(p, "right");
  if (word == "none") attention.reduction = Reduction::none;
  if (word == "trace-sqrt") attention.reduction = Reduction::trace_by_root;
  if (word == "projection") attention.reduction = Reduction::projection;
  if (word != "projection" && (!attention.left.empty() || !attention.right.empty())) {
    throw InvalidArgument(attention.left.empty() ? "--right" : "--left",
                          "has a meaning only for a projection; allowed: with --reduction "
                          "projection");
  }
  try {
    return attention_link(attention);
  } catch (const InvalidArgument& e) {
    throw InvalidArgument("--" + e.field(), std::string(e.what()).substr(e.field().size() + 2));
  }
}

/// Squares of what is computed from it have to be numbers.
void require_scale(const Link& link, const std::string& option) {
  constexpr std::size_t count = 64;
  constexpr double largest = 1e100;
  std::vector<double> z(link.tokens() * count);
  for (std::size_t i = 0; i < z.size(); ++i)
    z[i] = 2.0 * std::sin(1.0 + 3.0 * static_cast<double>(i));
  std::vector<double> values(link.outputs() * count);
  link.values(count, z.data(), values.data());
  double size = 0.0;
  for (const double x : values) size = std::max(size, std::abs(x));
  if (size == 0.0 || (size >= 1.0 / largest && size <= largest)) return;
  throw InvalidArgument(option, "has values of the size " + to_text(Value(size)) +
                                    "; allowed: sizes from 1e-100 to 1e100");
}

void require_default(const Parameters& p, const std::string& name, const std::string& why) {
  for (const Parameter& parameter : model_parameters()) {
    if (parameter.name != name || p.values().at(name) == parameter.fallback) continue;
    throw InvalidArgument("--" + name, why);
  }
}

}  // namespace

Parameter make_text(std::string name, Value fallback, std::string text) {
  Parameter p;
  p.name = std::move(name);
  p.kind = ParameterKind::text;
  p.fallback = std::move(fallback);
  p.text = std::move(text);
  return p;
}

Parameter make_flag(std::string name, std::string text) {
  Parameter p;
  p.name = std::move(name);
  p.kind = ParameterKind::flag;
  p.fallback = false;
  p.text = std::move(text);
  return p;
}

std::vector<Parameter> model_parameters() {
  std::vector<Parameter> list;
  list.push_back(make_text(
      "target", {},
      "Target g(z1, .., zL): an expression such as 'He2(z1)+He2(z2)' or 'sum(h2(z))', or softmax, "
      "H2sum, He4sum, ..."));
  list.push_back(make_parameter("tokens", ParameterKind::integer, std::int64_t{2}, 1, max_tokens,
                                "Tokens L of a sample."));
  list.push_back(make_text(
      "student", std::string("attention"),
      "Student: attention, tied, untied, or an expression of z1, .., zL like the target."));
  list.push_back(make_word("reduction",
                           {"auto", "none", "trace", "trace-sqrt", "trace/sqrt(L)", "projection"},
                           "Output of attention: the matrix, its trace, trace/sqrt(L), or "
                           "left^T F right; auto: trace for one output, none for a matrix."));
  list.push_back(make_parameter("left", ParameterKind::reals, {}, -1e6, 1e6,
                                "Left vector of a projection, one number per token; scaled to "
                                "length 1; the first token unless given."));
  list.push_back(make_parameter("right", ParameterKind::reals, {}, -1e6, 1e6,
                                "Right vector of a projection, likewise."));
  list.push_back(make_text("activation", {},
                           "Activation of tied and untied students: a function's name, or an "
                           "expression of u = L^(-1/2) sum_i z_i; relu unless given."));
  list.push_back(make_flag("positional",
                           "Tokens carry the positional encodings +P, -P, +P, .. with |P| = 1, "
                           "orthogonal to the teacher; the student's overlap with P is e."));
  return list;
}

Parameter loss_parameter(Loss fallback) {
  Parameter p = make_word("loss", {"half-squared", "squared", "frobenius"},
                          "Loss of a sample: |y-f|^2/2, |y-f|^2, or the unsquared norm |y-f|.");
  p.fallback = std::string(to_string(fallback));
  return p;
}

Loss read_loss(const Parameters& p) {
  for (const Loss loss : {Loss::squared, Loss::frobenius}) {
    if (p.text("loss") == to_string(loss)) return loss;
  }
  return Loss::half_squared;
}

NamedModel read_model(const Parameters& p) {
  NamedModel named;
  SequenceModel& model = named.model;
  if (!p.has("target")) {
    throw InvalidArgument("--target",
                          "is missing; allowed: an expression of z1, .., zL, or a name");
  }
  const auto tokens = static_cast<std::size_t>(p.integer("tokens"));
  model.target = read_expression("--target", [&] { return read_target(p.text("target"), tokens); });
  model.positional = p.flag("positional");
  const std::string& student = p.text("student");
  if (student == "tied" || student == "untied") {
    model.student.kind = student == "tied" ? StudentKind::tied : StudentKind::untied;
    model.student.activation = read_expression("--activation", [&] {
      return read_activation(p.has("activation") ? p.text("activation") : "relu");
    });
    model.student.link = tied_link(model.student.activation, tokens);
  } else {
    require_default(p, "activation",
                    "has a meaning only for a tied or untied student; allowed: leaving it out");
    if (student == "attention") {
      named.reduction = reduction_word(p, model.target->outputs());
      model.student.link = read_attention(p, tokens, named.reduction);
    } else {
      model.student.link = read_student(student, tokens);
    }
  }
  if (student != "attention") {
    for (const char* name : {"reduction", "left", "right"}) {
      require_default(p, name,
                      "has a meaning only for an attention student; allowed: leaving it out");
    }
  }
  require_scale(*model.target, "--target");
  require_scale(*model.student.link, "--student");
  try {
    model.validate();
  } catch (const InvalidArgument& e) {
    throw InvalidArgument("--" + e.field(), std::string(e.what()).substr(e.field().size() + 2));
  }
  return named;
}

SequenceModel mixture_model(double a, double omega, Loss loss) {
  SequenceModel model;
  model.target = mixture_link(a, omega);
  model.student.link = attention_link({2, Reduction::none, {}, {}});
  model.positional = true;
  model.loss = loss;
  return model;
}

bool is_mixture(const Parameters& p) {
  const bool mixture = p.has("a") || p.has("omega");
  if (mixture == p.has("target")) {
    throw InvalidArgument("--target", mixture ? "cannot be given together with --a and --omega"
                                              : "is missing; allowed: --target EXPR, or --a A "
                                                "--omega W for the positional-semantic model");
  }
  if (!mixture) return false;
  if (!p.has("a")) throw InvalidArgument("--a", "is missing; allowed: a number, with --omega");
  if (!p.has("omega")) throw InvalidArgument("--omega", "is missing; allowed: a number in [0, 1]");
  refuse_with_mixture(p);
  return true;
}

void refuse_with_mixture(const Parameters& p) {
  for (const Parameter& parameter : model_parameters()) {
    const auto found = p.values().find(parameter.name);
    if (found == p.values().end() || found->second == parameter.fallback) continue;
    throw InvalidArgument("--" + parameter.name,
                          "has no meaning with --a and --omega, which fix the whole model; "
                          "allowed: leaving it out");
  }
}

}  // namespace onset::ssi
