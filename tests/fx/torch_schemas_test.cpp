#include "src/fx/graph/torch_schemas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "fxjit/op.h"
#include "src/ops/aten/torch_schema.h"

namespace fxjit::fx {
namespace TEST_FILE {

// make_schemas.py must be run after such an op was added.
TEST(TorchSchemas, EveryFunctionThatWritesHasThem) {
  int found = 0;
  for (const ops::Op* op : ops::all_ops()) {
    if (op->row.purity != ops::Purity::mutates) continue;
    std::istringstream names(op->row.names);
    for (std::string name; names >> name;) {
      if (!name.starts_with("torch.")) continue;
      const auto schemas = torch_schemas(name);
      EXPECT_TRUE(std::any_of(
          schemas.begin(), schemas.end(),
          [](const TorchSchema& schema) { return schema.is_mutable(); }))
          << name;
      ++found;
    }
  }
  EXPECT_GT(found, 10);
}

TEST(TorchSchemas, TableIsInOrder) {
  EXPECT_TRUE(std::ranges::is_sorted(ops::overload_rows(), {},
                                     &ops::OverloadRow::name));
  EXPECT_TRUE(torch_schemas("torch.no_such").empty());
  ASSERT_EQ(torch_schemas("torch.relu").size(), 2u);
  EXPECT_EQ(torch_schemas("torch.relu")[0].text(),
            "aten::relu(Tensor self) -> Tensor");
}

TEST(TorchSchemas, EveryRowCanBeRead) {
  for (const ops::OverloadRow& row : ops::overload_rows())
    EXPECT_NO_THROW(ops::parse_torch_schema(row.schema)) << row.name;
}

std::vector<std::string> texts(std::string_view function) {
  std::vector<std::string> all;
  for (const TorchSchema& schema : torch_schemas(function))
    all.push_back(schema.text());
  return all;
}

// torch's own, in the order of their names.
TEST(TorchSchemas, OverloadsThatFollowFromOthers) {
  EXPECT_EQ(
      texts("torch.sqrt"),
      (std::vector<std::string>{
          "aten::sqrt.Scalar(Scalar a) -> Scalar",
          "aten::sqrt.complex(complex a) -> complex",
          "aten::sqrt(Tensor self) -> Tensor",
          "aten::sqrt.float(float a) -> float",
          "aten::sqrt.int(int a) -> float",
          "aten::sqrt.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"}));
  EXPECT_EQ(texts("torch.eye"),
            (std::vector<std::string>{
                "aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? "
                "layout=None, Device? device=None, bool? pin_memory=None) -> "
                "Tensor",
                "aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, "
                "Layout? layout=None, Device? device=None, bool? "
                "pin_memory=None) -> Tensor",
                "aten::eye.m_out(SymInt n, SymInt m, *, Tensor(a!) out) -> "
                "Tensor(a!)",
                "aten::eye.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)"}));
  EXPECT_EQ(
      texts("torch.sqrt_"),
      std::vector{std::string("aten::sqrt_(Tensor(a!) self) -> Tensor(a!)")});
}

size_t fitting(std::string_view function, size_t num_args,
               const Kwargs& kwargs = {}) {
  return fitting_schemas(function, num_args, kwargs).size();
}

TEST(TorchSchemas, CallsFitByNumberAndNames) {
  EXPECT_EQ(fitting("torch.relu", 1), 1u);
  EXPECT_EQ(fitting("torch.relu", 0, {{"input", 1}}), 1u);
  EXPECT_EQ(fitting("torch.relu", 1, {{"input", 1}}), 0u);
  EXPECT_EQ(fitting("torch.relu", 0), 0u);
  EXPECT_EQ(fitting("torch.relu", 2), 0u);
  EXPECT_EQ(fitting("torch.relu", 1, {{"inplace", true}}), 0u);
  EXPECT_GT(fitting("torch.add", 2), 1u);
  // Defaults with commas in them end no parameter.
  EXPECT_EQ(fitting("torch._C._nn.avg_pool2d", 2), 1u);
  EXPECT_EQ(fitting("torch.conv1d", 2, {{"groups", 2}}), 2u);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
