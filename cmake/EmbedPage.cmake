# Writes a C++ source with the files of a page, so that the program needs no folder of its own for
# them: cmake -DFOLDER=.. -DFUNCTION=onset::report::shared_files -DOUT=.. -P EmbedPage.cmake
file(GLOB files ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"onset_page(${text})onset_page\"},\n")
endforeach()
string(REGEX REPLACE "::[a-z_]+$" "" scope ${FUNCTION})
string(REGEX REPLACE "^.*::" "" name ${FUNCTION})
file(WRITE ${OUT} "#include <array>

#include \"explore/page.hpp\"
#include \"report/page_file.hpp\"

namespace ${scope} {

std::span<const report::PageFile> ${name}() {
  static constexpr auto files = std::to_array<report::PageFile>({
${entries}  });
  return files;
}

}  // namespace ${scope}
")
