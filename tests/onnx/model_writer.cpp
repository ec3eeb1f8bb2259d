#include "tests/onnx/model_writer.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace fxjit::testing_onnx {
namespace {

namespace fs = std::filesystem;

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string tag(uint32_t field, uint32_t type) {
  return varint(uint64_t{field} << 3 | type);
}

// Of this process, removed with its last object.
struct Folder {
  fs::path path = fs::temp_directory_path() /
                  ("fxjit_onnx_" + std::to_string(getpid()));
  int files = 0;

  Folder() { fs::create_directories(path); }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
};

}  // namespace

Message& Message::number(uint32_t field, uint64_t value) {
  bytes_ += tag(field, 0) + varint(value);
  return *this;
}

Message& Message::real(uint32_t field, float value) {
  char bits[sizeof(value)];
  std::memcpy(bits, &value, sizeof(value));
  bytes_ += tag(field, 5) + std::string(bits, sizeof(bits));
  return *this;
}

Message& Message::text(uint32_t field, std::string_view bytes) {
  bytes_ += tag(field, 2) + varint(bytes.size()) + std::string(bytes);
  return *this;
}

Message& Message::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

Message value_info(std::string_view name, int64_t element_type,
                   const std::vector<int64_t>& dims) {
  Message shape;
  for (const int64_t dim : dims) {
    Message one;
    if (dim != -1) one.number(1, static_cast<uint64_t>(dim));
    shape.add(1, one);
  }
  Message type;
  type.number(1, static_cast<uint64_t>(element_type)).add(2, shape);
  return Message().text(1, name).add(2, Message().add(1, type));
}

Message tensor(std::string_view name, int64_t data_type,
               const std::vector<int64_t>& dims, std::string_view raw) {
  Message message;
  for (const int64_t dim : dims) message.number(1, static_cast<uint64_t>(dim));
  return message.number(2, static_cast<uint64_t>(data_type))
      .text(8, name)
      .text(9, raw);
}

Message float_tensor(std::string_view name, const std::vector<int64_t>& dims,
                     const std::vector<float>& values) {
  return tensor(name, 1, dims,
                {reinterpret_cast<const char*>(values.data()),
                 values.size() * sizeof(float)});
}

Message int_tensor(std::string_view name, const std::vector<int64_t>& values) {
  return tensor(name, 7, {static_cast<int64_t>(values.size())},
                {reinterpret_cast<const char*>(values.data()),
                 values.size() * sizeof(int64_t)});
}

Message int_attribute(std::string_view name, int64_t value) {
  return Message().text(1, name).number(3, static_cast<uint64_t>(value)).number(
      20, 2);
}

Message ints_attribute(std::string_view name,
                       const std::vector<int64_t>& values) {
  Message message;
  message.text(1, name);
  for (const int64_t value : values)
    message.number(8, static_cast<uint64_t>(value));
  return message.number(20, 7);
}

Message real_attribute(std::string_view name, float value) {
  return Message().text(1, name).real(2, value).number(20, 1);
}

Message reals_attribute(std::string_view name,
                        const std::vector<float>& values) {
  Message message;
  message.text(1, name);
  for (const float value : values) message.real(7, value);
  return message.number(20, 6);
}

Message texts_attribute(std::string_view name,
                        const std::vector<std::string>& values) {
  Message message;
  message.text(1, name);
  for (const std::string& value : values) message.text(9, value);
  return message.number(20, 8);
}

Message text_attribute(std::string_view name, std::string_view value) {
  return Message().text(1, name).text(4, value).number(20, 3);
}

Message tensor_attribute(std::string_view name, const Message& tensor) {
  return Message().text(1, name).add(5, tensor).number(20, 4);
}

Message graph_attribute(std::string_view name, const Message& graph) {
  return Message().text(1, name).add(6, graph).number(20, 5);
}

Message node(std::string_view op, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs,
             const std::vector<Message>& attributes, std::string_view domain) {
  Message message;
  for (const std::string& input : inputs) message.text(1, input);
  for (const std::string& output : outputs) message.text(2, output);
  message.text(3, "node_" + std::string(op)).text(4, op);
  for (const Message& attribute : attributes) message.add(5, attribute);
  if (!domain.empty()) message.text(7, domain);
  return message;
}

Message graph(const GraphParts& parts) {
  Message message;
  for (const Message& one : parts.nodes) message.add(1, one);
  message.text(2, "graph");
  for (const Message& one : parts.initializers) message.add(5, one);
  for (const Message& one : parts.inputs) message.add(11, one);
  for (const Message& one : parts.outputs) message.add(12, one);
  return message;
}

Message model(const Message& graph, int64_t opset) {
  return Message()
      .number(1, 8)
      .add(7, graph)
      .add(8, Message().text(1, "").number(2, static_cast<uint64_t>(opset)));
}

Message model_of(std::vector<Message> nodes, std::vector<Message> initializers,
                 int64_t opset) {
  return model(graph({std::move(nodes),
                      {value_info("x", 1, {2, 3})},
                      {value_info("y", 1, {})},
                      std::move(initializers)}),
               opset);
}

std::string write_model(const std::string& bytes, const std::string& name) {
  static Folder folder;
  const fs::path own = folder.path / std::to_string(folder.files++);
  fs::create_directories(own);
  const fs::path path = own / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

}  // namespace fxjit::testing_onnx
