#include "tests/sizes/both_ways.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "src/compile/graph_parts.h"
#include "src/program/text/text.h"

namespace fxjit::testing_sizes {
namespace {

using ByNode = std::map<const fx::Node*, const Value*>;

ByNode by_node(const fx::Graph& graph, const ValueList& values) {
  ByNode found;
  const std::vector<fx::NodePtr> placeholders = graph.placeholders();
  for (size_t i = 0; i < values.size(); ++i)
    found[placeholders[i]] = &values[i];
  return found;
}

std::string text_of(const Names& names) {
  std::string text;
  for (const int64_t name : names) text += " " + std::to_string(name);
  return text;
}

// Where two texts differ first, with what stands around.
std::string first_difference(const std::string& a, const std::string& b) {
  constexpr size_t kBefore = 300, kAfter = 300;
  const auto at =
      static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const size_t from = at - std::min(at, kBefore);
  return "\n< " + a.substr(from, kBefore + kAfter) + "\n> " +
         b.substr(from, kBefore + kAfter);
}

std::string constants_difference(const program::Constants& got,
                                 const program::Constants& expected) {
  if (got.tensors.size() != expected.tensors.size() ||
      got.bodies.size() != expected.bodies.size())
    return "another number of constants";
  for (size_t i = 0; i < got.tensors.size(); ++i) {
    const Tensor a = got.tensors[i].contiguous();
    const Tensor b = expected.tensors[i].contiguous();
    if (a.describe() != b.describe() ||
        std::memcmp(a.data(), b.data(), size_t(a.numel()) * a.item_size()) != 0)
      return "constant " + std::to_string(i) + ": " + a.describe() + ", not " +
             b.describe();
  }
  for (size_t i = 0; i < got.bodies.size(); ++i)
    if (const std::string text =
            constants_difference(got.bodies[i], expected.bodies[i]);
        !text.empty())
      return text;
  return "";
}

// Sizes around those at which choices change.
const std::vector<int64_t>& grid() {
  static const std::vector<int64_t> sizes = [] {
    std::vector<int64_t> made;
    for (int64_t n = 2; n <= 40; ++n) made.push_back(n);
    for (const int64_t n : {48, 64, 96, 128, 256, 512})
      for (const int64_t step : {-1, 0, 1}) made.push_back(n + step);
    return made;
  }();
  return sizes;
}

// The tuples to compare at: neighbours of which one breaks a guard alone.
class Tuples {
 public:
  Tuples(const SizeTable& table, const SizeNaming& naming, Names present,
         double growth)
      : table_(table),
        naming_(naming),
        present_(std::move(present)),
        growth_(growth) {}

  // In random order, the kind's own first.
  std::vector<Names> some(int most, uint32_t seed, Seen& seen) {
    for (size_t name = 0; name < present_.size(); ++name) walk(name);
    seen.guards += static_cast<int>(table_.guards().size());
    seen.broken += static_cast<int>(broken_.size());
    std::mt19937 random(seed);
    for (int i = 0; i < 2; ++i) {
      Names any = present_;
      for (size_t name = 0; name < any.size(); ++name) {
        any[name] = grid()[random() % grid().size()];
        if (!in_range(name, any[name])) any[name] = present_[name];
      }
      add(any);
    }
    std::shuffle(found_.begin(), found_.end(), random);
    std::erase(found_, present_);
    found_.insert(found_.begin(), present_);
    if (found_.size() > size_t(most)) found_.resize(size_t(most));
    return found_;
  }

 private:
  bool in_range(size_t name, int64_t size) const {
    const NamedSize& of = naming_.names[name];
    return size >= of.least && (!of.most || size <= *of.most);
  }

  // Tensors that follow from sizes are made, and a size may be several of their
  // dims.
  bool is_large(const Names& names) const {
    double growth = 1;
    for (size_t i = 0; i < names.size(); ++i)
      growth *= std::max(1.0, double(names[i]) / double(present_[i]));
    return growth > growth_;
  }

  // The others as they are.
  void walk(size_t name) {
    std::optional<Names> last;  // That the kind takes.
    const SizeGuard* failed = nullptr;
    Names names = present_, before = present_;
    for (const int64_t size : grid()) {
      if (!in_range(name, size)) continue;
      names[name] = size;
      const SizeGuard* const failing = table_.failing(names);
      if (failing && failing != failed && broken_.insert(failing).second) {
        if (last) add(*last);
        add(names);
      }
      if (!failing && failed) add(names);
      failed = failing;
      if (!failing) last = names;
    }
    if (last) add(*last);
  }

  void add(const Names& names) {
    if (is_large(names)) return;
    if (std::ranges::find(found_, names) == found_.end())
      found_.push_back(names);
  }

  const SizeTable& table_;
  const SizeNaming& naming_;
  const Names present_;
  const double growth_;
  std::vector<Names> found_;
  std::set<const SizeGuard*> broken_;
};

}  // namespace

BothWays::BothWays(const fx::GraphModule& module, const ValueList& inputs,
                   SizeNaming naming, program::PlanOptions options)
    : module_(module),
      values_(inputs),
      naming_(std::move(naming)),
      inputs_(sizes_of(inputs, {}).value()),
      options_(std::move(options)) {
  options_.folded = std::make_shared<passes::FoldedWeights>();
}

std::vector<int64_t> BothWays::sizes_at(const Names& at) const {
  std::vector<int64_t> sizes = inputs_.sizes;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (naming_.name[i] >= 0) sizes[i] = at[size_t(naming_.name[i])];
  return sizes;
}

std::optional<program::Plan> BothWays::of_numbers(const Names& at) {
  SizeTable none;
  const SizeNaming numbers{std::vector<int>(inputs_.sizes.size(), -1), {}};
  const ValueList values = named_inputs(values_, numbers, sizes_at(at), none);
  const ByNode known = by_node(module_.graph(), values);
  try {
    GraphParts parts(module_);
    passes::Part part = parts.take(
        nullptr,
        [&](const fx::Node& node) -> const Value& { return *known.at(&node); },
        [] {});
    if (part.stop) return std::nullopt;
    part.model.folded = options_.folded;
    return program::plan(
        passes::run_pipeline(std::move(part.model), options_.pipeline),
        options_);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::unique_ptr<passes::NamedGraph> BothWays::kind(const Names& at) {
  auto table = std::make_unique<SizeTable>();
  const SizeTable::Scope scope(*table);
  const ValueList values = named_inputs(values_, naming_, sizes_at(at), *table);
  const ByNode known = by_node(module_.graph(), values);
  const GraphParts parts(module_);
  std::optional<passes::Part> part = parts.take_named(
      nullptr,
      [&](const fx::Node& node) -> const Value& { return *known.at(&node); });
  if (!part) throw NotImplementedError("the graph of names ends elsewhere");
  part->model.folded = options_.folded;
  return std::make_unique<passes::NamedGraph>(
      passes::run_pipeline(std::move(part->model), options_.pipeline),
      std::move(table));
}

std::optional<program::Plan> BothWays::of_kind(passes::NamedGraph& kind,
                                               const Names& at) {
  const passes::ModelGraph* const model = kind.at(at);
  if (!model) return std::nullopt;
  return program::plan(*model, options_);
}

program::PlanOptions plan_options(CpuLevel level, int threads,
                                  bool strict_sums) {
  program::PlanOptions options;
  options.machine.level = level;
  options.machine.threads = threads;
  options.strict_sums = strict_sums;
  options.pipeline = program::passes_for(options.machine);
  options.pipeline.strict_sums = strict_sums;
  options.pipeline.direct_convolutions = strict_sums;
  if (strict_sums) options.pipeline.recurrent.reset();
  return options;
}

std::string difference(const program::Plan& got,
                       const program::Plan& expected) {
  if (!(got.program == expected.program))
    return "programs differ in " +
           first_difference(program::write_text(got.program),
                            program::write_text(expected.program));
  return constants_difference(got.constants, expected.constants);
}

std::string compare(BothWays& ways, int most, double growth, uint32_t seed,
                    Seen& seen) {
  const Names present = ways.present();
  if (!ways.of_numbers(present)) return "";
  const auto kind = ways.kind(present);
  Tuples tuples(kind->table(), ways.naming(), present, growth);
  for (const Names& at : tuples.some(most, seed, seen)) {
    const auto fail = [&](const std::string& what) {
      return "sizes" + text_of(at) + " of a kind made at" + text_of(present) +
             ": " + what;
    };
    const auto expected = ways.of_numbers(at);
    auto got = ways.of_kind(*kind, at);
    if (got && !expected) return fail("the kind takes what numbers refuse");
    if (!expected) continue;
    ++(got ? seen.tuples : seen.refused);
    if (!got) got = ways.of_kind(*ways.kind(at), at);
    if (!got) return fail("refused by a kind of its own");
    if (const std::string text = difference(*got, *expected); !text.empty())
      return fail(text);
  }
  return "";
}

}  // namespace fxjit::testing_sizes
