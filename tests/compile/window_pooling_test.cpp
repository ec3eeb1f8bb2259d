// Pooling in compiled modules, over planes and with channels innermost, against
// the graph in double precision.
#include <cmath>

#include "tests/compile/window_layers.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_windows;

TEST(WindowLayers, Pooling) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    Dims sizes{draw.of({1, 2}), draw.of({2, 3, 8, 13, 16, 24})}, pads;
    const Dims taps = draw.dims(2, {1, 2, 3, 3, 5});
    for (int d = 0; d < 2; ++d) {
      sizes.push_back(draw.of({5, 7, 12, 17}));
      pads.push_back(std::min<int64_t>(draw.of({0, 1, 2}), taps[d] / 2));
    }
    const Dims stride = draw.dims(2, {1, 2, 2, 3});
    const bool average = draw.half(), ceil = draw.half(), all = draw.half();
    const Tensor x = image(sizes, draw);
    if (!average && draw.half()) set_special(x, draw);
    SCOPED_TRACE(::testing::Message()
                 << seed << ": " << sizes.str() << " taps " << taps.str()
                 << " stride " << stride.str() << " pads " << pads.str()
                 << (average ? ", average" : "") << (ceil ? ", ceil" : ""));
    expect_right(
        [&](DType) {
          return [=](Value x) {
            const Value y =
                average ? F::avg_pool2d(x, taps, stride, pads, ceil, all)
                        : F::max_pool2d(x, taps, stride, pads, Value(1), ceil);
            return F::relu(y);
          };
        },
        x);
  }
}

struct PoolCase {
  const char* function;
  Dims input;
  ValueList args;  // Behind the input.
};

// Of one channel or column, of one image without its batch, of lines and
// volumes, of windows that are all of the image or have very many elements.
std::vector<PoolCase> pool_cases() {
  const char *const max = "F.max_pool2d", *const average = "F.avg_pool2d";
  return {
      {max, {2, 1, 14, 15}, {3, 2, 1}},
      {max, {2, 4, 14, 1}, {Dims{3, 1}, Dims{2, 1}}},
      {max, {1, 4, 21, 23}, {3, Dims{2, 1}, Dims{1, 2}, Dims{2, 3}}},
      {max, {4, 16, 16}, {2, 2, 0}},
      {max, {1, 4, 17, 18}, {Dims{17, 18}}},
      {max, {1, 9, 40, 41}, {Dims{16, 19}, Dims{2, 3}, Dims{8, 2}}},
      {max, {1, 3, 50, 51}, {16, 1, 4, Dims{1, 2}, true}},
      {max, {1, 3, 300, 9}, {Dims{300, 3}, 1, Dims{0, 1}}},
      {"F.max_pool1d", {2, 5, 100}, {4, 3, 2}},
      {"F.max_pool1d", {2, 5, 300}, {300}},
      {"F.max_pool1d", {2, 3, 900}, {240, 100, 20, 2}},
      {"F.avg_pool1d", {2, 3, 1000}, {230, 60, 100, true, false}},
      {"F.max_pool3d",
       {1, 3, 9, 8, 10},
       {Dims{3, 2, 3}, Dims{2, 2, 1}, Dims{1, 0, 1}}},
      {average, {1, 5, 14, 15}, {3, 2, 1, true, true}},
      {average, {1, 5, 14, 15}, {Dims{3, 2}, 2, 1, false, true, 7}},
      {average, {5, 14, 15}, {3, 2, 1}},
      {average, {1, 6, 20, 21}, {Dims{20, 21}}},
      {average, {1, 6, 40, 41}, {18, 3, 9, false, false}},
      {"F.avg_pool1d", {1, 5, 64}, {3, 2, 1}},
      {"F.avg_pool3d", {1, 2, 6, 7, 8}, {Dims{2, 3, 2}, 2, Dims{1, 1, 0}}},
  };
}

template <typename Fn>
void each_pool(Fn fn) {
  for (const PoolCase& c : pool_cases()) {
    SCOPED_TRACE(::testing::Message() << c.function << " " << c.input.str());
    const auto pooled = [c](Value x) {
      ValueList args{x};
      args.insert(args.end(), c.args.begin(), c.args.end());
      return function(c.function, args);
    };
    fn(pooled, c);
  }
}

TEST(WindowLayers, PoolingOfAllKinds) {
  Draw draw(1);
  each_pool([&](auto pooled, const PoolCase& c) {
    const Tensor x = random_tensor(c.input);
    if (c.function[2] == 'm' && draw.half()) set_special(x, draw);
    expect_right([&](DType) { return pooled; }, x);
  });
}

// Maxima are those of the type, averages are rounded to it once.
TEST(WindowLayers, PoolingOfNarrowTypes) {
  int number = 0;
  each_pool([&](auto pooled, const PoolCase& c) {
    if (number++ % 4 != 1) return;
    const bool max = c.function[2] == 'm';
    const Tensor x = random_tensor(c.input);
    for (DType dtype : {DType::bf16, DType::i8}) {
      if (dtype == DType::i8 && !max) continue;
      const Tensor narrow = (Value(x) * 50.0).as_tensor().to(dtype);
      const auto gm =
          fx::symbolic_trace(pooled, nn::Signature({nn::ArgSpec("x")}), "f");
      const Value wanted = gm->forward({narrow.to(DType::f64)});
      compile(*gm, testing::options_for(host_cpu_level(), 1));
      const Tensor got = gm->forward({narrow}).as_tensor();
      EXPECT_EQ(got.dtype(), dtype);
      EXPECT_EQ(testing::value_difference(got.to(DType::f64), wanted,
                                          max ? 0 : 4e-3, 1e-4),
                "");
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    }
  });
}

}  // namespace TEST_FILE
}  // namespace fxjit
