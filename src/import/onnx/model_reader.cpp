#include "src/import/onnx/model_reader.h"

#include <algorithm>
#include <cctype>

#include "fxjit/error.h"
#include "src/import/named_members.h"
#include "src/import/onnx/narrow_types.h"
#include "src/import/onnx/op_rows.h"
#include "src/import/onnx/survey.h"
#include "src/import/onnx/texts.h"
#include "src/import/onnx/unsigned_types.h"

namespace fxjit::onnx {
namespace {

using import::SizeFormula;

[[noreturn]] void fail_model(const std::string& what) {
  throw UserError("[onnx] " + what);
}

// Exporters write "?" or "None" for a dim that they know nothing of, also where
// several dims of an input are like that.
bool names_nothing(std::string_view symbol) {
  const bool has_letter = std::any_of(
      symbol.begin(), symbol.end(),
      [](unsigned char c) { return std::isalpha(c) != 0 || c >= 0x80; });
  return !has_letter || symbol == "None";
}

// The size that "batch" or "past + 1" names; any other text becomes a symbol.
std::optional<SizeFormula> formula_of(std::string_view symbol) {
  if (names_nothing(symbol)) return std::nullopt;
  if (auto formula = SizeFormula::parse(symbol)) return formula;
  return SizeFormula::parse("dim_" + import::identifier_of(symbol));
}

Size size_of(const Dimension& dim) {
  Size size;
  if (dim.value && *dim.value >= 0) size.fixed = *dim.value;
  size.text = size.fixed                  ? std::to_string(*size.fixed)
              : names_nothing(dim.symbol) ? "?"
                                          : std::string(dim.symbol);
  return size;
}

std::string unique(std::string name, std::unordered_set<std::string>& taken) {
  while (!taken.insert(name).second) name += "_";
  return name;
}

// Of a tensor, or of the tensors of a sequence or optional.
CarriedType carried_elements_of(const TypeInfo& type) {
  const TypeInfo* inner = &type;
  while (!inner->element.empty()) inner = &inner->element[0];
  return carried_type_of(inner->element_type);
}

// The tensors of a sequence whose stack a loop has made.
Value listed(Recorder& recorder, const GrownSequence& sequence) {
  return recorder.record_data_sized("torch.unbind", {sequence.stack, 0}, {});
}

}  // namespace

ModelReader::ModelReader(const std::string& path, const ExampleSizes& sizes)
    : example_sizes_(sizes),
      file_(path),
      model_(read_model(file_.bytes())),
      reader_(file_, recorder_, functions_, sizes) {
  if (!model_.graph || model_.opsets.empty())
    fail_model("no ONNX model: it has no " +
               std::string(model_.graph ? "opset_import" : "graph"));
  graph_ = read_graph(*model_.graph);
}

Program ModelReader::run() {
  read_functions();
  check_support(file_.path(), model_, graph_, functions_);
  Scope scope;
  read_inputs(scope);
  reader_.read(graph_, opsets_of(model_.opsets), scope, "graph");
  const Value result = read_outputs(scope);
  Program program;
  program.module = recorder_.finish(result);
  size_t i = 0;
  for (const fx::NodePtr node : program.module->graph().placeholders())
    inputs_[i++].name = std::string(node->name());
  auto checks = make_checks();
  import::declare_input_sizes(program.module->graph(), inputs_);
  program.inputs = std::move(inputs_);
  program.outputs = std::move(outputs_);
  program.facts = facts();
  import::set_checks(program, std::move(checks));
  return program;
}

void ModelReader::read_functions() {
  for (const Bytes& bytes : model_.functions) {
    FunctionInfo function = read_function(bytes);
    const FunctionKey key{plain_domain(function.domain), function.name,
                          function.overload};
    if (!functions_.emplace(key, std::move(function)).second)
      fail_model("function \"" + std::string(std::get<1>(key)) +
                 "\" is there twice");
  }
}

// Files of IR versions up to 3 list the initialisers among the inputs.
void ModelReader::read_inputs(Scope& scope) {
  std::unordered_set<std::string_view> given;
  for (const Bytes& bytes : graph_.initializers)
    given.insert(read_tensor_info(bytes).name);
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const ValueInfo info = read_value_info(graph_.inputs[i]);
    if (given.contains(info.name)) continue;
    const std::string place = "graph.input[" + std::to_string(i) + "]";
    if (info.name.empty()) fail_model(place + ": it has no name");
    try {
      read_input(info, scope);
    } catch (Error& error) {
      error.extend("\n  in " + place + " \"" + std::string(info.name) + "\"",
                   {});
      throw;
    }
  }
}

void ModelReader::read_input(const ValueInfo& info, Scope& scope) {
  Input& input = inputs_.emplace_back();
  formulas_.emplace_back();
  input.path = std::string(info.name);
  Value value;
  const bool has_texts = info.type.kind == TypeInfo::Kind::tensor &&
                         info.type.element_type == kStringType;
  const TypeInfo places =
      has_texts ? with_places(info.type, input) : TypeInfo();
  const TypeInfo* type = has_texts ? &places : &info.type;
  // An optional tensor is given or not; where it is an input, it is given.
  while (type->kind == TypeInfo::Kind::optional && !type->element.empty())
    type = &type->element[0];
  if (type->kind == TypeInfo::Kind::sequence) {
    input.kind = Input::Kind::sequence;
    if (!type->element.empty())
      if (const auto dtype = find_dtype(type->element[0].element_type))
        input.dtype = *dtype;
    input.carried = carried_elements_of(*type);
    value = recorder_.other_input(info.name, true);
  } else if (type->kind == TypeInfo::Kind::tensor) {
    const auto dtype = find_dtype(type->element_type);
    if (!dtype)
      fail_model("type: " + element_type_name(type->element_type) +
                 " is not supported");
    input.dtype = *dtype;
    input.carried = carried_elements_of(*type);
    read_sizes(*type, input);
    const auto example = example_of(*type, example_sizes_);
    uint32_t fixed = 0;
    for (size_t d = 0; d < input.sizes.size(); ++d)
      if (input.sizes[d].fixed) fixed |= 1u << d;
    value = example ? recorder_.input(info.name, *example, fixed)
                    : recorder_.other_input(info.name, false);
  } else {
    fail_model("type: expected a tensor or a sequence");
  }
  Operand operand(value);
  operand.unsigned_bits = unsigned_bits_of(*type);
  operand.narrow = narrow_type_of(*type);
  if (has_texts) {
    operand.texts = known_texts_;
    operand.has_other_texts = true;
  }
  if (!scope.define(info.name, operand)) fail_model("it is there twice");
}

// The type of the places of an input's strings.
TypeInfo ModelReader::with_places(const TypeInfo& type, Input& input) {
  if (!known_texts_) known_texts_ = texts_compared(graph_);
  input.texts = *known_texts_;
  TypeInfo places = type;
  places.element_type = kInt64Type;
  return places;
}

void ModelReader::read_sizes(const TypeInfo& type, Input& input) {
  input.any_rank = !type.shape;
  if (!type.shape) return;
  if (type.shape->size() > static_cast<size_t>(kMaxRank))
    fail_model("shape: expected at most " + std::to_string(kMaxRank) +
               " dims, got " + std::to_string(type.shape->size()));
  for (const Dimension& dim : *type.shape) {
    input.sizes.push_back(size_of(dim));
    auto& formula = formulas_.back().emplace_back();
    if (!input.sizes.back().fixed) formula = formula_of(dim.symbol);
  }
}

// What the file declares; nothing where it leaves the sizes open.
void ModelReader::describe_output(const TypeInfo& type, Output& output) {
  if (type.kind != TypeInfo::Kind::tensor || !type.shape) return;
  output.dtype = find_dtype(type.element_type);
  for (const Dimension& dim : *type.shape) output.sizes.push_back(size_of(dim));
}

// Strings are what the graph makes of places in a list; other ways of making
// them are none.
void ModelReader::describe_texts(const Call& call, const TypeInfo& type,
                                 Output& output) const {
  if (call.has(0) && call.operand(0).texts) {
    if (call.operand(0).has_other_texts)
      call.fail("strings of an input are no results");
    output.texts = *call.operand(0).texts;
    output.dtype = DType::i64;
  } else if (call.has(0) && call.operand(0).columns) {
    output.columns = *call.operand(0).columns;
  } else if (type.kind == TypeInfo::Kind::tensor &&
             type.element_type == kStringType) {
    call.fail("its strings come from an op that is not supported");
  }
}

Value ModelReader::read_outputs(const Scope& scope) {
  ValueList results;
  std::unordered_set<std::string> taken;
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ValueInfo info = read_value_info(graph_.outputs[i]);
    const std::string_view name = info.name;
    const std::string place = "graph.output[" + std::to_string(i) + "]";
    const NodeInfo none;
    const Call call(reader_, none, place, 0,
                    {reader_.output(name, scope, place)});
    results.push_back(call.has(0) && call.operand(0).grown
                          ? listed(recorder_, *call.operand(0).grown)
                          : call.optional(0));
    outputs_.push_back({unique(import::identifier_of(name), taken),
                        std::string(name),
                        {},
                        {}});
    outputs_.back().carried = carried_elements_of(info.type);
    describe_output(info.type, outputs_.back());
    describe_texts(call, info.type, outputs_.back());
  }
  if (results.empty()) fail_model("the graph has no outputs");
  return results.size() == 1 ? results[0] : Value::tuple(std::move(results));
}

std::vector<std::pair<std::string, std::string>> ModelReader::facts() const {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string name, std::string_view text) {
    if (!text.empty()) facts.emplace_back(std::move(name), std::string(text));
  };
  add("producer", std::string(model_.producer_name) +
                      (model_.producer_version.empty()
                           ? ""
                           : " " + std::string(model_.producer_version)));
  add("ir version", std::to_string(model_.ir_version));
  for (const OpsetInfo& opset : model_.opsets)
    add("opset", (opset.domain.empty() ? "" : std::string(opset.domain) + " ") +
                     std::to_string(opset.version));
  add("graph", graph_.name);
  add("description", model_.doc);
  for (const TextEntry& entry : model_.metadata)
    add(std::string(entry.key), entry.value);
  return facts;
}

// Those of the inputs' dims, each once.
std::vector<std::string> ModelReader::dim_names() const {
  std::vector<std::string> names;
  for (const Input& input : inputs_)
    for (const Size& size : input.sizes)
      if (!size.fixed && !names_nothing(size.text) &&
          std::ranges::find(names, size.text) == names.end())
        names.push_back(size.text);
  return names;
}

std::shared_ptr<const import::InputChecks> ModelReader::make_checks() const {
  std::vector<import::Argument> arguments;
  for (const Input& input : inputs_)
    arguments.push_back({input.path, false, {}, arguments.size(), 1});
  return std::make_shared<const import::InputChecks>(
      "onnx", std::move(arguments), inputs_, formulas_,
      std::map<std::string, import::Range>{}, std::vector<import::Guard>{});
}

namespace {

// Reads a model with examples of several sizes, until they are ones that it can
// take.
class Attempts {
 public:
  explicit Attempts(const std::string& path) : path_(path) {}

  Program run() {
    using Ones = ExampleSizes::Ones;
    for (const int64_t size : {64, 512, 256, 16})
      if (auto program = read({size})) return *std::move(program);
    if (auto program = read({.size = 64, .many = true}))
      return *std::move(program);
    // States that a model is given may be those of a batch of 1.
    for (const int64_t size : {64, 512, 16})
      if (auto program = read({size, Ones::first_dims}))
        return *std::move(program);
    for (const std::string& name : names_)
      if (auto program = read({64, Ones::of_name, name}))
        return *std::move(program);
    std::rethrow_exception(why_);
  }

 private:
  // Nothing where other sizes may do.
  std::optional<Program> read(const ExampleSizes& sizes) {
    ModelReader reader(path_, sizes);
    try {
      return reader.run();
    } catch (const UserError& error) {
      const bool depends_on_sizes =
          dynamic_cast<const UnknownShape*>(&error) || reader.has_guessed();
      if (!depends_on_sizes) throw;
      if (!why_) {
        why_ = std::current_exception();
        names_ = reader.dim_names();
      }
      return std::nullopt;
    }
  }

  const std::string& path_;
  std::exception_ptr why_;          // Why the first sizes did not do.
  std::vector<std::string> names_;  // Of the model's dims, known then.
};

}  // namespace

Program load(const std::string& path) {
  try {
    return Attempts(path).run();
  } catch (Error& error) {
    if (error.message().find(path) == std::string::npos)
      error.extend("\n  in file " + path, {});
    throw;
  }
}

}  // namespace fxjit::onnx
