#include "smi/verbs/named_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include "core/printable.hpp"
#include "core/prose.hpp"
#include "core/suggestion.hpp"
#include "device/device.hpp"
#include "io/read_file.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi.hpp"
#include "smi/model/links.hpp"
#include "smi/model/posterior/device_posterior.hpp"
#include "smi/model/untied/deep_untied.hpp"
#include "smi/model/untied/untied_attention.hpp"

namespace onset::smi {
namespace {

constexpr int supported_deep_tokens = 8;

/// Longest evaluation of the channel (core seconds) that accuracy is bought with.
constexpr double longest_evaluation = 20.0;

/// Most outer points per replicate that it is bought with.
constexpr std::size_t most_points = std::size_t{1} << 17;
constexpr std::size_t most_device_points = std::size_t{1} << 20;

/// How many cores a device is worth (docs/gpu.md).
constexpr double device_speed = 500.0;

[[noreturn]] void wrong_correlation(const std::string& text, const std::string& why) {
  throw InvalidArgument("token_correlation", in_quotes(text) + " " + why + prose(R"(
          ; allowed: none, R or equi:R (between any two tokens), ar1:R (R^|i-j|) with a number R
          that leaves the covariance positive definite, or a file with a symmetric matrix, one
          row per line, ones on its diagonal)"));
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
    wrong_correlation(name, "has " + counted(lengths.size(), "row") + ", but " +
                                counted(lengths[r], "number") + " in row " + std::to_string(r + 1));
  }
  return numbers;
}

}  // namespace

bool is_correlation(const std::string& text) {
  return text == "none" || text.starts_with("ar1:") || text.starts_with("equi:") ||
         text.starts_with(inline_matrix) || is_number(text);
}

std::vector<double> token_covariance(const std::string& text, int tokens) {
  if (text == "none") return {};
  const auto m = static_cast<std::size_t>(tokens);
  if (text.starts_with(inline_matrix)) {
    std::vector<double> matrix = parse_matrix(text, text.substr(inline_matrix.size()));
    if (matrix.size() != m * m) {
      wrong_correlation(text.substr(inline_matrix.size()),
                        "has " + counted(matrix.size(), "number") + ", not the " +
                            std::to_string(m * m) + " of " + counted(m, "token"));
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

std::string read_correlation(const std::string& name) {
  if (is_correlation(name)) return name;
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
  // A link that says nothing of its posterior has a closed form of a few elementary functions.
  constexpr double unsaid = 2e-6, measured = 1.5e-7;
  NamedModel named{link_model(link)};
  if (named.model->posterior_seconds(0.0) <= unsaid) named.closed_form = measured;
  return named;
}

void check_options(const DeepAttention& model) {
  try {
    model.validate();
  } catch (const InvalidArgument& e) {
    if (e.field() != "token_covariance") throw;
    throw InvalidArgument("token_correlation", e.message());
  }
}

NamedModel named_attention(DeepAttention attention, const std::string& token_correlation) {
  attention.token_covariance = token_covariance(token_correlation, attention.tokens);
  if (attention.layers > 1 && attention.tokens > supported_deep_tokens) {
    throw InvalidArgument(
        "tokens", std::to_string(attention.tokens) + " with " + std::to_string(attention.layers) +
                      " layers is not available; allowed: 2 to " +
                      std::to_string(supported_deep_tokens) + ", or any number with `layers = 1`");
  }
  check_options(attention);
  NamedModel named{attention_model(attention), {}, attention};
  // Says what it cannot do before anything is computed.
  (void)named.model->posterior({32, 1});
  return named;
}

std::string_view to_string(Weights weights) {
  return weights == Weights::untied ? "untied" : "tied";
}

NamedModel named_untied(const DeepAttention& attention, const std::string& token_correlation,
                        bool first_stage) {
  const bool ranked =
      std::any_of(attention.rank.begin(), attention.rank.end(), [](int rank) { return rank != 1; });
  if (ranked || attention.noise > 0.0 || token_correlation != "none") {
    throw Refused(prose(R"(
        untied weights are offered for rank one, independent tokens and no noise, where a label fixes all
        but a scale and a sign, over which posteriors are integrated; allowed: leaving {} out)",
                        ranked                  ? "`rank`"
                        : attention.noise > 0.0 ? "`noise`"
                                                : "`token_correlation`"));
  }
  if (attention.layers == 1) {
    return {untied_model({.tokens = attention.tokens, .beta = attention.beta})};
  }
  check_options(attention);
  if (attention.tokens > 2) {
    throw Refused(prose(R"(
        untied weights of more than one layer are offered for two tokens, whose labels are two numbers: the
        first threshold is an integral over them; {} tokens have labels of {} numbers; allowed: `tokens = 2`,
        or `layers = 1`)",
                        attention.tokens, 2 * attention.tokens - 2));
  }
  NamedModel named{deep_untied_model(
      {.layers = attention.layers, .beta = attention.beta, .skip = attention.skip})};
  // Says what it cannot do before anything is computed.
  if (!first_stage) (void)named.model->posterior({32, 1});
  return named;
}

void stay_on_processor(device::DeviceKind& wanted) {
  if (wanted == device::DeviceKind::gpu) {
    throw InvalidArgument("device", prose(R"(
        gpu computes posteriors of attention of two tokens and 2 to {} layers, of rank one, without noise
        or `token_correlation`; allowed for this model: cpu or auto)",
                                          ONSET_DEVICE_LAYERS));
  }
  wanted = device::DeviceKind::cpu;
}

void NamedModel::move_to(device::DeviceKind& wanted) {
  if (!attention || !has_device_posterior(*attention)) {
    stay_on_processor(wanted);
    return;
  }
  wanted = device::settle(wanted);
  if (wanted == device::DeviceKind::cpu) return;
  device = wanted;
  model = attention_model(*attention, device);
}

double NamedModel::channel_seconds(double evaluations, double points, double nodes) const {
  double speed = device == device::DeviceKind::gpu ? device_speed : 1.0;
  // Measured: posteriors of attention whose nodes are drawn are faster than posterior_seconds()
  // says, by which points are chosen, and the more so the more tokens there are.
  const bool drawn =
      attention && attention->layers > 1 && !(attention->plain() && attention->tokens == 2);
  if (drawn) speed *= 5.0 * attention->tokens / 3.0;
  return evaluations * points * numerics::default_replicates *
         closed_form.value_or(model->posterior_seconds(nodes) / speed);
}

std::size_t NamedModel::affordable_points(double nodes) const {
  std::size_t points = 512;
  const bool on_gpu = device == device::DeviceKind::gpu;
  const std::size_t most = on_gpu ? most_device_points : most_points;
  const double per_point = numerics::default_replicates * model->posterior_seconds(nodes) /
                           (on_gpu ? device_speed : 1.0);
  while (points < most && 2.0 * static_cast<double>(points) * per_point <= longest_evaluation) {
    points *= 2;
  }
  return points;
}

double NamedModel::memory(double nodes) const {
  const double fields = static_cast<double>(model->shape().fields());
  return 32e6 + 64.0 * 16.0 * nodes * fields * sizeof(double);
}

bool NamedModel::is_cheap() const {
  constexpr double usual_nodes = 256.0, max_seconds = 4.5e-5;
  return model->posterior_seconds(usual_nodes) < max_seconds;
}

std::string out_of_reach(double tolerance, double reachable) {
  return prose(R"(
      The tolerance {:.1g} is probably out of reach of this model, of which about {:.1g} can be had;
      the run will say what it reached.)",
               tolerance, reachable);
}

std::string names(const std::vector<std::size_t>& blocks) {
  std::string text;
  for (const std::size_t b : blocks) text += (text.empty() ? "" : ",") + std::to_string(b + 1);
  return text;
}

}  // namespace onset::smi
