#include "report/gnuplot/plot_text.hpp"

#include <gtest/gtest.h>

#include "report/readable_text.hpp"
#include "unit/report/hostile_text.hpp"

namespace onset::report {
namespace {

TEST(PlotText, IsOneStringInSingleQuotesOnOneLineWhateverTheText) {
  for (const std::string& text : hostile_texts("touch pwned", 2000)) {
    for (const std::string& quoted : {plot_text(text), plot_text(literal_text(text))}) {
      ASSERT_GE(quoted.size(), 2U);
      EXPECT_EQ(quoted.front(), '\'');
      EXPECT_EQ(quoted.back(), '\'');
      const std::string inside = quoted.substr(1, quoted.size() - 2);
      for (const char c : inside) {
        EXPECT_GE(static_cast<unsigned char>(c), 0x20U) << quoted;
        EXPECT_NE(c, '\'') << quoted;
      }
      EXPECT_EQ(readable_text(inside), inside);
    }
  }
}

TEST(PlotText, KeepsTheMarkupOfLabelsAndPlainFonts) {
  EXPECT_EQ(plot_text("Q_{11} = 10^{-3}"), "'Q_{11} = 10^{-3}'");
  EXPECT_EQ(plot_text("{/Symbol w} {/:Bold=12 x}"), "'{/Symbol w} {/:Bold=12 x}'");
  EXPECT_EQ(plot_text("\xCE\xB1"), "'\xCE\xB1'");
  EXPECT_EQ(plot_text(literal_text("a_b & {c}")), "'a\\_b \\& \\{c\\}'");
}

TEST(PlotText, MakesNoFontOfOtherCharactersAndNoCharacterOfACode) {
  EXPECT_EQ(plot_text("{/F\"><g> x}"), "'\\{/F\"><g> x}'");
  EXPECT_EQ(plot_text("{/"), "'\\{/'");
  EXPECT_EQ(plot_text("]]>"), "']] >'");
  EXPECT_EQ(plot_text("\\074"), "'\\\\074'");
  EXPECT_EQ(plot_text("x\\"), "'x\\\\'");
}

TEST(ReadableText, IsValidUtf8OfCharactersThatAreSeen) {
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(readable_text("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(readable_text("\x1b[2J\r"), replaced + "[2J" + replaced);
  EXPECT_EQ(readable_text(std::string_view("\0", 1)), replaced);
  EXPECT_EQ(readable_text("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(readable_text("\xC0\xBC"), replaced + replaced);
  EXPECT_EQ(readable_text("\xE2\x82"), replaced + replaced);
  EXPECT_EQ(readable_text("\xC2\x85"), replaced);
  EXPECT_EQ(readable_text("safe\xE2\x80\xAEgpj.exe"), "safe" + replaced + "gpj.exe");
  EXPECT_EQ(readable_text("\xEF\xBF\xBE\xEF\xBF\xBF\xEF\xBF\xBD"), replaced + replaced + replaced);
}

}  // namespace
}  // namespace onset::report
