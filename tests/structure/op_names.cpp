// Comparisons with the name of an op below src/ops: what code has to know about
// an op is a fact in the op's row, not its name. The same holds for functions
// and methods of Python with a row in src/ops/python and for whatever is named
// with its module, as "builtins.len". Names that have no row are free: Python's
// keywords, attributes of tensors ("shape"), names of parameters, and a module
// alone ("_operator.").
#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/structure/rules.h"

namespace fxjit::structure {
namespace {

namespace fs = std::filesystem;

// Where a text that is an op's name means the op.
constexpr std::string_view kBelow[] = {
    "src/passes", "src/program", "src/weights", "src/compile",
    "src/bind",   "kernels",     "jit"};
// Where graphs are written as users write them, by functions and methods. Names
// that are neither may be Python's own.
constexpr std::string_view kGraphs = "src/fx";
// Where it may as well be a mode of a layer or an attribute of a file: only
// what is known to be an op's name is looked for.
constexpr std::string_view kBeside[] = {"src/nn", "src/import"};
// Patterns look for ops by name, as whoever writes a new one expects. The tool
// box for users speaks of ops by their names.
constexpr std::string_view kFree[] = {"src/passes/patterns/", "src/fx/passes/"};
constexpr std::string_view kRows = "src/ops/families";
constexpr std::string_view kPythonRows = "src/ops/python";

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

using Names = std::set<std::string>;

void add_names(const fs::path& root, std::string_view folder,
               const std::regex& regex, Names& names) {
  each_source(root, folder, [&](const std::string&, const std::string& text) {
    each_match(text, regex,
               [&](const std::smatch& match) { names.insert(match[1]); });
  });
}

// The first text of every row, and of every call that makes one.
Names op_names(const fs::path& root) {
  static const std::regex kName(
      R"re((?:\.name = |[({]\s*)"([a-z_][a-z0-9_.]*)",)re");
  Names names;
  add_names(root, kRows, kName, names);
  return names;
}

// The methods among the names of rows, and the rows of Python's functions and
// methods.
Names called_names(const fs::path& root) {
  static const std::regex kMethod(R"re([" ]\.([a-zA-Z_]\w*)!?(?=[" ](?!=)))re");
  static const std::regex kPython(
      R"re((?:\{|string_view \w+ =)\s*"([a-zA-Z_]\w*)"[,;])re");
  Names names;
  add_names(root, kRows, kMethod, names);
  add_names(root, kPythonRows, kPython, names);
  return names;
}

// A function with its module: "_operator.add", "torch.nn.functional.gelu".
bool is_qualified(const std::string& text) {
  static const std::regex kQualified(
      R"re((?:_?operator|builtins|math|torch|aten|F)(?:\.\w+)+)re");
  return std::regex_match(text, kQualified);
}

struct Finding {
  size_t at;
  std::string name;
};

void find_texts(const std::string& text, const Names& names,
                std::vector<Finding>& found) {
  static const std::regex kTexts[] = {
      std::regex(R"re([=!]=\s*"([^"\n]*)")re"),
      std::regex(R"re("([^"\n]*)"\s*[=!]=)re"),
      std::regex(R"re(\.(?:ends_with|find|contains|compare)\()re"
                 R"re("([^"\n]*)"\))re"),
      // But for what all functions of a kind begin with: "torch.sym_".
      std::regex(R"re(\.starts_with\("(?!torch\.\w+_")([^"\n]*)"\))re")};
  for (const std::regex& regex : kTexts)
    each_match(text, regex, [&](const std::smatch& match) {
      if (names.contains(match[1]) || is_qualified(match[1]))
        found.push_back({static_cast<size_t>(match.position()), match[1]});
    });
}

// A part of a name.
void find_parts(const std::string& text, const Names& names,
                std::vector<Finding>& found) {
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
      R"re([=!]=\s*&?(?:\w+::)*(?:get|find)_op\("([^"\n]*)"\))re");
  static const std::regex kNamed(
      R"re((\w+)\s*=\s*&?(?:\w+::)*(?:get|find)_op\(\s*"([^"\n]*)"\))re");
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

// What gives an op's name: "op.name()", "node->called_op()->name()".
constexpr char kOpName[] = R"re(\w*op_?(?:\(\))?(?:\.|->)name\(\))re";

// A table of this code's own that is searched by the name of an op.
void find_tables(const std::string& text, std::vector<Finding>& found) {
  static const std::regex kSearched(
      R"re(\b(?:find|contains|count|at)\(\s*(?:(k\w+),\s*)?[\w.>()-]*?)re" +
      std::string(kOpName));
  each_match(text, kSearched, [&](const std::smatch& match) {
    const std::string table = match[1].matched ? match[1].str() : "a table";
    found.push_back({static_cast<size_t>(match.position()), table});
  });
}

// An op's name, or a variable that holds one, compared with a text.
void find_compared(const std::string& text, std::vector<Finding>& found) {
  std::set<std::string> held{kOpName};
  static const std::regex kHolds(R"re((\w+)\s*=\s*[\w.>()-]*?)re" +
                                 std::string(kOpName) + ";");
  each_match(text, kHolds, [&](const std::smatch& match) {
    held.insert("\\b" + match[1].str() + "\\b");
  });
  for (const std::string& name : held)
    for (const std::string& form :
         {name + R"re(\s*[=!]=\s*"([^"\n]*)")re",
          R"re("([^"\n]*)"\s*[=!]=\s*[\w.>()-]*?)re" + name,
          name + R"re(\.(?:starts_with|ends_with|find|contains)\()re" +
              R"re("([^"\n]*)"\))re"})
      each_match(text, std::regex(form), [&](const std::smatch& match) {
        found.push_back({static_cast<size_t>(match.position()), match[1]});
      });
}

void add_messages(const std::string& file, const std::string& text,
                  const std::vector<Finding>& found,
                  std::vector<std::string>& messages) {
  for (const Finding& one : found) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(one.at);
    const auto line = std::count(text.begin(), end, '\n') + 1;
    messages.push_back(file + ":" + std::to_string(line) +
                       ": compares with the op's name '" + one.name +
                       "': what it has to know is a fact of the op's row");
  }
}

template <typename Find>
void check_folder(const fs::path& root, std::string_view folder, Find find,
                  std::vector<std::string>& messages) {
  each_source(root, folder,
              [&](const std::string& file, const std::string& text) {
                for (std::string_view free : kFree)
                  if (file.starts_with(free)) return;
                std::vector<Finding> found;
                find(text, found);
                find_tables(text, found);
                add_messages(file, text, found, messages);
              });
}

}  // namespace

std::vector<std::string> check_op_names(const fs::path& root) {
  const Names called = called_names(root);
  Names names = op_names(root);
  names.insert(called.begin(), called.end());
  std::vector<std::string> messages;
  const auto any_text = [&](const std::string& text,
                            std::vector<Finding>& found) {
    find_texts(text, names, found);
    find_parts(text, names, found);
    find_addresses(text, found);
  };
  const auto calls = [&](const std::string& text, std::vector<Finding>& found) {
    find_texts(text, called, found);
    find_compared(text, found);
    find_addresses(text, found);
  };
  const auto known_names = [](const std::string& text,
                              std::vector<Finding>& found) {
    find_compared(text, found);
    find_addresses(text, found);
  };
  for (std::string_view folder : kBelow)
    check_folder(root, folder, any_text, messages);
  check_folder(root, kGraphs, calls, messages);
  for (std::string_view folder : kBeside)
    check_folder(root, folder, known_names, messages);
  return messages;
}

int count_op_names(const fs::path& root) {
  return static_cast<int>(op_names(root).size());
}

}  // namespace fxjit::structure
