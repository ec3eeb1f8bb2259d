// Rows from outside that lack something, and bodies that read what is not
// there: each is refused with a message that names the way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/scalar_args.h"

namespace fxjit {
namespace TEST_FILE {

using ops::Lowering;
using ops::OpCall;
using ops::OpRow;
using ops::ScalarTypes;
using ::testing::HasSubstr;
using Inputs = std::span<const Scalar>;

Scalar twice(ScalarBuilder&, const OpCall&, Inputs in) { return in[0] * 2.0; }
Scalar product(ScalarBuilder&, const OpCall&, Inputs in) {
  return in[0] * in[1];
}
Scalar fourth(ScalarBuilder&, const OpCall&, Inputs in) { return in[3]; }
Scalar scaled(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ops::ScalarArgs args(b, call, in);
  return args[0] * args[1];
}
Scalar exponential(ScalarBuilder& b, const OpCall&, Inputs in) {
  return b.apply(Prim::exp, in[0]);
}
Scalar lone_sum(ScalarBuilder& b, const OpCall&, Inputs in) {
  return b.apply(Prim::add, in[0]);
}
Scalar sum_with_truth(ScalarBuilder& b, const OpCall&, Inputs in) {
  return in[0] + b.apply(Prim::lt, in[0], in[0]);
}
Scalar pick_by_number(ScalarBuilder& b, const OpCall&, Inputs in) {
  return b.select(in[0], in[0], in[0]);
}
Value same_shape(const OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), call.tensor(0).dtype());
}
Value copy(const OpCall& call) { return call.tensor(0).clone(); }
Value unchanged(const OpCall& call) { return call[0]; }
void nothing(const OpCall&, std::span<const Tensor>) {}

template <typename Fn>
std::string message_of(Fn fn) {
  try {
    fn();
  } catch (const UserError& error) {
    return error.message();
  }
  return "nothing was refused";
}

std::string refusal(const OpRow& row) {
  return message_of([&] { ops::register_ops({&row, 1}); });
}

TEST(RowCheck, NamesWhatIsMissing) {
  EXPECT_THAT(refusal({.name = nullptr, .schema = "input", .names = ""}),
              HasSubstr("expected a row with a name"));
  EXPECT_THAT(refusal({.name = "test_r", .schema = nullptr, .names = ""}),
              HasSubstr("[test_r] register_ops: expected `schema`"));
  EXPECT_THAT(refusal({.name = "test_r", .schema = "input", .names = nullptr}),
              HasSubstr("expected `names`"));
  OpRow row{.name = "test_r", .schema = "input", .names = "r.r"};
  EXPECT_THAT(refusal(row), HasSubstr("expected `infer`, the shape rule"));
  row.infer = same_shape;
  EXPECT_THAT(refusal(row), HasSubstr("expected `eager`"));
  row.lowering = Lowering::scalar;
  EXPECT_THAT(refusal(row), HasSubstr("expected `scalar`"));
  row.lowering = Lowering::decompose;
  EXPECT_THAT(refusal(row), HasSubstr("expected `decompose`"));
  EXPECT_EQ(ops::find_op("test_r"), nullptr);
}

TEST(RowCheck, ShapeRulesAreNeededBesideKernels) {
  OpRow row{.name = "test_r", .schema = "input", .names = "", .eager = copy};
  EXPECT_THAT(refusal(row), HasSubstr("expected `infer`"));
  row = {.name = "test_r", .schema = "input", .names = "", .direct = nothing};
  EXPECT_THAT(refusal(row), HasSubstr("expected `infer`"));
  row = {.name = "test_r",
         .schema = "input",
         .names = "",
         .lowering = Lowering::view};
  EXPECT_THAT(refusal(row), HasSubstr("expected `infer`"));
  row = {.name = "test_r",
         .schema = "input",
         .names = "",
         .lowering = Lowering::scalar,
         .scalar = twice,
         .scalar_types = ScalarTypes::custom};
  EXPECT_THAT(refusal(row), HasSubstr("expected `infer`"));
}

TEST(RowCheck, ForgottenLoweringsAreNamed) {
  OpRow row{.name = "test_r", .schema = "input", .names = "", .scalar = twice};
  EXPECT_THAT(refusal(row), HasSubstr("expected Lowering::scalar"));
  row.scalar = nullptr;
  row.decompose = unchanged;
  EXPECT_THAT(refusal(row), HasSubstr("expected Lowering::decompose"));
}

OpRow elementwise(const char* name, const char* schema, const char* names,
                  ops::ScalarFn scalar) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .lowering = Lowering::scalar,
          .scalar = scalar};
}

TEST(RowCheck, SchemasAreRefusedWithTheName) {
  EXPECT_EQ(refusal(elementwise("test_r", "input, p=oops", "", twice)),
            "[test_r] register_ops: schema: expected a default value, got "
            "`oops`");
  EXPECT_EQ(refusal(elementwise("test_r", "input, input", "", twice)),
            "[test_r] register_ops: schema: `input` stands twice");
  EXPECT_EQ(refusal(elementwise("test_r", "input other", "", twice)),
            "[test_r] register_ops: schema: expected one name, got "
            "`input other`");
}

TEST(RowCheck, OneRefusedRowLeavesNothingBehind) {
  const OpRow rows[] = {elementwise("test_r1", "input", "r.one .r_one", twice),
                        elementwise("test_r2", "input", "r.one", twice)};
  EXPECT_EQ(message_of([&] { ops::register_ops(rows); }),
            "[test_r2] register_ops: `r.one` is already taken");
  EXPECT_EQ(ops::find_op("test_r1"), nullptr);
  EXPECT_EQ(ops::find_method("r_one"), nullptr);
  EXPECT_EQ(refusal(elementwise("test_r1", "input", "r.two r.two", twice)),
            "[test_r1] register_ops: `r.two` is already taken");
  EXPECT_EQ(ops::find_op("test_r1"), nullptr);
}

// The op is registered by the first call.
std::string failure(const char* name, ops::ScalarFn scalar, ValueList args) {
  const OpRow row = elementwise(name, "input, other=None", name, scalar);
  ops::register_ops({&row, 1});
  return message_of([&] { function(name, args); });
}

TEST(ScalarBodies, InputsThatTheCallHasNotAreNamed) {
  const Tensor x = Tensor::full({3}, 2);
  const char* expected = "reads more inputs than the call has tensors";
  EXPECT_THAT(failure("test_product", product, {x, 2.0}), HasSubstr(expected));
  EXPECT_THAT(failure("test_fourth", fourth, {x}), HasSubstr(expected));
  EXPECT_EQ(function("test_product", {x, x}).as_tensor().at({1}), 4);
}

TEST(ScalarBodies, ScalarArgsReadNumbersAndTensors) {
  const OpRow row = elementwise("test_scaled", "a, b", "test_scaled", scaled);
  ops::register_ops({&row, 1});
  const Tensor x = Tensor::full({3}, 2);
  EXPECT_EQ(function("test_scaled", {x, 3}).as_tensor().at({0}), 6);
  EXPECT_EQ(function("test_scaled", {0.5, x}).as_tensor().at({0}), 1);
  EXPECT_EQ(function("test_scaled", {x, x}).as_tensor().at({0}), 4);
}

TEST(ScalarBodies, TypesAndArityAreChecked) {
  const Tensor x = Tensor::full({3}, 2);
  EXPECT_THAT(failure("test_exponential", exponential,
                      {Tensor::full({2}, 1, DType::i64)}),
              AllOf(HasSubstr("exp: expected floating point, got int64"),
                    HasSubstr("promote_float")));
  EXPECT_THAT(failure("test_lone_sum", lone_sum, {x}),
              HasSubstr("add: expected 2 operands, got 1"));
  EXPECT_THAT(failure("test_sum_with_truth", sum_with_truth, {x, x}),
              HasSubstr("expected operands of one type, got float32 and bool"));
  EXPECT_THAT(failure("test_pick_by_number", pick_by_number, {x}),
              HasSubstr("expected a condition of bool, got float32"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
