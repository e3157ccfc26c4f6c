#include "smi/verbs/named_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <sstream>
#include <string_view>

#include "onset/core/error.hpp"
#include "onset/core/words.hpp"
#include "onset/io/read_file.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/model/links.hpp"

namespace onset::smi {
namespace {

constexpr int supported_deep_tokens = 8;

/// Work of one posterior half per inner node on one core, in seconds; measured, for estimates only.
constexpr double seconds_per_node = 5e-8;
constexpr double seconds_per_sampled_node = 2.5e-8;  // times layers and tokens^2
/// The same of a last layer of rank two with two tokens, which is integrated over its orbit.
constexpr double seconds_per_pair_node = 5e-6;

/// Longest evaluation of the channel (core seconds) that accuracy is bought with.
constexpr double longest_evaluation = 20.0;

[[noreturn]] void wrong_correlation(const std::string& text, const std::string& why) {
  throw InvalidArgument(
      "--token-correlation",
      in_quotes(text) + " " + why +
          "; allowed: none, R or equi:R (between any two tokens), ar1:R (R^|i-j|) with a number "
          "R that leaves the covariance "
          "positive definite, or a file with a symmetric matrix, one row per "
          "line, ones on its diagonal");
}

Parameter correlation_parameter() {
  Parameter strength;
  strength.name = "token-correlation";
  strength.kind = ParameterKind::real;
  strength.min = -1.0;
  strength.max = 1.0;
  return strength;
}

/// Whether a text is a number, in the allowed range or not.
bool is_number(const std::string& text) {
  Parameter any = correlation_parameter();
  any.min = -std::numeric_limits<double>::infinity();
  any.max = std::numeric_limits<double>::infinity();
  try {
    (void)parse_value(any, text);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

/// The correlation R of "ar1:R", "equi:R" or a plain "R".
double read_strength(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string word = colon == std::string::npos ? text : text.substr(colon + 1);
  try {
    return std::get<double>(parse_value(correlation_parameter(), word));
  } catch (const InvalidArgument&) {
    wrong_correlation(text, "has no correlation from -1 to 1");
  }
}

constexpr std::string_view inline_matrix = "matrix:";

/// Numbers of the matrix, row after row; commas, semicolons and white space part them.
std::vector<double> parse_matrix(const std::string& name, std::string text) {
  for (char& c : text) c = c == ',' || c == ';' ? ' ' : c;
  std::istringstream words(text);
  std::vector<double> matrix;
  double x = 0.0;
  while (words >> x) matrix.push_back(x);
  if (!words.eof()) wrong_correlation(name, "has a word that is no number");
  return matrix;
}

bool is_form(const std::string& text) {
  return text == "none" || text.starts_with("ar1:") || text.starts_with("equi:") ||
         text.starts_with(inline_matrix) || is_number(text);
}

std::vector<double> token_covariance(const std::string& text, int tokens) {
  if (text == "none") return {};
  const auto m = static_cast<std::size_t>(tokens);
  if (text.starts_with(inline_matrix)) {
    std::vector<double> matrix = parse_matrix(text, text.substr(inline_matrix.size()));
    if (matrix.size() != m * m) {
      wrong_correlation(text, "has " + std::to_string(matrix.size()) + " numbers, not the " +
                                  std::to_string(m * m) + " of " + std::to_string(m) + " tokens");
    }
    return matrix;
  }
  const bool ar1 = text.starts_with("ar1:");
  const double strength = read_strength(text);
  std::vector<double> matrix(m * m);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      const double distance = std::abs(static_cast<double>(i) - static_cast<double>(j));
      matrix[i * m + j] = i == j ? 1.0 : (ar1 ? std::pow(strength, distance) : strength);
    }
  }
  return matrix;
}

void check_attention(const DeepAttention& model) {
  if (model.layers > 1 && model.tokens > supported_deep_tokens) {
    throw InvalidArgument(
        "--tokens", std::to_string(model.tokens) + " with " + std::to_string(model.layers) +
                        " layers is not available; allowed: 2 to " +
                        std::to_string(supported_deep_tokens) + ", or any number with --layers 1");
  }
  try {
    model.validate();
  } catch (const InvalidArgument& e) {
    const std::string option = e.field() == "token_covariance" ? "token-correlation" : e.field();
    throw InvalidArgument("--" + option, std::string(e.what()).substr(e.field().size() + 2));
  }
}

DeepAttention read_attention(const Parameters& p) {
  DeepAttention model;
  model.layers = static_cast<int>(p.integer("layers"));
  model.tokens = static_cast<int>(p.integer("tokens"));
  model.skip = p.reals("skip");
  model.beta = p.real("beta");
  model.noise = p.real("noise");
  model.rank.clear();
  for (const double r : p.reals("rank")) {
    if (r != std::floor(r))
      throw InvalidArgument("--rank", to_text(Value(r)) + " is not a rank; allowed: whole numbers");
    model.rank.push_back(static_cast<int>(r));
  }
  return model;
}

/// A link has no layers: what describes them must be left at its default.
void refuse_with_link(const Parameters& p) {
  for (const Parameter& parameter : model_parameters()) {
    if (parameter.name == "link" || p.values().at(parameter.name) == parameter.fallback) continue;
    throw InvalidArgument(
        "--" + parameter.name,
        "is of deep attention, and not available with --link; allowed: leaving it out, or "
        "attention of one layer as --layers 1");
  }
}

}  // namespace

Parameter alpha_parameter() {
  Parameter alpha = make_parameter("alpha", ParameterKind::grid, {}, 0.0, 1e6,
                                   "Sample ratios N/D (samples over dimension).");
  alpha.required = true;
  alpha.open_min = true;
  return alpha;
}

std::vector<Parameter> model_parameters() {
  std::vector<Parameter> list;
  list.push_back(make_parameter("layers", ParameterKind::integer, std::int64_t{2}, 1,
                                supported_layers, "Attention layers."));
  list.push_back(make_parameter("tokens", ParameterKind::integer, std::int64_t{2}, 2, max_tokens,
                                "Tokens of a sample; up to 8 with more than one layer."));
  list.push_back(
      make_parameter("skip", ParameterKind::reals, std::vector<double>{1.0}, 0.0, max_skip,
                     "Strength c of the skip connection after each layer: one for all, or one "
                     "each (after the last there is none: its value may be left out)."));
  list.push_back(make_parameter("beta", ParameterKind::real, 1.0, min_beta, max_beta,
                                "Inverse temperature of every softmax."));
  list.push_back(
      make_parameter("rank", ParameterKind::reals, std::vector<double>{1.0}, 1.0, max_rank,
                     "Directions of each layer: one number for all, or one each; at most two in "
                     "the last layer."));
  list.push_back(
      make_parameter("noise", ParameterKind::real, 0.0, 0.0, max_noise,
                     "Standard deviation of Gaussian noise on the last layer's fields u."));
  Parameter correlation;
  correlation.name = "token-correlation";
  correlation.kind = ParameterKind::text;
  correlation.fallback = std::string("none");
  correlation.text =
      "Covariance of the tokens: none, R or equi:R (R between any two), ar1:R (R^|i-j|), or a file "
      "with the matrix.";
  list.push_back(correlation);
  list.push_back(
      make_word("link", link_words(), "A multi-index model by name instead of deep attention."));
  return list;
}

namespace {

/// The numbers of a file with a square matrix, one row per line, parted by commas.
std::string square_matrix(const std::string& name, const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::size_t> lengths;
  std::string numbers;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<double> row = parse_matrix(name, line);
    if (row.empty()) continue;
    lengths.push_back(row.size());
    for (const double x : row) numbers += (numbers.empty() ? "" : ",") + to_text(Value(x));
  }
  if (lengths.empty()) wrong_correlation(name, "has no numbers");
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    if (lengths[r] == lengths.size()) continue;
    wrong_correlation(name, "has " + std::to_string(lengths.size()) + " rows, but " +
                                std::to_string(lengths[r]) + " numbers in row " +
                                std::to_string(r + 1));
  }
  return numbers;
}

}  // namespace

void read_correlation_file(Parameters& parameters) {
  parameters.set("token-correlation", read_correlation(parameters.text("token-correlation")));
}

std::string read_correlation(const std::string& name) {
  if (is_form(name)) return name;
  const std::string text = [&] {
    try {
      return io::read_file(name);
    } catch (const IoError& error) {
      const std::string forms[] = {"none", "ar1", "equi"};
      wrong_correlation(name, "is no known form, and no file of that name can be read (" +
                                  std::string(error.what()).substr(name.size() + 2) + ")" +
                                  suggestion(name.substr(0, name.find(':')), forms));
    }
  }();
  return std::string(inline_matrix) + square_matrix(name, text);
}

std::vector<std::string> link_words() {
  std::vector<std::string> words{"none"};
  for (const LinkInfo& info : links()) words.push_back(info.name);
  return words;
}

NamedModel named_link(const std::string& link) {
  NamedModel named{link_model(link), {}};
  for (const LinkInfo& info : links()) {
    if (info.name == link) named.link_seconds = info.seconds;
  }
  return named;
}

NamedModel named_attention(DeepAttention attention, const std::string& token_correlation) {
  attention.token_covariance = token_covariance(token_correlation, attention.tokens);
  check_attention(attention);
  NamedModel named{attention_model(attention), attention};
  // Says what it cannot do before anything is computed.
  (void)named.model->posterior({32, 1});
  return named;
}

NamedModel read_model(const Parameters& p) {
  if (p.text("link") != "none") {
    refuse_with_link(p);
    return named_link(p.text("link"));
  }
  return named_attention(read_attention(p), p.text("token-correlation"));
}

double NamedModel::channel_seconds(double evaluations, double points, double nodes) const {
  const double samples = evaluations * points * numerics::default_replicates;
  if (!attention) return samples * link_seconds;
  if (attention->layers == 1) return samples * attention->tokens * 1e-7;
  if (attention->plain() && attention->tokens == 2) {
    return samples * 2.0 * nodes * seconds_per_node * (attention->layers - 1);
  }
  const double tokens = attention->tokens;
  const double noise = attention->noise > 0.0 ? 4.0 : 1.0;
  const bool pair = attention->tokens == 2 && attention->rank_of(attention->layers - 1) == 2;
  const double node = pair ? seconds_per_pair_node
                           : seconds_per_sampled_node * attention->layers * tokens * tokens * noise;
  return samples * 4.0 * nodes * node;
}

std::size_t NamedModel::affordable_points(double nodes) const {
  std::size_t points = 512;
  while (points < (std::size_t{1} << 17) &&
         channel_seconds(1.0, 2.0 * static_cast<double>(points), nodes) <= longest_evaluation) {
    points *= 2;
  }
  return points;
}

double NamedModel::memory(double nodes) const {
  const double fields = static_cast<double>(model->shape().fields());
  return 32e6 + 64.0 * 16.0 * nodes * fields * sizeof(double);
}

bool NamedModel::is_exact() const {
  return !attention || attention->layers == 1;
}

bool NamedModel::is_cheap() const {
  return is_exact() || (attention->plain() && attention->tokens == 2 && attention->layers == 2);
}

std::string out_of_reach(double tolerance, double reachable) {
  char text[160];
  std::snprintf(
      text, sizeof text,
      "The tolerance %.1g is probably out of reach of this model, of which about %.1g can "
      "be had; the run will say what it reached.",
      tolerance, reachable);
  return text;
}

std::string names(const std::vector<std::size_t>& blocks) {
  std::string text;
  for (const std::size_t b : blocks) text += (text.empty() ? "" : ",") + std::to_string(b + 1);
  return text;
}

}  // namespace onset::smi
