#include "tests/onnx/damaged_files.h"

namespace fxjit::testing_onnx {

Message adding(const Message& constant) {
  return model_of({node("Add", {"x", "c"}, {"y"})}, {constant});
}

Message external(const std::string& location, const std::string& offset,
                 const std::string& length) {
  Message message;
  message.number(1, 3).number(2, 1).text(8, "c").number(14, 1);
  const auto entry = [&](const char* key, const std::string& value) {
    if (!value.empty())
      message.add(13, Message().text(1, key).text(2, value));
  };
  entry("location", location);
  entry("offset", offset);
  entry("length", length);
  return message;
}

namespace {

Message relu() { return node("Relu", {"x"}, {"y"}); }

// A tensor without dims meets a scale of two.
std::string scales_of_a_number() {
  return model(graph({{node("Cast", {"x"}, {"whole"}, {int_attribute("to", 3)}),
                       node("DequantizeLinear", {"whole", "scales"}, {"y"},
                            {int_attribute("axis", 0)})},
                      {value_info("x", 1, {})},
                      {value_info("y", 1, {})},
                      {float_tensor("scales", {2}, {1, 2})}}))
      .bytes();
}

std::string gather_nd(const std::vector<int64_t>& index_sizes,
                      int64_t batch_dims) {
  return model_of({node("Reshape", {"numbers", "sizes"}, {"indices"}),
                   node("GatherND", {"x", "indices"}, {"y"},
                        {int_attribute("batch_dims", batch_dims)})},
                  {int_tensor("numbers", {0, 1}),
                   int_tensor("sizes", index_sizes)})
      .bytes();
}

// Only the first branch nests: the size grows by a constant for each level.
std::string deep_graphs(int depth) {
  Message inner = graph({{relu()}, {}, {value_info("y", 1, {})}, {}});
  for (int i = 0; i < depth; ++i)
    inner = graph({{node("If", {"c"}, {"y"},
                         {graph_attribute("then_branch", inner)})},
                   {},
                   {value_info("y", 1, {})},
                   {}});
  return model(inner).bytes();
}

std::string nested_types(int depth) {
  Message type = Message().add(1, Message().number(1, 1));
  for (int i = 0; i < depth; ++i)
    type = Message().add(4, Message().add(1, type));
  return model(graph({{relu()},
                      {Message().text(1, "x").add(2, type)},
                      {value_info("y", 1, {})},
                      {}}))
      .bytes();
}

std::string self_call() {
  Message function;
  function.text(1, "F").text(4, "a").text(5, "b");
  function.add(7, node("F", {"a"}, {"b"}, {}, "own"));
  function.add(9, Message().text(1, "own").number(2, 1)).text(10, "own");
  Message message = model_of({node("F", {"x"}, {"y"}, {}, "own")});
  message.add(8, Message().text(1, "own").number(2, 1));
  return message.add(25, function).bytes();
}

std::string slice_with(const std::vector<int64_t>& starts,
                       const std::vector<int64_t>& ends,
                       const std::vector<int64_t>& axes,
                       const std::vector<int64_t>& steps) {
  return model_of({node("Slice", {"x", "s", "e", "a", "t"}, {"y"})},
                  {int_tensor("s", starts), int_tensor("e", ends),
                   int_tensor("a", axes), int_tensor("t", steps)})
      .bytes();
}

std::string conv_with(const std::vector<Message>& attributes,
                      int64_t rows = 1) {
  return model(graph({{node("Conv", {"x", "w"}, {"y"}, attributes)},
                      {value_info("x", 1, {1, 1, 4, 4})},
                      {value_info("y", 1, {})},
                      {float_tensor("w", {1, 1, rows, 1},
                                    std::vector<float>(
                                        static_cast<size_t>(rows), 1))}}))
      .bytes();
}

}  // namespace

std::vector<Damaged> damaged_files() {
  const std::string whole = model_of({relu()}).bytes();
  const int64_t huge = int64_t{1} << 40;
  return {
      {"text", "This is no model.", {"damaged or no ONNX"}},
      {"cut", whole.substr(0, whole.size() / 2), {"bytes", "are left"}},
      {"cut_in_number", whole + std::string("\x08", 1), {"cut off"}},
      {"long_varint", std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12),
       {"64 bits"}},
      {"field_0", std::string("\x02\x00", 2), {"field 0"}},
      {"group", std::string("\x0b\x0c", 2), {"wire type 3"}},
      {"wire_type_7", std::string("\x0f\x00", 2), {"wire type 7"}},
      {"length_beyond_end", std::string("\x3a\xff\xff\xff\xff\x0f", 6),
       {"field 7", "are left"}},
      {"graph_as_number", Message().number(1, 8).number(7, 1).bytes(),
       {"field 7", "expected bytes"}},
      {"version_as_text", Message().text(1, "8").bytes(),
       {"field 1", "expected an integer"}},
      {"no_graph",
       Message().number(1, 8).add(8, Message().number(2, 17)).bytes(),
       {"it has no graph"}},
      {"no_opset", Message().number(1, 8).add(7, graph({})).bytes(),
       {"opset_import"}},
      {"no_outputs",
       model(graph({{relu()}, {value_info("x", 1, {2})}, {}, {}})).bytes(),
       {"no outputs"}},
      {"opset_99", model_of({relu()}, {}, 99).bytes(), {"opset 99"}},
      {"opset_0", model_of({relu()}, {}, 0).bytes(), {"opset 0"}},
      {"unknown_op", model_of({node("Frobnicate", {"x"}, {"y"})}).bytes(),
       {"op Frobnicate", "graph.node[0]", "node_Frobnicate"}},
      {"unknown_domain",
       model_of({node("Relu", {"x"}, {"y"}, {}, "far.away")}).bytes(),
       {"op Relu of the domain far.away"}},
      {"op_newer_than_opset", model_of({node("Mish", {"x"}, {"y"})}, {}, 9).bytes(),
       {"op Mish of opset 9"}},
      {"no_op_type",
       model_of({Message().text(1, "x").text(2, "y")}).bytes(),
       {"graph.node[0]", "op_type is missing"}},
      {"unknown_input", model_of({node("Relu", {"nowhere"}, {"y"})}).bytes(),
       {"graph.node[0] Relu", "\"nowhere\""}},
      {"cycle",
       model_of({node("Add", {"x", "y"}, {"z"}), node("Relu", {"z"}, {"y"})})
           .bytes(),
       {"graph: its nodes form a cycle: graph.node[0] Add",
        "which uses graph.node[1] Relu"}},
      {"computed_twice",
       model_of({relu(), node("Abs", {"x"}, {"y"})}).bytes(),
       {"graph.node[1] Abs", "\"y\" is computed twice"}},
      {"output_of_nothing", model_of({node("Relu", {"x"}, {"z"})}).bytes(),
       {"graph.output[0]", "\"y\""}},
      {"two_inputs_of_a_name",
       model(graph({{relu()},
                    {value_info("x", 1, {2}), value_info("x", 1, {2})},
                    {value_info("y", 1, {})},
                    {}}))
           .bytes(),
       {"graph.input[1]", "there twice"}},
      {"input_without_name",
       model(graph({{relu()}, {value_info("", 1, {2})}, {value_info("y", 1, {})}, {}}))
           .bytes(),
       {"graph.input[0]", "no name"}},
      {"input_without_type",
       model(graph({{relu()}, {Message().text(1, "x")}, {value_info("y", 1, {})}, {}}))
           .bytes(),
       {"graph.input[0] \"x\"", "expected a tensor"}},
      {"input_of_type_99",
       model(graph({{relu()}, {value_info("x", 99, {2})}, {value_info("y", 1, {})}, {}}))
           .bytes(),
       {"type 99", "graph.input[0] \"x\""}},
      {"input_of_strings",
       model(graph({{relu()}, {value_info("x", 8, {2})}, {value_info("y", 1, {})}, {}}))
           .bytes(),
       {"type STRING"}},
      {"input_of_9_dims",
       model(graph({{relu()},
                    {value_info("x", 1, {1, 1, 1, 1, 1, 1, 1, 1, 1})},
                    {value_info("y", 1, {})},
                    {}}))
           .bytes(),
       {"graph.input[0] \"x\"", "at most 8 dims"}},
      {"deep_types", nested_types(100), {"64 levels"}},
      {"deep_graphs", deep_graphs(100), {"64 levels"}},
      {"function_of_itself", self_call(), {"functions of more than 64 levels"}},
      {"initializer_named_twice",
       model_of({node("Add", {"x", "c"}, {"y"})},
                {float_tensor("c", {3}, {1, 2, 3}),
                 float_tensor("c", {3}, {1, 2, 3})})
           .bytes(),
       {"graph.initializer[1]", "named twice"}},
      {"initializer_without_name",
       model_of({relu()}, {float_tensor("", {1}, {1})}).bytes(),
       {"graph.initializer[0]", "no name"}},
      {"too_few_bytes", adding(float_tensor("c", {3}, {1, 2})).bytes(),
       {"\"c\"", "raw_data: expected 12 bytes", "got 8"}},
      {"too_many_bytes", adding(float_tensor("c", {1}, {1, 2})).bytes(),
       {"raw_data: expected 4 bytes", "got 8"}},
      {"negative_dim", adding(float_tensor("c", {-1}, {1})).bytes(),
       {"\"c\"", "dims: expected 0 or more, got -1"}},
      {"sizes_beyond_64_bits",
       adding(float_tensor("c", {huge, huge}, {1})).bytes(), {"initializer[0]"}},
      {"bytes_beyond_64_bits",
       adding(float_tensor("c", {int64_t{1} << 62}, {1})).bytes(),
       {"more bytes than 64 bits"}},
      {"dims_of_9",
       adding(float_tensor("c", {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1})).bytes(),
       {"dims: expected at most 8"}},
      {"type_0", adding(tensor("c", 0, {1}, "aaaa")).bytes(),
       {"type UNDEFINED"}},
      {"type_minus_1", adding(tensor("c", -1, {1}, "aaaa")).bytes(),
       {"type -1"}},
      {"elements_of_another_type",
       adding(Message().number(1, 1).number(2, 1).number(7, 5).text(8, "c"))
           .bytes(),
       {"\"c\"", "field 7 of TensorProto, expected field 4"}},
      {"too_few_elements",
       adding(Message().number(1, 3).number(2, 1).real(4, 1).text(8, "c"))
           .bytes(),
       {"expected 3 elements", "got 1"}},
      {"no_elements_for_many",
       adding(Message().number(1, uint64_t{1} << 50).number(2, 1).text(8, "c"))
           .bytes(),
       {"elements", "got 0"}},
      {"raw_and_listed",
       adding(Message().number(1, 1).number(2, 1).real(4, 1).text(8, "c").text(
                  9, "aaaa"))
           .bytes(),
       {"raw_data: there are other data as well"}},
      {"packed_floats_cut",
       adding(Message().number(1, 1).number(2, 1).text(4, "aaa").text(8, "c"))
           .bytes(),
       {"cut off"}},
      {"external_without_location", adding(external("")).bytes(),
       {"external_data.location: missing"}},
      {"external_outside", adding(external("../data.bin")).bytes(),
       {"\"../data.bin\" leaves the folder"}},
      {"external_outside_again", adding(external("a/../../data.bin")).bytes(),
       {"leaves the folder"}},
      {"external_absolute", adding(external("/etc/passwd")).bytes(),
       {"\"/etc/passwd\" leaves the folder"}},
      {"external_missing", adding(external("nothing.bin")).bytes(),
       {"nothing.bin", "\"c\""}},
      {"external_offset_beyond_end",
       adding(external("model.onnx", "99999999")).bytes(),
       {"external_data.offset: 99999999"}},
      {"external_length_wraps",
       adding(external("model.onnx", "8", "18446744073709551610")).bytes(),
       {"external_data.length: 18446744073709551610"}},
      {"external_length_of_another_size",
       adding(external("model.onnx", "0", "8")).bytes(),
       {"external_data: expected 12 bytes"}},
      {"external_offset_no_number",
       adding(external("model.onnx", "0x10")).bytes(),
       {"external_data.offset: expected a number"}},
      {"external_offset_negative", adding(external("model.onnx", "-4")).bytes(),
       {"external_data.offset: expected a number"}},
      {"attribute_of_another_type",
       model_of({node("Concat", {"x", "x"}, {"y"},
                      {text_attribute("axis", "0")})})
           .bytes(),
       {"graph.node[0] Concat \"node_Concat\"", "attribute axis"}},
      {"attribute_missing", model_of({node("Concat", {"x", "x"}, {"y"})}).bytes(),
       {"attribute axis is missing"}},
      {"cast_to_99",
       model_of({node("Cast", {"x"}, {"y"}, {int_attribute("to", 99)})}).bytes(),
       {"type 99", "attribute to"}},
      {"axis_outside",
       model_of({node("Softmax", {"x"}, {"y"}, {int_attribute("axis", 7)})}, {}, 11)
           .bytes(),
       {"axis 7", "2 dims"}},
      {"axis_of_a_number", scales_of_a_number(),
       {"graph.node[1] DequantizeLinear", "axis 0", "0 dims"}},
      {"batch_dims_of_all_indices", gather_nd({2, 1}, 2),
       {"graph.node[1] GatherND", "attribute batch_dims: expected 0 to 1, got 2"}},
      {"batch_dims_of_a_line", gather_nd({2}, 1),
       {"graph.node[1] GatherND", "batch_dims: expected 0 to 0, got 1"}},
      {"batch_dims_negative", gather_nd({2, 1}, -1),
       {"graph.node[1] GatherND", "batch_dims: expected 0 to 1, got -1"}},
      {"input_missing", model_of({node("Add", {"x"}, {"y"})}).bytes(),
       {"input 1 is missing"}},
      {"sizes_that_do_not_broadcast",
       adding(float_tensor("c", {4}, {1, 2, 3, 4})).bytes(),
       {"graph.node[0] Add"}},
      {"reshape_to_another_size",
       model_of({node("Reshape", {"x", "s"}, {"y"})}, {int_tensor("s", {7})})
           .bytes(),
       {"graph.node[0] Reshape"}},
      {"index_outside",
       model_of({node("Shape", {"x"}, {"s"}),
                 node("Gather", {"s", "i"}, {"y"})},
                {int_tensor("i", {9})})
           .bytes(),
       {"graph.node[1] Gather", "index 9"}},
      {"permutation_twice",
       model_of({node("Transpose", {"x"}, {"y"}, {ints_attribute("perm", {0, 0})})})
           .bytes(),
       {"graph.node[0] Transpose"}},
      {"slice_step_0", slice_with({0}, {1}, {0}, {0}), {"steps: 0"}},
      {"slice_axis_outside", slice_with({0}, {1}, {5}, {1}), {"axis 5"}},
      {"slice_lists_of_other_lengths", slice_with({0, 1}, {1}, {0}, {1}),
       {"as many of each"}},
      {"stride_0", conv_with({ints_attribute("strides", {0, 1})}),
       {"attribute strides", "got 0"}},
      {"dilation_negative", conv_with({ints_attribute("dilations", {-1, 1})}),
       {"attribute dilations", "got -1"}},
      {"pads_of_three", conv_with({ints_attribute("pads", {1, 1, 1})}),
       {"attribute pads: expected 4 numbers, got 3"}},
      {"group_0", conv_with({int_attribute("group", 0)}),
       {"graph.node[0] Conv"}},
      {"auto_pad_unknown", conv_with({text_attribute("auto_pad", "MAYBE")}),
       {"auto_pad: \"MAYBE\""}},
      {"window_beyond_64_bits",
       conv_with({text_attribute("auto_pad", "SAME_UPPER"),
                  ints_attribute("dilations", {int64_t{1} << 62, 1})},
                 3),
       {"graph.node[0] Conv", "does not fit an int of 64 bits"}},
      {"split_into_0",
       model_of({node("Split", {"x"}, {"y"}, {int_attribute("num_outputs", 0)})},
                {}, 18)
           .bytes(),
       {"num_outputs: 0"}},
      {"constant_of_huge_shape",
       model_of({node("ConstantOfShape", {"s"}, {"y"})},
                {int_tensor("s", {huge, huge})})
           .bytes(),
       {"graph.node[0] ConstantOfShape"}},
      {"constant_of_negative_shape",
       model_of({node("ConstantOfShape", {"s"}, {"y"})}, {int_tensor("s", {-2})})
           .bytes(),
       {"size -2"}},
      {"constant_without_value", model_of({node("Constant", {}, {"y"})}).bytes(),
       {"expected one of the attributes value"}},
      {"if_without_branch",
       model_of({node("If", {"c"}, {"y"})},
                {tensor("c", 9, {1}, std::string_view("\x01", 1))})
           .bytes(),
       {"graph.node[0] If", "then_branch"}},
      {"endless_loop",
       model_of({node("Loop", {"", ""}, {"y"},
                      {graph_attribute(
                          "body", graph({{node("Identity", {"c"}, {"d"})},
                                         {value_info("i", 7, {}),
                                          value_info("c", 9, {})},
                                         {value_info("d", 9, {}),
                                          value_info("d", 9, {})},
                                         {}}))})})
           .bytes(),
       {"never ends"}},
      {"too_many_outputs", model_of({node("Relu", {"x"}, {"y", "z"})}).bytes(),
       {"output 1 (\"z\")"}},
      {"sparse_initializer",
       model(Message(graph({{relu()},
                            {value_info("x", 1, {2})},
                            {value_info("y", 1, {})},
                            {}}))
                 .add(15, Message()))
           .bytes(),
       {"sparse tensors"}},
  };
}

}  // namespace fxjit::testing_onnx
