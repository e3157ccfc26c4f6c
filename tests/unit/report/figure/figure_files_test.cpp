#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "onset/core/error.hpp"
#include "report/figure.hpp"
#include "unit/report/toy_figure.hpp"

namespace onset::report {
namespace {

namespace fs = std::filesystem;

class FigureFilesTest : public FolderTest {
 protected:
  [[nodiscard]] FigureFiles write_toy(const Context& context) const {
    const FigureSpec spec = parse_figure(
        toy_figure("fixed = {alpha = '0:2:0.5'}", "x = 'alpha'\ny = 'y'\n"), "toy.toml");
    return write_figure(spec, compute(spec, {}, context), {folder_ / "out", {}, {}, "none"});
  }

  void touch(const fs::path& name) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream out(folder_ / name);
  }

  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in(folder_ / "out" / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
};

TEST_F(FigureFilesTest, AFigureIsPicturesDataScriptAndManifest) {
  const FigureFiles files = write_toy({});
  EXPECT_EQ(files.pictures.size(), 3U);
  EXPECT_NE(text_of("toy.svg").find("</svg>"), std::string::npos);
  EXPECT_EQ(text_of("toy.pdf").substr(0, 5), "%PDF-");
  EXPECT_EQ(text_of("toy.png").substr(1, 3), "PNG");
  EXPECT_EQ(text_of("line.csv").substr(0, 18), "alpha,y,y_err,kind");
  EXPECT_NE(text_of("manifest.json").find("\"status\": \"ok\""), std::string::npos);
  EXPECT_FALSE(text_of("toy.gp").empty());
}

TEST_F(FigureFilesTest, AnInterruptedFigureKeepsItsDataAndIsNotDrawn) {
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  const FigureFiles files = write_toy(context);
  EXPECT_TRUE(files.pictures.empty());
  EXPECT_FALSE(text_of("line.csv").empty());
  EXPECT_NE(text_of("manifest.json").find("\"status\": \"interrupted\""), std::string::npos);
}

TEST_F(FigureFilesTest, FiguresAreListedOnceSortedByIdAndTheFirstFolderWins) {
  touch("a/two.toml");
  touch("a/notes.txt");
  touch("b/two.toml");
  touch("b/one.toml");
  const std::vector<fs::path> found = list_figures({folder_ / "a", folder_ / "b", folder_ / "c"});
  EXPECT_EQ(found, (std::vector<fs::path>{folder_ / "b/one.toml", folder_ / "a/two.toml"}));
}

TEST_F(FigureFilesTest, AFigureIsFoundByItsIdOrByItsPath) {
  touch("a/two.toml");
  EXPECT_EQ(find_figure("two", {folder_ / "a"}), folder_ / "a/two.toml");
  EXPECT_EQ(find_figure("x/y.toml", {}), "x/y.toml");
  EXPECT_THROW((void)find_figure("tow", {folder_ / "a"}), InvalidArgument);
}

}  // namespace
}  // namespace onset::report
