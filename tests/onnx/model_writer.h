// ONNX files written field by field, also such as no exporter writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fxjit::testing_onnx {

// The bytes of a protocol buffer message.
class Message {
 public:
  Message& number(uint32_t field, uint64_t value);
  Message& real(uint32_t field, float value);
  Message& text(uint32_t field, std::string_view bytes);
  Message& add(uint32_t field, const Message& message) {
    return text(field, message.bytes());
  }
  // Bytes as they are, tag included.
  Message& raw(std::string_view bytes);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// ValueInfoProto of a tensor; a dim of -1 is unknown, `element_type` as in
// TensorProto.
Message value_info(std::string_view name, int64_t element_type,
                   const std::vector<int64_t>& dims);
// TensorProto of floats, or without data.
Message float_tensor(std::string_view name, const std::vector<int64_t>& dims,
                     const std::vector<float>& values);
Message tensor(std::string_view name, int64_t data_type,
               const std::vector<int64_t>& dims, std::string_view raw);
Message int_tensor(std::string_view name, const std::vector<int64_t>& values);

Message int_attribute(std::string_view name, int64_t value);
Message ints_attribute(std::string_view name,
                       const std::vector<int64_t>& values);
Message real_attribute(std::string_view name, float value);
Message reals_attribute(std::string_view name,
                        const std::vector<float>& values);
Message texts_attribute(std::string_view name,
                        const std::vector<std::string>& values);
Message text_attribute(std::string_view name, std::string_view value);
Message tensor_attribute(std::string_view name, const Message& tensor);
Message graph_attribute(std::string_view name, const Message& graph);

Message node(std::string_view op, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs,
             const std::vector<Message>& attributes = {},
             std::string_view domain = "");

struct GraphParts {
  std::vector<Message> nodes, inputs, outputs, initializers;
};
Message graph(const GraphParts& parts);
// Of IR version 8.
Message model(const Message& graph, int64_t opset = 17);
// x: float[2, 3] -> nodes -> y.
Message model_of(std::vector<Message> nodes,
                 std::vector<Message> initializers = {}, int64_t opset = 17);

// Written to a fresh file, whose path is returned; removed at the process's
// end.
std::string write_model(const std::string& bytes,
                        const std::string& name = "model.onnx");

}  // namespace fxjit::testing_onnx
