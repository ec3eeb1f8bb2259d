// Models whose files name sizes: the first call is traced with these names, and
// calls of other sizes give the same bits whatever came before.
#include <cstring>
#include <set>

#include "fxjit/compile.h"
#include "fxjit/fx/pytree.h"
#include "fxjit/report.h"
#include "tests/import/model_cases.h"

namespace fxjit::testing_import {
namespace TEST_FILE {

using Symbols = std::map<std::string, int64_t>;

// The sizes of the exported call by their symbols; nothing for models without
// symbols, or with formulas that others do not follow from.
std::optional<Symbols> symbols_of(const ModelCase& one) {
  Symbols symbols;
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    const pt2::Input& input = one.program.inputs[i];
    if (input.kind != pt2::Input::Kind::tensor) continue;
    for (size_t d = 0; d < input.sizes.size(); ++d) {
      const pt2::Size& size = input.sizes[d];
      if (size.fixed) continue;
      if (size.text.find_first_of("+-*/( ") != std::string::npos)
        return std::nullopt;
      symbols[size.text] = one.inputs[i].as_tensor().size(int64_t(d));
    }
  }
  if (symbols.empty()) return std::nullopt;
  return symbols;
}

// The elements of `from`, over and over.
Tensor repeated(const Tensor& from, const Dims& sizes) {
  const Tensor source = from.contiguous();
  const Tensor made = Tensor::empty(sizes, from.dtype());
  const size_t item = from.item_size();
  for (int64_t i = 0; i < made.numel(); ++i)
    std::memcpy(static_cast<char*>(made.data()) + size_t(i) * item,
                static_cast<const char*>(source.data()) +
                    size_t(i % source.numel()) * item,
                item);
  return made;
}

ValueList inputs_at(const ModelCase& one, const Symbols& sizes) {
  ValueList inputs;
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    const pt2::Input& input = one.program.inputs[i];
    if (input.kind != pt2::Input::Kind::tensor) {
      inputs.push_back(one.inputs[i]);
      continue;
    }
    Dims dims = one.inputs[i].as_tensor().sizes();
    for (size_t d = 0; d < input.sizes.size(); ++d)
      if (!input.sizes[d].fixed) dims[int(d)] = sizes.at(input.sizes[d].text);
    inputs.emplace_back(repeated(one.inputs[i].as_tensor(), dims));
  }
  return inputs;
}

// Sizes that the file allows and the graph computes.
std::vector<Symbols> tuples_of(const ModelCase& one, const Symbols& first) {
  std::vector<Symbols> tuples{first};
  for (const int64_t step : {1, 3, 4}) {
    Symbols sizes = first;
    for (auto& [symbol, size] : sizes) size += step;
    try {
      const auto [args, kwargs] =
          one.program.arguments_of(inputs_at(one, sizes));
      one.program.module->interpret(one.program.bind(args, kwargs));
    } catch (const Error&) {
      continue;
    }
    tuples.push_back(sizes);
  }
  return tuples;
}

struct Calls {
  std::vector<ValueList> results;  // By tuple: the leaves.
  Report report;
};

Calls called(const std::string& name, const std::vector<Symbols>& tuples,
             bool backwards) {
  const ModelCase one = read_case(name);
  CompileOptions options;
  options.threads = 1;
  options.cache_folder = "";
  compile(*one.program.module, options);
  Calls calls;
  calls.results.resize(tuples.size());
  for (size_t i = 0; i < tuples.size(); ++i) {
    const size_t at = backwards ? tuples.size() - 1 - i : i;
    const auto [args, kwargs] =
        one.program.arguments_of(inputs_at(one, tuples[at]));
    calls.results[at] = fx::tree_leaves(one.program.run(args, kwargs));
  }
  calls.report = make_report(*one.program.module);
  return calls;
}

bool same_bits(const Value& a, const Value& b) {
  if (!a.is_tensor()) return same(a, b);
  const Tensor x = a.as_tensor().contiguous(), y = b.as_tensor().contiguous();
  return x.sizes() == y.sizes() &&
         std::memcmp(x.data(), y.data(), size_t(x.numel()) * x.item_size()) ==
             0;
}

// Models that write buffers give other results in another order.
const std::set<std::string>& with_state() {
  static const std::set<std::string> names{"counter", "counter_decomposed",
                                           "stream"};
  return names;
}

// Models that ask for a number (the larger of two sizes), or stay with numbers.
// The list may only grow shorter.
const std::set<std::string>& specialised() {
  static const std::set<std::string> names{"symbols"};
  return names;
}

TEST(NamedSizes, OfFilesAreNamedInTheFirstCall) {
  int models = 0;
  for (const std::string& name : model_names()) {
    const ModelCase one = read_case(name);
    const auto symbols = symbols_of(one);
    if (!symbols || with_state().contains(name)) continue;
    const std::vector<Symbols> tuples = tuples_of(one, *symbols);
    const Calls forward = called(name, tuples, false);
    const Calls backward = called(name, tuples, true);
    ++models;
    for (size_t i = 0; i < tuples.size(); ++i)
      for (size_t k = 0; k < forward.results[i].size(); ++k)
        EXPECT_TRUE(same_bits(forward.results[i][k], backward.results[i][k]))
            << name << ", tuple " << i << ", result " << k;
    EXPECT_EQ(difference(one, forward.results[0], 2e-4), "") << name;
    bool numbers = forward.report.kinds.empty();
    for (const KindReport& kind : forward.report.kinds) {
      numbers |= !kind.why_not.empty();
      for (const GuardReport& guard : kind.guards) numbers |= guard.specialises;
    }
    EXPECT_EQ(numbers, specialised().contains(name))
        << name << "\n"
        << forward.report.text();
  }
  EXPECT_GE(models, 3);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_import
