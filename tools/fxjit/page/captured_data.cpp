// The model as captured: inputs, outputs, weights, and its graph.
#include <algorithm>
#include <map>

#include "fxjit/error.h"
#include "fxjit/fx/passes/shape_prop.h"
#include "tools/fxjit/page/page_data.h"

namespace fxjit::command {
namespace {

constexpr size_t kLongestText = 600;

std::string cut_short(std::string text) {
  if (text.size() <= kLongestText) return text;
  size_t end = kLongestText;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// "linear" of "torch.ops.aten.linear.default".
std::string short_target(const fx::Node& node) {
  std::string name = node.target().pretty();
  const std::string aten = "torch.ops.";
  if (name.starts_with(aten)) {
    name = name.substr(aten.size());
    const size_t first = name.find('.'), last = name.rfind('.');
    if (first != name.npos && last > first)
      return name.substr(first + 1, last - first - 1);
  }
  if (node.is(fx::Opcode::call_module)) return name;
  const size_t dot = name.rfind('.');
  return dot == name.npos ? name : name.substr(dot + 1);
}

std::string shape_of(const fx::Node& node) {
  const Value& val = node.val();
  if (val.is_tensor())
    return std::string(dtype_name(val.as_tensor().dtype())) +
           val.as_tensor().sizes().str();
  return "";
}

// Sets val() of every node, where shapes do not depend on data.
void compute_shapes(const Model& model, const ValueList& inputs) {
  try {
    fx::passes::FakeTensorProp(model.module()).propagate(inputs);
  } catch (const Error&) {
    // The page shows the nodes behind the one that failed without a shape.
  }
}

class Captured {
 public:
  json run(const fx::Graph& graph) {
    for (const fx::Node* node : graph.nodes())
      if (!node->is(fx::Opcode::get_attr)) add(*node);
    lay_out(drawing_);
    json data = drawing_data(drawing_);
    data["nodes"] = std::move(nodes_);
    data["files"] = std::move(files_);
    return data;
  }

 private:
  void add(const fx::Node& node) {
    const auto index = static_cast<int32_t>(drawing_.boxes.size());
    boxes_[&node] = index;
    const std::string label =
        node.is(fx::Opcode::placeholder) || node.is(fx::Opcode::output)
            ? std::string(node.name())
            : short_target(node);
    const std::string shape = shape_of(node);
    drawing_.boxes.push_back(
        {std::max(box_width(label), box_width(shape)), 40, 0, 0});
    for (const fx::Node* input : node.all_input_nodes())
      if (const auto from = boxes_.find(input); from != boxes_.end())
        drawing_.wires.push_back({from->second, index, {}});
    json entry = {{"name", node.name()},
                  {"kind", fx::opcode_name(node.op())},
                  {"label", label},
                  {"type", shape},
                  {"text", cut_short(node.format_node())}};
    if (!node.source().file.empty()) {
      entry["file"] = file(std::string(node.source().file));
      entry["line"] = node.source().line;
    }
    if (!node.module_path().empty()) entry["module"] = node.module_path();
    nodes_.push_back(std::move(entry));
  }

  size_t file(const std::string& path) {
    const auto [known, added] = numbers_.emplace(path, files_.size());
    if (added) files_.push_back(path);
    return known->second;
  }

  Drawing drawing_;
  json nodes_ = json::array(), files_ = json::array();
  std::map<const fx::Node*, int32_t> boxes_;
  std::map<std::string, size_t> numbers_;
};

}  // namespace

double box_width(const std::string& text) {
  constexpr double kCharacter = 8, kPadding = 26, kLeast = 112, kMost = 264;
  return std::clamp(static_cast<double>(text.size()) * kCharacter + kPadding,
                    kLeast, kMost);
}

json drawing_data(const Drawing& drawing) {
  json boxes = json::array(), wires = json::array();
  for (const Box& box : drawing.boxes)
    boxes.push_back({box.x, box.y, box.width, box.height});
  for (const Wire& wire : drawing.wires)
    wires.push_back({wire.from, wire.to, wire.points});
  return {{"width", drawing.width},
          {"height", drawing.height},
          {"boxes", std::move(boxes)},
          {"wires", std::move(wires)}};
}

json captured_data(const Model& model, const ValueList& inputs) {
  compute_shapes(model, inputs);
  return Captured().run(model.module().graph());
}

namespace {

// What the file says of itself, as [name, value].
json fact_data(const Model& model) {
  json facts = json::array();
  if (!model.program()) facts.push_back({"format", "fx::save"});
  if (model.program())
    for (const auto& [name, value] : model.program()->facts)
      facts.push_back({name, cut_short(value)});
  return facts;
}

}  // namespace

json model_data(const Model& model, const ValueList& inputs) {
  json given = json::array();
  for (size_t i = 0; i < inputs.size(); ++i)
    given.push_back(
        {{"name", model.inputs()[i].name},
         {"declared", model.inputs()[i].text},
         {"given", inputs[i].is_tensor() ? inputs[i].as_tensor().describe()
                                         : cut_short(repr(inputs[i]))}});
  size_t tensors = 0, bytes = 0;
  const auto count = [&](const auto& named) {
    for (const auto& [name, handle] : named) {
      ++tensors;
      bytes += static_cast<size_t>(handle.tensor().numel()) *
               handle.tensor().item_size();
    }
  };
  count(model.module().named_parameters());
  count(model.module().named_buffers());
  return {{"path", model.path()},
          {"facts", fact_data(model)},
          {"inputs", std::move(given)},
          {"weights", {{"tensors", tensors}, {"bytes", bytes}}}};
}

}  // namespace fxjit::command
