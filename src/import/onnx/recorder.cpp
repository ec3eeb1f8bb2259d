#include "src/import/onnx/recorder.h"

#include "fxjit/error.h"
#include "fxjit/exported.h"
#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"
#include "src/import/named_members.h"
#include "src/import/onnx/fixed_dims.h"
#include "src/import/onnx/recorder_proxy.h"
#include "src/ops/table/op_facts.h"

namespace fxjit::onnx {
namespace {

// Larger constants stay calls in the graph, which the compiler may fold.
constexpr int64_t kFoldBytes = 1 << 20;
constexpr int64_t kFoldBudget = 64 << 20;

Tensor meta_like(const Tensor& tensor) {
  return Tensor::meta(tensor.sizes(), tensor.dtype(), tensor.strides());
}

Value metas_of(const Value& value) {
  return map_leaves(value, [](const Value& leaf) {
    return leaf.is_tensor() ? Value(meta_like(leaf.as_tensor())) : leaf;
  });
}

int64_t bytes_of(const Value& value) {
  int64_t bytes = 0;
  visit_leaves(value, [&](const Value& leaf) {
    if (leaf.is_tensor())
      bytes += leaf.as_tensor().numel() *
               static_cast<int64_t>(leaf.as_tensor().item_size());
  });
  return bytes;
}

bool has_meta(const Value& value) {
  bool found = false;
  visit_leaves(value, [&](const Value& leaf) {
    found |= leaf.is_tensor() && leaf.as_tensor().is_meta();
  });
  return found;
}

bool has_tensor(const Value& value) {
  bool found = false;
  visit_leaves(value, [&](const Value& leaf) { found |= leaf.is_tensor(); });
  return found;
}

}  // namespace

Recorder::Recorder()
    : graph_(std::make_unique<fx::Graph>()), budget_(kFoldBudget) {}

Recorder::~Recorder() = default;

Value Recorder::proxy(fx::NodePtr node, Value example, uint32_t fixed_dims,
                      bool guessed) {
  return Value::proxy(
      new Proxy(this, node, std::move(example), fixed_dims, guessed));
}

bool Recorder::follows_from_sizes(const Value& value) {
  const Proxy* const proxy = proxy_of<Proxy>(value);
  if (!proxy) return value.is_number();
  return !proxy->guessed_ && !proxy->example_.is_none() &&
         !has_meta(proxy->example_);
}

namespace {

// Inputs are arguments of the graph's function: "0" and "gpu_0/data_0" need
// other names there.
std::string argument_name(std::string_view name) {
  std::string argument = import::identifier_of(name);
  const bool digit = argument[0] >= '0' && argument[0] <= '9';
  return digit ? "input_" + argument : argument;
}

}  // namespace

fx::NodePtr Recorder::add_input(std::string_view name) {
  const auto point = last_input_ ? graph_->inserting_after(last_input_)
                                 : graph_->inserting_before();
  return last_input_ = graph_->placeholder(argument_name(name));
}

Value Recorder::input(std::string_view name, const Tensor& example,
                      uint32_t fixed_dims) {
  // All dims fixed is a bit for each of them and more.
  const uint32_t own = (1u << example.dim()) - 1;
  if ((fixed_dims & own) == own) fixed_dims = kAllDims;
  return proxy(add_input(name), example, fixed_dims);
}

Value Recorder::other_input(std::string_view name, bool sequence) {
  add_input(name);
  if (sequence) lists_.insert(last_input_);
  return proxy(last_input_, {}, 0);
}

bool Recorder::is_list(const Value& value) const {
  const Proxy* const proxy = proxy_of<Proxy>(value);
  return proxy && proxy->node_ && lists_.contains(proxy->node_);
}

Value Recorder::constant(const Tensor& tensor, std::string_view name) {
  const Value made = proxy(nullptr, tensor, kAllDims);
  proxy_of<Proxy>(made)->name_ = std::string(name);
  return made;
}

void Recorder::set_origin(std::string name, std::string stack_trace) {
  origin_ = std::move(name);
  trace_ = std::move(stack_trace);
}

void Recorder::set_value_name(const Value& value, std::string_view name) {
  const Proxy* const proxy = proxy_of<Proxy>(value);
  if (!proxy || !proxy->node_ || !bodies_.empty()) return;
  if (!proxy->node_->meta().find("onnx_value"))
    proxy->node_->meta().set("onnx_value", std::string(name));
}

Value Recorder::example(const Value& value) {
  return map_leaves(value, [](const Value& leaf) {
    return leaf.is_proxy() ? leaf.as_proxy()->val() : leaf;
  });
}

const Tensor* Recorder::constant_of(const Value& value) const {
  const Proxy* const proxy = proxy_of<Proxy>(value);
  if (!proxy || proxy->fixed_dims_ != kAllDims || !proxy->example_.is_tensor())
    return nullptr;
  const Tensor& tensor = proxy->example_.as_tensor();
  return tensor.is_meta() ? nullptr : &tensor;
}

Value Recorder::size(const Value& tensor, int64_t dim) {
  Proxy* const proxy = proxy_of<Proxy>(tensor);
  const Tensor& shape = proxy->example_.as_tensor();
  const int place = wrap_dim(dim, shape.dim());
  if (proxy->fixed_dims_ >> place & 1) return shape.size(place);
  auto& known = numbers_.back().sizes[{proxy->node_, place}];
  if (known.is_none())
    known = function("torch.ops.aten.sym_size.int", {tensor, place});
  return known;
}

Value Recorder::element(const Value& tensor, int64_t place,
                        const std::function<Value()>& make) {
  const Proxy* const proxy = proxy_of<Proxy>(tensor);
  if (!proxy || !proxy->node_) return make();
  Value& known = numbers_.back().elements[{proxy->node_, place}];
  if (known.is_none()) known = make();
  return known;
}

Value Recorder::assume(const Value& value, const Tensor& example) {
  return proxy(node_of(value), example, 0, true);
}

fx::NodePtr Recorder::node_of(const Value& value) {
  Proxy* const proxy = proxy_of<Proxy>(value);
  if (proxy->node_) return reach(proxy->node_, bodies_.size());
  const std::string name = attribute_name(proxy->name_);
  attributes_.emplace_back(name, proxy->example_.as_tensor());
  proxy->node_ =
      graph_->create_node(fx::Opcode::get_attr, name, {}, {}, proxy->name_);
  // What the graph reads is no number to compute with any more.
  return reach(proxy->node_, bodies_.size());
}

// "encoder.layer.0.weight" stays as it is; names that do not make a path of
// identifiers are changed. No name is both a member and a module of members.
std::string Recorder::attribute_name(std::string_view wish) {
  std::string name = import::path_of_identifiers(wish);
  const auto is_free = [&] {
    if (attribute_names_.contains(name) || attribute_folders_.contains(name))
      return false;
    for (size_t dot = name.find('.'); dot != name.npos;
         dot = name.find('.', dot + 1))
      if (attribute_names_.contains(name.substr(0, dot))) return false;
    return true;
  };
  const std::string first = name;
  for (int i = 1; !is_free(); ++i) name = first + "_" + std::to_string(i);
  for (size_t dot = name.find('.'); dot != name.npos;
       dot = name.find('.', dot + 1))
    attribute_folders_.insert(name.substr(0, dot));
  attribute_names_.insert(name);
  return name;
}

Value Recorder::as_argument(const Value& value) {
  return map_leaves(value, [&](const Value& leaf) -> Value {
    if (leaf.is_proxy()) return node_of(leaf);
    if (leaf.is_tensor()) return node_of(constant(leaf.as_tensor()));
    return leaf;
  });
}

Value Recorder::record(const ops::Spelling& function, ValueList args,
                       Kwargs kwargs) {
  bool known = true, fixed = true, guessed = false;
  const auto look = [&](const Value& leaf) {
    const Proxy* const proxy = proxy_of<Proxy>(leaf);
    if (!proxy) return;
    known = known && !proxy->example_.is_none();
    fixed = fixed && proxy->fixed_dims_ == kAllDims;
    guessed = guessed || proxy->guessed_;
  };
  for (const Value& arg : args) visit_leaves(arg, look);
  for (const auto& [name, arg] : kwargs) visit_leaves(arg, look);
  if (!known) return append(function, args, kwargs, {}, false, true);

  ValueList examples;
  Kwargs example_kwargs;
  for (const Value& arg : args) examples.push_back(example(arg));
  for (const auto& [name, arg] : kwargs)
    example_kwargs.emplace_back(name, example(arg));
  const bool pure = function.op->row.purity == ops::Purity::pure;
  Value result;
  try {
    ValueList metas;
    for (const Value& arg : examples) metas.push_back(metas_of(arg));
    const auto is_number = [&] {
      int64_t bytes = 0;
      for (const Value& arg : examples) {
        if (has_meta(arg)) return false;
        bytes += bytes_of(arg);
      }
      return bytes <= kFoldBytes;
    };
    bool at_once = pure && is_number();
    if (at_once) {
      // The size first: what is computed must fit the budget. Quantised
      // constants stay as narrow as they are.
      const bool widens = ops::facts_of(*function.op).widens;
      const int64_t most = widens ? int64_t{sizeof(float)} : kFoldBytes;
      try {
        at_once = bytes_of(ops::call_function(function, metas,
                                              example_kwargs)) <= most;
      } catch (const Error&) {
        // The shape depends on the numbers.
      }
    }
    result = ops::call_function(function, at_once ? examples : metas,
                                example_kwargs);
  } catch (const Error&) {
    // The example's sizes need not be ones that the model can take.
    if (fixed) throw;
    return append(function, args, kwargs, {}, false, true);
  }
  if (!has_tensor(result) && fixed) return result;
  const bool computed = fixed && pure && !has_meta(result);
  if (computed && bytes_of(result) <= budget_) {
    budget_ -= bytes_of(result);
    return map_leaves(result, [&](const Value& leaf) {
      return leaf.is_tensor() ? constant(leaf.as_tensor(), origin_) : leaf;
    });
  }
  const Value made = append(function, args, kwargs, result, fixed, guessed);
  Proxy* const one = proxy_of<Proxy>(made);
  if (!one || fixed || !result.is_tensor()) return made;
  const auto known_dims = [](const Value& value) -> KnownDims {
    if (value.is_tensor()) return {value.as_tensor(), kAllDims};
    const Proxy* const proxy = proxy_of<Proxy>(value);
    if (!proxy || !proxy->example_.is_tensor()) return {};
    return {proxy->example_.as_tensor(), proxy->fixed_dims_};
  };
  one->fixed_dims_ = fixed_dims(*function.op, ops::bind(function, args, kwargs),
                                result.as_tensor(), known_dims);
  return made;
}

Value Recorder::record_data_sized(std::string_view name, ValueList args,
                                  const Value& example) {
  return append(ops::get_function(name), args, {}, example, false, true);
}

Value Recorder::record_function(const fx::Function& function, ValueList args,
                                const Value& example) {
  return append(fx::Target(function), args, {}, example, false, true);
}

Value Recorder::append(const fx::Target& function, const ValueList& args,
                       const Kwargs& kwargs, const Value& example, bool fixed,
                       bool guessed) {
  ValueList nodes;
  Kwargs named;
  for (const Value& arg : args) nodes.push_back(as_argument(arg));
  for (const auto& [name, arg] : kwargs)
    named.emplace_back(name, as_argument(arg));
  const fx::NodePtr node = graph().call_function(function, std::move(nodes),
                                                 std::move(named), origin_);
  pt2::set_stack_trace(node, trace_);
  return in_parts(node, example, fixed, guessed);
}

Value Recorder::in_parts(fx::NodePtr node, const Value& example, bool fixed,
                         bool guessed) {
  if (!example.is_sequence())
    return proxy(node, example, fixed ? kAllDims : 0, guessed);
  ValueList parts;
  for (size_t i = 0; i < example.size(); ++i) {
    const fx::NodePtr part =
        graph().call_function("_operator.getitem", {node, i}, {}, origin_);
    parts.push_back(in_parts(part, example.at(i), fixed, guessed));
  }
  return Value::tuple(std::move(parts));
}

nn::Ref<fx::GraphModule> Recorder::finish(const Value& result) {
  graph_->output(as_argument(result));
  graph_->eliminate_dead_code();
  nn::Module root;
  for (const auto& [name, body] : members_) root.register_module(name, body);
  for (const auto& [name, tensor] : attributes_) {
    const auto [module, member] = *import::parent_of(root, name);
    if (is_floating(tensor.dtype()) || is_complex(tensor.dtype()))
      module->register_parameter(member, tensor);
    else
      module->register_buffer(member, tensor);
  }
  auto module = fx::GraphModule::create(root, std::move(graph_));
  module->eval();
  return module;
}

}  // namespace fxjit::onnx
