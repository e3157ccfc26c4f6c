#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace onset {

/// The kinds of value that a verb can take.
enum class ParameterKind {
  flag,     ///< present or not
  integer,  ///< a whole number
  real,     ///< a finite number
  reals,    ///< a comma list, one number per layer or item
  grid,     ///< `0.1,0.2`, `start:stop:step` or `log:start:stop:count`
  word,     ///< one of a few words
  text,     ///< anything (an expression, a path)
};

/// The value of a parameter. std::monostate means that none was given and there is no default.
using Value =
    std::variant<std::monostate, bool, std::int64_t, double, std::vector<double>, std::string>;

/// One parameter of a verb: the command line, study files, help and messages are made from it.
struct Parameter {
  std::string name;  ///< long name with hyphens, without the leading --
  ParameterKind kind = ParameterKind::real;
  Value fallback;  ///< the default; std::monostate means none
  bool required = false;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open_min = false;           ///< min itself is not allowed
  bool whole = false;              ///< a real, or every item of a list, must be whole
  std::vector<std::string> words;  ///< allowed words (kind word)
  /// Other spellings of some of these words, which are accepted and stand for them.
  std::map<std::string, std::string> aliases = {};
  std::string text;      ///< one sentence for help, which states the unit
  bool operand = false;  ///< may also be given as a bare word: `mha learn DIR`
  /// Names a folder (kind text); studies refuse it, since a store cannot know its content.
  bool folder = false;

  /// The allowed values as people read them, say "a number in (0, 1000]".
  [[nodiscard]] std::string allowed() const;
};

/// Largest number of points that a grid or list may have.
inline constexpr std::size_t max_grid_points = 100'000;

/// Reads a value from text; throws InvalidArgument naming `--name`, the text and what is allowed.
[[nodiscard]] Value parse_value(const Parameter& parameter, std::string_view text);
/// Checks the range, the words and that numbers are finite; throws InvalidArgument likewise.
void check_value(const Parameter& parameter, const Value& value);
/// The text that parse_value reads back to the same value.
[[nodiscard]] std::string to_text(const Value& value);

/// The effective parameters of one run: every one of a verb's parameters, defaults included, plus
/// `seed` and `tol`.
class Parameters {
 public:
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] bool flag(const std::string& name) const;
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  [[nodiscard]] double real(const std::string& name) const;
  [[nodiscard]] const std::vector<double>& reals(const std::string& name) const;
  [[nodiscard]] const std::string& text(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, Value>& values() const { return values_; }

 private:
  template <class T>
  [[nodiscard]] const T& get(const std::string& name) const;
  std::map<std::string, Value> values_;
};

/// Fills in defaults, checks everything that was given against its parameter, and refuses unknown
/// names, suggesting the nearest known one. Throws InvalidArgument.
[[nodiscard]] Parameters complete(std::span<const Parameter> parameters,
                                  const std::map<std::string, Value>& given);

}  // namespace onset
