// Arguments behind a bare "*": what traces, code and calls make of them.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(KeywordOnly)

namespace TEST_FILE {

struct Scaled : nn::Custom<Scaled> {
  Scaled() : Custom("Scaled", {"x", "*", "y", {"scale", 2}}) {}
  Value forward(Value x, Value y, Value scale) {
    const Value product = x * scale;
    return product + y;
  }
};

struct Outer : nn::Custom<Outer> {
  Outer() : Custom("Outer", {"x"}) {
    scaled = register_module("scaled", Scaled::create());
  }
  Value forward(Value x) { return scaled(x, kw("y", x)); }
  nn::Ref<Scaled> scaled;
};

struct Leaves : fx::Tracer {
  bool is_leaf_module(const nn::Module&, std::string_view) const override {
    return true;
  }
};

MIRROR_CASE(KeywordOnly, traced) {
  const auto gm = fx::symbolic_trace(Scaled::create());
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3}, 1), fill({2, 3}, 2)});
}

MIRROR_CASE(KeywordOnly, called_by_keyword) {
  expect_code(fx::symbolic_trace(Outer::create()));
  const auto outer = Outer::create();
  expect_graph(*Leaves().trace(*outer));
}

MIRROR_CASE(KeywordOnly, fixed) {
  expect_code(fx::symbolic_trace(Scaled::create(), {{"scale", 3}}));
}

MIRROR_CASE(KeywordOnly, behind_collected) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value rest, Value y, Value more) -> Value {
        const Value sum = x + y;
        const Value first = getitem(rest, 0);
        const Value more_sum = sum + first;
        const Value z = getitem(more, "z");
        return more_sum + z;
      },
      {"x", "*rest", {"y", 1}, "**more"}, "f");
  expect_graph(gm);
  expect_code(gm);
}

MIRROR_CASE(KeywordOnly, wrong_calls) {
  const auto scaled = Scaled::create();
  expect_error([&] { scaled(1, 2); });
  expect_error([&] { scaled(1, 2, kw("y", 3)); });
  expect_error([&] { scaled(1, 2, 3, kw("y", 3), kw("scale", 1)); });
  expect_error([&] { scaled(1); });
  expect_error([&] { scaled(); });
  expect_error([&] { scaled(1, kw("y", 2), kw("z", 3)); });
  expect_error([&] { scaled(1, 2, kw("x", 1)); });
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
