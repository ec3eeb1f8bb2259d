#include "tests/sizes/sized_graph.h"

#include <cstring>
#include <set>

#include "src/tensor/memory_order.h"
#include "tests/compile/graph_writes.h"

namespace fxjit::testing_sizes {
namespace {

using testing::Item;

class SizedGraph : public testing::WritingCalls {
 public:
  explicit SizedGraph(uint32_t seed) : WritingCalls(seed) {
    writes_ = chance(0.3);
    makes_ = chance(0.7);
    weights_named_ = chance(0.3);
  }

  std::optional<SizedCase> run() {
    const int64_t inputs = 1 + pick(3);
    for (int64_t i = 0; i < inputs; ++i) {
      const Dims sizes =
          random_sizes();  // Compilers order arguments otherwise.
      add_input(sizes, chance(0.9) ? DType::f32 : random_dtype());
    }
    const int64_t calls = 4 + pick(10);
    for (int64_t i = 0, tries = 0; i < calls && tries < 200; ++tries)
      i += grow();
    finish();
    keep_computed_results();
    for (Value& input : case_.inputs)
      if (input.is_tensor() && !is_dense(input.as_tensor()))
        input = input.as_tensor().contiguous();
    SizeNaming naming = name_sizes();
    if (naming.names.empty()) return std::nullopt;
    return SizedCase{std::move(case_), std::move(naming), writes_};
  }

 private:
  bool grow() {
    if (writes_ && chance(0.15)) return write_something();
    const int64_t dice = pick(120);
    if (dice < 35) return by_sizes();
    if (dice < 47) return unary();
    if (dice < 60) return binary();
    if (dice < 68) return reduce();
    if (dice < 76) return norm();
    if (dice < 84) return product();
    if (dice < 88) return view();
    if (dice < 91) return choose();
    if (dice < 94) return pick_rows();
    if (dice < 96) return cast();
    if (dice < 99) return unusual();
    if (dice < 107) return layer();
    // Pieces of what follows from sizes are views of it, or constants.
    if (dice < 109) return !makes_ && pieces();
    if (dice < 111) return composite();
    if (dice < 112) return sort();
    if (dice < 116) return alias();
    return turned();
  }

  // A number of a graph, and the nodes that compute it of sizes.
  struct Length {
    int64_t number;
    std::function<Value()> node;
  };

  Length length(const Item& x, int d) {
    return {x.value.size(d), [this, x, d]() -> Value {
              return case_.graph->call_method("size", {x.node, int64_t{d}});
            }};
  }
  Length product_of(Length a, Length b) {
    return {a.number * b.number, [this, a, b]() -> Value {
              return case_.graph->call_function("_operator.mul",
                                                {a.node(), b.node()});
            }};
  }
  Length quotient_of(Length a, int64_t by) {
    return {a.number / by, [this, a, by]() -> Value {
              return case_.graph->call_function("_operator.floordiv",
                                                {a.node(), by});
            }};
  }
  Length less(Length a, int64_t by) {
    return {a.number - by, [this, a, by]() -> Value {
              return case_.graph->call_function("_operator.sub",
                                                {a.node(), by});
            }};
  }
  static Length fixed(int64_t number) {
    return {number, [number]() -> Value { return number; }};
  }
  std::vector<Length> lengths(const Item& x) {
    std::vector<Length> all;
    for (int d = 0; d < x.value.dim(); ++d) all.push_back(length(x, d));
    return all;
  }

  // Calls with the numbers, and has the node take their sizes for argument
  // `at`, a list or one number.
  bool call_by(std::string_view name, ValueList args, size_t at,
               const std::vector<Length>& sizes, bool list = true) {
    const auto filled = [&](auto&& of) -> Value {
      if (!list) return of(sizes[0]);
      ValueList values;
      for (const Length& size : sizes) values.push_back(of(size));
      return Value::list(values);
    };
    args.at(at) = filled([](const Length& size) { return Value(size.number); });
    if (!call(name, std::move(args))) return false;
    const fx::NodePtr node = items_.back().node;
    const auto place = case_.graph->inserting_before(node);
    node->set_arg(at, filled([](const Length& size) { return size.node(); }));
    return true;
  }

  bool by_sizes() {
    const Item x = any();
    const int rank = x.value.dim();
    if (rank == 0 || x.value.numel() == 0) return false;
    const int d = static_cast<int>(pick(rank));
    std::vector<Length> sizes = lengths(x);
    switch (pick(makes_ ? 12 : 9)) {
      case 0:
      case 1: {  // Two dims become one.
        if (rank < 2) return false;
        const auto at = static_cast<size_t>(pick(rank - 1));
        sizes[at] = product_of(sizes[at], sizes[at + 1]);
        sizes.erase(sizes.begin() + static_cast<int64_t>(at) + 1);
        return call_by(one_of({"reshape", "reshape", ".view"}), {x.node, None},
                       1, sizes);
      }
      case 2: {  // One dim becomes two.
        const int64_t by = one_of<int64_t>({2, 2, 3, 4});
        if (x.value.size(d) % by != 0 || rank > 4) return false;
        sizes[static_cast<size_t>(d)] = quotient_of(length(x, d), by);
        sizes.insert(sizes.begin() + d + pick(2), fixed(by));
        return call_by("reshape", {x.node, None}, 1, sizes);
      }
      case 3:
        return call_by("reshape", {x.node, None}, 1, {sizes[0], fixed(-1)});
      case 4: {  // Another dim in front.
        if (rank > 4) return false;
        const Item like = any();
        if (like.value.dim() == 0) return false;
        sizes.insert(sizes.begin(), length(like, 0));
        return call_by("expand", {x.node, None}, 1, sizes);
      }
      case 5:
        return x.value.size(d) > 1 &&
               call_by("aten.slice.Tensor", {x.node, d, 0, None, 1}, 3,
                       {less(length(x, d), 1)}, false);
      case 6:
        return x.value.size(d) > 1 &&
               call_by("narrow", {x.node, d, 0, None}, 3,
                       {quotient_of(length(x, d), 2)}, false);
      case 7:
        return testing::is_float(x.value) &&
               call_by("div", {x.node, None}, 1, {length(x, d)}, false);
      case 8: {
        if (rank > 3) return false;
        std::vector<Length> times(static_cast<size_t>(rank), fixed(1));
        times.insert(times.begin(), length(x, d));
        return x.value.size(d) < 6 &&
               call_by(".repeat", {x.node, None}, 1, times);
      }
      case 9:  // Positions, as models of text add them.
        if (chance(0.5))
          return call_by("arange", {None}, 0, {length(x, rank - 1)}, false) &&
                 call("mul", {items_.back().node, 0.37}) &&
                 call(one_of({"sin", "exp", "tanh"}), {items_.back().node}) &&
                 call("add", {x.node, items_.back().node});
        return call_by("arange", {None}, 0, {length(x, rank - 1)}, false) &&
               call("add", {x.node, items_.back().node});
      case 10:
        return call_by(one_of({"zeros", "ones"}), {None}, 0, sizes) &&
               call("cat", {Value::list({x.node, items_.back().node}), d});
      default:
        return x.node->is(fx::Opcode::placeholder) &&
               call_by("ones", {None}, 0,
                       {length(x, rank - 1), length(x, rank - 1)}) &&
               call(one_of({"tril", "triu"}), {items_.back().node}) &&
               call("mul", {items_.back().node, x.node});
    }
  }

  // Without results that follow from sizes alone: whole views of them are one
  // constant with them, or constants of their own.
  void keep_computed_results() {
    std::set<const fx::Node*> computed;
    for (const fx::NodePtr node : case_.graph->nodes()) {
      bool reads =
          node->is(fx::Opcode::placeholder) || node->is(fx::Opcode::get_attr);
      for (const fx::NodePtr input : node->all_input_nodes())
        reads |= computed.contains(input.get());
      const bool size =
          node->is(fx::Opcode::call_method) && node->target_name() == "size";
      if (reads && !size) computed.insert(node.get());
    }
    const fx::NodePtr output = case_.graph->output_node();
    ValueList kept;
    for (const Value& result : output->arg(0).as_sequence())
      if (computed.contains(result.as_node())) kept.push_back(result);
    if (!kept.empty()) output->set_arg(0, Value::tuple(std::move(kept)));
  }

  // Sizes of weights stay numbers, mostly, and so do those equal to them.
  SizeNaming name_sizes() {
    std::set<int64_t> fixed;
    if (!weights_named_)
      for (const auto& [name, value] : case_.constants)
        for (const int64_t size : value.sizes()) fixed.insert(size);
    SizeNaming naming;
    std::map<int64_t, int> names;
    for (const Value& input : case_.inputs)
      for (const int64_t size : input.as_tensor().sizes()) {
        naming.name.push_back(-1);
        if (size < 2 || fixed.contains(size)) continue;
        const auto [at, fresh] =
            names.emplace(size, static_cast<int>(names.size()));
        naming.name.back() = at->second;
        if (fresh) naming.names.push_back({"n" + std::to_string(size), 2, {}});
      }
    return naming;
  }

  bool writes_ = false, makes_ = false, weights_named_ = false;
};

Tensor repeated(const Tensor& from, const Dims& sizes) {
  if (sizes == from.sizes()) return from;
  const Tensor source = from.contiguous();
  const Tensor made =
      Tensor::empty(sizes, from.dtype())
          .as_strided(sizes, strides_in_order(sizes, memory_order(from)), 0);
  const Tensor flat = Tensor::empty({made.numel()}, from.dtype());
  const size_t item = from.item_size();
  for (int64_t i = 0; i < flat.numel(); ++i)
    std::memcpy(static_cast<char*>(flat.data()) + size_t(i) * item,
                static_cast<const char*>(source.data()) +
                    size_t(i % source.numel()) * item,
                item);
  made.copy_from(flat.as_strided(sizes, contiguous_strides(sizes), 0));
  return made;
}

}  // namespace

std::optional<SizedCase> sized_graph(uint32_t seed) {
  return SizedGraph(seed).run();
}

ValueList inputs_at(const ValueList& inputs, const SizeNaming& naming,
                    const std::vector<int64_t>& names) {
  ValueList made;
  size_t next = 0;
  for (const Value& input : inputs) {
    Dims sizes = input.as_tensor().sizes();
    for (Size& size : sizes)
      if (const int name = naming.name[next++]; name >= 0)
        size = names[size_t(name)];
    made.emplace_back(repeated(input.as_tensor(), sizes));
  }
  return made;
}

}  // namespace fxjit::testing_sizes
