#include <algorithm>
#include <fstream>
#include <optional>
#include <regex>
#include <set>

#include "tests/structure/rules.h"

namespace fxjit::structure {
namespace {

namespace fs = std::filesystem;
using Messages = std::vector<std::string>;

constexpr int kMaxLines = 400;
// Tables made by a script may be long: nobody reads them.
constexpr std::string_view kGenerated = "_tables.cpp";

struct Include {
  int line;
  std::string path;
  bool angled;
};

bool starts_with_any(std::string_view path,
                     const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return path.starts_with(p); });
}

// Of several boxes, the one that names the path in more letters.
const Box* box_of(std::string_view path) {
  const Box* found = nullptr;
  size_t longest = 0;
  for (const Box& box : boxes())
    for (std::string_view folder : box.folders)
      if (path.starts_with(folder) && folder.size() > longest) {
        longest = folder.size();
        found = &box;
      }
  return found;
}

// The names of `box` and of everything below it.
std::set<std::string_view> reachable(const Box& box) {
  std::set<std::string_view> names = {box.name};
  for (const Box& other : boxes()) {
    if (std::find(box.uses.begin(), box.uses.end(), other.name) !=
        box.uses.end()) {
      names.merge(reachable(other));
    }
  }
  return names;
}

// All sources of the tree, relative to `root`, sorted.
std::vector<std::string> source_files(const fs::path& root) {
  static constexpr std::string_view kTops[] = {"bench", "examples", "include",
                                               "jit",   "kernels",  "python",
                                               "src",   "tests",    "tools"};
  std::vector<std::string> files;
  for (std::string_view top : kTops) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path extension = entry.path().extension();
      if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp"))
        files.push_back(fs::relative(entry.path(), root).generic_string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Include> includes_of(const fs::path& path) {
  static const std::regex kInclude(
      R"re(\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)").*)re");
  std::vector<Include> includes;
  const std::vector<std::string> lines = read_lines(path);
  for (int i = 0; i < static_cast<int>(lines.size()); ++i) {
    std::smatch match;
    if (!std::regex_match(lines[i], match, kInclude)) continue;
    const bool angled = match[1].matched;
    includes.push_back({i + 1, match[angled ? 1 : 2].str(), angled});
  }
  return includes;
}

// Standard headers have neither a folder nor a suffix: <vector>, <cstdint>.
bool is_standard(std::string_view header) {
  return header.find_first_of("./") == std::string_view::npos;
}

// What is wrong with `file` including a header of another project or the
// system, if anything.
std::optional<std::string> check_foreign(std::string_view file,
                                         std::string_view header) {
  if (file.starts_with("include/")) {
    if (is_standard(header)) return std::nullopt;
    return "public headers include only the standard library and fxjit";
  }
  for (const Room& room : rooms()) {
    if (!header.starts_with(room.header_prefix)) continue;
    if (!starts_with_any(file, room.folders))
      return "third-party header outside its room";
  }
  return std::nullopt;
}

// What is wrong with `file`, of `box`, including our own `header`, if anything.
std::optional<std::string> check_own(std::string_view file, const Box& box,
                                     const std::string& header) {
  const bool is_public = header.starts_with("fxjit/");
  if (file.starts_with("include/") && !is_public)
    return "public headers include only the standard library and fxjit";
  if (file.starts_with("examples/") && !is_public &&
      !header.starts_with("examples/")) {
    return "examples use public headers only";
  }
  const Box* other = box_of(is_public ? "include/" + header : header);
  if (other == nullptr) {
    return "no box has this header: include from the repository's root, and "
           "give a new public header its box in tests/structure/rules.cpp";
  }
  if (!reachable(box).contains(other->name)) {
    return std::string(box.name) + " must not use " + std::string(other->name);
  }
  return std::nullopt;
}

}  // namespace

Messages check_includes(const fs::path& root) {
  Messages messages;
  for (const std::string& file : source_files(root)) {
    const Box* box = box_of(file);
    if (box == nullptr) {
      messages.push_back(file + ": belongs to no box of rules.cpp");
      continue;
    }
    for (const Include& include : includes_of(root / file)) {
      const auto problem = include.angled ? check_foreign(file, include.path)
                                          : check_own(file, *box, include.path);
      if (!problem) continue;
      messages.push_back(file + ":" + std::to_string(include.line) +
                         ": includes " + include.path + ": " + *problem);
    }
  }
  return messages;
}

Messages check_files(const fs::path& root) {
  Messages messages;
  for (const std::string& file : source_files(root)) {
    const std::vector<std::string> lines = read_lines(root / file);
    if (lines.size() > kMaxLines && !file.ends_with(kGenerated)) {
      messages.push_back(file + ": " + std::to_string(lines.size()) +
                         " lines, more than " + std::to_string(kMaxLines));
    }
    if (file.ends_with(".h") &&
        (lines.empty() || !lines.front().starts_with("//"))) {
      messages.push_back(file +
                         ":1: a header opens with a comment that says "
                         "what it is, who calls it, what it may not do");
    }
  }
  return messages;
}

int count_files(const fs::path& root) {
  return static_cast<int>(source_files(root).size());
}

}  // namespace fxjit::structure
