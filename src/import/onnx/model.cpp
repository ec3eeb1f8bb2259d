#include "src/import/onnx/model.h"

#include "fxjit/error.h"

namespace fxjit::onnx {
namespace {

OpsetInfo read_opset(Bytes bytes);
TextEntry read_entry(Bytes bytes);
AttributeInfo read_attribute(Bytes bytes);

// What a field of a message says, as the type of the member that holds it.
// Fields that are repeated are lists.
void take(const WireField& field, int64_t& member) { member = field.integer(); }
void take(const WireField& field, float& member) { member = field.real(); }
void take(const WireField& field, std::string_view& member) {
  member = field.text();
}
void take(const WireField& field, std::optional<Bytes>& member) {
  member = field.message();
}
void take(const WireField& field, std::vector<int64_t>& member) {
  field.append_integers(member);
}
void take(const WireField& field, std::vector<float>& member) {
  field.append_reals(member);
}
void take(const WireField& field, std::vector<std::string_view>& member) {
  member.push_back(field.text());
}
void take(const WireField& field, std::vector<Bytes>& member) {
  member.push_back(field.message());
}
void take(const WireField& field, std::vector<WireField>& member) {
  member.push_back(field);
}
void take(const WireField& field, std::vector<OpsetInfo>& member) {
  member.push_back(read_opset(field.message()));
}
void take(const WireField& field, std::vector<TextEntry>& member) {
  member.push_back(read_entry(field.message()));
}
void take(const WireField& field, std::vector<AttributeInfo>& member) {
  member.push_back(read_attribute(field.message()));
}

// The member for the field of this number.
template <typename T>
struct Member {
  uint32_t number;
  T& place;
};
template <typename T>
Member(uint32_t, T&) -> Member<T>;

// Calls `take` with each field of a message.
template <typename Fn>
void read(Bytes bytes, Fn&& take) {
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) take(field);
}

// Fields without a member are left out.
template <typename... T>
void read_members(Bytes bytes, Member<T>... members) {
  read(bytes, [&](const WireField& field) {
    ((members.number == field.number ? take(field, members.place) : void()),
     ...);
  });
}

std::vector<Dimension> read_shape(Bytes bytes) {
  std::vector<Dimension> shape;
  read(bytes, [&](const WireField& field) {
    if (field.number != 1) return;
    Dimension& dimension = shape.emplace_back();
    read(field.message(), [&](const WireField& part) {
      if (part.number == 1) dimension = {part.integer(), {}};
      if (part.number == 2) dimension = {std::nullopt, part.text()};
    });
  });
  return shape;
}

void read_tensor_type(Bytes bytes, TypeInfo& type) {
  read(bytes, [&](const WireField& field) {
    if (field.number == 1) type.element_type = field.integer();
    if (field.number == 2) type.shape = read_shape(field.message());
  });
}

TypeInfo read_type(Bytes bytes, int depth = 0) {
  if (depth > kMaxDepth)
    throw UserError("[onnx] types of more than " + std::to_string(kMaxDepth) +
                    " levels");
  TypeInfo type;
  const auto read_container = [&](TypeInfo::Kind kind, Bytes container) {
    type.kind = kind;
    read(container, [&](const WireField& field) {
      if (field.number == 1)
        type.element.assign(1, read_type(field.message(), depth + 1));
    });
  };
  read(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        type.kind = TypeInfo::Kind::tensor;
        return read_tensor_type(field.message(), type);
      case 4:
        return read_container(TypeInfo::Kind::sequence, field.message());
      case 5:
        type.kind = TypeInfo::Kind::map;
        return;
      case 8:
        type.kind = TypeInfo::Kind::sparse;
        return;
      case 9:
        return read_container(TypeInfo::Kind::optional, field.message());
      default:
        return;
    }
  });
  return type;
}

TextEntry read_entry(Bytes bytes) {
  TextEntry entry;
  read_members(bytes, Member{1, entry.key}, Member{2, entry.value});
  return entry;
}

OpsetInfo read_opset(Bytes bytes) {
  OpsetInfo opset;
  read_members(bytes, Member{1, opset.domain}, Member{2, opset.version});
  return opset;
}

AttributeInfo read_attribute(Bytes bytes) {
  AttributeInfo made;
  read_members(
      bytes, Member{1, made.name}, Member{2, made.real},
      Member{3, made.integer}, Member{4, made.text}, Member{5, made.tensor},
      Member{6, made.graph}, Member{7, made.reals}, Member{8, made.integers},
      Member{9, made.texts}, Member{20, made.type}, Member{21, made.reference});
  return made;
}

}  // namespace

const AttributeInfo* NodeInfo::find(std::string_view attribute) const {
  for (const AttributeInfo& one : attributes)
    if (one.name == attribute) return &one;
  return nullptr;
}

ValueInfo read_value_info(Bytes bytes) {
  ValueInfo info;
  read(bytes, [&](const WireField& field) {
    if (field.number == 1) info.name = field.text();
    if (field.number == 2) info.type = read_type(field.message());
  });
  return info;
}

TensorInfo read_tensor_info(Bytes bytes) {
  TensorInfo tensor;
  read_members(bytes, Member{1, tensor.dims}, Member{2, tensor.data_type},
               Member{4, tensor.data}, Member{5, tensor.data},
               Member{6, tensor.strings}, Member{7, tensor.data},
               Member{8, tensor.name}, Member{9, tensor.raw},
               Member{10, tensor.data}, Member{11, tensor.data},
               Member{13, tensor.location}, Member{14, tensor.data_location});
  return tensor;
}

NodeInfo read_node_info(Bytes bytes) {
  NodeInfo node;
  read_members(bytes, Member{1, node.inputs}, Member{2, node.outputs},
               Member{3, node.name}, Member{4, node.op},
               Member{5, node.attributes}, Member{7, node.domain},
               Member{8, node.overload});
  return node;
}

GraphInfo read_graph(Bytes bytes) {
  GraphInfo graph;
  read_members(bytes, Member{1, graph.nodes}, Member{2, graph.name},
               Member{5, graph.initializers}, Member{11, graph.inputs},
               Member{12, graph.outputs}, Member{13, graph.values},
               Member{15, graph.sparse_initializers});
  return graph;
}

FunctionInfo read_function(Bytes bytes) {
  FunctionInfo function;
  read_members(bytes, Member{1, function.name}, Member{4, function.inputs},
               Member{5, function.outputs}, Member{6, function.attributes},
               Member{7, function.nodes}, Member{9, function.opsets},
               Member{10, function.domain}, Member{11, function.defaults},
               Member{13, function.overload});
  return function;
}

ModelInfo read_model(Bytes bytes) {
  ModelInfo model;
  read_members(bytes, Member{1, model.ir_version},
               Member{2, model.producer_name},
               Member{3, model.producer_version}, Member{4, model.domain},
               Member{5, model.model_version}, Member{6, model.doc},
               Member{7, model.graph}, Member{8, model.opsets},
               Member{14, model.metadata}, Member{25, model.functions});
  return model;
}

}  // namespace fxjit::onnx
