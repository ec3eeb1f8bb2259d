// The messages of an ONNX file as plain structs. Texts and undecoded parts are
// views of the file's bytes, which must outlive them. Repeated messages (nodes,
// tensors) stay undecoded until somebody asks for one, so that memory stays
// near the file's size whatever it holds. Malformed bytes are a UserError.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/import/onnx/wire.h"

namespace fxjit::onnx {

// Messages in one another; deeper ones are refused.
inline constexpr int kMaxDepth = 64;

struct Dimension {
  std::optional<int64_t> value;
  std::string_view symbol;  // Empty: unknown.
};

struct TypeInfo {
  enum class Kind : uint8_t { none, tensor, sequence, optional, map, sparse };

  Kind kind = Kind::none;
  int64_t element_type = 0;  // A tensor's, by TensorProto's numbers.
  std::optional<std::vector<Dimension>> shape;  // None: the rank is unknown.
  std::vector<TypeInfo> element;  // One for a sequence or optional.
};

struct ValueInfo {
  std::string_view name;
  TypeInfo type;
};

struct TextEntry {
  std::string_view key, value;
};

struct TensorInfo {
  std::string_view name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  std::optional<Bytes> raw;
  int64_t data_location = 0;
  std::vector<TextEntry> location;  // Where external data lies.
  std::vector<WireField> data;      // Undecoded elements, packed or one alone.
  std::vector<std::string_view> strings;

  bool external() const { return data_location == 1; }
};

struct AttributeInfo {
  // AttributeProto's numbers.
  enum Type : int64_t {
    kUndefined = 0,
    kFloat = 1,
    kInt = 2,
    kString = 3,
    kTensor = 4,
    kGraph = 5,
    kFloats = 6,
    kInts = 7,
    kStrings = 8,
  };

  std::string_view name;
  std::string_view reference;  // Attribute of the function that holds the node.
  int64_t type = kUndefined;
  float real = 0;
  int64_t integer = 0;
  std::string_view text;
  std::optional<Bytes> tensor, graph;
  std::vector<float> reals;
  std::vector<int64_t> integers;
  std::vector<std::string_view> texts;
};

struct NodeInfo {
  std::string_view name, op, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeInfo> attributes;

  const AttributeInfo* find(std::string_view attribute) const;
};

struct GraphInfo {
  std::string_view name;
  std::vector<Bytes> nodes, initializers, sparse_initializers;
  std::vector<Bytes> inputs, outputs, values;  // ValueInfo each.
};

struct OpsetInfo {
  std::string_view domain;
  int64_t version = 0;
};

struct FunctionInfo {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<AttributeInfo> defaults;
  std::vector<Bytes> nodes;
  std::vector<OpsetInfo> opsets;
};

struct ModelInfo {
  int64_t ir_version = 0;
  std::string_view producer_name, producer_version, domain, doc;
  int64_t model_version = 0;
  std::vector<OpsetInfo> opsets;
  std::optional<Bytes> graph;
  std::vector<Bytes> functions;
  std::vector<TextEntry> metadata;
};

ModelInfo read_model(Bytes bytes);
GraphInfo read_graph(Bytes bytes);
NodeInfo read_node_info(Bytes bytes);
FunctionInfo read_function(Bytes bytes);
TensorInfo read_tensor_info(Bytes bytes);
ValueInfo read_value_info(Bytes bytes);

}  // namespace fxjit::onnx
