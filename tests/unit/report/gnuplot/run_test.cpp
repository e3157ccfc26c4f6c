#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "onset/core/error.hpp"
#include "report/drawing_failed.hpp"
#include "report/gnuplot/gnuplot.hpp"
#include "report/gnuplot/plot_text.hpp"
#include "unit/report/hostile_text.hpp"
#include "unit/report/toy_figure.hpp"

namespace onset::report {
namespace {

namespace fs = std::filesystem;

class GnuplotRunTest : public FolderTest {
 protected:
  /// What hostile text tries to do, and the file that says that it did.
  [[nodiscard]] std::string command() const { return "/usr/bin/touch " + pwned().string(); }
  [[nodiscard]] fs::path pwned() const { return folder_ / "pwned"; }

  /// Another program in the place of gnuplot, as long as the test takes.
  void replace_gnuplot(const std::string& body) {
    const fs::path file = folder_ / "gnuplot";
    std::ofstream(file) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(file, fs::perms::owner_all);
    if (path_.empty()) path_ = std::getenv("PATH");
    setenv("PATH", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (!path_.empty()) setenv("PATH", path_.c_str(), 1);
    FolderTest::TearDown();
  }

 private:
  std::string path_;
};

/// The names of all tags and attributes of a picture.
std::set<std::string> vocabulary(const std::string& svg) {
  std::set<std::string> words;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    if (end == std::string::npos) return {"a tag without an end"};
    bool quoted = false;
    std::string word;
    char quote = ' ';
    for (const char c : svg.substr(at + 1, end - at - 1)) {
      if (quoted) {
        quoted = c != quote;
      } else if (c == '"' || c == '\'') {
        quoted = true;
        quote = c;
      } else if (c == ' ' || c == '\n' || c == '\t' || c == '=') {
        if (!word.empty()) words.insert(word);
        word.clear();
      } else {
        word += c;
      }
    }
    if (!word.empty()) words.insert(word);
  }
  return words;
}

/// A drawing with the text wherever a drawing has text.
Drawing full_of(const std::string& text) {
  Drawing drawing{"toy", {}, {}};
  DrawnPanel panel;
  panel.title = text;
  panel.x.label = text;
  panel.y.label = text;
  panel.guides = {{false, 1.5, text}, {true, 1.5, text}};
  for (const LineStyle style : {LineStyle::line, LineStyle::points}) {
    Curve curve{{{1.0, 1.0, 0.1}, {2.0, 2.0, 0.1}}, {}, false};
    curve.look.label = text;
    curve.look.style = style;
    panel.curves.push_back(curve);
  }
  drawing.panels = {panel, panel, panel};
  Shades numbers;
  numbers.x = {1, 2};
  numbers.y = {1, 2};
  numbers.z = {0, 1, 1, 0};
  numbers.label = text;
  Shades words = numbers;
  words.words = {text, "other"};
  drawing.panels[1].shades = numbers;
  drawing.panels[2].shades = words;
  return drawing;
}

TEST_F(GnuplotRunTest, NoTextOfADrawingRunsACommandOrLeavesTheTextOfThePicture) {
  std::set<std::string> known = vocabulary(
      run_gnuplot(gnuplot_script(full_of("{/Symbol a}_{b}^{c} \\{ {/:Bold=9 d}")), "svg", {}));
  known.insert({"fill", "dx", "dy", "font-style", "xml:space"});
  for (const std::string& text : hostile_texts(command(), 20)) {
    std::string svg;
    ASSERT_NO_THROW(svg = run_gnuplot(gnuplot_script(full_of(text)), "svg", {})) << text;
    for (const std::string& word : vocabulary(svg)) {
      EXPECT_TRUE(known.contains(word)) << word << " by " << text;
    }
    ASSERT_FALSE(fs::exists(pwned())) << text;
  }
}

TEST_F(GnuplotRunTest, EveryFormatIsDrawnOfHostileText) {
  std::string all;
  for (const std::string& text : hostile_texts(command(), 20)) all += text + " ";
  for (const char* format : {"svg", "pdf", "png"}) {
    EXPECT_FALSE(run_gnuplot(gnuplot_script(full_of(all)), format, {}).empty());
  }
  EXPECT_FALSE(fs::exists(pwned()));
}

TEST_F(GnuplotRunTest, AScriptCannotStartAnotherProgram) {
  const std::string drawing = "set terminal svg\nplot x\n";
  for (const std::string& attempt :
       {"system(\"" + command() + "\")\n", "x = system(\"" + command() + "\")\n",
        "!" + command() + "\n", "x = \"`" + command() + "`\"\n",
        "set print \"|" + command() + "\"\nprint 1\nset print\n", "plot '<" + command() + "'\n"}) {
    try {
      (void)run_gnuplot(attempt + drawing, "svg", {});
    } catch (const DrawingFailed&) {
    }
    EXPECT_FALSE(fs::exists(pwned())) << attempt;
  }
}

TEST_F(GnuplotRunTest, AnIdIsAPlainName) {
  for (const std::string id : {"", "a b", "a\"", "../a", "a\nb", "a%s"}) {
    Drawing drawing = full_of("text");
    drawing.id = id;
    EXPECT_THROW((void)gnuplot_script(drawing), InvalidArgument) << id;
  }
}

TEST_F(GnuplotRunTest, OneThatHangsIsEndedAfterAWhile) {
  replace_gnuplot("exec /bin/sleep 1000");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW((void)run_gnuplot("", "svg", {}, std::chrono::milliseconds(200)), DrawingFailed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(GnuplotRunTest, AStopEndsOneThatHangs) {
  replace_gnuplot("exec /bin/sleep 1000");
  std::stop_source source;
  std::jthread later([&source] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  EXPECT_THROW((void)run_gnuplot("", "svg", source.get_token()), Interrupted);
}

TEST_F(GnuplotRunTest, HalfAPictureIsAFailure) {
  replace_gnuplot("echo '<svg><g>'");
  EXPECT_THROW((void)run_gnuplot("", "svg", {}), DrawingFailed);
  replace_gnuplot("exit 0");
  for (const char* format : {"svg", "pdf", "png"}) {
    EXPECT_THROW((void)run_gnuplot("", format, {}), DrawingFailed);
  }
}

TEST_F(GnuplotRunTest, APanelWithNothingInItKeepsItsFrame) {
  Drawing drawing{"toy", {DrawnPanel{}, DrawnPanel{}, DrawnPanel{}, DrawnPanel{}}, {}};
  drawing.panels[1].y.log = true;
  drawing.panels[1].x.min = 5.0;
  drawing.panels[1].curves = {{{{1.0, -1.0, 0.0}, {2.0, 2.0, 0.0}}, {}, false}};
  drawing.panels[2].shades = Shades{};
  drawing.panels[3].shades =
      Shades{{1, 2}, {1, 2}, std::vector<double>(4, std::nan("")), {}, "", {}, {}, true, {}, 3};
  for (const char* format : {"svg", "pdf", "png"}) {
    EXPECT_NO_THROW((void)run_gnuplot(gnuplot_script(drawing), format, {}));
  }
}

}  // namespace
}  // namespace onset::report
