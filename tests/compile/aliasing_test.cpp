// Writes to values that share memory. What torch gives is stated as a function
// that writes nothing; interpreted and compiled calls must give that, leave the
// same in their inputs, and give results in the memory that torch gives them
// in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"
#include "tests/ops/storages.h"

namespace fxjit {
namespace TEST_FILE {

using testing::apart;
using testing::memories;
using testing::random_tensor;
using testing::value_difference;

ValueList copies(const ValueList& inputs) {
  ValueList made;
  for (const Value& input : inputs) made.push_back(apart(input));
  return made;
}

nn::Signature names_for(const ValueList& inputs) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs.size(); ++i)
    names.emplace_back("x" + std::to_string(i));
  return nn::Signature(names);
}

// `pure` gives the tuple of the result of `fn` and the inputs as they are after
// it.
template <typename Fn, typename Pure>
void expect_as(Fn fn, Pure pure, const ValueList& inputs,
               const std::string& memory) {
  const auto gm = fx::symbolic_trace(fn, names_for(inputs), "f");
  const auto wanted = fx::symbolic_trace(pure, names_for(inputs), "pure")
                          ->interpret(copies(inputs));
  compile(*gm, testing::quick());
  for (int call = 0; call < 3; ++call) {
    ValueList given = copies(inputs);
    const Value got = call == 0 ? gm->interpret(given) : gm->forward(given);
    EXPECT_EQ(memories(got, given), memory) << "call " << call;
    ValueList after{got};
    after.insert(after.end(), given.begin(), given.end());
    EXPECT_EQ(value_difference(Value::tuple(after), wanted, 1e-5, 1e-5), "")
        << "call " << call;
  }
}

// One input, which stays as it is.
template <typename Fn, typename Pure>
void expect_own(Fn fn, Pure pure, const Value& input,
                const std::string& memory = "a") {
  expect_as(
      fn, [=](Value x) { return Value::tuple({pure(x), x}); }, {input}, memory);
}

Value matrix() { return random_tensor({3, 4}); }
Value image() { return random_tensor({2, 3, 6, 6}); }

Value whole() { return Value::slice(None, None); }

TEST(AliasedWrites, CastsToTheSameType) {
  const auto clamped = [](Value x) {
    return function("torch.clamp", {-x, -0.1, 0.1});
  };
  const auto writes = [](auto cast) {
    return [=](Value x) {
      const Value n = -x, t = cast(n);
      method(n, "clamp_", {-0.1, 0.1});
      return t;
    };
  };
  expect_own(writes([](Value n) { return method(n, "to", {DType::f32}); }),
             clamped, matrix());
  expect_own(writes([](Value n) { return method(n, "float"); }), clamped,
             matrix());
  expect_own(writes([](Value n) { return method(n, "type_as", {n}); }), clamped,
             matrix());
  expect_own(writes([](Value n) { return method(n, "to", {"cpu"}); }), clamped,
             matrix());
  expect_own(
      writes([](Value n) { return method(n, "double"); }),
      [](Value x) { return method(-x, "double"); }, matrix());
  expect_own(
      [](Value x) {
        const Value n = x > 0, t = method(n, "bool");
        method(n, "logical_not_");
        return t;
      },
      [](Value x) { return function("torch.le", {x, 0}); }, matrix());
}

TEST(AliasedWrites, CastsOfInputs) {
  const auto written = [](Value x) {
    const Value y = exp(x);
    return Value::tuple({y, y});
  };
  for (const char* cast : {"float", "contiguous", "positive", "__pos__"})
    expect_as(
        [=](Value x) {
          const Value y = method(x, cast);
          method(y, "exp_");
          return y;
        },
        written, {matrix()}, "0");
  expect_as(
      [](Value x) {
        const Value y = method(x, "to", {DType::f32}, {{"copy", true}});
        method(y, "exp_");
        return y;
      },
      [](Value x) { return Value::tuple({exp(x), x}); }, {matrix()}, "a");
}

TEST(AliasedWrites, UnaryPlus) {
  const auto pure = [](Value x) { return (x * 2) * 3; };
  expect_own(
      [](Value x) {
        const Value n = x * 2, p = function("operator.pos", {n});
        method(n, "mul_", {3});
        return p;
      },
      pure, matrix());
  expect_own(
      [](Value x) {
        const Value n = x * 2, p = function("torch.positive", {n});
        method(p, "mul_", {3});
        return n;
      },
      pure, matrix());
}

// y; y[0] *= 2: what torch gives.
Value with_first_doubled(const Value& y) {
  const Value rest = getitem(y, Value::slice(1, None));
  return fxjit::cat(Value::list({fxjit::unsqueeze(getitem(y, 0) * 2, 0), rest}),
                    0);
}

template <typename Fn>
void expect_view_written(Fn producer, const Value& input) {
  expect_own(
      [=](Value x) {
        const Value y = producer(x);
        method(getitem(y, 0), "mul_", {2});
        return y;
      },
      [=](Value x) { return with_first_doubled(producer(x)); }, input);
  // Both come out of one part, where the view is the first result.
  expect_own(
      [=](Value x) {
        const Value y = producer(x);
        const Value first = getitem(y, 0);
        method(first, "mul_", {2});
        return Value::tuple({first, y});
      },
      [=](Value x) {
        const Value y = producer(x);
        return Value::tuple({getitem(y, 0) * 2, with_first_doubled(y)});
      },
      input, "a_a");
}

TEST(AliasedWrites, ViewsOfWhatKernelsGive) {
  const Value weight = random_tensor({5, 3, 3, 3}, DType::f32, 7);
  const Value back = random_tensor({3, 5, 3, 3}, DType::f32, 8);
  expect_view_written(
      [=](Value x) { return function("torch.conv2d", {x, weight}); }, image());
  expect_view_written(
      [=](Value x) { return function("torch.conv_transpose2d", {x, back}); },
      image());
  expect_view_written(
      [](Value x) {
        return function("torch._C._nn.scaled_dot_product_attention", {x, x, x});
      },
      random_tensor({2, 3, 8, 4}));
  expect_view_written(
      [](Value x) { return function("torch.max_pool2d", {x, 2}); }, image());
  expect_view_written([](Value x) { return softmax(x, -1); }, image());
  expect_view_written([](Value x) { return matmul(x, transpose(x, -1, -2)); },
                      image());
  expect_view_written([](Value x) { return fxjit::flip(x, {-1}); }, image());
}

TEST(AliasedWrites, ThroughCompositesThatGiveViews) {
  const auto doubled = [](Value x) { return (x + 1) * 2; };
  const auto writes = [](auto views) {
    return [=](Value x) {
      const Value n = x + 1;
      method(views(n), "mul_", {2});
      return n;
    };
  };
  using Fn = std::function<Value(Value)>;
  const std::vector<Fn> whole_views = {
      [](Value n) {
        return getitem(function("torch.broadcast_tensors", {n, n}), 0);
      },
      [](Value n) {
        return function("torch.broadcast_to", {n, Value::tuple({3, 4})});
      },
      [](Value n) { return function("torch.atleast_3d", {n}); },
      [](Value n) { return function("torch.ravel", {n}); },
      [](Value n) { return function("torch.adjoint", {n}); },
      [](Value n) {
        return function("torch.functional.einsum", {"ij->ji", n});
      },
      [](Value n) {
        return getitem(function("torch.tensor_split", {n, 1}), 0);
      },
      [](Value n) { return getitem(function("torch.hsplit", {n, 1}), 0); },
      [](Value n) { return function("F.dropout", {n, 0.5, false}); },
      [](Value n) { return method(n, "expand_as", {n}); },
      [](Value n) { return fxjit::flatten(n); },
      [](Value n) { return method(n, "detach"); },
      [](Value n) { return getitem(n, Value::tuple({None, Ellipsis})); },
  };
  for (size_t i = 0; i < whole_views.size(); ++i) {
    SCOPED_TRACE(i);
    expect_own(writes(whole_views[i]), doubled, matrix());
  }
  expect_own(
      [](Value x) {
        const Value n = x + 1;
        const Value halves = function("torch.tensor_split", {n, 2});
        method(getitem(halves, 1), "mul_", {2});
        return Value::tuple({n, getitem(halves, 0)});
      },
      [](Value x) {
        const Value n = x + 1, head = getitem(n, Value::slice(None, 2));
        const Value rest = getitem(n, Value::slice(2, None));
        return Value::tuple(
            {fxjit::cat(Value::list({head, rest * 2}), 0), head});
      },
      matrix(), "a_a");
  expect_own(
      [](Value x) {
        const Value n = x + 1;
        const Value grid = getitem(
            function("torch.functional.meshgrid", {n, n}, {{"indexing", "ij"}}),
            0);
        method(getitem(grid, Value::tuple({whole(), 0})), "mul_", {2});
        return Value::tuple({grid, n});
      },
      [](Value x) {
        const Value n = (x + 1) * 2;
        return Value::tuple({fxjit::expand(fxjit::unsqueeze(n, 1), {4, 4}), n});
      },
      random_tensor({4}), "a_a");
}

TEST(AliasedWrites, CopiesStayApart) {
  using Fn = std::function<Value(Value)>;
  const std::vector<Fn> copying = {
      [](Value n) { return method(n, "clone"); },
      [](Value n) { return method(n, "repeat", {1, 1}); },
      [](Value n) { return fxjit::cat(Value::list({n}), 0); },
      [](Value n) { return function("torch.rot90", {n, 0}); },
      [](Value n) { return function("F.pad", {n, Value::tuple({0, 0})}); },
      [](Value n) { return fxjit::flip(n, Value::tuple({})); },
      [](Value n) {
        return getitem(n, Tensor::from(std::vector<int64_t>{0, 1, 2}, {3}));
      },
      [](Value n) {
        return function("torch.functional.einsum",
                        {"ij,->ij", n, Tensor::full({}, 1)});
      },
      [](Value n) {
        return transpose(method(transpose(n, 0, 1), "contiguous"), 0, 1);
      },
  };
  for (size_t i = 0; i < copying.size(); ++i) {
    SCOPED_TRACE(i);
    expect_own(
        [&](Value x) {
          const Value n = x + 1, copy = copying[i](n);
          method(n, "mul_", {2});
          return Value::tuple({copy, n});
        },
        [](Value x) { return Value::tuple({x + 1, (x + 1) * 2}); }, matrix(),
        "a_b");
    expect_own(
        [&](Value x) {
          const Value copy = copying[i](x);
          method(copy, "mul_", {2});
          return copy;
        },
        [](Value x) { return x * 2; }, matrix());
  }
}

TEST(AliasedWrites, AnElementOfUnknownPlace) {
  expect_as(
      [](Value x, Value i) {
        const Value n = x + 1, row = getitem(n, i);
        method(n, "mul_", {2});
        return row;
      },
      [](Value x, Value i) {
        return Value::tuple({(getitem(x, i) + 1) * 2, x, i});
      },
      {matrix(), Tensor::from(std::vector<int64_t>{2}, {})}, "a");
}

// Of results nobody writes here: the caller may.
TEST(AliasedResults, ShareMemoryAsInterpretedOnesDo) {
  const auto expect_memory = [](auto fn, const Value& input,
                                const std::string& memory) {
    expect_own(fn, fn, input, memory);
  };
  const Value weight = random_tensor({5, 3, 3, 3}, DType::f32, 7);
  expect_memory(
      [=](Value x) {
        const Value y = function("torch.conv2d", {x, weight});
        return Value::tuple({getitem(y, 1), fxjit::flatten(y), y + 0, y});
      },
      image(), "a_a_b_a");
  expect_memory(
      [](Value x) {
        return Value::tuple({x, transpose(x, 0, 1), getitem(x, 1), x * 1,
                             method(x, "float"), method(x, "double")});
      },
      matrix(), "0_0_0_a_0_b");
  expect_memory(
      [](Value x) {
        const Value a = x * 2, b = x * 2;  // One node once merged.
        return Value::tuple({getitem(b, 0), a, b, getitem(a, 0)});
      },
      matrix(), "a_b_a_b");
  expect_memory([](Value x) { return fxjit::unbind(x + 1, 0); }, matrix(),
                "a_a_a");
  expect_memory(
      [](Value x) {
        const Value y = x + 1;
        return Value::tuple({method(y, "view", {DType::i32}), getitem(y, 2)});
      },
      matrix(), "a_a");
  const auto both = [](Value x, Value y) {
    return function("torch.broadcast_tensors", {x, y});
  };
  expect_as(
      both, [=](Value x, Value y) { return Value::tuple({both(x, y), x, y}); },
      {matrix(), random_tensor({4})}, "0_1");
}

}  // namespace TEST_FILE
}  // namespace fxjit
