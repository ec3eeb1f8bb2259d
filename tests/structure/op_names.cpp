// Comparisons with the name of an op below src/ops: what code has to know about
// an op is a fact in the op's row, not its name.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/structure/rules.h"

namespace fxjit::structure {
namespace {

namespace fs = std::filesystem;

// Patterns look for ops by name, as whoever writes a new one expects.
constexpr std::string_view kBelow[] = {"src/passes",  "src/program",
                                       "src/weights", "src/compile",
                                       "kernels",     "jit"};
constexpr std::string_view kPatterns = "src/passes/patterns/";
constexpr std::string_view kRows = "src/ops/families";

std::string text_of(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <typename Fn>
void each_source(const fs::path& root, std::string_view folder, Fn fn) {
  if (!fs::exists(root / folder)) return;
  std::set<fs::path> sorted;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
      sorted.insert(entry.path());
  for (const fs::path& path : sorted)
    fn(fs::relative(path, root).generic_string(), text_of(path));
}

template <typename Fn>
void each_match(const std::string& text, const std::regex& regex, Fn fn) {
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end;
       ++at)
    fn(*at);
}

// The first text of every row, and of every call that makes one.
std::set<std::string> op_names(const fs::path& root) {
  static const std::regex kName(
      R"re((?:\.name = |[({]\s*)"([a-z_][a-z0-9_.]*)",)re");
  std::set<std::string> names;
  each_source(root, kRows, [&](const std::string&, const std::string& text) {
    each_match(text, kName,
               [&](const std::smatch& match) { names.insert(match[1]); });
  });
  return names;
}

struct Finding {
  size_t at;
  std::string name;
};

void find_texts(const std::string& text, const std::set<std::string>& names,
                std::vector<Finding>& found) {
  static const std::regex kTexts[] = {
      std::regex(R"re([=!]=\s*"([^"]*)")re"),
      std::regex(R"re("([^"]*)"\s*[=!]=)re"),
      std::regex(R"re(\.(?:starts_with|ends_with|find|contains|compare)\()re"
                 R"re("([^"]*)"\))re")};
  for (const std::regex& regex : kTexts)
    each_match(text, regex, [&](const std::smatch& match) {
      if (names.contains(match[1]))
        found.push_back({static_cast<size_t>(match.position()), match[1]});
    });
  static const std::regex kPart(
      R"re(name(?:\(\))?\.(?:starts_with|ends_with|find|contains)\()re"
      R"re("([a-z0-9_]+)"\))re");
  each_match(text, kPart, [&](const std::smatch& match) {
    if (!names.contains(match[1]))
      found.push_back({static_cast<size_t>(match.position()), match[1]});
  });
}

// An op that was looked up by its name, compared by address.
void find_addresses(const std::string& text, std::vector<Finding>& found) {
  static const std::regex kAtOnce(
      R"re([=!]=\s*&?(?:\w+::)*(?:get|find)_op\("([^"]*)"\))re");
  static const std::regex kNamed(
      R"re((\w+)\s*=\s*&?(?:\w+::)*(?:get|find)_op\(\s*"([^"]*)"\))re");
  each_match(text, kAtOnce, [&](const std::smatch& match) {
    found.push_back({static_cast<size_t>(match.position()), match[1]});
  });
  each_match(text, kNamed, [&](const std::smatch& match) {
    const std::string variable = match[1], op = match[2];
    const std::regex compared("[=!]=\\s*&?" + variable + "\\b");
    each_match(text, compared, [&](const std::smatch& use) {
      found.push_back({static_cast<size_t>(use.position()), op});
    });
  });
}

}  // namespace

std::vector<std::string> check_op_names(const fs::path& root) {
  const std::set<std::string> names = op_names(root);
  std::vector<std::string> messages;
  for (std::string_view folder : kBelow)
    each_source(
        root, folder, [&](const std::string& file, const std::string& text) {
          if (file.starts_with(kPatterns)) return;
          std::vector<Finding> found;
          find_texts(text, names, found);
          find_addresses(text, found);
          for (const Finding& one : found) {
            const auto end = text.begin() + static_cast<std::ptrdiff_t>(one.at);
            const auto line = std::count(text.begin(), end, '\n') + 1;
            messages.push_back(
                file + ":" + std::to_string(line) +
                ": compares with the op's name '" + one.name +
                "': what it has to know is a fact of the op's row");
          }
        });
  return messages;
}

int count_op_names(const fs::path& root) {
  return static_cast<int>(op_names(root).size());
}

}  // namespace fxjit::structure
