#include "src/import/program_reader.h"

#include <algorithm>

#include "fxjit/error.h"
#include "fxjit/fx/pytree_codegen.h"
#include "fxjit/log.h"
#include "src/import/pt2_tree.h"
#include "src/import/written_attributes.h"

namespace fxjit::import {
namespace {

using pt2::Input;

// The schema of torch 2.13, which this reader knows.
constexpr int64_t kMajor = 8, kMinor = 20;

// "['z'][0]" as a name: "z_0".
std::string name_of_path(const std::string& path) {
  std::string name;
  for (const char c : path) {
    const bool fits = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                      (c >= 'A' && c <= 'Z') || c == '_';
    if (fits)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

}  // namespace

ProgramReader::ProgramReader(const std::string& path,
                             const pt2::LoadOptions& options)
    : archive_(path),
      weights_(archive_, options.weights),
      graph_field_(archive_.model().at("graph_module").at("graph")),
      signature_(archive_.model().at("graph_module").at("signature")),
      graph_(std::make_unique<fx::Graph>()) {}

ReadProgram ProgramReader::run() {
  check_version();
  input_specs_ = read_input_specs(signature_);
  const Field call = signature_of_call();
  read_inputs();
  read_arguments(call);
  name_inputs();
  read_graph();
  read_outputs(call);
  ReadProgram read;
  read.checks = make_checks();
  read.program.module = make_module();
  read.program.inputs = std::move(inputs_);
  read.program.outputs = std::move(outputs_);
  return read;
}

void ProgramReader::check_version() const {
  const Field version = archive_.model().at("schema_version");
  const int64_t major = version.at("major").integer();
  const int64_t minor = version.at("minor").integer();
  const std::string text =
      "schema " + std::to_string(major) + "." + std::to_string(minor);
  if (major != kMajor)
    version.fail(text + ": expected " + std::to_string(kMajor) +
                 ": export again with torch 2.13");
  if (minor > kMinor)
    log(LogLevel::warning,
        "[pt2] " + archive_.path() + ": " + text + " is newer than " +
            std::to_string(kMajor) + "." + std::to_string(kMinor) +
            ", which this version reads");
}

// How the module itself, not one of its parts, is called.
Field ProgramReader::signature_of_call() const {
  const Field graphs =
      archive_.model().at("graph_module").at("module_call_graph");
  for (const Field& entry : graphs.items())
    if (entry.at("fqn").text().empty())
      if (const auto signature = entry.find("signature")) return *signature;
  graphs.fail("expected the signature of the whole module, with fqn \"\"");
}

void ProgramReader::read_inputs() {
  const Field tensors = graph_field_.at("tensor_values");
  for (const InputSpec& spec : input_specs_) {
    if (spec.is_weight()) continue;
    Input& input = inputs_.emplace_back();
    formulas_.emplace_back();
    input.name = spec.name;
    if (spec.kind == InputSpec::Kind::constant) {
      input.kind = Input::Kind::constant;
      input.constant = spec.constant;
      if (input.name.empty())
        input.name = "input_" + std::to_string(inputs_.size() - 1);
    } else if (spec.place.variant().first == "as_tensor") {
      const auto meta = tensors.find(spec.name.c_str());
      if (!meta) tensors.fail("no entry for the input \"" + spec.name + "\"");
      read_tensor_input(input, *meta);
    } else {
      read_number_input(input, spec.name);
    }
  }
}

void ProgramReader::read_tensor_input(Input& input, const Field& meta) {
  input.dtype = read_dtype(meta.at("dtype"));
  for (const Field& size : meta.at("sizes").items())
    input.sizes.push_back(read_size(size));
  if (input.sizes.size() > static_cast<size_t>(kMaxRank))
    meta.at("sizes").fail("expected at most " + std::to_string(kMaxRank) +
                          " dims");
}

pt2::Size ProgramReader::read_size(const Field& size) {
  const auto [kind, value] = size.variant();
  if (kind == "as_int") {
    formulas_.back().emplace_back();
    return {std::to_string(value.size()), value.size(), {}, {}, {}};
  }
  if (kind != "as_expr") size.fail("expected as_int or as_expr");
  const std::string& text = value.at("expr_str").text();
  formulas_.back().push_back(SizeFormula::parse(text));
  const auto& formula = formulas_.back().back();
  std::optional<int64_t> example;
  if (const auto hint = value.find("hint"))
    if (hint->variant().first == "as_int") example = hint->at("as_int").size();
  return {formula ? formula->str() : text, {}, {}, {}, example};
}

// An integer that the graph names by a symbol, or a plain number.
void ProgramReader::read_number_input(Input& input, const std::string& name) {
  input.kind = Input::Kind::number;
  const auto values = graph_field_.find("sym_int_values");
  if (!values) return;
  const auto value = values->find(name.c_str());
  if (!value || value->variant().first != "as_expr") return;
  formulas_.back().push_back(
      SizeFormula::parse(value->at("as_expr").at("expr_str").text()));
  const auto& formula = formulas_.back().back();
  input.sizes.push_back({formula ? formula->str() : name, {}, {}, {}, {}});
}

// in_spec is ((positional arguments), {keyword arguments}).
void ProgramReader::read_arguments(const Field& call) {
  const Field place = call.at("in_spec");
  const Value tree = read_tree(place);
  if (!tree.is_tuple() || tree.size() != 2 || !tree.at(0).is_sequence() ||
      !tree.at(1).is_dict())
    place.fail("expected a tuple of positional and keyword arguments");
  std::vector<std::string> names;
  if (const auto given = call.find("forward_arg_names"))
    for (const Field& name : given->items()) names.push_back(name.text());
  const size_t positional = tree.at(0).size();
  for (size_t i = 0; i < positional; ++i)
    arguments_.push_back(
        {i < names.size() ? names[i] : "arg_" + std::to_string(i), false,
         tree.at(0).at(i)});
  for (const auto& [key, part] : tree.at(1).as_dict()) {
    if (!key.is_string()) place.fail("expected texts as keywords");
    arguments_.push_back({std::string(key.as_string()), true, part});
  }
  size_t leaves = 0;
  for (Argument& argument : arguments_) {
    argument.first = leaves;
    argument.leaves = fx::TreeSpec(argument.tree).num_leaves();
    leaves += argument.leaves;
  }
  if (leaves != inputs_.size())
    place.fail("it has " + std::to_string(leaves) + " leaves, the signature " +
               std::to_string(inputs_.size()) + " inputs");
}

void ProgramReader::name_inputs() {
  for (const Argument& argument : arguments_) {
    const auto paths = leaf_paths(argument.tree, argument.name);
    for (size_t i = 0; i < paths.size(); ++i)
      inputs_[argument.first + i].path = paths[i];
  }
}

void ProgramReader::read_graph() {
  for (Input& input : inputs_) {
    fx::Node* const node = graph_->placeholder(input.name);
    if (!names_.emplace(input.name, Value(node)).second)
      graph_field_.at("inputs").fail("two inputs are named \"" + input.name +
                                     "\"");
    input.name = node->name();
  }
  add_weights_to_graph();
  GraphReader nodes(*graph_);
  nodes.read_nodes(graph_field_, names_);
  nodes.check_functions(archive_.path());
}

void ProgramReader::add_weights_to_graph() {
  for (const InputSpec& spec : input_specs_) {
    if (!spec.is_weight()) continue;
    if (attributes_.contains(spec.target))
      spec.place.fail("\"" + spec.target + "\" is named twice");
    fx::Node* const node = graph_->create_node(
        fx::Opcode::get_attr, spec.target, {}, {}, spec.name);
    attributes_.emplace(spec.target, node);
    if (!names_.emplace(spec.name, Value(node)).second)
      spec.place.fail("\"" + spec.name + "\" is an input already");
  }
}

// What a program without effects returns as the new value of a buffer or
// argument is written there at the end.
void ProgramReader::add_writes(const OutputSpec& spec, fx::Node* place) {
  const auto found = names_.find(spec.argument.at("name").text());
  if (found == names_.end())
    spec.argument.at("name").fail("it is not computed by the graph");
  graph_->call_function("torch.ops.aten.copy_.default",
                        {place, found->second});
}

fx::Node* ProgramReader::find_weight_node(const OutputSpec& spec) const {
  if (spec.kind == OutputSpec::Kind::argument) {
    const auto found = names_.find(spec.target);
    if (found == names_.end() || !found->second.is_node())
      spec.argument.fail("it is written to \"" + spec.target +
                         "\", which is no input");
    return found->second.as_node();
  }
  const auto found = attributes_.find(spec.target);
  if (found == attributes_.end())
    spec.argument.fail("it is written to \"" + spec.target +
                       "\", which is no weight");
  return found->second;
}

void ProgramReader::read_outputs(const Field& call) {
  ValueList results;
  for (const OutputSpec& spec : read_output_specs(signature_)) {
    if (spec.kind == OutputSpec::Kind::result)
      results.push_back(read_argument(spec.argument, names_));
    else
      add_writes(spec, find_weight_node(spec));
  }
  const Field place = call.at("out_spec");
  out_tree_ = read_tree(place);
  const auto paths = leaf_paths(out_tree_, "");
  if (paths.size() != results.size())
    place.fail("it has " + std::to_string(paths.size()) +
               " leaves, the signature " + std::to_string(results.size()) +
               " results");
  std::unordered_set<std::string> taken;
  for (const std::string& path : paths) {
    std::string name = name_of_path(path);
    if (name.empty() || (name[0] >= '0' && name[0] <= '9'))
      name = "output" + (name.empty() ? "" : "_" + name);
    while (!taken.insert(name).second) name += "_";
    outputs_.push_back({name, path});
  }
  graph_->output(Value::list(std::move(results)));
}

std::shared_ptr<const fx::CodeGen> ProgramReader::codegen() const {
  std::vector<std::string> names;
  ValueList trees;
  for (const Argument& argument : arguments_) {
    names.push_back(argument.name);
    trees.push_back(argument.tree);
  }
  return std::make_shared<fx::PyTreeCodeGen>(
      std::move(names), fx::TreeSpec(Value::tuple(std::move(trees))),
      fx::TreeSpec(out_tree_), /*of_module=*/true);
}

// Names of the entries whose tensors are written. Tied weights are one tensor:
// written under one name, written under all.
std::unordered_set<std::string> ProgramReader::written_entries() const {
  std::unordered_set<std::string> entries;
  for (const std::string& target : written_attributes(*graph_))
    for (const StoredTensor* stored :
         {archive_.find_weight(target), archive_.find_constant(target)})
      if (stored) entries.insert(stored->entry);
  return entries;
}

void ProgramReader::add_weight(
    nn::Module& root, const InputSpec& spec,
    const std::unordered_set<std::string>& written) {
  const Field tensors = graph_field_.at("tensor_values");
  const auto meta = tensors.find(spec.name.c_str());
  if (!meta) tensors.fail("no entry for \"" + spec.name + "\"");
  bool own = false;
  for (const StoredTensor* stored : {archive_.find_weight(spec.target),
                                     archive_.find_constant(spec.target)})
    own = own || (stored && written.contains(stored->entry));
  weights_.add(root, spec, *meta, own);
}

// A graph module takes the members that its graph names; the others come after,
// so that all of the program's parameters and buffers are there.
nn::Ref<fx::GraphModule> ProgramReader::make_module() {
  const auto written = written_entries();
  std::vector<const InputSpec*> unused;
  nn::Module root;
  for (const InputSpec& spec : input_specs_) {
    if (!spec.is_weight()) continue;
    fx::Node* const node = attributes_.at(spec.target);
    if (node->num_users() == 0) {
      graph_->erase_node(node);
      unused.push_back(&spec);
    } else {
      add_weight(root, spec, written);
    }
  }
  graph_->set_codegen(codegen());
  auto module = fx::GraphModule::create(root, std::move(graph_));
  for (const InputSpec* spec : unused) add_weight(*module, *spec, written);
  weights_.finish();
  module->eval();
  return module;
}

std::map<std::string, Range> ProgramReader::read_ranges() const {
  std::map<std::string, Range> ranges;
  const auto field = archive_.model().find("range_constraints");
  if (!field) return ranges;
  for (const auto& [symbol, entry] : field->members()) {
    Range range;
    // Up to 2 means that sizes of 0 and 1 were not exported apart: torch lets
    // them pass as well.
    if (const auto least = entry.find("min_val"))
      if (least->integer() > 2) range.least = least->integer();
    if (const auto most = entry.find("max_val")) range.most = most->integer();
    ranges.emplace(symbol, range);
  }
  return ranges;
}

std::shared_ptr<const InputChecks> ProgramReader::make_checks() {
  const auto ranges = read_ranges();
  for (size_t i = 0; i < inputs_.size(); ++i)
    for (size_t d = 0; d < formulas_[i].size(); ++d) {
      const auto symbol =
          formulas_[i][d] ? formulas_[i][d]->symbol() : std::nullopt;
      const auto found = symbol ? ranges.find(*symbol) : ranges.end();
      if (found == ranges.end()) continue;
      inputs_[i].sizes[d].least = found->second.least;
      inputs_[i].sizes[d].most = found->second.most;
    }
  std::vector<Guard> guards;
  std::vector<std::string> unread;
  if (const auto texts = archive_.model().find("guards_code"))
    for (const Field& text : texts->items()) {
      if (auto formula = SizeFormula::parse(text.text()))
        guards.push_back({text.text(), std::move(*formula)});
      else
        unread.push_back(text.text());
    }
  auto checks = std::make_shared<const InputChecks>(
      arguments_, inputs_, formulas_, ranges, std::move(guards));
  for (const std::string& text : checks->unchecked_guards())
    unread.push_back(text);
  for (const std::string& text : unread)
    log(LogLevel::warning, "[pt2] " + archive_.path() +
                               ": calls are not checked for the condition " +
                               text);
  return checks;
}

}  // namespace fxjit::import
