#include "src/import/onnx/model.h"

#include "fxjit/error.h"

namespace fxjit::onnx {
namespace {

// Calls `take` with each field of a message.
template <typename Fn>
void read(Bytes bytes, Fn&& take) {
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) take(field);
}

Dimension read_dimension(Bytes bytes) {
  Dimension dimension;
  read(bytes, [&](const WireField& field) {
    if (field.number == 1) {
      dimension = {field.integer(), {}};
    } else if (field.number == 2) {
      dimension = {std::nullopt, field.text()};
    }
  });
  return dimension;
}

std::vector<Dimension> read_shape(Bytes bytes) {
  std::vector<Dimension> shape;
  read(bytes, [&](const WireField& field) {
    if (field.number == 1) shape.push_back(read_dimension(field.message()));
  });
  return shape;
}

void read_tensor_type(Bytes bytes, TypeInfo& type) {
  read(bytes, [&](const WireField& field) {
    if (field.number == 1) type.element_type = field.integer();
    if (field.number == 2) type.shape = read_shape(field.message());
  });
}

TypeInfo read_type(Bytes bytes, int depth = 0);

void read_container_type(Bytes bytes, TypeInfo& type, int depth) {
  read(bytes, [&](const WireField& field) {
    if (field.number == 1)
      type.element.assign(1, read_type(field.message(), depth + 1));
  });
}

TypeInfo read_type(Bytes bytes, int depth) {
  if (depth > kMaxDepth)
    throw UserError("[onnx] types of more than " + std::to_string(kMaxDepth) +
                    " levels");
  TypeInfo type;
  read(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        type.kind = TypeInfo::Kind::tensor;
        read_tensor_type(field.message(), type);
        break;
      case 4:
        type.kind = TypeInfo::Kind::sequence;
        read_container_type(field.message(), type, depth);
        break;
      case 5:
        type.kind = TypeInfo::Kind::map;
        break;
      case 8:
        type.kind = TypeInfo::Kind::sparse;
        break;
      case 9:
        type.kind = TypeInfo::Kind::optional;
        read_container_type(field.message(), type, depth);
        break;
      default:
        break;
    }
  });
  return type;
}

TextEntry read_entry(Bytes bytes) {
  TextEntry entry;
  read(bytes, [&](const WireField& field) {
    if (field.number == 1) entry.key = field.text();
    if (field.number == 2) entry.value = field.text();
  });
  return entry;
}

OpsetInfo read_opset(Bytes bytes) {
  OpsetInfo opset;
  read(bytes, [&](const WireField& field) {
    if (field.number == 1) opset.domain = field.text();
    if (field.number == 2) opset.version = field.integer();
  });
  return opset;
}

AttributeInfo read_attribute(Bytes bytes) {
  AttributeInfo attribute;
  read(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        attribute.name = field.text();
        break;
      case 2:
        attribute.real = field.real();
        break;
      case 3:
        attribute.integer = field.integer();
        break;
      case 4:
        attribute.text = field.text();
        break;
      case 5:
        attribute.tensor = field.message();
        break;
      case 6:
        attribute.graph = field.message();
        break;
      case 7:
        field.append_reals(attribute.reals);
        break;
      case 8:
        field.append_integers(attribute.integers);
        break;
      case 9:
        attribute.texts.push_back(field.text());
        break;
      case 20:
        attribute.type = field.integer();
        break;
      case 21:
        attribute.reference = field.text();
        break;
      default:
        break;
    }
  });
  return attribute;
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
  read(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        field.append_integers(tensor.dims);
        break;
      case 2:
        tensor.data_type = field.integer();
        break;
      case 4:
      case 5:
      case 7:
      case 10:
      case 11: {
        const bool packed = field.type == WireField::Type::bytes;
        tensor.data.push_back(
            {field.number, field.bytes, field.word, !packed});
        break;
      }
      case 6:
        tensor.strings.push_back(field.text());
        break;
      case 8:
        tensor.name = field.text();
        break;
      case 9:
        tensor.raw = field.message();
        break;
      case 13:
        tensor.location.push_back(read_entry(field.message()));
        break;
      case 14:
        tensor.external = field.integer() == 1;
        break;
      default:
        break;
    }
  });
  return tensor;
}

NodeInfo read_node_info(Bytes bytes) {
  NodeInfo node;
  read(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        node.inputs.push_back(field.text());
        break;
      case 2:
        node.outputs.push_back(field.text());
        break;
      case 3:
        node.name = field.text();
        break;
      case 4:
        node.op = field.text();
        break;
      case 5:
        node.attributes.push_back(read_attribute(field.message()));
        break;
      case 7:
        node.domain = field.text();
        break;
      case 8:
        node.overload = field.text();
        break;
      default:
        break;
    }
  });
  return node;
}

GraphInfo read_graph(Bytes bytes) {
  GraphInfo graph;
  read(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        graph.nodes.push_back(field.message());
        break;
      case 2:
        graph.name = field.text();
        break;
      case 5:
        graph.initializers.push_back(field.message());
        break;
      case 11:
        graph.inputs.push_back(field.message());
        break;
      case 12:
        graph.outputs.push_back(field.message());
        break;
      case 13:
        graph.values.push_back(field.message());
        break;
      case 15:
        graph.sparse_initializers.push_back(field.message());
        break;
      default:
        break;
    }
  });
  return graph;
}

FunctionInfo read_function(Bytes bytes) {
  FunctionInfo function;
  read(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        function.name = field.text();
        break;
      case 4:
        function.inputs.push_back(field.text());
        break;
      case 5:
        function.outputs.push_back(field.text());
        break;
      case 6:
        function.attributes.push_back(field.text());
        break;
      case 7:
        function.nodes.push_back(field.message());
        break;
      case 9:
        function.opsets.push_back(read_opset(field.message()));
        break;
      case 10:
        function.domain = field.text();
        break;
      case 11:
        function.defaults.push_back(read_attribute(field.message()));
        break;
      case 13:
        function.overload = field.text();
        break;
      default:
        break;
    }
  });
  return function;
}

ModelInfo read_model(Bytes bytes) {
  ModelInfo model;
  read(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        model.ir_version = field.integer();
        break;
      case 2:
        model.producer_name = field.text();
        break;
      case 3:
        model.producer_version = field.text();
        break;
      case 4:
        model.domain = field.text();
        break;
      case 5:
        model.model_version = field.integer();
        break;
      case 6:
        model.doc = field.text();
        break;
      case 7:
        model.graph = field.message();
        break;
      case 8:
        model.opsets.push_back(read_opset(field.message()));
        break;
      case 14:
        model.metadata.push_back(read_entry(field.message()));
        break;
      case 25:
        model.functions.push_back(field.message());
        break;
      default:
        break;
    }
  });
  return model;
}

}  // namespace fxjit::onnx
