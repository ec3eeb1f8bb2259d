#include "fxjit/fx/passes/graph_transform_observer.h"

#include <atomic>
#include <fstream>

#include "fxjit/fx/passes/graph_drawer.h"

namespace fxjit::fx::passes {
namespace {

std::atomic<int> pass_count{0};

constexpr const char* kFromNode = "from_node";

ValueList sources_of(const Node& node) {
  const Value* const known = node.meta().find(kFromNode);
  return known && known->is_sequence() ? known->as_sequence() : ValueList();
}

}  // namespace

GraphTransformObserver::GraphTransformObserver(
    GraphModule& module, std::string passname,
    std::optional<std::filesystem::path> log_folder)
    : module_(module),
      passname_(std::move(passname)),
      log_folder_(std::move(log_folder)) {
  if (log_folder_) {
    number_ = ++pass_count;
    before_ = module_.copy();
  }
  for (NodePtr node : module_.graph().nodes())
    by_name_[std::string(node->name())] = node;
  hooks_ = {module_.register_create_node_hook(
                [this](Node& node) { on_create(node); }),
            module_.register_erase_node_hook([this](Node& node) {
              erased_.emplace(node.name());
              by_name_.erase(std::string(node.name()));
            }),
            module_.register_replace_node_hook(
                [this](Node& old_node, std::string_view new_name, Node&) {
                  on_replace(old_node, new_name);
                })};
}

GraphTransformObserver::~GraphTransformObserver() { stop(); }

void GraphTransformObserver::stop() {
  for (const HookId id : hooks_) module_.unregister_node_hook(id);
  hooks_.clear();
}

void GraphTransformObserver::on_create(Node& node) {
  created_.emplace(node.name());
  by_name_[std::string(node.name())] = &node;
  ValueList sources = sources_of(node);
  sources.push_back(Value::tuple({None, passname_, "create"}));
  node.meta().set(kFromNode, Value::list(std::move(sources)));
}

// Called once for each user of the old node: one entry is enough.
void GraphTransformObserver::on_replace(const Node& old_node,
                                        std::string_view new_name) {
  const auto found = by_name_.find(std::string(new_name));
  if (found == by_name_.end()) return;
  const NodePtr made = found->second;
  const Value old_name{std::string(old_node.name())};
  ValueList sources;
  for (const Value& source : sources_of(*made)) {
    if (same(source.at(0), old_name)) return;
    const bool mere_creation =
        source.at(0).is_none() && same(source.at(1), Value(passname_));
    if (!mere_creation) sources.push_back(source);
  }
  const bool is_new = created_.contains(std::string(new_name));
  sources.push_back(Value::tuple(
      {old_name, passname_, is_new ? "replace+create" : "replace"}));
  made->meta().set(kFromNode, Value::list(std::move(sources)));
}

void GraphTransformObserver::apply_gm_pass(
    const std::function<void(GraphModule&)>& pass) {
  pass(module_);
  finish();
}

void GraphTransformObserver::apply_graph_pass(
    const std::function<void(Graph&)>& pass) {
  pass(module_.graph());
  finish();
}

void GraphTransformObserver::finish() {
  stop();
  if (!log_folder_ || (created_.empty() && erased_.empty())) return;
  draw(*before_, erased_, "input");
  draw(module_, created_, "output");
}

void GraphTransformObserver::draw(const GraphModule& module,
                                  const std::set<std::string>& marked,
                                  const std::string& kind) const {
  DrawerOptions options;
  options.ignore_getattr = true;
  options.ignore_parameters_and_buffers = true;
  options.fill_color = [&](const Node& node) {
    return marked.contains(std::string(node.name())) ? "yellow" : "grey";
  };
  const std::filesystem::path path =
      *log_folder_ / ("pass_" + std::to_string(number_) + "_" + passname_ +
                      "_" + kind + "_graph.dot");
  std::ofstream file(path);
  file << FxGraphDrawer(module, passname_, options).get_dot_graph();
  file.close();
  if (!file)
    throw RuntimeError("[graph transform observer] " + path.string() +
                       ": expected to be writable");
}

int GraphTransformObserver::get_current_pass_count() { return pass_count; }

}  // namespace fxjit::fx::passes
