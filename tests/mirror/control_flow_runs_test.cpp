// What branches and loops compute.
#include <limits>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(ControlFlowRuns)

namespace TEST_FILE {

Value pair(const Value& a, const Value& b) { return Value::tuple({a, b}); }
Value number(int64_t value) { return Tensor::full({}, value, DType::i64); }
Value flag(bool value) { return Tensor::full({}, value, DType::boolean); }
Value sum(const Value& x) { return method(x, "sum"); }
Value part(const Value& x, int64_t i) { return getitem(x, i); }

Tensor numbers(std::initializer_list<float> values) {
  Tensor made =
      Tensor::empty({static_cast<int64_t>(values.size())}, DType::f32);
  std::copy(values.begin(), values.end(), made.data_as<float>());
  return made;
}

template <typename F>
nn::Ref<fx::GraphModule> traced(F function, std::vector<std::string> names) {
  std::vector<nn::ArgSpec> specs(names.begin(), names.end());
  return fx::symbolic_trace(function, nn::Signature(std::move(specs)), "f");
}

// i = 0; while i < n: x = step(x).
Value repeated(const Value& n, const Value& x,
               std::function<Value(const Value& i, const Value& x)> step) {
  return part(while_loop([n](Value i, Value) { return i < n; },
                         [step](Value i, Value x) {
                           const Value next = i + 1;
                           return pair(next, step(i, x));
                         },
                         {number(0), x}),
              1);
}

Value choose(Value x) {
  return cond(
      sum(x) > 0.0, [](Value x) { return x + 1; },
      [](Value x) { return x * 2; }, {x});
}

MIRROR_CASE(ControlFlowRuns, branch_in_a_loop) {
  const auto gm = traced(
      [](Value n, Value x) {
        return repeated(n, x, [](const Value& i, const Value& x) {
          return cond(
              i % 2 == 0, [](Value x) { return x + 1; },
              [](Value x) { return x * 0.5; }, {x});
        });
      },
      {"n", "x"});
  for (const int n : {0, 1, 6, 7})
    expect_outputs(gm, {number(n), fill({2, 3})});
}

MIRROR_CASE(ControlFlowRuns, loop_in_a_branch) {
  const auto gm = traced(
      [](Value p, Value x) {
        const auto halve = [](Value x) {
          return part(while_loop(
                          [](Value x) { return sum(abs(x)) > 1.0; },
                          [](Value x) { return Value::tuple({x * 0.5}); }, {x}),
                      0);
        };
        return cond(p, halve, [](Value x) { return -x; }, {x});
      },
      {"p", "x"});
  const Value x = fill({3, 3}) * 8;
  expect_outputs(gm, {flag(true), x});
  expect_outputs(gm, {flag(false), x});
}

MIRROR_CASE(ControlFlowRuns, states_that_change_places) {
  const auto gm = traced(
      [](Value n, Value a, Value b) {
        return while_loop(
            [n](Value i, Value, Value) { return i < n; },
            [](Value i, Value a, Value b) {
              const Value next = i + 1;
              return Value::tuple({next, b, a + b});
            },
            {number(0), a, b});
      },
      {"n", "a", "b"});
  for (const int n : {0, 1, 2, 9})
    expect_outputs(gm, {number(n), fill({5}), fill({5}, 1)});
}

MIRROR_CASE(ControlFlowRuns, states_that_stay) {
  const auto gm = traced(
      [](Value a, Value b) {
        return while_loop([](Value a, Value) { return sum(a) < 20.0; },
                          [](Value a, Value b) { return pair(a + b, b); },
                          {a, b});
      },
      {"a", "b"});
  expect_outputs(gm, {fill({5}), abs(fill({5}, 1)) + 1});
}

MIRROR_CASE(ControlFlowRuns, layers_in_a_loop) {
  const auto gm = traced(
      [](Value n, Value x, Value w, Value b) {
        return repeated(n, x, [w, b](const Value&, const Value& x) {
          return relu(nn::functional::linear(x, w, b)) * 0.5;
        });
      },
      {"n", "x", "w", "b"});
  for (const int n : {0, 1, 5})
    expect_outputs(gm, {number(n), fill({4, 8}), fill({8, 8}, 1), fill({8}, 2)});
}

MIRROR_CASE(ControlFlowRuns, numbers_that_are_none) {
  const auto gm = traced(
      [](Value x) {
        return repeated(2, choose(x),
                        [](const Value&, const Value& x) { return exp(x); });
      },
      {"x"});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  expect_outputs(gm, {numbers({1, nan, -1})});
  expect_outputs(gm, {numbers({1, inf, -3})});
  expect_outputs(gm, {numbers({1, -inf, -0.0f})});
}

MIRROR_CASE(ControlFlowRuns, operands_without_elements) {
  const auto gm = traced(
      [](Value x, Value c) {
        const Value y = choose(x);
        const Value z = repeated(
            3, y, [](const Value&, const Value& x) { return x + 1; });
        const Value scanned = scan(
            [](Value c, Value x) { return pair(c + sum(x), x * 2); }, c, y);
        return Value::tuple({z, part(scanned, 0), part(scanned, 1)});
      },
      {"x", "c"});
  expect_outputs(gm, {fill({3, 0}), Tensor::full({}, 1)}, {.eager = {"sum"}});
  expect_outputs(gm, {fill({3, 2}), Tensor::full({}, 1)});
}

MIRROR_CASE(ControlFlowRuns, operands_of_any_strides) {
  const auto gm = traced(
      [](Value given, Value c) {
        const Value x = method(given, "t");
        const auto halves = [](const Value& x) {
          return getitem(x, Value::slice(None, None, None),
                         Value::slice(None, None, 2));
        };
        const Value y = cond(
            sum(x) > 0.0, [halves](Value x) { return halves(x) + 1; },
            [halves](Value x) { return halves(x) * 2; }, {x});
        const Value z = repeated(
            3, x, [](const Value&, const Value& x) { return x * 2 + 1; });
        const Value scanned =
            scan([](Value c, Value x) { return pair(c + x, c * x); }, c, x);
        return Value::tuple({y, z, part(scanned, 0), part(scanned, 1)});
      },
      {"x", "c"});
  expect_outputs(gm, {abs(fill({4, 5})), fill({4}, 1)});
  expect_outputs(gm, {-abs(fill({4, 5})), fill({4}, 1)});
}

MIRROR_CASE(ControlFlowRuns, several_stacks) {
  const auto gm = traced(
      [](Value c, Value d, Value x, Value y) {
        const Value made = scan(
            [](Value carry, Value slices) {
              const Value c = part(carry, 0), d = part(carry, 1);
              const Value x = part(slices, 0), y = part(slices, 1);
              return pair(pair(c + x, d * 0.5),
                          Value::tuple({c * y, x - d, sum(y)}));
            },
            pair(c, d), pair(x, y));
        const Value carry = part(made, 0), stacks = part(made, 1);
        return Value::tuple({part(carry, 0), part(carry, 1), part(stacks, 0),
                             part(stacks, 1), part(stacks, 2)});
      },
      {"c", "d", "x", "y"});
  expect_outputs(gm, {fill({5}), fill({5}, 1), fill({7, 5}, 2), fill({7, 5}, 3)});
}

MIRROR_CASE(ControlFlowRuns, scans_back_along_another_dim) {
  const auto gm = traced(
      [](Value c, Value x) {
        return scan([](Value c, Value x) { return pair(c + x, c * x); }, c, x,
                    {.dim = 1, .reverse = true});
      },
      {"c", "x"});
  expect_outputs(gm, {fill({3}), fill({3, 4}, 1)});
  expect_outputs(gm, {fill({2}), fill({2, 9}, 1)});
}

MIRROR_CASE(ControlFlowRuns, products_of_slices) {
  const auto gm = traced(
      [](Value x, Value w) {
        return fxjit::map(
            [](Value x, Value w) { return tanh(operators::matmul(x, w)); }, x,
            {w});
      },
      {"x", "w"});
  expect_outputs(gm, {fill({5, 3, 4}), fill({4, 2}, 1)});
  expect_outputs(gm, {fill({1, 6, 4}), fill({4, 2}, 1)});
}

MIRROR_CASE(ControlFlowRuns, running_maxima) {
  const auto gm = traced(
      [](Value x) {
        return associative_scan(
            [](Value a, Value b) { return maximum(a, b); }, x, 1);
      },
      {"x"});
  expect_outputs(gm, {fill({3, 7})});
  expect_outputs(gm, {fill({3, 1})});
}

MIRROR_CASE(ControlFlowRuns, other_types) {
  const auto gm = traced(
      [](Value x, Value h) {
        const Value y = part(
            while_loop([](Value x) { return sum(x) < 100; },
                       [](Value x) { return Value::tuple({x * 2 + 1}); }, {x}),
            0);
        const Value z = cond(
            getitem(y, 0) > 5, [](Value h) { return h * 2; },
            [](Value h) { return h - 1; }, {h});
        return pair(y, z);
      },
      {"x", "h"});
  expect_outputs(gm, {fill({4}, 1, DType::i64), fill({3}, 0, DType::bf16)});
  expect_outputs(gm, {fill({4}, 1, DType::i32), fill({3}, 0, DType::f64)});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
