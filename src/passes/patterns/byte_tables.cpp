// Elementwise work on the numbers of one tensor of 8 bits becomes a table of
// its 256 results:
//
//   quantize(f(dequantize(x, s, z)), t, y)   ==>   table[x]
//
// Where the work is more than looking up takes. What else it reads is one
// number each, and constant.
#include <map>
#include <set>

#include "src/ops/table/prims.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/patterns.h"
#include "src/passes/patterns/quantised.h"

namespace fxjit::passes {
namespace {

// Fewest operations on an element that cost more than a look-up in a table.
// Cheaper work stays as it is: it may be the epilogue of a product.
constexpr int kLeastWork = 40;
constexpr int64_t kNumbers = 256;
// Smaller tensors are computed as they are.
constexpr int64_t kLeastElements = 16 * kNumbers;

bool is_byte_tensor(const fx::Node& node) {
  return node.val().is_tensor() && (node.val_tensor().dtype() == DType::u8 ||
                                    node.val_tensor().dtype() == DType::i8);
}

class ByteTables {
 public:
  explicit ByteTables(ModelGraph& model) : model_(model) {}

  int rewrite() {
    for (fx::NodePtr node : model_.graph->nodes())
      if (fx::NodePtr root = root_of(*node)) roots_[node] = root;
    std::vector<fx::NodePtr> ends;
    for (const auto& [node, root] : roots_)
      if (is_end(*node, root)) ends.push_back(node);
    std::ranges::sort(ends, {}, [](fx::NodePtr node) { return node->id(); });
    int count = 0;
    for (fx::NodePtr end : ends)
      if (replace(end)) ++count;
    if (count > 0) model_.graph->eliminate_dead_code();
    return count;
  }

 private:
  bool is_number(const fx::Node& node) const {
    return node.is(fx::Opcode::get_attr) && node.val_tensor().numel() == 1 &&
           !model_.constant(node).is_meta();
  }

  // The tensor of 8 bits that all of the node's work reads; null for others.
  fx::NodePtr root_of(const fx::Node& node) const {
    const ops::Op* const op = node.called_op();
    if (!op || op->row.lowering != ops::Lowering::scalar ||
        op->row.purity != ops::Purity::pure || !node.val().is_tensor())
      return nullptr;
    fx::NodePtr root = nullptr;
    for (fx::NodePtr input : node.all_input_nodes()) {
      if (is_number(*input)) continue;
      const auto known = roots_.find(input);
      const fx::NodePtr from = known != roots_.end()    ? known->second
                               : is_byte_tensor(*input) ? input
                                                        : nullptr;
      if (!from || (root && root != from)) return nullptr;
      root = from;
    }
    const bool fits = root && !uses_index(node) &&
                      root->val_tensor().sizes() == node.val_tensor().sizes() &&
                      node.val_tensor().numel() >= kLeastElements;
    return fits ? root : nullptr;
  }

  // Whether something else reads it.
  bool is_end(const fx::Node& node, fx::NodePtr root) const {
    for (fx::NodePtr user : node.users()) {
      const auto known = roots_.find(user);
      if (known == roots_.end() || known->second != root) return true;
    }
    return false;
  }

  int work_of(fx::NodePtr node, std::set<fx::NodePtr>& seen) const {
    if (!roots_.contains(node) || !seen.insert(node).second) return 0;
    int work = 0;
    for (const ScalarInstr& instr : body_of(*node).instrs)
      work += prim_cost(instr.prim);
    for (fx::NodePtr input : node->all_input_nodes())
      work += work_of(input, seen);
    return work;
  }

  static Tensor number_of(const Tensor& t) {
    return t.as_strided({}, {}, t.offset());
  }

  // The results of a node for all numbers of its root.
  Tensor results_of(fx::NodePtr node, std::map<fx::NodePtr, Tensor>& known) {
    if (const auto found = known.find(node); found != known.end())
      return found->second;
    if (node->is(fx::Opcode::get_attr))
      return number_of(model_.constant(*node));
    ValueList args;
    for (const Value& arg : node->args())
      args.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
        return leaf.is_node() ? Value(results_of(leaf.as_node(), known)) : leaf;
      }));
    return known[node] = ops::run_eager({*node->called_op(), args}).as_tensor();
  }

  static Tensor all_numbers(DType dtype) {
    const Tensor numbers = Tensor::empty({kNumbers}, dtype);
    for (int64_t i = 0; i < kNumbers; ++i)
      numbers.data_as<uint8_t>()[i] = static_cast<uint8_t>(i);
    return numbers;
  }

  fx::NodePtr constant(const Tensor& tensor, fx::NodePtr before) {
    const auto index = static_cast<int64_t>(model_.constants.size());
    model_.constants.push_back(tensor);
    auto scope = model_.graph->inserting_before(before);
    const fx::NodePtr node =
        model_.graph->get_attr("constant_" + std::to_string(index));
    node->meta().set("constant", index);
    node->set_val(Tensor::meta(tensor.sizes(), tensor.dtype()));
    return node;
  }

  bool replace(fx::NodePtr end) {
    std::set<fx::NodePtr> seen;
    if (work_of(end, seen) < kLeastWork) return false;
    const fx::NodePtr root = roots_.at(end);
    std::map<fx::NodePtr, Tensor> known{
        {root, all_numbers(root->val_tensor().dtype())}};
    const Tensor results = results_of(end, known);
    const Tensor& val = end->val_tensor();
    if (results.dtype() != val.dtype() || results.numel() != kNumbers)
      return false;
    // Elements of four bytes, which the machine can gather.
    const bool narrow = dtype_size(val.dtype()) < sizeof(float);
    CallWriter write(*model_.graph, end);
    Value places = write.call("reshape", {root, Dims{val.numel()}});
    if (root->val_tensor().dtype() == DType::i8)
      places = write.call("view", {places, Value::list({DType::u8})});
    Value made = write.call(
        "fxjit.lookup",
        {constant(narrow ? results.to(DType::i32) : results, end), 0, places});
    made = write.call("reshape", {made, val.sizes()});
    if (narrow) made = write.call("cast", {made, val.dtype()});
    end->replace_all_uses_with(made.as_node());
    return true;
  }

  ModelGraph& model_;
  std::map<fx::NodePtr, fx::NodePtr> roots_;
};

}  // namespace

int byte_tables(ModelGraph& model) { return ByteTables(model).rewrite(); }

}  // namespace fxjit::passes
