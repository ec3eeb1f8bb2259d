#include "src/import/onnx/op_rows.h"

#include <map>

#include "fxjit/functions.h"
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

using Key = std::pair<std::string_view, std::string_view>;
using Table = std::map<Key, std::map<int64_t, const OpRow*>>;

const Table& table() {
  static const Table made = [] {
    Table table;
    for (const auto& family : families())
      for (const OpRow& row : family)
        table[{row.domain, row.op}].emplace(row.since, &row);
    return table;
  }();
  return made;
}

}  // namespace

std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

const OpRow* find_row(std::string_view domain, std::string_view op,
                      int64_t opset) {
  const auto found = table().find({plain_domain(domain), op});
  if (found == table().end()) return nullptr;
  auto row = found->second.upper_bound(opset);
  if (row == found->second.begin()) return nullptr;
  return std::prev(row)->second;
}

bool has_rows(std::string_view domain, std::string_view op) {
  return table().contains({plain_domain(domain), op});
}

Results run_row(const OpRow& row, Call& call) {
  if (row.run) return row.run(call);
  return function(row.function, call.all());
}

}  // namespace fxjit::onnx
