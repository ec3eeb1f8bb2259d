// docs/torch_fx_names.md, which make_names.py writes, names cases that exist
// and leaves no name without a case or a reason.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/mirror/expected_file.h"

namespace fxjit::mirror {
namespace TEST_FILE {

struct Row {
  std::string name;
  std::string cases;
};

// The rows of the page's tables of names, up to the modules left out.
std::vector<Row> rows_of_page() {
  std::ifstream page(FXJIT_SOURCE_DIR "/docs/torch_fx_names.md");
  const std::regex row("\\| `([^`]+)` \\| (.*) \\|");
  std::vector<Row> rows;
  for (std::string line; std::getline(page, line);) {
    if (line == "## Modules without a counterpart") break;
    std::smatch found;
    if (std::regex_match(line, found, row)) rows.push_back({found[1], found[2]});
  }
  return rows;
}

bool is_case(const std::string& name) {
  const size_t dot = name.find('.');
  const std::string area = name.substr(0, dot);
  for (const std::string& known : expected_areas())
    if (known == area)
      return read_expected(area).contains(name.substr(dot + 1));
  return false;
}

TEST(MirrorNames, ThePageHasTheNamesOfTorch) {
  const std::vector<Row> rows = rows_of_page();
  EXPECT_GT(rows.size(), 400u);
  std::set<std::string> names;
  for (const Row& row : rows) names.insert(row.name);
  for (const char* name : {"Graph.lint", "Node.args", "Tracer.trace",
                           "Interpreter.run_node", "split_module"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(MirrorNames, CasesExistAndOtherNamesHaveReasons) {
  const std::regex word("\\b([a-z0-9_]+\\.[a-z0-9_]+)\\b");
  std::set<std::string> known;
  for (const Row& row : rows_of_page()) {
    if (row.cases.starts_with("none: ")) {
      EXPECT_GT(row.cases.size(), std::string("none: ").size()) << row.name;
      continue;
    }
    std::sregex_iterator at(row.cases.begin(), row.cases.end(), word), end;
    EXPECT_NE(at, end) << row.name << " has neither a case nor a reason";
    for (; at != end; ++at)
      if (known.insert((*at)[1]).second)
        EXPECT_TRUE(is_case((*at)[1])) << row.name << ": " << (*at)[1];
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
