// What reports say of how convolutions and pooling are computed, and why so.
#include <functional>

#include "fxjit/report.h"
#include "tests/compile/window_layers.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_windows;

// The ways of a graph's steps at a level, one after the other.
std::string ways_of(const std::function<Value(Value)>& layer, const Tensor& x,
                    CpuLevel level) {
  const auto gm =
      fx::symbolic_trace(layer, nn::Signature({nn::ArgSpec("x")}), "f");
  compile(*gm, testing::options_for(level));
  gm->forward({x});
  std::string text;
  for (const ProgramReport& program : make_report(*gm).programs)
    for (const StepReport& step : program.steps)
      if (!step.way.empty()) text += step.way + "; ";
  EXPECT_THAT(report(*gm), HasSubstr(text.substr(0, text.find(';'))));
  return text;
}

std::function<Value(Value)> conv(const Dims& weight, int64_t stride,
                                 int64_t pad, int64_t groups) {
  return [=, w = random_tensor(weight)](Value x) {
    return F::relu(F::conv2d(x, w, None, stride, pad, 1, groups));
  };
}

struct WayCase {
  Dims input, weight;
  int64_t stride, pad, groups;
  const char *avx2, *others;  // Beginnings; null: either may be.
};

const WayCase kWayCases[] = {
    {{1, 16, 20, 20},
     {16, 1, 3, 3},
     1,
     1,
     16,
     "window over planes: one filter",
     "window with channels innermost: one filter"},
    {{1, 16, 5, 5},
     {16, 1, 3, 3},
     1,
     1,
     16,
     "window with channels innermost: one filter",
     "window with channels innermost: one filter"},
    {{1, 2, 20, 20},
     {2, 2, 3, 3},
     1,
     1,
     1,
     "window over planes: too few",
     "primitive: "},
    {{1, 16, 20, 20},
     {16, 4, 3, 3},
     1,
     1,
     4,
     "window: groups of few channels",
     "window: groups of few channels"},
    {{1, 8, 20, 20},
     {16, 8, 3, 3},
     1,
     1,
     1,
     "window: an image of few channels",
     "window: an image of few channels"},
    {{1, 64, 20, 20},
     {64, 32, 3, 3},
     1,
     1,
     2,
     "primitive: groups of more",
     "primitive: groups of more"},
    {{1, 64, 20, 20}, {64, 64, 3, 3}, 1, 1, 1, "Winograd: ", "Winograd: "},
    {{1, 64, 20, 20},
     {64, 64, 3, 3},
     2,
     1,
     1,
     "product: windows are rows",
     "primitive: faster than products over windows"},
    {{1, 64, 20, 20},
     {64, 64, 1, 1},
     1,
     0,
     1,
     "product over planes: ",
     "product: windows of one element"},
    {{1, 3, 20, 20},
     {16, 3, 3, 3},
     2,
     1,
     1,
     "loops of C++: ",
     "loops of C++: "},
};

TEST(ImageWays, AreReported) {
  for (const WayCase& c : kWayCases)
    for (CpuLevel level : testing::host_levels()) {
      SCOPED_TRACE(::testing::Message()
                   << c.weight.str() << " at " << cpu_level_name(level));
      EXPECT_THAT(
          ways_of(conv(c.weight, c.stride, c.pad, c.groups),
                  random_tensor(c.input), level),
          ::testing::StartsWith(level == CpuLevel::avx2 ? c.avx2 : c.others));
    }
}

TEST(ImageWays, SayWhyAPrimitiveComputes) {
  const auto changing = [](Value x) {
    return F::conv2d(x, method(x, "reshape", {Dims{32, 32, 3, 3}}), None, 2);
  };
  for (CpuLevel level : testing::host_levels())
    EXPECT_THAT(
        ways_of(changing, random_tensor({1, 32, 16, 18}), level),
        ::testing::StartsWith(level == CpuLevel::avx2
                                  ? "primitive: weights that are not constant"
                                  : "primitive: faster than"));
  const auto spread = [w = random_tensor({8, 8, 3, 3})](Value x) {
    return F::conv_transpose2d(x, w, None, 2);
  };
  EXPECT_THAT(ways_of(spread, random_tensor({1, 8, 9, 9}),
                      testing::host_levels().front()),
              HasSubstr("transposed"));
}

TEST(ImageWays, OfPooling) {
  const auto pool = [](Value x) { return F::max_pool2d(x, 3, 2, 1); };
  for (CpuLevel level : testing::host_levels())
    EXPECT_THAT(
        ways_of(pool, random_tensor({1, 8, 20, 20}), level),
        HasSubstr(level == CpuLevel::avx2 ? "window over planes"
                                          : "window with channels innermost"));
  const auto plain = [](Value x) { return F::relu(x) + 1; };
  EXPECT_EQ(ways_of(plain, random_tensor({4, 4}), testing::host_levels()[0]),
            "");
}

}  // namespace TEST_FILE
}  // namespace fxjit
