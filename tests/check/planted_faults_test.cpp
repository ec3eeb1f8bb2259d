// A fault behind each pass is found: the node, the pass, the step, and a small
// graph that still shows it, also from its file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "fxjit/functions.h"
#include "fxjit/fx/archive.h"
#include "fxjit/nn.h"
#include "src/check/check.h"
#include "tests/check/planted.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using namespace testing;  // Of this folder, not of GoogleTest.
using ::testing::Contains;
using ::testing::HasSubstr;

struct Fault {
  std::string pass, op;
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
  std::string node;          // The first whose value is wrong.
  std::string in_step = {};  // What its step names instead, if it does not it.
};

bool is_optional(const std::string& pass) {
  const auto names = optional_passes();
  return std::find(names.begin(), names.end(), pass) != names.end();
}

size_t calls_of(const fx::Graph& graph) {
  size_t calls = 0;
  for (const fx::Node* node : graph.nodes())
    calls += node->is(fx::Opcode::call_function) ||
             node->is(fx::Opcode::call_method);
  return calls;
}

// Written, and read again.
std::string result_from_file(const CheckResult& result,
                             const passes::PassHooks& hooks) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "planted";
  const std::string arguments = save_reduced(result, folder.string());
  EXPECT_THAT(arguments, HasSubstr("model.fx"));
  const auto module = fx::load((folder / "model.fx").string());
  return checking::check_with(*module, result.reduced_inputs, quick(), hooks)
      .pass;
}

void expect_found(const Fault& fault, size_t most_calls) {
  SCOPED_TRACE(fault.pass);
  const CheckResult right = check(*fault.module, fault.inputs, quick());
  EXPECT_EQ(right.difference, "");
  const auto hooks = planted(fault.pass, fault.op);
  const CheckResult found =
      checking::check_with(*fault.module, fault.inputs, quick(), hooks);
  ASSERT_FALSE(found.agrees());
  SCOPED_TRACE(found.text());
  ASSERT_TRUE(found.node);
  EXPECT_EQ(found.node->report.name, fault.node);
  EXPECT_THAT(found.node->report.file, HasSubstr("planted_faults_test.cpp"));
  EXPECT_GT(found.node->report.line, 0);
  EXPECT_EQ(found.pass, fault.pass);
  EXPECT_TRUE(found.graph_shows_pass);
  if (is_optional(fault.pass))
    EXPECT_THAT(found.right_without, Contains(fault.pass));
  ASSERT_TRUE(found.step);
  std::vector<std::string> nodes;
  for (const NodeReport& node : found.step->nodes) nodes.push_back(node.name);
  EXPECT_THAT(nodes,
              Contains(fault.in_step.empty() ? fault.node : fault.in_step));
  ASSERT_TRUE(found.reduced);
  EXPECT_LE(calls_of(found.reduced->graph()), most_calls);
  EXPECT_EQ(result_from_file(found, hooks), fault.pass);
}

// Calls before and behind, that are none of the fault's business.
template <typename Fn>
nn::Ref<fx::GraphModule> amid(Fn f, size_t inputs = 1) {
  return traced(
      [f](Value x) { return sum(F::relu(f(x * 2.0)) + 1.0, Value(-1)); },
      inputs);
}

Value attention(const Value& q, const Value& k, const Value& v) {
  return matmul(softmax(matmul(q, transpose(k, -2, -1)) / 2.5, -1), v);
}

const Tensor kImage = random_numbers({2, 6, 7, 8});

TEST(PlantedFaults, Normalize) {
  expect_found({"normalize",
                "tanh",
                amid([](Value x) { return tanh(x); }),
                {random_numbers({4, 5})},
                "tanh"},
               1);
}

TEST(PlantedFaults, DropUnreadResults) {
  expect_found({"drop_unread_results",
                "max_pool2d",
                amid([](Value x) {
                  const Value both =
                      function("torch.ops.aten.max_pool2d_with_indices.default",
                               {x, Value::list({2, 2})});
                  return function("_operator.getitem", {both, 0});
                }),
                {kImage},
                "getitem",
                "max_pool2d_with_indices_default"},
               2);
}

TEST(PlantedFaults, FoldBatchNorm) {
  const Tensor weight = random_numbers({4, 6, 3, 3}, 2);
  const Tensor mean = random_numbers({4}, 3), scale = random_numbers({4}, 4);
  const Tensor variance = Tensor::full({4}, 0.75);
  expect_found({"fold_batch_norm",
                "conv2d",
                amid([=](Value x) {
                  return F::batch_norm(F::conv2d(x, weight), mean, variance,
                                       scale, mean);
                }),
                {kImage},
                "batch_norm"},
               2);
}

TEST(PlantedFaults, FusePadding) {
  const Tensor weight = random_numbers({4, 6, 3, 2}, 2);
  expect_found({"fuse_padding",
                "fxjit.padded_conv",
                amid([=](Value x) {
                  return F::conv2d(F::pad(x, Value::list({0, 1, 0, 1})), weight,
                                   None, Value(2));
                }),
                {kImage},
                "conv2d"},
               2);
}

TEST(PlantedFaults, ShareHeads) {
  const Tensor key = random_numbers({2, 2, 5, 8}, 2);
  const Tensor value = random_numbers({2, 2, 5, 8}, 3);
  expect_found(
      {"share_heads",
       "scaled_dot_product_attention",
       amid([=](Value x) {
         const Value keys = repeat_interleave(x + key, Value(3), Value(-3));
         const Value values = repeat_interleave(x * value, Value(3), Value(-3));
         return F::scaled_dot_product_attention(
             repeat_interleave(x, Value(3), Value(-3)) + 1.0, keys, values);
       }),
       {random_numbers({2, 2, 5, 8})},
       "scaled_dot_product_attention"},
      3);
}

TEST(PlantedFaults, FuseAttention) {
  const Tensor shift = random_numbers({2, 3, 5, 8}, 2);
  expect_found(
      {"fuse_attention",
       "fxjit.written_attention",
       amid([=](Value x) { return attention(x, x + shift, x * shift); }),
       {random_numbers({2, 3, 5, 8})},
       "matmul_1"},
      5);
}

TEST(PlantedFaults, MergeLinears) {
  const Tensor a = random_numbers({8, 6}, 2), b = random_numbers({8, 6}, 3);
  expect_found({"merge_linears",
                "fxjit.merged_linear",
                amid([=](Value x) {
                  const Value shares = softmax(F::linear(x, b), -1);
                  return matmul(F::linear(x, a), transpose(shares, -2, -1));
                }),
                {random_numbers({2, 5, 6})},
                "matmul"},
               5);
}

TEST(PlantedFaults, Lower) {
  expect_found({"lower",
                "tanh",
                amid([](Value x) { return tanh(exp(x)); }),
                {random_numbers({4, 5})},
                "tanh"},
               1);
}

TEST(PlantedFaults, FuseConvWork) {
  const Tensor window = random_numbers({6, 6, 3, 3}, 2);
  expect_found(
      {"fuse_conv_work",
       "fxjit.conv_last_work",
       amid([=](Value x) {
         return F::silu(F::conv_transpose2d(x, window, None, Value(2), Value(1),
                                            Value(0), Value(1), Value(2)));
       }),
       {kImage},
       "silu"},
      2);
}

TEST(PlantedFaults, Fuse) {
  expect_found({"fuse",
                "tanh",
                amid([](Value x) { return tanh(exp(x)); }),
                {random_numbers({4, 5})},
                "tanh"},
               2);
}

// No pass of its own, but a way to lower: leaving it out tells.
TEST(PlantedFaults, Winograd) {
  const Tensor weight = random_numbers({24, 16, 3, 3}, 2);
  const auto module = amid(
      [=](Value x) { return F::conv2d(x, weight, None, Value(1), Value(1)); });
  const ValueList inputs{random_numbers({2, 16, 12, 9})};
  const CheckResult found = checking::check_with(
      *module, inputs, quick(), planted("lower", "fxjit.winograd"));
  ASSERT_TRUE(found.node) << found.text();
  EXPECT_EQ(found.node->report.name, "conv2d");
  EXPECT_THAT(found.right_without, Contains("winograd"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
