// Files that cannot be written or read, and what is said about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/fx/archive.h"
#include "fxjit/safetensors.h"
#include "tests/fx/archive_testing.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::HasSubstr;
using namespace testing_archive;  // NOLINT: the names of this folder
namespace fs = std::filesystem;

class ArchiveErrors : public ::testing::Test {
 protected:
  ArchiveErrors() {
    nn::Module root;
    root.register_module("lin", nn::Linear::create(2, 3));
    root.register_buffer("shift", Tensor::zeros({3}));
    Graph graph;
    const NodePtr lin = graph.call_module("lin", {graph.placeholder("x")});
    graph.output(graph.call_function(
        "torch.add", {lin, graph.get_attr("shift")}, {{"alpha", 1}}));
    module_ = GraphModule::create(root, graph.copy());
    save(*module_, path_);
    good_ = read_bytes(path_);
  }

  std::string error(const LoadOptions& options = {}) const {
    try {
      load(path_, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  // Of the file with `from` replaced by `to` of the same length, where the
  // checksum is not asked.
  std::string error_with(const std::string& from, const std::string& to) {
    EXPECT_EQ(from.size(), to.size());
    std::string bytes = good_;
    const size_t at = bytes.find(from);
    EXPECT_NE(at, bytes.npos) << from;
    if (at == bytes.npos) return "not found";
    write_bytes(path_, bytes.replace(at, from.size(), to));
    return error({.verify = false});
  }

  const std::string path_ = folder() / "errors.safetensors";
  nn::Ref<GraphModule> module_;
  std::string good_;
};

TEST_F(ArchiveErrors, DamageIsFound) {
  std::string bytes = good_;
  bytes[bytes.size() / 2] ^= 1;
  write_bytes(path_, bytes);
  EXPECT_NE(error(), "no error");
  // A bit of a weight: nothing but the checksum can tell.
  NamedTensors tensors;
  FileMetadata metadata;
  write_bytes(path_, good_);
  for (auto& [name, tensor] : load_safetensors(path_, &metadata))
    tensors.emplace_back(name, tensor.clone());
  for (auto& [name, tensor] : tensors)
    if (name == "lin.weight") tensor.data_as<float>()[1] += 1;
  save_safetensors(path_, tensors, metadata);
  EXPECT_THAT(error(), HasSubstr("[load] checksum: expected "));
  EXPECT_THAT(error(), HasSubstr("the file is damaged\n  in file " + path_));
  EXPECT_EQ(error({.verify = false}), "no error");
  for (size_t size : {size_t{0}, size_t{7}, good_.size() - 1}) {
    write_bytes(path_, good_.substr(0, size));
    EXPECT_NE(error(), "no error");
  }
  write_bytes(path_, good_ + "x");
  EXPECT_NE(error(), "no error");
}

TEST_F(ArchiveErrors, OtherFormatsAndVersions) {
  EXPECT_THAT(error_with("fxjit.GraphModule", "other.GraphModule"),
              HasSubstr("[load] format: expected fxjit.GraphModule, got other"));
  for (const char* other : {"3", "0", "x", "+"})
    EXPECT_THAT(error_with("\"format_version\":\"2\"",
                           "\"format_version\":\"" + std::string(other) + "\""),
                HasSubstr("[load] format_version: expected 1 to 2, got " +
                          std::string(other)));
  EXPECT_THAT(error_with("\"format\"", "\"farmat\""),
              HasSubstr("[load] metadata: format: missing"));
  save_safetensors(path_, {{"w", Tensor::zeros({2})}});
  EXPECT_THAT(error(), HasSubstr("not a file written by fx::save"));
  fs::remove(path_);
  EXPECT_THAT(error(), HasSubstr(path_));
}

// Text of version 1 reads the same; its first files lack a field.
TEST_F(ArchiveErrors, VersionsBeforeAreRead) {
  const NodePtr x = module_->graph().find_node("x");
  x->meta().set("tag", "caf\xc3\xa9 \x01");
  save(*module_, path_);
  good_ = read_bytes(path_);
  EXPECT_EQ(error_with("\"format_version\":\"2\"", "\"format_version\":\"1\""),
            "no error");
  const auto loaded = load(path_);
  EXPECT_EQ(all_text(*loaded), all_text(*module_));
  good_ = read_bytes(path_);
  EXPECT_EQ(error_with("\"codegen\":null,", "               "), "no error");
  good_ = read_bytes(path_);
  EXPECT_THAT(
      error_with("\"format_version\":\"1\"", "\"format_version\":\"2\""),
      HasSubstr("codegen: missing"));
}

TEST_F(ArchiveErrors, FieldsAreCheckedOneByOne) {
  EXPECT_THAT(error_with("\"tracer\"", "\"trader\""),
              HasSubstr("[load] modules[1]: tracer: missing"));
  EXPECT_THAT(error_with("\"persistent\":true", "\"persistent\":1   "),
              HasSubstr("[load] handles[0]: persistent: expected true or false"));
  EXPECT_THAT(error_with("\"type\":\"Linear\"", "\"type\":\"Lumpar\""),
              HasSubstr("[Lumpar] module type: expected a layer"));
  EXPECT_THAT(error_with("'in_features': 2", "'in_features': 4"),
              HasSubstr("weight: expected sizes [3, 4] as the arguments say"));
  EXPECT_THAT(error_with("'in_features'", "'on_features'"),
              HasSubstr("[Linear] argument in_features: missing"));
  EXPECT_THAT(error_with("call_function[torch.add]", "call_function[torch.adx]"),
              HasSubstr("expected a known function instead of torch.adx"));
  EXPECT_THAT(error_with("get_attr[shift]", "get_attr[shirt]"),
              HasSubstr("references nonexistent attribute shirt"));
  EXPECT_THAT(error_with("[\"shift\",0]", "[\"shift\",1]"),
              HasSubstr("shift: expected a buffer, got a parameter"));
  EXPECT_THAT(error_with("[\"shift\",0]", "[\"shift\",9]"),
              HasSubstr("shift: expected a number below 3"));
  EXPECT_THAT(error_with("\"parameters\":[]", "\"parameters\":{}"),
              HasSubstr("parameters: expected an array"));
  EXPECT_THAT(error_with("\"modules\":[{", "\"modulez\":[{"),
              HasSubstr("[load] description: modules: missing"));
  EXPECT_THAT(error_with("[[\"lin\",0]]", "[[\"lin\",1]]"),
              HasSubstr("lin: expected a number below 1"));
}

TEST_F(ArchiveErrors, WhatCannotBeSaved) {
  auto message = [&]() -> std::string {
    try {
      save(*module_, path_);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string before = read_bytes(path_);
  const NodePtr add = module_->graph().find_node("add");
  add->meta().set("real", Tensor::zeros({1}));
  EXPECT_THAT(message(), HasSubstr("[text %add] meta['real']: expected a value "
                                   "with a text, got Tensor"));
  add->meta().erase("real");
  auto* const lin = dynamic_cast<nn::Linear*>(module_->find_submodule("lin"));
  const nn::Parameter weight = lin->weight;
  lin->register_parameter("weight", Tensor::zeros({3, 2}));
  EXPECT_THAT(message(), HasSubstr("[save] module lin: it computes with another "
                                   "weight than is registered"));
  lin->weight = lin->register_parameter("weight", Tensor::zeros({3, 5}));
  EXPECT_THAT(message(), HasSubstr("weight: its sizes do not follow"));
  lin->weight = lin->register_parameter("weight", weight);
  module_->graph().set_codegen(std::make_shared<CodeGen>());
  EXPECT_THAT(message(), HasSubstr("its graph has a CodeGen of its own"));
  module_->graph().set_codegen(nullptr);
  EXPECT_EQ(read_bytes(path_), before);
  EXPECT_EQ(message(), "no error");
}

TEST_F(ArchiveErrors, AFailedWriteLeavesTheOldFile) {
  const std::string missing = folder() / "no" / "such" / "folder";
  EXPECT_THROW(save(*module_, missing), UserError);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder())) {
    EXPECT_THAT(entry.path().string(), ::testing::Not(HasSubstr(".tmp-")));
    ++files;
  }
  EXPECT_GT(files, 0u);
  EXPECT_EQ(read_bytes(path_), good_);
}

TEST(Safetensors, WritesWhatItReads) {
  const std::string path = folder() / "plain.safetensors";
  const Tensor wide = Tensor::full({2, 2}, 1.5, DType::f64);
  const Tensor view =
      Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2}).as_strided(
          {2, 2}, {1, 2}, 0);
  save_safetensors(path,
                   {{"flag", Tensor::full({3}, 1, DType::boolean)},
                    {"view", view},
                    {"empty", Tensor::zeros({0, 4})},
                    {"wide", wide}},
                   {{"who", "me"}});
  FileMetadata metadata;
  const NamedTensors read = load_safetensors(path, &metadata);
  EXPECT_EQ(metadata, (FileMetadata{{"who", "me"}}));
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(read[0].first, "wide");
  for (const auto& [name, tensor] : read) {
    EXPECT_TRUE(tensor.storage()->read_only());
    if (name == "view")
      EXPECT_EQ(tensor.to_floats(), (std::vector<float>{1, 3, 2, 4}));
  }
  EXPECT_THROW(save_safetensors(path, {{"a", wide}, {"a", wide}}), UserError);
  EXPECT_THROW(save_safetensors(path, {{"a", Tensor::meta({1}, DType::f32)}}),
               UserError);
  EXPECT_THROW(save_safetensors(path, {{"__metadata__", wide}}), UserError);
  EXPECT_THROW(save_safetensors(path, {{"\xff", wide}}), UserError);
  EXPECT_EQ(load_safetensors(path).size(), 4u);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
