#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace onset::report {

/// Text as an attacker would write it: whatever means something to gnuplot, a shell, a page, a
/// picture or a terminal. `command` is what it tries to run; `mixed` texts are made of pieces.
inline std::vector<std::string> hostile_texts(const std::string& command, int mixed) {
  using namespace std::string_literals;
  // Zeros are meant, and so are texts of several lines.
  // NOLINTBEGIN(bugprone-string-literal-with-embedded-nul,bugprone-suspicious-missing-comma)
  std::vector<std::string> texts{
      "x\nsystem(\"" + command + "\")\n#",
      "x\rsystem(\"" + command + "\")\r#",
      "x\r\n!" + command + "\r\n#",
      "';system('" + command + "');'",
      "'.system('" + command + "').'",
      "'.system(\"" + command + "\").''",
      "''.system(\"" + command + "\").'",
      "' ; system(\"" + command + "\") #",
      "\"; system(\"" + command + "\"); \"",
      "`" + command + "`",
      "$(" + command + ")",
      "; " + command + " #",
      "@system ${x} $x",
      "\\",
      "\\\nsystem(\"" + command + "\")",
      "x\0'\nsystem(\"" + command + "\")"s,
      "END\nsystem(\"" + command + "\")",
      "</text><script>alert(1)</script>",
      "{/Font\"><script>alert(1)</script> x}",
      "{/\"Font\"onload=\"alert(1)\" x}",
      "{//Font\"><script>alert(1)</script> x}",
      "\\{/Font\"><script> {{/'a><script>' x}} &{/\"><script> x} @{/\"><script> x} "
      "^{/a\"><script>}",
      "\\074script\\076 \\U+003Cscript\\U+003E \\046lt;",
      "]]> --> <!-- & &lt; &#60; \" onload=\"alert(1)",
      "javascript:alert(1)",
      "\x1b]0;title\x07\x1b[2J\x03\x15",
      "\xff\xfe\xc0\xbc\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82",
      "\xc2\x85\xef\xbf\xbe\xe2\x80\xa8",
      "../../etc/passwd",
      "--out=/dev/null",
      "%s%n%g",
      "nan",
      "",
  };
  // NOLINTEND(bugprone-string-literal-with-embedded-nul,bugprone-suspicious-missing-comma)
  // Pieces of the above in any order, the same in every run.
  const std::vector<std::string> pieces{
      "'",   "\"", "\\", "\n", "\r", "{", "}", "/", "`", "@",   "&",        "^", "_", "#", "<g>",
      "\0"s, "$(", ")",  ";",  "~",  "|", "!", " ", "=", "END", "<script>", "x", "1", "e", "\xff"};
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same texts in every run
  for (int i = 0; i < mixed; ++i) {
    std::string text;
    for (int j = 0; j < 12; ++j) text += pieces[random() % pieces.size()];
    text.append("\nsystem(\"").append(command).append("\")\n");
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace onset::report
