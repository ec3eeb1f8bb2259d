#include "src/import/onnx/graph_reader.h"

#include "fxjit/error.h"
#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"
#include "src/import/onnx/narrow_types.h"
#include "src/import/onnx/node_order.h"
#include "src/import/onnx/op_rows.h"
#include "src/import/onnx/shape_arithmetic.h"
#include "src/import/onnx/texts.h"
#include "src/import/onnx/uint64.h"
#include "src/import/onnx/unsigned_types.h"

namespace fxjit::onnx {
namespace {

// Attributes of a function's body that stand for those of its call.
void resolve(NodeInfo& node, const NodeInfo& call,
             const FunctionInfo& function) {
  std::vector<AttributeInfo> resolved;
  for (const AttributeInfo& attribute : node.attributes) {
    if (attribute.reference.empty()) {
      resolved.push_back(attribute);
      continue;
    }
    const AttributeInfo* given = call.find(attribute.reference);
    for (const AttributeInfo& one : function.defaults)
      if (!given && one.name == attribute.reference) given = &one;
    if (!given) continue;  // Absent there, so absent here.
    resolved.push_back(*given);
    resolved.back().name = attribute.name;
  }
  node.attributes = std::move(resolved);
}

// A member with another value while a part of the model is read, which may
// fail.
template <typename T>
class Replaced {
 public:
  Replaced(T& member, T value)
      : member_(member), outer_(std::exchange(member, value)) {}
  ~Replaced() { member_ = outer_; }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  T& member_;
  const T outer_;
};

// An operand of a declared type, which may be one without a sign.
Operand with_type(Operand operand, const TypeInfo& type) {
  if (operand.unsigned_bits == 0)
    operand.unsigned_bits = unsigned_bits_of(type);
  if (operand.narrow == CarriedType::none)
    operand.narrow = narrow_type_of(type);
  return operand;
}

// What a branch or body gives. Some exporters give a flag or a counter as [] in
// one branch and as [1] in the other, or so in a loop's first and next
// iterations: one element has as many dims as the file declares.
Operand with_rank(Operand operand, const TypeInfo& type) {
  if (!type.shape) return operand;
  if (operand.numbers && operand.numbers->items.size() == 1 &&
      type.shape->size() <= 1)
    operand.numbers->scalar = type.shape->empty();
  if (!operand.value.is_proxy()) return operand;
  const Recorder::Known known = Recorder::known(operand.value);
  if (!known.example.is_tensor()) return operand;
  const Tensor& example = known.example.as_tensor();
  const size_t rank = type.shape->size();
  const uint32_t own = (1u << example.dim()) - 1;
  const bool is_one = example.numel() == 1 && (known.fixed_dims & own) == own;
  if (!is_one || rank == static_cast<size_t>(example.dim()) ||
      rank > static_cast<size_t>(kMaxRank))
    return operand;
  operand.value =
      reshape(operand.value, list_of(std::vector<int64_t>(rank, 1)));
  return operand;
}

// Numbers that follow from sizes, the own results of types that are carried in
// others, or those of the row.
Results results_of(Call& call, const OpRow& row) {
  if (const auto results = text_results(call, row)) return *results;
  if (const auto numbers = evaluate_numbers(call)) return *numbers;
  if (const auto results = narrow_results(call, row)) return *results;
  if (const auto results = uint64_results(call, row)) return *results;
  return run_row(row, call);
}

}  // namespace

Opsets opsets_of(const std::vector<OpsetInfo>& opsets) {
  Opsets versions;
  for (const OpsetInfo& opset : opsets)
    versions[plain_domain(opset.domain)] = opset.version;
  return versions;
}

const Operand* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->outer_) {
    const auto found = scope->names_.find(std::string(name));
    if (found != scope->names_.end()) return &found->second;
  }
  return nullptr;
}

bool Scope::define(std::string_view name, Operand operand) {
  return names_.emplace(std::string(name), std::move(operand)).second;
}

std::string node_place(const NodeInfo& node, const std::string& place,
                       size_t index) {
  std::string text = place + ".node[" + std::to_string(index) + "]";
  if (!node.op.empty()) text += " " + std::string(node.op);
  if (!node.name.empty()) text += " \"" + std::string(node.name) + "\"";
  return text;
}

int64_t ExampleSizes::of(const Dimension& dim, bool is_first) const {
  if (dim.value && *dim.value >= 0) return *dim.value;
  const bool is_one = (ones == Ones::first_dims && is_first) ||
                      (ones == Ones::of_name && dim.symbol == name);
  return is_one ? 1 : size;
}

std::optional<Tensor> example_of(const TypeInfo& type,
                                 const ExampleSizes& of_open) {
  if (type.kind != TypeInfo::Kind::tensor || !type.shape) return std::nullopt;
  const auto dtype = find_dtype(type.element_type);
  if (!dtype || type.shape->size() > static_cast<size_t>(kMaxRank))
    return std::nullopt;
  Dims sizes;
  for (const Dimension& dim : *type.shape)
    sizes.push_back(of_open.of(dim, sizes.empty()));
  return Tensor::meta(sizes, *dtype);
}

void GraphReader::read(const GraphInfo& graph, const Opsets& opsets,
                       Scope& scope, const std::string& place) {
  for (const Bytes& bytes : graph.values) {
    const ValueInfo info = read_value_info(bytes);
    values_.insert_or_assign(info.name, info);
  }
  read_initializers(graph, scope, place);
  read_nodes(graph.nodes, opsets, scope, place);
}

void GraphReader::read_initializers(const GraphInfo& graph, Scope& scope,
                                    const std::string& place) {
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    const std::string here = place + ".initializer[" + std::to_string(i) + "]";
    try {
      const TensorInfo info = read_tensor_info(graph.initializers[i]);
      if (info.name.empty()) throw UserError("[onnx] it has no name");
      Operand operand = info.data_type == kStringType
                            ? text_tensor(recorder_, info)
                            : recorder_.constant(file_.read(info), info.name);
      operand.unsigned_bits = unsigned_bits_of(info.data_type);
      operand.narrow = narrow_type_of(info.data_type);
      if (!scope.define(info.name, std::move(operand)))
        throw UserError("[onnx] \"" + std::string(info.name) +
                        "\" is named twice");
    } catch (Error& error) {
      error.extend("\n  in " + here, {});
      throw;
    }
  }
}

void GraphReader::read_nodes(const std::vector<Bytes>& nodes,
                             const Opsets& opsets, Scope& scope,
                             const std::string& place) {
  const Replaced<const Opsets*> of_nodes(opsets_, &opsets);
  const Replaced<const Scope*> names(scope_, &scope);
  for (const size_t i : node_order(nodes, place)) {
    NodeInfo node = read_node_info(nodes[i]);
    if (function_call_)
      resolve(node, *function_call_->node, *function_call_->function);
    const std::string here = node_place(node, place, i);
    try {
      read_node(node, opsets, scope, here);
    } catch (Error& error) {
      if (error.message().find(here) == std::string::npos)
        error.extend("\n  in " + here, {});
      throw;
    }
  }
}

void GraphReader::read_node(const NodeInfo& node, const Opsets& opsets,
                            Scope& scope, const std::string& place) {
  std::vector<Operand> inputs;
  for (const std::string_view name : node.inputs) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const Operand* const found = scope.find(name);
    if (!found)
      throw UserError("[onnx] " + place + ": input \"" + std::string(name) +
                      "\" is computed by no node");
    inputs.push_back(*found);
  }
  while (!inputs.empty() && inputs.back().absent()) inputs.pop_back();
  const std::string_view domain = plain_domain(node.domain);
  recorder_.set_origin(
      std::string(node.outputs.empty() ? node.op : node.outputs[0]), {});
  const auto local = functions_.find({domain, node.op, node.overload});
  if (local != functions_.end()) {
    define(node, call_function(local->second, node, inputs, place), scope,
           place);
    return;
  }
  const auto opset = opsets.find(domain);
  if (opset == opsets.end())
    throw UserError("[onnx] " + place + ": the model imports no opset of \"" +
                    std::string(domain) + "\"");
  const OpRow* const row = find_row(domain, node.op, opset->second);
  if (!row)
    throw UserError("[onnx] " + place + ": opset " +
                    std::to_string(opset->second) + " has no such op");
  Call call(*this, node, place, opset->second, std::move(inputs));
  Results results = results_of(call, *row);
  mark_unsigned(call, results);
  define(node, results, scope, place);
}

// Results of unsigned types, kept in their range as these types wrap around.
void GraphReader::mark_unsigned(const Call& call, Results& results) const {
  for (size_t i = 0; i < results.items.size(); ++i) {
    Operand& result = results.items[i];
    if (result.absent() || result.unsigned_bits != 0) continue;
    result.unsigned_bits = unsigned_result(call, i);
    const bool wraps = result.unsigned_bits == 16 || result.unsigned_bits == 32;
    if (!wraps || !computes_numbers(call.node().op) || result.numbers) continue;
    const int64_t mask = (int64_t{1} << result.unsigned_bits) - 1;
    result.value = bitwise_and(result.value, mask);
  }
}

void GraphReader::define(const NodeInfo& node, const Results& results,
                         Scope& scope, const std::string& place) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string_view name = node.outputs[i];
    if (name.empty()) continue;
    if (i >= results.items.size())
      throw UserError("[onnx] " + place + ": output " + std::to_string(i) +
                      " (\"" + std::string(name) + "\") is not supported");
    Operand operand = declared(name, results.items[i]);
    if (!function_call_) recorder_.set_value_name(operand.value, name);
    if (!scope.define(name, std::move(operand)))
      throw UserError("[onnx] " + place + ": \"" + std::string(name) +
                      "\" is computed twice");
  }
}

// What is not known of a result may be stated by the model.
Operand GraphReader::declared(std::string_view name, Operand operand) const {
  if (!operand.value.is_proxy() || !Recorder::example(operand.value).is_none())
    return operand;
  const auto found = values_.find(name);
  if (found == values_.end()) return operand;
  if (const auto example = example_of(found->second.type, example_sizes_))
    operand.value = recorder_.assume(operand.value, *example);
  return operand;
}

Results GraphReader::call_function(const FunctionInfo& function,
                                   const NodeInfo& node,
                                   const std::vector<Operand>& inputs,
                                   const std::string& place) {
  const Replaced<int> deeper(depth_, depth_ + 1);
  if (depth_ > kMaxDepth)
    throw UserError("[onnx] " + place + ": functions of more than " +
                    std::to_string(kMaxDepth) + " levels");
  if (inputs.size() > function.inputs.size())
    throw UserError("[onnx] " + place + ": the function takes " +
                    std::to_string(function.inputs.size()) + " inputs, got " +
                    std::to_string(inputs.size()));
  Scope scope;
  for (size_t i = 0; i < function.inputs.size(); ++i)
    scope.define(function.inputs[i], i < inputs.size() ? inputs[i] : Operand());
  const FunctionCall own{&function, &node};
  const Replaced<const FunctionCall*> called(function_call_, &own);
  read_nodes(function.nodes, opsets_of(function.opsets), scope,
             place + ": function " + std::string(function.name));
  std::vector<Operand> results;
  for (const std::string_view name : function.outputs)
    results.push_back(output(name, scope, place));
  return results;
}

std::vector<Operand> GraphReader::read_inside(Call& call,
                                              const GraphInfo& graph,
                                              std::vector<Operand> inputs) {
  const Replaced<int> deeper(depth_, depth_ + 1);
  if (depth_ > kMaxDepth)
    call.fail("graphs of more than " + std::to_string(kMaxDepth) + " levels");
  if (inputs.size() > graph.inputs.size())
    call.fail("the graph takes " + std::to_string(graph.inputs.size()) +
              " inputs, got " + std::to_string(inputs.size()));
  Scope scope(scope_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo info = read_value_info(graph.inputs[i]);
    scope.define(info.name, with_type(std::move(inputs[i]), info.type));
  }
  const std::string place = "graph " + std::string(graph.name);
  read(graph, *opsets_, scope, place);
  std::vector<Operand> results;
  for (const Bytes& bytes : graph.outputs) {
    const ValueInfo info = read_value_info(bytes);
    results.push_back(with_rank(
        with_type(output(info.name, scope, place), info.type), info.type));
  }
  return results;
}

Operand GraphReader::output(std::string_view name, const Scope& scope,
                            const std::string& place) const {
  const Operand* const found = scope.find(name);
  if (!found)
    throw UserError("[onnx] " + place + ": output \"" + std::string(name) +
                    "\" is computed by no node");
  return *found;
}

}  // namespace fxjit::onnx
