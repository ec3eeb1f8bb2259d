#include "fxjit/fx/passes/shape_prop.h"

#include <initializer_list>

#include "src/fx/passes/fake_value.h"
#include "src/fx/text/print_value.h"
#include "src/ops/python/items.h"
#include "src/support/errors/exception_text.h"

namespace fxjit::fx::passes {
namespace {

// Strides of a dense tensor whose dims lie in memory in this order, innermost
// first.
bool dense_in_order(const Tensor& tensor, std::initializer_list<int> dims) {
  if (tensor.dim() != static_cast<int>(dims.size())) return false;
  int64_t expected = 1;
  for (int d : dims) {
    if (tensor.size(d) == 1) continue;
    if (tensor.stride(d) != expected) return false;
    expected *= tensor.size(d);
  }
  return true;
}

std::optional<MemoryFormat> format_of(const Tensor& tensor) {
  if (tensor.is_contiguous()) return MemoryFormat::contiguous;
  if (dense_in_order(tensor, {1, 3, 2, 0})) return MemoryFormat::channels_last;
  if (dense_in_order(tensor, {1, 4, 3, 2, 0}))
    return MemoryFormat::channels_last_3d;
  return std::nullopt;
}

std::string_view format_name(std::optional<MemoryFormat> format) {
  // In the order of MemoryFormat.
  constexpr std::string_view kNames[] = {"torch.contiguous_format",
                                         "torch.channels_last",
                                         "torch.channels_last_3d"};
  return format ? kNames[static_cast<size_t>(*format)] : "None";
}

std::string fact_text(const Value& value, const void*) {
  const TensorMetadata* const fact = tensor_metadata(value);
  return fact ? fact->str() : "<" + std::string(value.kind_name()) + ">";
}

// As Python prints node.meta; "type" holds a class there.
std::string meta_text(const Meta& meta) {
  std::string text;
  for (const auto& [key, value] : meta) {
    text += (text.empty() ? "'" : ", '") + key + "': ";
    if (key != "type" || !value.is_string()) {
      text += repr(value, fact_text);
      continue;
    }
    const std::string name(value.as_string());
    text += "<class '" + (name == "Tensor" ? "torch." + name : name) + "'>";
  }
  return "{" + text + "}";
}

bool requires_grad(const nn::Module& module, const Node& node) {
  if (!node.is(Opcode::get_attr)) return false;
  const nn::Member member = module.find_member(node.target_name());
  const auto* const parameter = std::get_if<nn::Parameter>(&member);
  return parameter && parameter->defined() && parameter->slot()->requires_grad;
}

RuntimeError failure(const Node& node, const std::string& why,
                     const ErrorContext& context) {
  return RuntimeError("ShapeProp error for: node=" + node.format_node() +
                          " with meta=" + meta_text(node.meta()) + "\n" + why,
                      context);
}

// Interpreters see nodes as const, since running does not edit; meta is ours to
// write, and no node is a const object.
Node& writable(const Node& node) { return const_cast<Node&>(node); }

}  // namespace

TensorMetadata::TensorMetadata(const Tensor& tensor, bool requires_grad)
    : shape(tensor.sizes()),
      dtype(tensor.dtype()),
      requires_grad(requires_grad),
      stride(tensor.strides()),
      memory_format(format_of(tensor)) {}

std::string TensorMetadata::str() const {
  return "TensorMetadata(shape=torch.Size(" + repr(Value(shape)) +
         "), dtype=" + repr(Value(dtype)) +
         ", requires_grad=" + (requires_grad ? "True" : "False") +
         ", stride=" + repr(ops::python::size_tuple(stride)) +
         ", memory_format=" + std::string(format_name(memory_format)) +
         ", is_quantized=False, qparams={})";
}

const TensorMetadata* tensor_metadata(const Value& value) {
  return value.is_opaque()
             ? dynamic_cast<const TensorMetadata*>(value.as_opaque())
             : nullptr;
}

const TensorMetadata* tensor_meta(const Node& node) {
  const Value* const found = node.meta().find("tensor_meta");
  return found ? tensor_metadata(*found) : nullptr;
}

ShapeProp::ShapeProp(GraphModule& module, bool fake)
    : Interpreter(module), fake_(fake) {}

Value ShapeProp::propagate(ValueList args) {
  if (!fake_) return run(std::move(args));
  for (Value& arg : args) arg = fake_of(arg);
  return without_fakes(run(std::move(args)));
}

Value ShapeProp::run_node(const Node& node) {
  Value result;
  try {
    result = Interpreter::run_node(node);
  } catch (const Error& error) {
    throw failure(node, error.message(), error.context());
  } catch (...) {
    throw failure(node, support::exception_text(), node.error_context());
  }
  bool found = false;
  const bool grad = requires_grad(module(), node);
  const Value shown = without_fakes(result);
  const Value facts = map_leaves(shown, [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    found = true;
    return Value::opaque(new TensorMetadata(leaf.as_tensor(), grad));
  });
  Meta& meta = writable(node).meta();
  if (found) meta.set("tensor_meta", facts);
  meta.set("type", shown.kind_name());
  return result;
}

Value ShapeProp::get_attr(const Target& target, const ValueList& args,
                          const Kwargs& kwargs) {
  Value value = Interpreter::get_attr(target, args, kwargs);
  return fake_ ? fake_of(value) : value;
}

Value ShapeProp::call_function(const Target& target, const ValueList& args,
                               const Kwargs& kwargs) {
  if (!fake_) return Interpreter::call_function(target, args, kwargs);
  return call_on_fakes(target, args, kwargs, current_node()->source());
}

FakeTensorProp::FakeTensorProp(GraphModule& module)
    : ShapeProp(module, /*fake=*/true) {}

Value FakeTensorProp::run_node(const Node& node) {
  Value result = Interpreter::run_node(node);
  writable(node).set_val(without_fakes(result));
  return result;
}
}  // namespace fxjit::fx::passes
