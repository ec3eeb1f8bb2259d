#include "python/graph_builder.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "fxjit/error.h"
#include "fxjit/exported.h"
#include "python/options.h"
#include "python/shared_weights.h"
#include "python/values.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/randomness.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

DType dtype_named(std::string name) {
  constexpr std::string_view kTorch = "torch.";
  if (name.starts_with(kTorch)) name.erase(0, kTorch.size());
  if (const auto dtype = dtype_from_name(name)) return *dtype;
  throw NotImplementedError("the dtype " + name);
}

// As GraphBuilder::placeholder says; none where nothing is known.
Value example_of(nb::handle like) {
  if (PyTuple_Check(like.ptr())) {
    const auto [dtype, sizes, strides] = nb::cast<
        std::tuple<std::string, std::vector<int64_t>, std::vector<int64_t>>>(
        like);
    if (sizes.size() > static_cast<size_t>(kMaxRank)) return None;
    Dims size(static_cast<int>(sizes.size()), 0), stride = size;
    std::copy(sizes.begin(), sizes.end(), size.begin());
    std::copy(strides.begin(), strides.end(), stride.begin());
    return Tensor::meta(size, dtype_named(dtype), stride);
  }
  if (PyList_Check(like.ptr())) {
    ValueList items;
    for (const nb::handle item : like) items.push_back(example_of(item));
    return Value::list(std::move(items));
  }
  Arrays arrays;
  return value_of(like, "an example", arrays);
}

// Whether what the table's rule gives is what PyTorch says. Strides may differ.
bool agrees(const Value& ours, const Value& theirs) {
  if (theirs.is_none() || ours.is_none()) return true;
  if (theirs.is_tensor())
    return ours.is_tensor() &&
           ours.as_tensor().dtype() == theirs.as_tensor().dtype() &&
           ours.as_tensor().sizes() == theirs.as_tensor().sizes();
  if (!theirs.is_sequence()) return true;
  if (!ours.is_sequence() || ours.size() != theirs.size()) return false;
  for (size_t i = 0; i < ours.size(); ++i)
    if (!agrees(ours.at(i), theirs.at(i))) return false;
  return true;
}

std::optional<Value> word_of(nb::handle object);

Value slice_of(nb::handle object) {
  Arrays arrays;
  const auto part = [&](const char* name) {
    return value_of(object.attr(name), "a slice", arrays, word_of);
  };
  return Value::slice(part("start"), part("stop"), part("step"));
}

// What nodes may be called with beside what models may: nodes, indices, and
// PyTorch's words for dtypes, devices, layouts and memory formats.
std::optional<Value> word_of(nb::handle object) {
  BuiltNode built;
  if (nb::try_cast<BuiltNode>(object, built, /*convert=*/false))
    return Value(built.node);
  if (object.ptr() == Py_Ellipsis) return Value(Ellipsis);
  if (PySlice_Check(object.ptr())) return slice_of(object);
  const auto type = nb::cast<std::string>(object.type().attr("__name__"));
  const auto text = [&] { return nb::cast<std::string>(nb::str(object)); };
  if (type == "dtype") return Value(dtype_named(text()));
  if (type == "device")
    return Value(nb::cast<std::string>(object.attr("type")));
  if (type == "layout" || type == "memory_format") return Value(text());
  return std::nullopt;
}

struct Arguments {
  ValueList args;
  Kwargs kwargs;
};

Arguments arguments_of(const nb::tuple& args, const nb::dict& kwargs) {
  Arguments made;
  Arrays arrays;
  for (const nb::handle arg : args)
    made.args.push_back(value_of(arg, "an argument", arrays, word_of));
  for (const auto& [key, value] : kwargs)
    made.kwargs.emplace_back(nb::cast<std::string>(key),
                             value_of(value, "an argument", arrays, word_of));
  return made;
}

// The layout or memory format that PyTorch prints as `text`; null for other
// texts, such as names of functions in its messages.
nb::object torch_word(std::string_view text) {
  constexpr std::string_view kTorch = "torch.";
  if (!text.starts_with(kTorch)) return {};
  const std::string word(text.substr(kTorch.size()));
  const nb::object found =
      nb::getattr(nb::module_::import_("torch"), word.c_str(), nb::none());
  const auto type = nb::cast<std::string>(found.type().attr("__name__"));
  return type == "layout" || type == "memory_format" ? found : nb::object();
}

// An argument of a Python function: PyTorch's words are its own objects again.
nb::object argument_object(const Value& value) {
  if (value.is_dtype()) {
    const std::string name(dtype_name(value.as_dtype()));
    return nb::module_::import_("torch").attr(name.c_str());
  }
  if (value.is_ellipsis()) return nb::borrow(Py_Ellipsis);
  if (value.is_slice()) {
    const Value::SliceView slice = value.as_slice();
    return nb::steal(PySlice_New(argument_object(slice.start).ptr(),
                                 argument_object(slice.stop).ptr(),
                                 argument_object(slice.step).ptr()));
  }
  if (value.is_sequence()) {
    nb::list items;
    for (const Value& item : value.as_sequence())
      items.append(argument_object(item));
    return value.is_list() ? nb::object(items) : nb::object(nb::tuple(items));
  }
  if (value.is_string())
    if (nb::object word = torch_word(value.as_string())) return word;
  return object_of(value, ArrayKind::torch);
}

// Runs `function` with torch tensors under the interpreter's lock.
auto python_function(const nb::object& function) {
  // Functions of graphs are never given back.
  PyObject* const kept = nb::object(function).release().ptr();
  return [kept](const ValueList& args, const Kwargs& kwargs) {
    const nb::gil_scoped_acquire lock;
    nb::list positional;
    for (const Value& arg : args) positional.append(argument_object(arg));
    nb::dict named;
    for (const auto& [key, value] : kwargs)
      named[key.c_str()] = argument_object(value);
    const nb::object result = nb::steal(
        PyObject_Call(kept, nb::tuple(positional).ptr(), named.ptr()));
    if (!result.is_valid()) throw nb::python_error();
    Arrays arrays{.extent = Extent::storage};
    return value_of(result, "a result", arrays);
  };
}

}  // namespace

fx::Graph& GraphBuilder::graph() {
  if (!graph_) throw UserError("this graph has been compiled already");
  return *graph_;
}

BuiltNode GraphBuilder::made(fx::NodePtr node, const NodeText& text,
                             nb::handle like) {
  pt2::set_stack_trace(node, text.second);
  examples_[node] = example_of(like);
  return {node};
}

BuiltNode GraphBuilder::placeholder(const std::string& name, nb::handle like,
                                    nb::handle sizes, const nb::args& given) {
  std::optional<Value> left_out;
  Arrays arrays;
  for (const nb::handle value : given)
    left_out = value_of(value, name, arrays, word_of);
  const fx::NodePtr node = graph().placeholder(name, {}, std::move(left_out));
  declare_sizes(*node, input_sizes_of(sizes));
  return made(node, {}, like);
}

BuiltNode GraphBuilder::attribute(const std::string& name, nb::handle array,
                                  bool in_file) {
  const Tensor tensor = in_file
                            ? weight_in_file(array, name.c_str())
                            : tensor_of(array, name.c_str(), Extent::storage);
  root_.set_attr(name, tensor);
  const fx::NodePtr node =
      graph().create_node(fx::Opcode::get_attr, name, {}, {}, name);
  examples_[node] =
      Tensor::meta(tensor.sizes(), tensor.dtype(), tensor.strides());
  return {node};
}

nn::Ref<fx::GraphModule> GraphBuilder::finish(nb::handle result) {
  Arrays arrays;
  graph().output(value_of(result, "the result", arrays, word_of));
  return fx::GraphModule::create(root_, std::move(graph_));
}

BuiltNode GraphBuilder::body(const std::string& name, GraphBuilder& body,
                             nb::handle result) {
  root_.register_module(name, body.finish(result));
  const fx::NodePtr node =
      graph().create_node(fx::Opcode::get_attr, name, {}, {}, name);
  examples_[node] = None;
  return {node};
}

// The argument with examples in place of nodes; nothing where one is not known.
std::optional<Value> GraphBuilder::example(const Value& argument) const {
  bool all_known = true;
  Value made = map_leaves(argument, [&](const Value& leaf) {
    if (!leaf.is_node()) return leaf;
    const Value& known = examples_.at(leaf.as_node());
    all_known = all_known && !known.is_none();
    return known;
  });
  return all_known ? std::optional(std::move(made)) : std::nullopt;
}

bool GraphBuilder::serves(const fx::Target& target, const ValueList& args,
                          const Kwargs& kwargs, nb::handle like) const {
  const ops::Op* const op = target.op();
  if (!op) return true;
  try {
    const ValueList bound = ops::bind(*target.spelling(), args, kwargs);
    if (ops::draws_numbers({*op, bound})) return false;
    const std::optional<Value> known = example(Value::list(bound));
    if (!known) return true;
    return agrees(ops::infer({*op, known->as_sequence()}), example_of(like));
  } catch (const ops::DataDependentError&) {
    return true;
  } catch (const NotImplementedError&) {
    return false;
  } catch (const UserError&) {  // Beyond a limit of the op's.
    return false;
  }
}

nb::object GraphBuilder::call(const std::string& target, nb::tuple args,
                              nb::dict kwargs, const NodeText& text,
                              nb::handle like) {
  const auto function = pt2::exported_function(target);
  if (!function) return nb::none();
  Arguments arguments = arguments_of(args, kwargs);
  if (!serves(*function, arguments.args, arguments.kwargs, like))
    return nb::none();
  const fx::NodePtr node =
      graph().call_function(*function, std::move(arguments.args),
                            std::move(arguments.kwargs), text.first);
  return nb::cast(made(node, text, like));
}

nb::object GraphBuilder::call_method(const std::string& target, nb::tuple args,
                                     nb::dict kwargs, const NodeText& text,
                                     nb::handle like) {
  const ops::Spelling* const method = ops::find_method(target);
  if (!method) return nb::none();
  Arguments arguments = arguments_of(args, kwargs);
  if (!serves(*method, arguments.args, arguments.kwargs, like))
    return nb::none();
  const fx::NodePtr node = graph().create_node(
      fx::Opcode::call_method, target, std::move(arguments.args),
      std::move(arguments.kwargs), text.first);
  return nb::cast(made(node, text, like));
}

const fx::Function& GraphBuilder::define(const std::string& title,
                                         const nb::object& function) {
  const fx::Function* const known = fx::find_defined_function(title);
  return known ? *known : fx::define_function(title, python_function(function));
}

BuiltNode GraphBuilder::call_python(const std::string& title,
                                    nb::object function, nb::tuple args,
                                    nb::dict kwargs, const NodeText& text,
                                    nb::handle like) {
  Arguments arguments = arguments_of(args, kwargs);
  const fx::NodePtr node =
      graph().call_function(define(title, function), std::move(arguments.args),
                            std::move(arguments.kwargs), text.first);
  return made(node, text, like);
}

Model* GraphBuilder::compile(nb::handle result, const nb::kwargs& options) {
  return new Model(name_, finish(result), options, ArrayKind::torch);
}

}  // namespace fxjit::python
