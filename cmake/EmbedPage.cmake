# Writes a C++ source with the files of the explorer's page, so that the program needs no folder of
# its own for them: cmake -DFOLDER=.. -DOUT=.. -P EmbedPage.cmake
file(GLOB files ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"onset_page(${text})onset_page\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"explore/page.hpp\"

#include <array>

namespace onset::explore {

std::span<const PageFile> page_files() {
  static constexpr auto files = std::to_array<PageFile>({
${entries}  });
  return files;
}

}  // namespace onset::explore
")
