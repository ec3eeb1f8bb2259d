// torch's functions and methods: the arguments recorded and the numbers.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

class FunctionCase : public Case {
 protected:
  template <typename F>
  void record(F f, nn::Signature signature, const ValueList& inputs,
              const OutputOptions& options = {}) {
    const auto gm = fx::symbolic_trace(f, std::move(signature));
    expect_graph(gm);
    expect_code(gm);
    expect_outputs(gm, inputs, options);
  }
};

namespace TEST_FILE {

class Functions : public FunctionCase {};

namespace F = nn::functional;

Value all_of() { return Value::slice(None, None); }

// In statements where C++ would choose the order.
Value both(const Value& x, const Value& y) {
  const Value left = x > 0;
  return logical_and(left, y > 2);
}

Value batched(const Value& x, const Value& y) {
  const Value left = getitem(x, None);
  return bmm(left, getitem(y, None));
}

MIRROR_CASE(Functions, reductions) {
  const auto f = [](Value x) -> Value {
    return Value::tuple(
        {sum(x), sum(x, 1), sum(x, {0, 2}, true), mean(x, -1),
         method(x, "mean", {}, {{"dim", Value::tuple({1, 2})}}),
         method(x, "sum", {1}, {{"keepdim", true}}), prod(x, 2), amax(x, 1),
         amin(x, {0, 1}), method(x, "var", {1}, {{"correction", 0}}),
         method(x, "std", {-1}), logsumexp(x, 1), any(x > 0.5, 1),
         all(x < 2, 2)});
  };
  record(f, {"x"}, {fill({2, 3, 4}, 1)});
}

MIRROR_CASE(Functions, extremes) {
  const auto f = [](Value x, Value y) -> Value {
    const auto top = fx::unpack(max(x, 1), 2);
    const Value low = method(x, "min", {}, {{"dim", 0}});
    return Value::tuple({top[0], top[1], getitem(low, 0), argmax(x, 1),
                         method(x, "argmin", {-1}), max(x, y), min(x),
                         cumsum(x, 0)});
  };
  record(f, {"x", "y"}, {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(Functions, views) {
  const auto f = [](Value x) -> Value {
    return Value::tuple(
        {reshape(x, {4, 6}), method(x, "view", {-1, 3}),
         method(x, "permute", {2, 0, 1}), method(x, "transpose", {0, 1}),
         flatten(x, 1), method(method(x, "unsqueeze", {-1}), "squeeze", {-1}),
         getitem(x, all_of(), 1),
         getitem(x, Ellipsis, Value::slice(None, None, 2)),
         getitem(x, None, 0), method(x, "select", {1, 2}),
         method(x, "narrow", {2, 1, 2}), method(x, "expand", {2, 2, 3, 4}),
         method(x, "contiguous"), movedim(x, 0, 2),
         method(x, "unflatten", {2, Value::tuple({2, 2})})});
  };
  record(f, {"x"}, {fill({2, 3, 4}, 1)});
}

MIRROR_CASE(Functions, pieces) {
  const auto f = [](Value x, Value y) -> Value {
    const auto ab = fx::unpack(function("torch.split", {x, 2}, {{"dim", 1}}), 2);
    const auto cd = fx::unpack(method(x, "chunk", {2, 0}), 2);
    const Value head =
        getitem(method(y, "unbind", {0}), Value::slice(0, 1));
    const Value first = getitem(head, 0);
    return Value::tuple(
        {function("torch.cat", {Value::list({ab[0], ab[1]})}, {{"dim", 1}}),
         stack(Value::tuple({ab[0], ab[1]})), cd[0] - cd[1], first,
         split(x, Value::list({1, 3}), 1)});
  };
  record(f, {"x", "y"}, {fill({2, 4}, 1), fill({3, 2}, 2)});
}

MIRROR_CASE(Functions, picking) {
  const auto f = [](Value x, Value index, Value mask) -> Value {
    const Value gathered = gather(x, 1, index);
    const Value rows = method(x, "index_select", {0, getitem(index, 0)});
    const Value chosen = where(mask, x, -x);
    return Value::tuple(
        {gathered, rows, chosen, method(x, "masked_fill", {mask, 9.0}),
         tril(x), triu(x, 1), method(x, "flip", {0}), roll(x, 1, 1),
         method(x, "repeat", {2, 1}), F::one_hot(index, 4)});
  };
  const Value index = fill({3, 3}, 2, DType::i64);
  record(f, {"x", "index", "mask"},
         {fill({3, 3}, 1), index % 3, fill({3, 3}, 3, DType::boolean)});
}

MIRROR_CASE(Functions, pointwise) {
  const auto f = [](Value x, Value y) -> Value {
    return Value::tuple(
        {exp(x), log1p(y), method(y, "sqrt"), rsqrt(y), method(x, "sin"),
         cos(x), tanh(x), sigmoid(x), erf(x), method(x, "abs"), sign(x),
         floor(x), method(x, "ceil"), round(x), reciprocal(y), square(x),
         method(x, "neg"), expm1(x), atan(x), log(y)});
  };
  const Value y = fill({6}, 2);
  record(f, {"x", "y"}, {fill({6}, 1), y + 2});
}

MIRROR_CASE(Functions, pointwise_with_two) {
  const auto f = [](Value x, Value y) -> Value {
    return Value::tuple(
        {add(x, y, 2), sub(x, 2, 3), div(x, y, "floor"), pow(y, 1.5),
         remainder(x, y), fmod(x, y), minimum(x, y), maximum(x, y),
         lerp(x, y, 0.25), clamp(x, -0.5, 0.5),
         method(x, "clamp", {}, {{"min", 0}}), addcmul(x, y, y),
         addcdiv(x, x, y, 0.5), rsub(x, y), eq(x, y), method(x, "ge", {y}),
         both(x, y)});
  };
  const Value y = fill({6}, 2);
  record(f, {"x", "y"}, {fill({6}, 1), y + 2});
}

MIRROR_CASE(Functions, activations) {
  const auto f = [](Value x) -> Value {
    return Value::tuple(
        {F::relu(x), F::gelu(x), F::gelu(x, "tanh"), F::silu(x), F::elu(x),
         F::leaky_relu(x, 0.2), F::softplus(x), F::hardswish(x),
         F::hardsigmoid(x), F::mish(x), F::relu6(x), F::logsigmoid(x),
         F::softsign(x), F::tanhshrink(x), F::hardtanh(x, -0.5, 0.5),
         F::selu(x), F::celu(x, 0.5), F::softshrink(x), F::hardshrink(x),
         F::threshold(x, 0.1, 20)});
  };
  record(f, {"x"}, {fill({9}, 1)});
}

MIRROR_CASE(Functions, normalisations) {
  const auto f = [](Value x, Value w, Value b) -> Value {
    return Value::tuple(
        {F::softmax(x, -1), softmax(x, 1), method(x, "softmax", {-1}),
         F::log_softmax(x, -1), F::layer_norm(x, {4}),
         F::layer_norm(x, {4}, w, b, 1e-3), F::normalize(x),
         F::normalize(x, 1.0, 0), F::rms_norm(x, {4}, w),
         F::group_norm(x, 2, w, b)});
  };
  record(f, {"x", "w", "b"}, {fill({3, 4}, 1), fill({4}, 2), fill({4}, 3)});
}

MIRROR_CASE(Functions, products) {
  const auto f = [](Value x, Value y, Value z) -> Value {
    return Value::tuple(
        {matmul(x, y), mm(x, y), method(x, "mm", {y}), mv(x, z), dot(z, z),
         outer(z, z), addmm(z, x, y),
         function("torch.functional.einsum", {"ij,jk->ik", x, y}),
         F::linear(x, y), F::linear(x, y, z),
         batched(x, y)});
  };
  record(f, {"x", "y", "z"},
         {fill({3, 3}, 1), fill({3, 3}, 2), fill({3}, 4)});
}

MIRROR_CASE(Functions, convolutions) {
  const auto f = [](Value x, Value w, Value b, Value line, Value v) -> Value {
    const Value plain = F::conv2d(x, w);
    const Value strided = function("torch.conv2d", {x, w, b},
                                   {{"stride", 2}, {"padding", 1}});
    const Value full = function("torch.conv2d", {x, w, b, 1, 1, 1, 1});
    const Value flat = function("torch.conv1d", {line, v, None, 2});
    const Value two = getitem(x, all_of(), Value::slice(None, 2));
    return Value::tuple({plain, strided, full, flat,
                         function("torch.conv_transpose2d", {two, w},
                                  {{"stride", 2}})});
  };
  record(f, {"x", "w", "b", "line", "v"},
         {fill({1, 3, 6, 6}, 1), fill({2, 3, 3, 3}, 2), fill({2}, 3),
          fill({2, 3, 8}, 1), fill({4, 3, 3}, 5)});
}

MIRROR_CASE(Functions, pooling) {
  const auto f = [](Value x) -> Value {
    return Value::tuple(
        {F::max_pool2d(x, 2), F::max_pool2d(x, 3, 2, 1), F::avg_pool2d(x, 2),
         F::adaptive_avg_pool2d(x, {2, 3}), F::adaptive_avg_pool2d(x, 1),
         F::interpolate(x, None, 2), F::pad(x, {1, 1, 0, 2}),
         F::pad(x, {1, 1}, "constant", 0.5)});
  };
  record(f, {"x"}, {fill({1, 2, 6, 6}, 1)});
}

MIRROR_CASE(Functions, attention) {
  const auto f = [](Value q, Value k, Value v, Value mask) -> Value {
    const auto attend = [&](Kwargs kwargs) {
      return function("torch._C._nn.scaled_dot_product_attention", {q, k, v},
                      std::move(kwargs));
    };
    const Value plain = attend({});
    const Value causal = attend({{"is_causal", true}});
    return Value::tuple({plain, causal, attend({{"attn_mask", mask}})});
  };
  record(f, {"q", "k", "v", "mask"},
         {fill({1, 2, 4, 8}, 1), fill({1, 2, 4, 8}, 2), fill({1, 2, 4, 8}, 3),
          fill({4, 4}, 4)});
}

MIRROR_CASE(Functions, made_from_other_tensors) {
  const auto f = [](Value x) -> Value {
    return Value::tuple(
        {zeros_like(x), ones_like(x), full_like(x, 3.5),
         method(x, "new_zeros", {2, 2}), method(x, "to", {DType::f64}),
         method(x, "float"), method(x, "type_as", {x}), method(x, "clone"),
         method(x, "detach")});
  };
  record(f, {"x"}, {fill({2, 2}, 1)});
}

MIRROR_CASE(Functions, aten_overloads) {
  const auto f = [](Value x, Value y) -> Value {
    const Value a = function("aten.add.Tensor", {x, y}, {{"alpha", 2}});
    const Value b = function("aten.mul.Scalar", {a, 3});
    const Value c = function("aten.relu.default", {b});
    const Value total =
        function("aten.sum.dim_IntList", {c, Value::list({1}), true});
    return Value::tuple({total, function("aten.mm.default", {x, y})});
  };
  record(f, {"x", "y"}, {fill({3, 3}, 1), fill({3, 3}, 2)});
}

MIRROR_CASE(Functions, embedding_lookup) {
  const auto f = [](Value tokens, Value table) -> Value {
    const Value rows = F::embedding(tokens, table);
    const Value same = getitem(table, tokens);
    return Value::tuple(
        {rows, same, getitem(table, tokens, Value::slice(1, None))});
  };
  record(f, {"tokens", "table"},
         {fill({2, 3}, 1, DType::i64), fill({10, 4}, 2)});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
