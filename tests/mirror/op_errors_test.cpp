// What torch says of operands that do not go together.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(OpErrors)

namespace TEST_FILE {

Tensor ints(const Dims& sizes) { return fill(sizes, 0, DType::i64); }
Tensor bools(const Dims& sizes) { return fill(sizes, 0, DType::boolean); }

Value call(const char* name, ValueList args, Kwargs kwargs = {}) {
  return function(name, std::move(args), std::move(kwargs));
}

Value list(ValueList items) { return Value::list(std::move(items)); }

MIRROR_CASE(OpErrors, broadcast_errors) {
  const Value x = fill({2, 3}), y = fill({4});
  expect_error([&] { x + y; });
  expect_error([&] { call("torch.mul", {fill({5, 2, 3}), fill({4, 1, 3})}); });
  expect_error([&] { call("torch.sub", {fill({5, 2, 3}), fill({4, 3, 3})}); });
  expect_error([&] { call("torch.maximum", {y, x}); });
  expect_error([&] { method(x, "eq", {y}); });
  expect_error([&] { call("torch.where", {x > 0, x, y}); });
  expect_error(
      [&] { call("torch.where", {bools({3}), fill({4}), fill({5})}); });
  expect_error([&] { call("torch.lerp", {x, y, 0.5}); });
  expect_error([&] { call("torch.addcmul", {x, x, y}); });
  expect_error([&] { method(x, "clamp", {}, {{"min", y}}); });
  expect_error([&] { method(x, "masked_fill", {y > 0, 1.0}); });
  expect_error([&] { call("torch.broadcast_tensors", {x, y}); });
  expect_error([&] { call("F.mse_loss", {x, y}); });
  expect_error([&] { call("F.binary_cross_entropy", {x, y}); });
}

MIRROR_CASE(OpErrors, broadcast_errors_in_place) {
  expect_error([&] { method(fill({3}), "add_", {fill({2, 3})}); });
  expect_error([&] { method(fill({3}), "add_", {fill({4})}); });
  expect_error([&] { method(fill({3}), "copy_", {fill({4})}); });
  expect_error([&] { method(fill({1}), "copy_", {fill({4})}); });
  expect_error(
      [&] { method(fill({3}), "masked_fill_", {bools({2, 3}), 0.0}); });
  expect_error([&] { method(ints({3}), "add_", {0.5}); });
  expect_error([&] { method(ints({3}), "div_", {2}); });
  expect_error([&] { method(bools({3}), "add_", {1}); });
}

MIRROR_CASE(OpErrors, expanding_errors) {
  const Value x = fill({2, 3});
  expect_error([&] { method(x, "expand", {2, 4}); });
  expect_error([&] { method(x, "expand", {3}); });
  expect_error([&] { method(ints({2, 3}), "expand", {3}); });
  expect_error([&] { method(fill({3}), "expand", {-1, 3}); });
  expect_error(
      [&] { call("torch.broadcast_to", {fill({3}), Value::tuple({2, 4})}); });
  expect_error([&] { method(x, "view", {4}); });
  expect_error([&] { method(x, "view", {-1, 4}); });
  expect_error([&] { method(x, "view", {-1, -1}); });
  expect_error([&] { method(method(x, "t"), "view", {6}); });
  expect_error([&] { method(x, "reshape", {5}); });
  expect_error([&] { call("torch.cat", {list({x, fill({2, 4})})}); });
  expect_error([&] { call("torch.cat", {list({x, fill({3})})}); });
  expect_error([&] { call("torch.stack", {list({x, fill({2, 4})})}); });
  expect_error([&] { method(x, "transpose", {0, 2}); });
  expect_error([&] { method(x, "permute", {0, 0}); });
  expect_error([&] { method(fill({4}), "narrow", {0, 5, 1}); });
  expect_error([&] { method(fill({4}), "split", {list({1, 2})}); });
}

MIRROR_CASE(OpErrors, product_errors) {
  const Value x = fill({2, 3});
  expect_error([&] { call("torch.matmul", {x, fill({4, 5})}); });
  expect_error([&] { call("torch.matmul", {fill({3}), fill({4})}); });
  expect_error(
      [&] { call("torch.matmul", {fill({2, 2, 3}), fill({3, 3, 5})}); });
  expect_error([&] { call("torch.bmm", {fill({2, 2, 3}), fill({2, 4, 5})}); });
  expect_error([&] { call("torch.addmm", {fill({4}), x, fill({3, 5})}); });
  expect_error([&] { call("torch.mv", {x, fill({4})}); });
  expect_error([&] { call("torch.matmul", {x, ints({3, 2})}); });
  expect_error([&] { call("F.linear", {x, fill({5, 4})}); });
  expect_error([&] { call("F.linear", {x, fill({5, 3}), fill({4})}); });
  expect_error([&] { call("F.embedding", {fill({2}), fill({4, 3})}); });
}

MIRROR_CASE(OpErrors, type_errors) {
  const Value f = fill({2}), i = ints({2}), b = bools({2});
  const auto rounded = [](const Value& x, const char* mode) {
    call("torch.div", {x, x}, {{"rounding_mode", mode}});
  };
  expect_error([&] { f & f; });
  expect_error([&] { i | f; });
  expect_error([&] { f ^ 1; });
  expect_error([&] { ~f; });
  expect_error([&] { method(f, "double") << 1; });
  expect_error([&] { -b; });
  expect_error([&] { b - b; });
  expect_error([&] { b - 1; });
  expect_error([&] { rounded(b, "floor"); });
  expect_error([&] { operators::floordiv(b, b); });
  expect_error([&] { call("torch.remainder", {b, b}); });
  expect_error([&] { rounded(f, "x"); });
  expect_error([&] { call("torch.pow", {i, -1}); });
  expect_error([&] { call("torch.pow", {b, b}); });
  expect_error([&] { call("F.gelu", {i}); });
  expect_error([&] { call("F.gelu", {f}, {{"approximate", "x"}}); });
  expect_error([&] { call("F.celu", {f, 0.0}); });
  for (const char* name :
       {"F.elu", "F.selu", "F.silu", "F.softplus", "F.leaky_relu",
        "F.hardswish", "F.hardsigmoid", "F.mish", "F.logsigmoid",
        "F.hardshrink", "F.softshrink", "torch.frac"})
    expect_error([&] { call(name, {i}); });
  expect_error([&] { method(f, "clamp"); });
  expect_error([&] { call("torch.addcdiv", {i, i, i}); });
  expect_error([&] { call("torch.where", {f, f, f}); });
  expect_error([&] { method(f, "masked_fill", {i, 1}); });
  expect_error([&] { method(f, "masked_fill", {b, f}); });
  expect_error([&] { call("torch.softmax", {i, 0}); });
  expect_error([&] { call("torch.log_softmax", {i, 0}); });
  expect_error([&] { call("torch.softmax", {ints({2, 2}), 0}); });
  expect_error([&] { method(method(i, "int"), "exp_"); });
}

MIRROR_CASE(OpErrors, errors_of_runs) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value y) -> Value { return relu(x + y); }, {"x", "y"});
  const ValueList inputs = {fill({2, 3}), fill({4})};
  expect_error([&] { gm->call(inputs, {}); });
  expect_error([&] { fx::Interpreter(*gm).run(inputs); },
               "\nOriginal traceback");
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
