#include "report/page_file.hpp"

#include <gtest/gtest.h>

#include <array>

#include "onset/core/error.hpp"

namespace onset::report {
namespace {

constexpr std::array<PageFile, 3> modules{
    {{"one.js",
      "import {two, Three} from \"./two.js\";\nimport {four} from \"./four.js\";\nf(two);\n"},
     {"two.js",
      "import {four} from \"./four.js\";\nexport const two = four + 1;\nexport class Three {}\n"},
     {"four.js", "const own = 4;\nexport function four() { return own; }\n"}}};

TEST(Bundle, PutsEveryModuleOnceAndAfterThoseThatItImports) {
  EXPECT_EQ(bundle("one.js", modules),
            "const module_four = (() => {\nconst own = 4;\nfunction four() { return own; }\n"
            "return {four};\n})();\n"
            "const module_two = (() => {\nconst {four} = module_four;\nconst two = four + 1;\n"
            "class Three {}\nreturn {two, Three};\n})();\n"
            "const module_one = (() => {\nconst {two, Three} = module_two;\n"
            "const {four} = module_four;\nf(two);\nreturn {};\n})();\n");
}

TEST(Bundle, NamesAModuleThatIsMissing) {
  constexpr std::array<PageFile, 1> alone{{{"a.js", "import {b} from \"./b.js\";\n"}}};
  EXPECT_THROW((void)bundle("a.js", alone), IoError);
}

TEST(Bundle, LeavesNoImportOrExportOfOurOwnModules) {
  const std::string script = bundle("report.js", shared_page_files());
  EXPECT_EQ(script.find("\nimport "), std::string::npos);
  EXPECT_EQ(script.find("\nexport "), std::string::npos);
  EXPECT_EQ(script.find("</script"), std::string::npos);
}

}  // namespace
}  // namespace onset::report
