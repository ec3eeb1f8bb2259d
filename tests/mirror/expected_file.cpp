#include "tests/mirror/expected_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace fxjit::mirror {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(FXJIT_SOURCE_DIR) / "tests/mirror/expected";

}  // namespace

std::string area_of(const std::string& suite) {
  std::string area;
  for (char c : suite) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isupper(byte) && !area.empty()) area += '_';
    area += static_cast<char>(std::tolower(byte));
  }
  return area;
}

std::vector<std::string> expected_areas() {
  std::vector<std::string> areas;
  for (const auto& entry : fs::directory_iterator(kFolder))
    areas.push_back(entry.path().stem().string());
  std::sort(areas.begin(), areas.end());
  return areas;
}

ExpectedCases read_expected(const std::string& area) {
  const fs::path path = kFolder / (area + ".txt");
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  ExpectedCases cases;
  std::vector<Section>* sections = nullptr;
  bool empty = true;  // The section has no line yet.
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("=== ")) {
      sections = &cases[line.substr(4)];
    } else if (sections && line.starts_with("--- ")) {
      sections->push_back({line.substr(4), ""});
      empty = true;
    } else if (sections && !sections->empty() && line.starts_with("|")) {
      std::string& text = sections->back().text;
      if (!empty) text += '\n';
      text += line.substr(1);
      empty = false;
    } else if (!line.starts_with("#")) {
      throw std::runtime_error(path.string() + ": bad line: " + line);
    }
  }
  return cases;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t from = 0;
  for (size_t end; (end = text.find('\n', from)) != text.npos; from = end + 1)
    lines.push_back(text.substr(from, end - from));
  lines.push_back(text.substr(from));
  return lines;
}

}  // namespace fxjit::mirror
