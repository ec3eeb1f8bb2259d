#include <gtest/gtest.h>

#include <thread>

#include "fxjit/functions.h"
#include "fxjit/op.h"

namespace fxjit {
namespace TEST_FILE {

using ops::Lowering;
using ops::OpRow;

TEST(Registry, FindsSpellingsInEveryForm) {
  const ops::Op& add = ops::get_op("add");
  for (const char* name : {"torch.add", "_operator.add", "operator.add",
                           "torch.ops.aten.add.Tensor", "aten.add.Tensor"}) {
    ASSERT_NE(ops::find_function(name), nullptr) << name;
    EXPECT_EQ(ops::find_function(name)->op, &add) << name;
  }
  EXPECT_EQ(ops::find_function("operator.add")->name, "_operator.add");
  EXPECT_EQ(ops::find_method("add")->op, &add);
  EXPECT_TRUE(ops::find_method("add")->method);
  EXPECT_EQ(ops::find_function("add"), nullptr);
  EXPECT_EQ(ops::find_function("no.such"), nullptr);
  EXPECT_EQ(ops::find_method("torch.add"), nullptr);
  EXPECT_THROW(ops::get_op("nothing"), InternalError);
  const ops::Spelling* relu = ops::find_function("F.relu");
  EXPECT_EQ(relu->name, "torch.nn.functional.relu");
  EXPECT_TRUE(relu->python_level);
  EXPECT_FALSE(ops::find_function("torch.relu")->python_level);
}

TEST(Registry, EveryRowIsComplete) {
  for (const ops::Op* op : ops::all_ops()) {
    if (op->name().starts_with("test_")) continue;  // Other tests' rows.
    SCOPED_TRACE(op->row.name);
    EXPECT_FALSE(op->parameters.empty());
    EXPECT_EQ(ops::find_op(op->name()), op);
    const OpRow& row = op->row;
    EXPECT_TRUE(row.lowering != Lowering::scalar || row.scalar);
    EXPECT_TRUE(row.lowering != Lowering::decompose || row.decompose);
    EXPECT_TRUE(row.lowering != Lowering::none || row.eager || row.direct);
    EXPECT_TRUE(row.infer || row.decompose || row.scalar);
  }
}

TEST(Registry, SchemaGivesNamesKindsAndDefaults) {
  const ops::Op& add = ops::get_op("add");
  ASSERT_EQ(add.parameters.size(), 3u);
  EXPECT_EQ(add.index_of("alpha"), 2);
  EXPECT_EQ(add.index_of("beta"), -1);
  EXPECT_FALSE(add.parameters[1].has_default);
  EXPECT_TRUE(add.parameters[2].keyword_only);
  EXPECT_TRUE(same(add.parameters[2].default_value, 1));
  EXPECT_TRUE(same(ops::get_op("gelu").parameters[1].default_value, "none"));
}

Scalar cube(ScalarBuilder&, const ops::OpCall&, std::span<const Scalar> in) {
  return in[0] * in[0] * in[0];
}

constexpr OpRow kCube[] = {{.name = "test_cube",
                            .schema = "input",
                            .names = "mine.cube .cube_of",
                            .lowering = Lowering::scalar,
                            .scalar = cube}};

TEST(Registry, RowsFromOutsideWorkAndDuplicatesAreRefused) {
  ops::register_ops(kCube);
  const Tensor x = Tensor::full({2}, 3);
  EXPECT_EQ(function("mine.cube", {x}).as_tensor().at({1}), 27);
  EXPECT_EQ(method(x, "cube_of").as_tensor().at({1}), 27);
  const size_t before = ops::all_ops().size();
  try {
    ops::register_ops(kCube);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(),
              "[test_cube] register_ops: `test_cube` is already taken");
  }
  static constexpr OpRow kClash[] = {{.name = "test_clash",
                                      .schema = "input",
                                      .names = "torch.add",
                                      .lowering = Lowering::scalar,
                                      .scalar = cube}};
  EXPECT_THROW(ops::register_ops(kClash), UserError);
  EXPECT_EQ(ops::all_ops().size(), before);
  EXPECT_EQ(ops::find_op("test_clash"), nullptr);
}

TEST(Registry, LookUpsAndCallsFromManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      const Tensor x = Tensor::full({4}, 2);
      for (int k = 0; k < 200; ++k)
        ASSERT_EQ(function("torch.add", {x, k}).as_tensor().at({0}), k + 2);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace TEST_FILE
}  // namespace fxjit
