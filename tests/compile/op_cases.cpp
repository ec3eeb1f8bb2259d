#include "tests/compile/op_cases.h"

#include <algorithm>

#include "tests/ops/reference.h"
#include "tests/ops/structured_reference.h"

namespace fxjit::testing {
namespace {

// A place counted from the start of memory that the caller's tensor is part of.
bool names_memory(const OpCase& c) {
  return c.op->name() == "as_strided" && c.args.size() > 3;
}

bool depends_on_data(const OpCase& c) {
  bool mask = false;
  for (size_t i = 1; i < c.args.size(); ++i)
    visit_leaves(c.args[i], [&](const Value& leaf) {
      mask |= leaf.is_tensor() && (leaf.as_tensor().dtype() == DType::boolean ||
                                   leaf.as_tensor().dtype() == DType::u8);
    });
  const std::string_view name = c.op->name();
  return depends_on_data_always(name) ||
         (mask &&
          (name == "index" || (name == "getitem" && c.args[1].is_tensor()))) ||
         (name == "one_hot" && c.args.size() == 1) ||
         (name == "repeat_interleave" && c.args.size() > 1 &&
          c.args[1].is_tensor());
}

std::vector<OpCase> read() {
  std::vector<OpCase> all;
  for (ReferenceCase& c : read_reference("elementwise_reference.txt"))
    all.push_back({&ops::get_op(c.op), c.op + " " + c.text, c.args, c.kwargs,
                   c.expected});
  for (StructuredCase& c :
       read_structured_reference("structured_reference.txt"))
    if (c.kind != StructuredCase::Kind::failure)
      all.push_back({&ops::get_op(c.op), c.op + " " + c.text, c.args, c.kwargs,
                     c.expected});
  std::erase_if(all, [](const OpCase& c) {
    const std::vector<Value> args = ops::bind(*c.op, c.args, c.kwargs);
    return ops::writes_input({*c.op, args});
  });
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.op->name() < b.op->name();
  });
  return all;
}

std::vector<OpCase> select(bool compiled) {
  std::vector<OpCase> cases = read();
  std::erase_if(cases, [&](const OpCase& c) {
    return compiled == (depends_on_data(c) || names_memory(c));
  });
  return cases;
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const auto* const cases = new std::vector<OpCase>(select(true));
  return *cases;
}

const std::vector<OpCase>& uncompiled_cases() {
  static const auto* const cases = new std::vector<OpCase>(select(false));
  return *cases;
}

const std::vector<OpCase>& random_cases() {
  static const auto* const cases = [] {
    auto* const all = new std::vector<OpCase>;
    for (StructuredCase& c : read_structured_reference("random_reference.txt"))
      if (c.kind != StructuredCase::Kind::failure)
        all->push_back({&ops::get_op(c.op), c.op + " " + c.text, c.args,
                        c.kwargs, c.expected.at(0)});
    std::erase_if(*all, [](const OpCase& c) {
      const std::vector<Value> args = ops::bind(*c.op, c.args, c.kwargs);
      return ops::writes_input({*c.op, args});
    });
    return all;
  }();
  return *cases;
}

std::string case_node(size_t i) { return "case" + std::to_string(i) + "_"; }

CaseGraph graph_of(std::span<const OpCase> cases) {
  CaseGraph made;
  auto graph = std::make_unique<fx::Graph>();
  const auto to_input = [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    made.inputs.push_back(leaf);
    return graph->placeholder("x" + std::to_string(made.inputs.size()));
  };
  std::vector<ValueList> args(cases.size());
  std::vector<Kwargs> kwargs(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    for (const Value& arg : cases[i].args)
      args[i].push_back(map_leaves(arg, to_input));
    for (const auto& [name, arg] : cases[i].kwargs)
      kwargs[i].emplace_back(name, map_leaves(arg, to_input));
  }
  ValueList results;
  for (size_t i = 0; i < cases.size(); ++i)
    results.push_back(graph->call_function(cases[i].op->canonical, args[i],
                                           kwargs[i], case_node(i)));
  graph->output(Value::tuple(std::move(results)));
  made.module = fx::GraphModule::create(nn::Module(), std::move(graph));
  return made;
}

}  // namespace fxjit::testing
