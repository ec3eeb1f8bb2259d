// Every primitive of scalar bodies on every type it takes, as a flat row step
// with one output per primitive.
#include "jit/emit/body.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/jit/step_test_util.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::RowStep;
using testing::check_step;
using testing::Number;
using testing::row_access;
using testing::sample;

constexpr int64_t kElements = 203;  // With a tail at every level.

constexpr DType kAllTypes[] = {
    DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
    DType::u8,  DType::i16, DType::i32, DType::i64,  DType::boolean};
constexpr DType kIntegers[] = {DType::i8, DType::u8, DType::i16, DType::i32,
                               DType::i64};

const std::vector<Prim> kSmooth = {
#define FXJIT_PRIM(name, arity, cost)
#define FXJIT_CALL(name, cost) Prim::name,
#define FXJIT_SMOOTH(name, cost, expression) Prim::name,
#include "fxjit/prims.inc"
};

DType computed(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

// A flat step of `inputs` inputs of one dtype with the results of a body.
RowStep flat_step(ScalarBody body, int inputs, DType dtype) {
  RowStep step;
  step.inner = kElements;
  step.inputs.assign(size_t(inputs), row_access({}, 1, dtype));
  for (int32_t id : body.results) {
    step.outputs.push_back(row_access({}, 1, body.instrs[size_t(id)].type));
  }
  step.body = std::move(body);
  return step;
}

RowStep binary_step(std::initializer_list<Prim> prims, DType dtype) {
  ScalarBuilder b;
  Scalar x = b.input(0, dtype), y = b.input(1, dtype);
  std::vector<Scalar> results;
  for (Prim prim : prims) results.push_back(b.apply(prim, x, y));
  return flat_step(b.finish(results), 2, dtype);
}

RowStep unary_step(const std::vector<Prim>& prims, DType dtype) {
  ScalarBuilder b;
  Scalar x = b.input(0, dtype);
  std::vector<Scalar> results;
  for (Prim prim : prims) results.push_back(b.apply(prim, x));
  return flat_step(b.finish(results), 1, dtype);
}

TEST(Body, FloatArithmetic) {
  for (DType type : {DType::f32, DType::f64}) {
    check_step(binary_step(
        {Prim::add, Prim::sub, Prim::mul, Prim::div, Prim::minimum,
         Prim::maximum, Prim::fmod, Prim::remainder, Prim::floor_div},
        type));
    check_step(unary_step({Prim::neg, Prim::abs, Prim::floor, Prim::ceil,
                           Prim::round, Prim::trunc},
                          type));
  }
}

TEST(Body, FloatArithmeticOnSpecialNumbers) {
  const double specials[] = {0,
                             1,
                             -1,
                             0.5,
                             -2.5,
                             1e30,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
  const auto fill = [&](size_t slot, int64_t i) {
    return Number{specials[size_t(slot == 0 ? i % 9 : i / 9 % 9)], 0};
  };
  for (DType type : {DType::f32, DType::f64}) {
    check_step(binary_step({Prim::add, Prim::sub, Prim::div, Prim::minimum,
                            Prim::maximum, Prim::fmod, Prim::eq, Prim::ne,
                            Prim::lt, Prim::le, Prim::gt, Prim::ge},
                           type),
               {.fill = fill});
    check_step(unary_step({Prim::sqrt, Prim::exp, Prim::log, Prim::tanh,
                           Prim::sigmoid, Prim::erf, Prim::floor},
                          type),
               {.fill = fill});
  }
}

TEST(Body, SmoothFunctions) {
  const auto positive = [](size_t slot, int64_t i) {
    return Number{std::fabs(sample(DType::f32, slot, i).real) / 3.1 + 1e-3, 0};
  };
  for (DType type : {DType::f32, DType::f64}) {
    check_step(unary_step({Prim::sqrt, Prim::rsqrt}, type), {.fill = positive});
    check_step(unary_step(kSmooth, type));
    check_step(unary_step(kSmooth, type), {.fill = positive});
  }
}

// Products of sigmoids: gates, factors that are read again, row constants.
TEST(Body, ProductsOfSigmoids) {
  ScalarBuilder b;
  const auto sigmoid = [&](Scalar x) { return b.apply(Prim::sigmoid, x); };
  const auto tanh = [&](Scalar x) { return b.apply(Prim::tanh, x); };
  const Scalar x = b.input(0, DType::f32), y = b.input(1, DType::f32);
  const Scalar read_twice = sigmoid(x - 1.0);
  const Scalar kept = tanh(y - 1.0);
  const ScalarBody body = b.finish(
      {tanh(x) * sigmoid(y), sigmoid(x) * tanh(y * 2.0), sigmoid(x * 2.0) * y,
       y * sigmoid(x * 3.0), sigmoid(x * 4.0) * sigmoid(y * 4.0),
       read_twice * tanh(x * 5.0), read_twice * y, kept,
       kept * sigmoid(y * 6.0), b.apply(Prim::silu, x - y) * sigmoid(x - y),
       tanh(b.constant(0.5, DType::f32)) * sigmoid(y * 7.0),
       x * sigmoid(b.constant(0.25, DType::f32))});
  check_step(flat_step(body, 2, DType::f32));
  check_step(flat_step(body, 2, DType::bf16));
  RowStep step = flat_step(body, 2, DType::f32);
  step.inputs[0].inner = 0;  // The same for all of the row.
  check_step(step);
}

TEST(Body, ProductsOfSigmoidsOfSpecialNumbers) {
  const double specials[] = {0,
                             -0.0,
                             -1,
                             0.5,
                             -2.5,
                             3.4028234e38,
                             -3.4028234e38,
                             1e-40,
                             10,
                             -80,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
  const auto fill = [&](size_t slot, int64_t i) {
    return Number{specials[size_t(slot == 0 ? i % 13 : i / 13 % 13)], 0};
  };
  for (DType type : {DType::f32, DType::f64}) {
    for (Prim prim : {Prim::tanh, Prim::neg}) {
      ScalarBuilder b;
      const Scalar x = b.input(0, type), y = b.input(1, type);
      const Scalar factor = b.apply(prim, x);
      check_step(
          flat_step(b.finish({factor * b.apply(Prim::sigmoid, y)}), 2, type),
          {.fill = fill});
    }
    check_step(unary_step({Prim::silu}, type), {.fill = fill});
    check_step(unary_step({Prim::sigmoid}, type), {.fill = fill});
  }
}

TEST(Body, Powers) {
  const auto positive = [](size_t slot, int64_t i) {
    return Number{std::fabs(sample(DType::f32, slot, i).real) + 0.1, 0};
  };
  for (DType type : {DType::f32, DType::f64}) {
    check_step(binary_step({Prim::pow}, type), {.fill = positive});
    ScalarBuilder b;
    Scalar x = b.input(0, type);
    std::vector<Scalar> results;
    for (double exponent : {2.0, 3.0, 0.5, -0.5, 1.0, -1.0, -2.0, 2.5}) {
      results.push_back(b.apply(Prim::pow, x, b.constant(exponent, type)));
    }
    check_step(flat_step(b.finish(results), 1, type), {.fill = positive});
  }
}

TEST(Body, IntegerArithmetic) {
  for (DType type : kIntegers) {
    check_step(
        binary_step({Prim::add, Prim::sub, Prim::mul, Prim::minimum,
                     Prim::maximum, Prim::bit_and, Prim::bit_or, Prim::bit_xor,
                     Prim::shift_left, Prim::shift_right, Prim::eq, Prim::ne,
                     Prim::lt, Prim::le, Prim::gt, Prim::ge},
                    type));
    check_step(
        unary_step({Prim::neg, Prim::abs, Prim::bit_not, Prim::floor}, type));
  }
}

TEST(Body, IntegerDivision) {
  const auto fill_of = [](DType type) {
    return [type](size_t slot, int64_t i) {
      Number number = sample(type, slot, i);
      if (slot == 1 && number.whole == 0) number.whole = 3;
      // The lowest number by -1 is the one quotient that overflows.
      if (i == 5 && type != DType::u8) {
        const auto bits = int(8 * dtype_size(type));
        number.whole = slot == 1 ? -1 : int64_t(~uint64_t{0} << (bits - 1));
      }
      return number;
    };
  };
  for (DType type : kIntegers) {
    check_step(binary_step({Prim::div, Prim::fmod, Prim::remainder}, type),
               {.fill = fill_of(type)});
    const auto fill = fill_of(type);
    check_step(binary_step({Prim::floor_div}, type),
               {.fill = [&](size_t slot, int64_t i) {
                 return i == 5 ? Number{0, 7} : fill(slot, i);
               }});
  }
}

TEST(Body, IntegerPowers) {
  for (DType type : kIntegers) {
    const auto fill = [type](size_t slot, int64_t i) {
      if (slot == 1) return Number{0, type == DType::u8 ? i % 9 : i % 9 - 2};
      return Number{0, i / 9 % 7 - (type == DType::u8 ? 0 : 3)};
    };
    check_step(binary_step({Prim::pow}, type), {.fill = fill});
    ScalarBuilder b;
    Scalar x = b.input(0, type);
    Scalar cube = b.apply(Prim::pow, x, b.constant_int(3, type));
    Scalar one = b.apply(Prim::pow, x, b.constant_int(0, type));
    check_step(flat_step(b.finish({cube, one}), 1, type));
  }
}

TEST(Body, Booleans) {
  check_step(binary_step({Prim::bit_and, Prim::bit_or, Prim::bit_xor, Prim::eq,
                          Prim::ne, Prim::lt, Prim::le, Prim::gt, Prim::ge,
                          Prim::minimum, Prim::maximum, Prim::mul, Prim::add},
                         DType::boolean));
  check_step(unary_step({Prim::bit_not}, DType::boolean));
}

TEST(Body, SelectsOfEveryType) {
  for (DType type : kAllTypes) {
    ScalarBuilder b;
    Scalar x = b.input(0, computed(type)), y = b.input(1, computed(type));
    Scalar condition = b.apply(Prim::lt, x, y);
    RowStep step =
        flat_step(b.finish({b.select(condition, x, y), condition}), 2, type);
    step.outputs[0].dtype = type;
    check_step(step);
  }
}

TEST(Body, CastsBetweenAllTypes) {
  for (DType from : kAllTypes) {
    ScalarBuilder b;
    Scalar x = b.input(0, computed(from));
    std::vector<Scalar> results;
    for (DType to : kAllTypes) results.push_back(b.cast(x, computed(to)));
    RowStep step = flat_step(b.finish(results), 1, from);
    for (size_t i = 0; i < std::size(kAllTypes); ++i) {
      step.outputs[i].dtype = kAllTypes[i];
    }
    // Negative floats to u8 wrap through a wider type in the oracle as well.
    check_step(step);
  }
}

TEST(Body, RoundingToHalfTypesWithinABody) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  ScalarBody body = b.finish({x, x});
  for (DType type : {DType::f16, DType::bf16}) {
    body.instrs.push_back(
        {.prim = Prim::cast, .type = type, .args = {0, -1, -1}});
  }
  body.results = {1, 2};
  RowStep step = flat_step(body, 1, DType::f32);
  step.outputs.assign(2, row_access({}, 1));
  check_step(step);
}

TEST(Body, Int64ConstantsAreExact) {
  ScalarBuilder b;
  Scalar big = b.constant_int((int64_t{1} << 62) + 1, DType::i64);
  check_step(
      flat_step(b.finish({b.input(0, DType::i64) + big}), 1, DType::i64));
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
