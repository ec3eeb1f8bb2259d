#include "tests/page/page_testing.h"

#include <zlib.h>

#include <fstream>
#include <iterator>

namespace fxjit::testing_page {

using nlohmann::json;

std::string Page::inspect(const std::string& arguments) const {
  const testing_import::Ran ran =
      testing_import::fxjit_command("inspect " + arguments);
  EXPECT_EQ(ran.code, 0) << arguments << ": " << ran.text;
  return ran.text;
}

json Page::data_of(const std::string& arguments) const {
  inspect(arguments + " --html '" + page() + "'");
  return data_in(text_of(page()));
}

std::string model_file(const std::string& name) {
  return FXJIT_SOURCE_DIR "/tests/import/models/" + name + ".pt2";
}

std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

json data_in(const std::string& page) {
  const std::string begins = "<script id=\"data\" type=\"application/json\">";
  const size_t begin = page.find(begins);
  if (begin == page.npos) return nullptr;
  const size_t end = page.find("</script>", begin);
  return json::parse(
      page.substr(begin + begins.size(), end - begin - begins.size()));
}

std::string unpacked(const std::string& base64) {
  const std::string digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t group = 0;
  int bits = 0;
  for (const char c : base64) {
    if (c == '=') break;
    group = group << 6 | static_cast<uint32_t>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 0xff);
  }
  std::string text(16 << 20, '\0');
  uLongf size = text.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()),
                       bytes.size()),
            Z_OK);
  text.resize(size);
  return text;
}

}  // namespace fxjit::testing_page
