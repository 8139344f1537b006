# cmake -DOUTPUT=... -DHEADER=... -DFUNCTION=... -DFILES="a;b" -P EmbedTexts.cmake
# Writes a C++ source whose function returns the text of each file, in order.
set(literals "")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  # A compiler may limit one literal to 16 kB; these files are far smaller.
  string(APPEND literals "    R\"__embedded(${text})__embedded\",\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Written by cmake/EmbedTexts.cmake; do not edit.
#include \"${HEADER}\"

namespace espalier {
namespace {

constexpr std::string_view texts[] = {
${literals}};

} // namespace

std::span<const std::string_view> ${FUNCTION}() { return texts; }

} // namespace espalier
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
