// The compiled graph as a model of ONNX. Numbers of fields are those of
// onnx.proto.
#include <set>

#include "fxjit/version.h"
#include "tools/fxjit/page/graph_files.h"
#include "tools/fxjit/page/proto_writer.h"

namespace fxjit::command {
namespace {

constexpr const char* kDomain = "fxjit";
constexpr int64_t kIrVersion = 8;
constexpr int64_t kStandardOpset = 17;

struct ElementType {
  std::string_view name;  // torch's.
  int64_t number;         // TensorProto.DataType.
};
constexpr ElementType kElementTypes[] = {
    {"float32", 1},    {"uint8", 2},       {"int8", 3},    {"uint16", 4},
    {"int16", 5},      {"int32", 6},       {"int64", 7},   {"bool", 9},
    {"float16", 10},   {"float64", 11},    {"uint32", 12}, {"uint64", 13},
    {"complex64", 14}, {"complex128", 15}, {"bfloat16", 16}};

// 0, "undefined", for types that ONNX lacks.
int64_t element_type(DType dtype) {
  for (const auto& [name, number] : kElementTypes)
    if (name == dtype_name(dtype)) return number;
  return 0;
}

ProtoWriter value_info(const std::string& name, const Tensor& val) {
  ProtoWriter shape, tensor, type, info;
  if (!val.defined()) return std::move(info.text(1, name));
  for (const int64_t size : val.sizes())
    shape.message(1, ProtoWriter().number(1, size));
  tensor.number(1, element_type(val.dtype())).message(2, shape);
  type.message(1, tensor);
  info.text(1, name).message(2, type);
  return info;
}

enum AttributeType { kFloat = 1, kText = 3, kTexts = 8 };

ProtoWriter attribute(const std::string& name, AttributeType type) {
  ProtoWriter made;
  made.text(1, name).number(20, type);
  return made;
}

class OnnxText {
 public:
  OnnxText(const Flow& flow, const std::string& name)
      : flow_(flow), name_(name) {}

  std::string run() {
    for (const FlowValue& value : flow_.values) used_.insert(value.name);
    name_outputs();
    for (const FlowStep& step : flow_.steps) add_step(step);
    for (const int32_t number : flow_.inputs)
      graph_.message(11, value_info(name_of(number), at(number).val));
    for (size_t i = 0; i < flow_.outputs.size(); ++i) add_output(i);
    graph_.text(2, name_);
    ProtoWriter model, standard, own;
    standard.text(1, "").number(2, kStandardOpset);
    own.text(1, kDomain).number(2, 1);
    model.number(1, kIrVersion)
        .text(2, "fxjit")
        .text(3, FXJIT_VERSION_STRING)
        .text(6, "Steps of a compiled program, for looking at.")
        .message(7, graph_)
        .message(8, standard)
        .message(8, own);
    return model.bytes();
  }

 private:
  const FlowValue& at(int32_t number) const {
    return flow_.values[static_cast<size_t>(number)];
  }

  // A value that is an output, and only one, has the output's name.
  void name_outputs() {
    names_.resize(flow_.values.size());
    for (size_t i = 0; i < flow_.values.size(); ++i)
      names_[i] = flow_.values[i].name;
    std::set<int32_t> named;
    for (const FlowOutput& output : flow_.outputs) {
      std::string name = output.name;
      for (int k = 1; !used_.insert(name).second; ++k)
        name = output.name + "." + std::to_string(k);
      output_names_.push_back(name);
      if (output.values.size() != 1) continue;
      const int32_t value = output.values[0];
      if (at(value).step >= 0 && named.insert(value).second)
        names_[static_cast<size_t>(value)] = name;
    }
  }

  const std::string& name_of(int32_t number) const {
    return names_[static_cast<size_t>(number)];
  }

  void add_step(const FlowStep& flow) {
    const StepInspection& step = *flow.step;
    ProtoWriter node;
    for (const int32_t value : flow.reads) node.text(1, name_of(value));
    for (const int32_t value : flow.writes) node.text(2, name_of(value));
    node.text(3, std::to_string(number_++) + ": " + step.report.label)
        .text(4, step.skeleton);
    const auto real = [&](const char* name, double value) {
      node.message(5, attribute(name, kFloat).real(
                          2, static_cast<float>(value)));
    };
    const auto text = [&](const std::string& name, const std::string& value) {
      node.message(5, attribute(name, kText).text(4, value));
    };
    text("label", step.report.label);
    text("kernel", step.report.kernel);
    for (const auto& [name, value] : step.sizes) text(name, value);
    real("microseconds", step.profile.microseconds);
    real("MFLOP", step.profile.flops / 1e6);
    real("MB", step.profile.bytes / 1e6);
    real("share of the limit", step.profile.of_limit);
    ProtoWriter nodes = attribute("nodes", kTexts);
    for (const NodeReport& captured : step.report.nodes)
      nodes.text(9, captured.name);
    node.message(5, nodes).text(7, kDomain);
    graph_.message(1, node);
  }

  // Other results are made by a node of their own.
  void add_output(size_t index) {
    const FlowOutput& output = flow_.outputs[index];
    const std::string& name = output_names_[index];
    const bool named =
        output.values.size() == 1 && name_of(output.values[0]) == name;
    if (!named) {
      ProtoWriter node;
      for (const int32_t value : output.values) node.text(1, name_of(value));
      node.text(2, name).text(3, name).text(4, "result").text(7, kDomain);
      graph_.message(1, node);
    }
    graph_.message(12, value_info(name, output.val));
  }

  const Flow& flow_;
  const std::string& name_;
  ProtoWriter graph_;
  std::set<std::string> used_;
  std::vector<std::string> names_, output_names_;
  int64_t number_ = 0;
};

}  // namespace

std::string onnx_text(const Flow& flow, const std::string& name) {
  return OnnxText(flow, name).run();
}

}  // namespace fxjit::command
