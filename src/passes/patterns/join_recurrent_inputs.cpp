#include "src/passes/patterns/join_recurrent_inputs.h"

#include <optional>

#include "src/ops/table/recurrence.h"
#include "src/passes/patterns.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {
namespace {

// The product that gives the gates of one direction.
struct Product {
  fx::NodePtr linear, swapped;  // Null: times come first as they are.
};

bool swaps_first_dims(const fx::Node& node) {
  if (node.called_op() != &ops::get_op("transpose") || !node.arg(1).is_int() ||
      !node.arg(2).is_int())
    return false;
  const int64_t a = node.arg(1).as_int(), b = node.arg(2).as_int();
  return (a == 0 && b == 1) || (a == 1 && b == 0);
}

std::optional<Product> product_of(const Value& gates) {
  if (!gates.is_node()) return {};
  fx::NodePtr node = gates.as_node();
  Product product{node, nullptr};
  if (node->num_users() == 1 && swaps_first_dims(*node))
    product = {node->arg_node(0), node};
  const fx::Node& linear = *product.linear;
  if (linear.called_op() != &ops::get_op("linear") || linear.num_users() != 1)
    return {};
  const fx::Node* weight = linear.arg_node(1);
  if (!weight || !weight->is(fx::Opcode::get_attr) ||
      !weight->val_tensor().is_contiguous())
    return {};
  return product;
}

// One product for each direction, with biases or without.
std::vector<Product> products_of(const fx::Node& node) {
  std::vector<Product> products;
  for (const Value& gates : node.arg(ops::kGates).as_sequence()) {
    const std::optional<Product> product = product_of(gates);
    if (!product) return {};
    products.push_back(*product);
    if (product->linear->arg(2).is_none() !=
        products.front().linear->arg(2).is_none())
      return {};
  }
  return products;
}

bool is_faster(const fx::Node& node, const std::vector<Product>& products,
               RecurrentMachine machine) {
  if (!node.arg(ops::kInputWeights).as_sequence().empty()) return false;
  const ValueList args = vals_of(node.args());
  ops::Recurrence form = ops::Recurrence::read({*node.called_op(), args});
  form.has_inputs = true;
  form.features = products[0].linear->arg_node(1)->val_tensor().size(1);
  return ops::input_product(form, machine.level, machine.threads) !=
         ops::InputProduct::given;
}

// The inputs of a product, times first.
Value inputs_of(fx::Graph& graph, const Product& product) {
  const Value given = product.linear->arg(0);
  if (!product.swapped) return given;
  auto scope = graph.inserting_before(product.swapped);
  fx::NodePtr view =
      graph.call_function(ops::get_op("transpose").canonical, {given, 0, 1});
  view->copy_meta_from(*product.swapped);
  const Tensor& from = given.as_node()->val_tensor();
  Dims sizes = from.sizes(), strides = from.strides();
  std::swap(sizes[0], sizes[1]);
  std::swap(strides[0], strides[1]);
  view->set_val(Tensor::meta(sizes, from.dtype(), strides, from.offset()));
  return view;
}

void join(fx::Graph& graph, fx::Node& node,
          const std::vector<Product>& products) {
  ValueList inputs, weights, biases;
  for (const Product& product : products) {
    inputs.push_back(inputs_of(graph, product));
    weights.push_back(product.linear->arg(1));
    if (!product.linear->arg(2).is_none())
      biases.push_back(product.linear->arg(2));
  }
  node.set_arg(ops::kGates, Value::list(std::move(inputs)));
  node.set_arg(ops::kInputWeights, Value::list(std::move(weights)));
  node.set_arg(ops::kInputBiases, Value::list(std::move(biases)));
}

}  // namespace

int join_recurrent_inputs(ModelGraph& model, RecurrentMachine machine) {
  if (machine.fast_products) return 0;
  const ops::Op& recurrence = ops::get_op("fxjit.recurrence");
  return rewrite_each(model, [&](fx::NodePtr node) {
    if (node->called_op() != &recurrence) return false;
    const std::vector<Product> products = products_of(*node);
    if (products.empty() || !is_faster(*node, products, machine)) return false;
    join(*model.graph, *node, products);
    return true;
  });
}

}  // namespace fxjit::passes
