#include "src/import/pt2/program_reader.h"

#include <algorithm>

#include "fxjit/error.h"
#include "fxjit/fx/pytree_codegen.h"
#include "fxjit/log.h"
#include "src/import/pt2/tree.h"
#include "src/import/written_attributes.h"

namespace fxjit::import {
namespace {

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

pt2::Program ProgramReader::run() {
  check_version();
  input_specs_ = read_input_specs(signature_);
  const Field call = signature_of_call();
  read_inputs();
  read_arguments(call);
  name_inputs();
  read_graph();
  read_outputs(call);
  pt2::Program program;
  set_checks(program, make_checks());
  program.module = make_module();
  declare_input_sizes(program.module->graph(), inputs_);
  program.inputs = std::move(inputs_);
  program.outputs = std::move(outputs_);
  return program;
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
    log(LogLevel::warning, "[pt2] " + archive_.path() + ": " + text +
                               " is newer than " + std::to_string(kMajor) +
                               "." + std::to_string(kMinor) +
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

void ProgramReader::read_graph() {
  for (pt2::Input& input : inputs_) {
    const fx::NodePtr node = graph_->placeholder(input.name);
    if (!names_.emplace(input.name, Value(node)).second)
      graph_field_.at("inputs").fail("two inputs are named \"" + input.name +
                                     "\"");
    input.name = node->name();
  }
  add_weights_to_graph();
  GraphReader nodes(*graph_);
  nodes.read_nodes(graph_field_, names_);
  nodes.check_functions(archive_.path());
  bodies_ = nodes.members();
}

void ProgramReader::add_weights_to_graph() {
  for (const InputSpec& spec : input_specs_) {
    if (!spec.is_weight()) continue;
    if (attributes_.contains(spec.target))
      spec.place.fail("\"" + spec.target + "\" is named twice");
    const fx::NodePtr node = graph_->create_node(
        fx::Opcode::get_attr, spec.target, {}, {}, spec.name);
    attributes_.emplace(spec.target, node);
    if (!names_.emplace(spec.name, Value(node)).second)
      spec.place.fail("\"" + spec.name + "\" is an input already");
  }
}

// What a program without effects returns as the new value of a buffer or
// argument is written there at the end.
void ProgramReader::add_writes(const OutputSpec& spec, fx::NodePtr place) {
  const auto found = names_.find(spec.argument.at("name").text());
  if (found == names_.end())
    spec.argument.at("name").fail("it is not computed by the graph");
  graph_->call_function("torch.ops.aten.copy_.default", {place, found->second});
}

fx::NodePtr ProgramReader::find_weight_node(const OutputSpec& spec) const {
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
  std::vector<const Field*> arguments;
  const auto specs = read_output_specs(signature_);
  for (const OutputSpec& spec : specs) {
    if (spec.kind == OutputSpec::Kind::result) {
      results.push_back(read_argument(spec.argument, names_));
      arguments.push_back(&spec.argument);
    } else {
      add_writes(spec, find_weight_node(spec));
    }
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
    outputs_.push_back({name, path, {}, {}});
    describe_result(outputs_.back(), *arguments[outputs_.size() - 1]);
  }
  graph_->output(Value::list(std::move(results)));
}

void ProgramReader::describe_result(pt2::Output& output,
                                    const Field& argument) const {
  const auto [kind, value] = argument.variant();
  if (kind != "as_tensor") return;
  const Field tensors = graph_field_.at("tensor_values");
  const auto meta = tensors.find(value.at("name").text().c_str());
  if (!meta) return;
  output.dtype = read_dtype(meta->at("dtype"));
  for (const Field& size : meta->at("sizes").items()) {
    std::optional<SizeFormula> formula;
    output.sizes.push_back(read_size(size, formula));
  }
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

void ProgramReader::add_weight(nn::Module& root, const InputSpec& spec,
                               const std::unordered_set<std::string>& written) {
  const Field tensors = graph_field_.at("tensor_values");
  const auto meta = tensors.find(spec.name.c_str());
  if (!meta) tensors.fail("no entry for \"" + spec.name + "\"");
  bool own = false;
  for (const StoredTensor* stored :
       {archive_.find_weight(spec.target), archive_.find_constant(spec.target)})
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
    const fx::NodePtr node = attributes_.at(spec.target);
    if (node->num_users() == 0) {
      graph_->erase_node(node);
      unused.push_back(&spec);
    } else {
      add_weight(root, spec, written);
    }
  }
  for (const auto& [name, body] : bodies_)
    root.register_module(name, std::get<nn::ModuleRef>(body));
  graph_->set_codegen(codegen());
  auto module = fx::GraphModule::create(root, std::move(graph_));
  for (const InputSpec* spec : unused) add_weight(*module, *spec, written);
  weights_.finish();
  module->eval();
  return module;
}

}  // namespace fxjit::import
