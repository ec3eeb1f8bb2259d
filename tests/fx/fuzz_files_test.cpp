// Damaged text and files give a typed error or something whole, never anything
// else.
#include <gtest/gtest.h>

#include "fxjit/fx/archive.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fx/text.h"
#include "fxjit/safetensors.h"
#include "tests/fx/archive_testing.h"
#include "tests/fx/fuzzing.h"

namespace fxjit::fx {
namespace TEST_FILE {

using fuzzing::Random;
using namespace testing_archive;  // NOLINT: the names of this folder

constexpr const char* kText = R"(graph {
  $0 = ('L__0', 'layers.0', 'Block') ('L__0_1', 'layers.0.1', 'ReLU')
  %x : 'Tensor' = placeholder[x](1.5) -> float32[2, 3]{1, 2}+4
  %'odd name' = call_method["a b"](%x, -1, 'b\x41\n', [], (), None) @ 'm.cpp' 12 in $0
  %a = call_function[_operator.add](%x, [1, (2,), {'k': slice(1, None, %x)}], 'k w'=True) with {'tag': {1: [float16[], inf]}}
  %w = get_attr[layer.weight] -> (int64[0, 1], [bool[4], -nan])
  %o = output[output]((%a, range(0, 9, 2), Ellipsis, torch.bfloat16, 1e-05))
}
)";

TEST(Fuzz, Text) {
  int parsed = 0, refused = 0;
  fuzzing::run(30'000, [&](Random& random) {
    try {
      const auto graph = parse_graph(fuzzing::damaged(kText, random));
      graph->lint();
      // What was read can be written, and reads the same.
      const std::string written = text(*graph, {.meta = true});
      EXPECT_EQ(text(*parse_graph(written), {.meta = true}), written);
      ++parsed;
    } catch (const UserError&) {
      ++refused;
    }
  });
  EXPECT_GT(parsed, 0);
  EXPECT_GT(refused, 0);
}

nn::Ref<GraphModule> model() {
  const auto inner = symbolic_trace(nn::Sequential::create(
      nn::Linear::create(3, 2), nn::BatchNorm1d::create(2),
      nn::Embedding::create(2, 2, 1)));
  nn::Module root;
  root.register_module("inner", inner);
  root.register_module("conv", nn::Conv2d::create(2, 2, 1));
  root.register_buffer("shift", Tensor::zeros({2}), false);
  root.set_attr("pair", Value::tuple({1, "two"}));
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x", {}, Value(2.5));
  const NodePtr call = graph->call_module("inner", {x});
  const NodePtr conv = graph->call_module("conv", {call});
  graph->call_method("add_", {conv, graph->get_attr("shift")});
  graph->output(Value::tuple({conv, graph->get_attr("pair")}));
  return GraphModule::create(root, std::move(graph));
}

// Every prefix of a good file is refused, and so is every file with one bit
// flipped or one byte more: nothing of the file is without a meaning or a
// check.
TEST(Fuzz, EveryByteOfAnArchiveCounts) {
  const std::string path = folder() / "bytes.safetensors";
  save(*symbolic_trace(nn::Linear::create(1, 1, false)), path);
  const std::string good = read_bytes(path);
  const auto loads = [&](const std::string& bytes) {
    std::filesystem::remove(
        path);  // Truncated files are flushed by the system.
    write_bytes(path, bytes);
    try {
      load(path);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  ASSERT_TRUE(loads(good));
  for (size_t size = 0; size < good.size(); ++size)
    ASSERT_FALSE(loads(good.substr(0, size))) << size;
  EXPECT_FALSE(loads(good + '\0'));
  std::string harmless;  // Where a flipped bit left the module as it was.
  for (size_t at = 0; at < good.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      if (loads(bytes))
        harmless += std::to_string(at) + ":" + std::to_string(bit) + " ";
    }
  EXPECT_EQ(harmless, "");
}

// Loads, and uses what came whole.
bool survives(const std::string& path, const LoadOptions& options) {
  try {
    const auto loaded = load(path, options);
    loaded->graph().lint();
    all_text(*loaded);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Fuzz, Files) {
  const std::string path = folder() / "fuzz.safetensors";
  save(*model(), path);
  ASSERT_TRUE(survives(path, {}));
  const std::string good = read_bytes(path);
  int whole = 0, refused = 0;
  fuzzing::run(400, [&](Random& random) {
    write_bytes(path, fuzzing::damaged(good, random));
    ++(survives(path, {.verify = false}) ? whole : refused);
  });
  EXPECT_GT(whole, 0);
  EXPECT_GT(refused, 0);
}

// Damage inside the description, in a file that is whole otherwise.
TEST(Fuzz, Descriptions) {
  const std::string path = folder() / "fuzz_description.safetensors";
  save(*model(), path);
  FileMetadata metadata;
  const NamedTensors good = load_safetensors(path, &metadata);
  int whole = 0, refused = 0;
  fuzzing::run(400, [&](Random& random) {
    NamedTensors tensors;
    for (const auto& [name, tensor] : good) {
      if (name != "__graph_module__") {
        tensors.emplace_back(name, tensor);
        continue;
      }
      const std::string whole_text(tensor.data_as<char>(),
                                   static_cast<size_t>(tensor.numel()));
      std::string text = whole_text;
      while (text == whole_text) text = fuzzing::damaged(text, random);
      Tensor bytes =
          Tensor::empty({static_cast<int64_t>(text.size())}, DType::u8);
      std::copy(text.begin(), text.end(), bytes.data_as<char>());
      tensors.emplace_back(name, bytes);
    }
    const std::string damaged = folder() / "fuzz_damaged.safetensors";
    save_safetensors(damaged, tensors, metadata);
    ++(survives(damaged, {.verify = false}) ? whole : refused);
    // The checksum is of the good file.
    EXPECT_FALSE(survives(damaged, {}));
  });
  EXPECT_GT(whole, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
