// Random graphs that ask for sizes, compiled: results have the same bits
// whatever sizes came before, and are those of the interpreter within rounding.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fx/pytree.h"
#include "src/compile/compiled_module.h"
#include "tests/compile/compile_testing.h"
#include "tests/sizes/both_ways.h"
#include "tests/sizes/sized_graph.h"

namespace fxjit::testing_sizes {
namespace TEST_FILE {

// Nothing where the call is refused.
std::optional<ValueList> called(fx::GraphModule& module, ValueList inputs) {
  for (Value& input : inputs) {
    checking::MemoryCopies copies;
    input = copies(input.as_tensor());
  }
  try {
    ValueList leaves = fx::tree_leaves(module.forward(inputs));
    leaves.insert(leaves.end(), inputs.begin(), inputs.end());
    checking::MemoryCopies copies;
    for (Value& leaf : leaves)
      if (leaf.is_tensor()) leaf = copies(leaf.as_tensor());
    return leaves;
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool same_bits(const Value& a, const Value& b) {
  if (!a.is_tensor() || !b.is_tensor()) return repr(a) == repr(b);
  const Tensor x = a.as_tensor().contiguous(), y = b.as_tensor().contiguous();
  return x.describe() == y.describe() &&
         std::memcmp(x.data(), y.data(), size_t(x.numel()) * x.item_size()) ==
             0;
}

// The tuples of one case: its own, larger ones and smaller ones.
std::vector<Names> tuples_of(const SizedCase& c) {
  Names present(c.naming.names.size());
  size_t at = 0;
  for (const Value& input : c.graph.inputs)
    for (const int64_t size : input.as_tensor().sizes())
      if (const int name = c.naming.name[at++]; name >= 0)
        present[size_t(name)] = size;
  std::vector<Names> tuples{present};
  for (const int64_t step : {1, 4, -1}) {
    Names names = present;
    for (int64_t& name : names) name = std::max<int64_t>(2, name + step);
    tuples.push_back(names);
  }
  return tuples;
}

using Results = std::vector<std::optional<ValueList>>;

// By tuple, of a fresh module that is called in this order.
Results results(const SizedCase& c, const std::vector<Names>& tuples,
                const std::vector<size_t>& order, const CompileOptions& options,
                size_t& kinds) {
  const testing::GraphRun run = c.graph.run();
  compile(*run.module, options);
  Results found(tuples.size());
  for (const size_t i : order)
    found[i] =
        called(*run.module, inputs_at(c.graph.inputs, c.naming, tuples[i]));
  kinds += compiled_module(*run.module)->kinds();
  return found;
}

// Such a graph gives other results in another order.
bool writes_constants(const SizedCase& c) {
  const testing::GraphRun run = c.graph.run();
  run.module->interpret(run.inputs);
  for (const Value& constant : run.constants) {
    bool same = false;
    for (const auto& [name, value] : c.graph.constants)
      same |= same_bits(constant, value);
    if (!same) return true;
  }
  return false;
}

std::string failure(uint32_t seed, size_t& kinds) {
  const auto c = sized_graph(seed);
  if (!c || writes_constants(*c)) return "";
  const std::vector<Names> tuples = tuples_of(*c);
  CompileOptions options = testing::quick();
  options.strict_sums = seed % 4 == 0;
  size_t none = 0;
  const Results forward = results(*c, tuples, {0, 1, 2, 3}, options, kinds);
  const Results other = results(*c, tuples, {3, 2, 0, 1}, options, none);
  for (size_t i = 0; i < tuples.size(); ++i) {
    const Results lone = results(*c, tuples, {i}, options, none);
    for (const Results* const each : {&forward, &other}) {
      const auto &got = (*each)[i], &alone = lone[i];
      if (got.has_value() != alone.has_value())
        return "tuple " + std::to_string(i) + " is refused in one order";
      for (size_t k = 0; alone && k < alone->size(); ++k)
        if (!same_bits((*got)[k], (*alone)[k]))
          return "tuple " + std::to_string(i) + ", result " +
                 std::to_string(k) + ": " +
                 testing::value_difference((*got)[k], (*alone)[k], 0, 0);
    }
  }
  return "";
}

// The passes compute what follows from sizes: in the first call, which is made
// of numbers, and in those of a kind.
TEST(SizedGraphs, PositionsHaveTheSameBitsInAllCalls) {
  const auto made = [] {
    const auto gm = fx::symbolic_trace(
        [](Value x) { return x + tanh(arange(method(x, "size", {1})) * 0.37); },
        {"x"}, "positions");
    compile(*gm, testing::quick());
    return gm;
  };
  const auto all = made();
  for (int64_t length = 9; length < 40; length += 3) {
    const ValueList inputs{Tensor::zeros({2, length})};
    EXPECT_TRUE(same_bits(all->forward(inputs), made()->forward(inputs)))
        << length;
  }
  EXPECT_EQ(compiled_module(*all)->kinds(), 1U);
}

TEST(SizedGraphs, GiveTheSameBitsInAnyOrderOfCalls) {
  const char* const count = std::getenv("FXJIT_SIZED_RESULTS");
  const char* const first = std::getenv("FXJIT_RANDOM_SEED");
  size_t kinds = 0;
  int failures = 0;
  for (int i = 0; i < (count ? std::atoi(count) : 40); ++i) {
    const uint32_t seed = static_cast<uint32_t>(i + (first ? atoi(first) : 1));
    const std::string text = failure(seed, kinds);
    if (text.empty()) continue;
    ADD_FAILURE() << "seed " << seed << ": " << text << "\n"
                  << sized_graph(seed)->graph.str();
    if (++failures == 5) break;
  }
  EXPECT_GT(kinds, 10U);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_sizes
