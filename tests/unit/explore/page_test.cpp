#include "explore/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

namespace onset::explore {
namespace {

TEST(Page, HasEveryModuleThatItImports) {
  std::set<std::string> names;
  for (const PageFile& file : page_files()) names.emplace(file.name);
  EXPECT_TRUE(names.contains("index.html"));
  const std::regex import(R"re(from "\./([a-z]+\.js)")re");
  int imports = 0;
  for (const PageFile& file : page_files()) {
    const std::string text(file.text);
    for (std::sregex_iterator found(text.begin(), text.end(), import), end; found != end; ++found) {
      EXPECT_TRUE(names.contains((*found)[1])) << file.name << " imports " << (*found)[1];
      ++imports;
    }
  }
  EXPECT_GT(imports, 10);
}

TEST(Page, NamesNoOtherServerAndReadsNoMarkup) {
  for (const PageFile& file : page_files()) {
    const std::string text(file.text);
    for (const char* word : {"innerHTML", "insertAdjacentHTML", "eval(", "document.write"}) {
      EXPECT_EQ(text.find(word), std::string::npos) << file.name << " has " << word;
    }
    // The names of XML vocabularies look like addresses, and nobody asks them for anything.
    static const std::regex address(R"re(https?://(?!www\.w3\.org/2000/svg))re");
    EXPECT_FALSE(std::regex_search(text, address)) << file.name;
  }
}

}  // namespace
}  // namespace onset::explore
