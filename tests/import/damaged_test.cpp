// Programs that are damaged or use what is not supported: each is a typed error
// that names the file, the entry and the field. One class of damage each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "fxjit/error.h"
#include "tests/import/edited_archive.h"
#include "tests/import/model_cases.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_import;  // NOLINT: the names of this folder
using nlohmann::json;

struct Damage {
  const char* name;
  std::function<void(EditedArchive&)> edit;
  std::vector<const char*> words;  // All in the message.
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

constexpr const char* kModel = "models/model.json";
constexpr const char* kWeights = "data/weights/model_weights_config.json";

json& graph(EditedArchive& archive) {
  return archive.json(kModel)["graph_module"]["graph"];
}
json& node(EditedArchive& archive, size_t place) {
  return graph(archive)["nodes"][place];
}
json& signature(EditedArchive& archive) {
  return archive.json(kModel)["graph_module"]["signature"];
}
json& call(EditedArchive& archive) {
  return archive.json(
      kModel)["graph_module"]["module_call_graph"][0]["signature"];
}
json& weight(EditedArchive& archive) {
  return archive.json(kWeights)["config"]["head.weight"];
}
json& meta(EditedArchive& archive) { return weight(archive)["tensor_meta"]; }

const Damage kDamages[] = {
    // The archive.
    {"no_format",
     [](auto& a) { a.remove("archive_format"); },
     {"archive_format"}},
    {"other_format",
     [](auto& a) { a.set("archive_format", "zip"); },
     {"archive_format", "expected pt2"}},
    {"older_layout",
     [](auto& a) {
       a.remove("archive_format");
       a.set("serialized_exported_program.json", "{}");
     },
     {"export again"}},
    {"state_dict",
     [](auto& a) {
       a.remove("archive_format");
       a.set("data.pkl", "x");
     },
     {"torch.save", "torch.export.save"}},
    {"no_model", [](auto& a) { a.remove(kModel); }, {"models/"}},
    {"two_models",
     [](auto& a) { a.set("models/other.json", "{}"); },
     {"models/", "one model"}},
    {"big_endian",
     [](auto& a) { a.set("byteorder", "big"); },
     {"byteorder", "little"}},
    {"leaves_archive",
     [](auto& a) { a.set_raw("../x", "x"); },
     {"../x", "inside the archive"}},
    {"absolute_name",
     [](auto& a) { a.set_raw("/x", "x"); },
     {"/x", "inside the archive"}},
    {"name_twice",
     [](auto& a) { a.add_again("byteorder"); },
     {"byteorder", "two entries"}},
    // JSON.
    {"no_json", [](auto& a) { a.set(kModel, "{\"a\": "); }, {kModel, "JSON"}},
    {"zero_byte",
     [](auto& a) { a.set(kModel, std::string("{}\0", 3)); },
     {kModel, "JSON"}},
    {"deep_json",
     [](auto& a) { a.set(kModel, std::string(100'000, '[')); },
     {kModel, "levels"}},
    {"name_twice_in_json",
     [](auto& a) { a.set(kModel, "{\"a\": 1, \"a\": 2}"); },
     {kModel, "a: named twice"}},
    {"array_for_object",
     [](auto& a) { a.set(kModel, "[]"); },
     {kModel, "expected an object"}},
    {"older_major",
     [](auto& a) { a.json(kModel)["schema_version"]["major"] = 7; },
     {kModel, "schema_version", "7.", "export again"}},
    {"newer_major",
     [](auto& a) { a.json(kModel)["schema_version"]["major"] = 9; },
     {kModel, "schema_version", "9."}},
    {"no_graph",
     [](auto& a) { a.json(kModel)["graph_module"].erase("graph"); },
     {kModel, "graph_module", "graph: missing"}},
    {"nodes_no_array",
     [](auto& a) { graph(a)["nodes"] = 3; },
     {kModel, "graph.nodes", "array"}},
    {"node_without_target",
     [](auto& a) { node(a, 1).erase("target"); },
     {kModel, "graph.nodes[1]", "target: missing"}},
    {"unknown_op",
     [](auto& a) { node(a, 0)["target"] = "torch.ops.my.op.default"; },
     {"torch.ops.my.op.default", "make_models.py"}},
    {"too_many_arguments",
     [](auto& a) {
       for (int i = 0; i < 9; ++i)
         node(a, 0)["inputs"].push_back(
             {{"name", ""}, {"arg", {{"as_int", 1}}}, {"kind", 1}});
     },
     {kModel, "nodes[0]", "positional arguments"}},
    {"unknown_keyword",
     [](auto& a) {
       node(a, 0)["inputs"].push_back(
           {{"name", "nonsense"}, {"arg", {{"as_int", 1}}}, {"kind", 2}});
     },
     {kModel, "nodes[0]", "nonsense"}},
    {"name_used_before",
     [](auto& a) { node(a, 0)["inputs"][0]["arg"]["as_tensor"]["name"] = "y"; },
     {kModel, "nodes[0].inputs[0].arg.as_tensor.name", "\"y\""}},
    {"name_computed_twice",
     [](auto& a) { node(a, 1)["outputs"] = node(a, 0)["outputs"]; },
     {kModel, "nodes[1].outputs", "twice"}},
    {"wrong_kind",
     [](auto& a) { node(a, 0)["inputs"][0]["arg"]["as_tensor"] = 5; },
     {kModel, "nodes[0].inputs[0].arg.as_tensor", "object"}},
    {"two_kinds",
     [](auto& a) { node(a, 0)["inputs"][0]["arg"]["as_int"] = 5; },
     {kModel, "nodes[0].inputs[0].arg", "one member"}},
    {"unknown_kind",
     [](auto& a) { node(a, 0)["inputs"][0]["arg"] = {{"as_custom_obj", 1}}; },
     {kModel, "nodes[0].inputs[0].arg", "as_custom_obj"}},
    {"keyword_first",
     [](auto& a) { node(a, 0)["inputs"][0]["kind"] = 2; },
     {kModel, "nodes[0].inputs[1]", "kind"}},
    {"number_beyond_64_bits",
     [](auto& a) {
       node(a, 0)["inputs"][0]["arg"] = {{"as_int", 18446744073709551615u}};
     },
     {kModel, "as_int", "64 bits"}},
    {"control_flow",
     [](auto& a) {
       node(a, 0)["target"] = "torch.ops.higher_order.cond";
       node(a, 0)["inputs"][1]["arg"] = {
           {"as_graph", {{"name", "g"}, {"graph", graph(a)}}}};
     },
     {kModel, "nodes[0].inputs", "torch.ops.higher_order.cond takes",
      "got (value, graph"}},
    {"token_input",
     [](auto& a) {
       signature(a)["input_specs"][0] = {{"token", {{"arg", {}}}}};
     },
     {kModel, "input_specs[0]", "token"}},
    {"gradient_output",
     [](auto& a) {
       signature(a)["output_specs"][0] = {{"gradient_to_parameter", {}}};
     },
     {kModel, "output_specs[0]", "gradient_to_parameter"}},
    {"write_to_nothing",
     [](auto& a) {
       const json name =
           signature(a)["output_specs"][0]["user_output"]["arg"]["as_tensor"];
       signature(a)["output_specs"].push_back(
           {{"buffer_mutation", {{"arg", name}, {"buffer_name", "none"}}}});
     },
     {kModel, "output_specs", "\"none\""}},
    {"no_call_signature",
     [](auto& a) {
       a.json(kModel)["graph_module"]["module_call_graph"] = json::array();
     },
     {kModel, "module_call_graph"}},
    {"tree_no_json",
     [](auto& a) { call(a)["in_spec"] = "[1,"; },
     {kModel, "in_spec", "JSON"}},
    {"tree_version",
     [](auto& a) {
       call(a)["out_spec"] =
           "[2, {\"type\": null, \"context\": null, "
           "\"children_spec\": []}]";
     },
     {kModel, "out_spec", "version 2"}},
    {"tree_of_other_size",
     [](auto& a) {
       call(a)["out_spec"] =
           "[1, {\"type\": \"builtins.tuple\", \"context\": "
           "null, \"children_spec\": []}]";
     },
     {kModel, "out_spec", "0 leaves"}},
    {"input_without_facts",
     [](auto& a) { graph(a)["tensor_values"].erase("x"); },
     {kModel, "tensor_values", "\"x\""}},
    // Weights.
    {"pickled",
     [](auto& a) { weight(a)["use_pickle"] = true; },
     {kWeights, "head.weight.use_pickle", "pickled"}},
    {"pickled_table",
     [](auto& a) { a.set("data/weights/model.pt", "x"); },
     {"data/weights/model.pt", "export again"}},
    {"no_entry",
     [](auto& a) { weight(a)["path_name"] = "weight_99"; },
     {kWeights, "head.weight", "weight_99"}},
    {"entry_too_short",
     [](auto& a) { a.set("data/weights/weight_3", "abcd"); },
     {kWeights, "4 bytes"}},
    {"no_whole_numbers",
     [](auto& a) { a.set("data/weights/weight_3", "abcde"); },
     {kWeights, "no whole number"}},
    {"other_dtype",
     [](auto& a) { meta(a)["dtype"] = 4; },
     {kWeights, "head.weight", "float32", "int32"}},
    {"unknown_dtype",
     [](auto& a) { meta(a)["dtype"] = 99; },
     {kWeights, "tensor_meta.dtype", "99"}},
    {"float8",
     [](auto& a) { meta(a)["dtype"] = 31; },
     {kWeights, "tensor_meta.dtype", "float8_e4m3fnuz is not supported"}},
    {"negative_size",
     [](auto& a) { meta(a)["sizes"][0]["as_int"] = -5; },
     {kWeights, "tensor_meta.sizes[0].as_int", "-5"}},
    {"absurd_size",
     [](auto& a) {
       for (const char* list : {"sizes", "strides"})
         meta(a)[list][0]["as_int"] = int64_t{1} << 60;
     },
     {kWeights, "head.weight"}},
    {"rank",
     [](auto& a) { meta(a)["sizes"] = json(9, {{"as_int", 1}}); },
     {kWeights, "tensor_meta.sizes", "8 dims"}},
    {"strides_missing",
     [](auto& a) { meta(a)["strides"].erase(0); },
     {kWeights, "tensor_meta.strides", "expected 2"}},
    {"offset_outside",
     [](auto& a) { meta(a)["storage_offset"]["as_int"] = 1 << 20; },
     {kWeights, "head.weight", "does not hold"}},
    {"sparse",
     [](auto& a) { meta(a)["layout"] = 1; },
     {kWeights, "tensor_meta.layout", "strided"}},
    {"symbol_as_size",
     [](auto& a) { meta(a)["sizes"][0] = {{"as_expr", 1}}; },
     {kWeights, "tensor_meta.sizes[0]", "as_int"}},
    {"weight_missing",
     [](auto& a) { a.json(kWeights)["config"].erase("head.weight"); },
     {kModel, "input_specs", "\"head.weight\""}},
    {"weight_twice",
     [](auto& a) {
       signature(a)["input_specs"][0] = signature(a)["input_specs"][1];
     },
     {kModel, "input_specs", "twice"}},
};

class Damaged : public ::testing::TestWithParam<Damage> {};

TEST_P(Damaged, IsRefused) {
  EditedArchive archive(model_path("images"));
  GetParam().edit(archive);
  const std::string file = archive.write();
  try {
    pt2::load(file);
    FAIL() << "it was loaded";
  } catch (const UserError& error) {
    for (const char* word : GetParam().words)
      EXPECT_THAT(error.what(), ::testing::HasSubstr(word));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(file));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Damaged, ::testing::ValuesIn(kDamages),
                         [](const auto& info) { return info.param.name; });

TEST(Damage, AnUnchangedCopyIsLoaded) {
  EditedArchive archive(model_path("images"));
  archive.json(kModel);
  archive.json(kWeights);
  EXPECT_EQ(pt2::load(archive.write()).inputs.size(), 1u);
}

TEST(Damage, ANewerMinorVersionIsLoaded) {
  EditedArchive archive(model_path("images"));
  archive.json(kModel)["schema_version"]["minor"] = 99;
  EXPECT_EQ(pt2::load(archive.write()).inputs.size(), 1u);
}

}  // namespace TEST_FILE
}  // namespace fxjit
