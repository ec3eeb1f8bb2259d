// What is stated about ops beside their rows: operands by the names that the
// schemas give them, and what stands for calls that write.
#include "src/ops/table/op_facts.h"

#include <gtest/gtest.h>

#include "src/ops/table/pure_form.h"

namespace fxjit {
namespace TEST_FILE {

using ops::facts_of;
using ops::GatherKind;
using ops::get_op;

std::string parameter(const ops::Op& op, int at) {
  return at < 0 ? "none" : op.parameters.at(static_cast<size_t>(at)).name;
}

void expect_product(const char* name,
                    std::initializer_list<std::string> wanted) {
  SCOPED_TRACE(name);
  const ops::Op& op = get_op(name);
  const ops::ProductRoles& roles = facts_of(op).product;
  std::vector<std::string> got;
  for (int at : {roles.left, roles.right, roles.added, roles.beta, roles.alpha})
    got.push_back(parameter(op, at));
  EXPECT_EQ(got, std::vector<std::string>(wanted));
}

TEST(OpFacts, ProductsStateTheirOperands) {
  expect_product("linear", {"input", "weight", "bias", "none", "none"});
  expect_product("matmul", {"input", "other", "none", "none", "none"});
  expect_product("bmm", {"input", "mat2", "none", "none", "none"});
  expect_product("addmm", {"mat1", "mat2", "input", "beta", "alpha"});
  expect_product("baddbmm", {"batch1", "batch2", "input", "beta", "alpha"});
  EXPECT_TRUE(facts_of(get_op("linear")).product.right_by_column);
  EXPECT_FALSE(facts_of(get_op("addmm")).product.right_by_column);
}

TEST(OpFacts, EveryGatherStatesItsOperands) {
  int found = 0;
  for (const ops::Op* op : ops::all_ops()) {
    if (op->row.lowering != ops::Lowering::gather) continue;
    SCOPED_TRACE(op->row.name);
    const ops::GatherRoles& roles = facts_of(*op).gather;
    ASSERT_NE(roles.kind, GatherKind::none);
    const bool rows = roles.kind == GatherKind::rows;
    EXPECT_EQ(parameter(*op, roles.table), rows ? "weight" : "input");
    EXPECT_EQ(parameter(*op, roles.index), rows ? "input" : "index");
    EXPECT_EQ(parameter(*op, roles.dim), rows ? "none" : "dim");
    ++found;
  }
  EXPECT_EQ(found, 4);
}

TEST(OpFacts, WhatOpsWriteHasAPureForm) {
  const auto pure = [](const char* name) {
    const ops::Op* const form = ops::pure_form(get_op(name));
    return form ? std::string(form->name()) : "none";
  };
  EXPECT_EQ(pure("copy_"), "copy");
  EXPECT_EQ(pure("fill_"), "full_like");
  EXPECT_EQ(pure("zero_"), "zeros_like");
  EXPECT_EQ(pure("addmm_"), "addmm");
  EXPECT_EQ(pure("atan2_out"), "none");
  EXPECT_EQ(pure("add"), "none");
}

}  // namespace TEST_FILE
}  // namespace fxjit
