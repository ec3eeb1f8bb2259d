#include "src/import/onnx/survey.h"

#include "fxjit/error.h"
#include "src/import/onnx/op_rows.h"
#include "src/import/onnx/texts.h"

namespace fxjit::onnx {
namespace {

constexpr int64_t kOldestOpset = 1, kNewestOpset = 28;

// The places of one complaint that a message shows.
constexpr size_t kShown = 4;

class Survey {
 public:
  Survey(const Functions& functions, bool compares_texts)
      : functions_(functions), compares_texts_(compares_texts) {}

  void opsets(const std::vector<OpsetInfo>& opsets) {
    for (const OpsetInfo& opset : opsets)
      if (plain_domain(opset.domain).empty() &&
          (opset.version < kOldestOpset || opset.version > kNewestOpset))
        add("opset " + std::to_string(opset.version), "opset_import");
  }

  void graph(const GraphInfo& graph, const Opsets& opsets,
             const std::string& place, int depth) {
    if (depth > kMaxDepth)
      throw UserError("[onnx] " + place + ": graphs of more than " +
                      std::to_string(kMaxDepth) + " levels");
    for (size_t i = 0; i < graph.initializers.size(); ++i)
      tensor(graph.initializers[i],
             place + ".initializer[" + std::to_string(i) + "]");
    if (!graph.sparse_initializers.empty())
      add("sparse tensors", place + ".sparse_initializer");
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      input(graph.inputs[i], place + ".input[" + std::to_string(i) + "]");
    nodes(graph.nodes, opsets, place, depth);
  }

  void nodes(const std::vector<Bytes>& nodes, const Opsets& opsets,
             const std::string& place, int depth) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const NodeInfo info = read_node_info(nodes[i]);
      node(info, opsets, node_place(info, place, i), depth);
    }
  }

  // All that was found, as one text; empty where there is nothing.
  std::string text() const {
    std::string text;
    for (const auto& [what, places] : found_) {
      text += "\n  " + what + " (" + places.shown;
      if (places.count > kShown)
        text += " and " + std::to_string(places.count - kShown) + " more";
      text += ")";
    }
    return text;
  }
  size_t count() const { return found_.size(); }

 private:
  struct Places {
    size_t count = 0;
    std::string shown;
  };

  void add(const std::string& what, const std::string& place) {
    Places& places = found_[what];
    if (++places.count <= kShown)
      places.shown += (places.shown.empty() ? "" : ", ") + place;
  }

  void type(int64_t element_type, const std::string& place) {
    if (!find_dtype(element_type))
      add("type " + element_type_name(element_type), place);
  }

  void tensor(Bytes bytes, const std::string& place) {
    const TensorInfo info = read_tensor_info(bytes);
    if (info.data_type == kStringType) return;
    type(info.data_type, place + " \"" + std::string(info.name) + "\"");
  }

  void input(Bytes bytes, const std::string& place) {
    const ValueInfo info = read_value_info(bytes);
    const TypeInfo* inner = &info.type;
    while (!inner->element.empty()) inner = &inner->element[0];
    const std::string here = place + " \"" + std::string(info.name) + "\"";
    const bool has_texts = info.type.kind == TypeInfo::Kind::tensor &&
                           info.type.element_type == kStringType;
    if (has_texts && compares_texts_) return;
    if (inner->kind == TypeInfo::Kind::tensor)
      type(inner->element_type, here);
    else if (inner->kind == TypeInfo::Kind::map)
      add("maps", here);
    else if (inner->kind == TypeInfo::Kind::sparse)
      add("sparse tensors", here);
  }

  void node(const NodeInfo& info, const Opsets& opsets,
            const std::string& place, int depth) {
    if (info.op.empty())
      throw UserError("[onnx] " + place + ": op_type is missing");
    const std::string_view domain = plain_domain(info.domain);
    if (!functions_.contains({domain, info.op, info.overload}))
      op(info, domain, opsets, place);
    for (const AttributeInfo& attribute : info.attributes) {
      if (attribute.tensor) tensor(*attribute.tensor, place + ", attribute");
      if (attribute.graph)
        graph(read_graph(*attribute.graph), opsets,
              place + ": " + std::string(attribute.name), depth + 1);
      const bool names_type = attribute.name == "to" ||
                              attribute.name == "dtype" ||
                              attribute.name == "output_dtype";
      if (names_type && attribute.type == AttributeInfo::kInt &&
          attribute.integer != 0)
        type(attribute.integer,
             place + ", attribute " + std::string(attribute.name));
    }
  }

  void op(const NodeInfo& info, std::string_view domain, const Opsets& opsets,
          const std::string& place) {
    const std::string name =
        std::string(info.op) +
        (domain.empty() ? "" : " of the domain " + std::string(domain));
    if (!has_rows(domain, info.op)) {
      add("op " + name, place);
      return;
    }
    const auto opset = opsets.find(domain);
    if (opset == opsets.end())
      add("domain \"" + std::string(domain) + "\" without an opset", place);
    else if (!find_row(domain, info.op, opset->second))
      add("op " + name + " of opset " + std::to_string(opset->second), place);
  }

  const Functions& functions_;
  bool compares_texts_;  // So that strings of inputs have places in a list.
  std::map<std::string, Places> found_;
};

}  // namespace

void check_support(const std::string& path, const ModelInfo& model,
                   const GraphInfo& graph, const Functions& functions) {
  Survey survey(functions, !texts_compared(graph)->empty());
  survey.opsets(model.opsets);
  survey.graph(graph, opsets_of(model.opsets), "graph", 0);
  for (const auto& [key, function] : functions)
    survey.nodes(function.nodes, opsets_of(function.opsets),
                 "function " + std::string(function.name), 0);
  if (survey.count() == 0) return;
  throw NotImplementedError(
      "[onnx] " + path + ": " + std::to_string(survey.count()) +
      (survey.count() == 1 ? " thing is" : " things are") +
      " not supported:" + survey.text());
}

}  // namespace fxjit::onnx
