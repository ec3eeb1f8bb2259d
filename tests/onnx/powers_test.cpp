// Pow by a constant, interpreted and compiled, is C's power of special numbers
// as well: roots, which PyTorch takes, differ at -0 and minus infinity.
#include <cmath>

#include "tests/onnx/both_ways.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

TEST(OnnxPowers, OfSpecialNumbers) {
  const std::vector<float> x = {-0.0f, 0.0f,   -INFINITY, INFINITY, NAN,
                                4.0f,  1e-30f, -1.0f,     2.25f};
  const auto count = static_cast<int64_t>(x.size());
  for (const float exponent : {0.5f, -0.5f, -1.0f, 2.0f, 3.0f}) {
    const std::string path =
        write_model(model(graph({{node("Pow", {"x", "by"}, {"y"})},
                                 {value_info("x", kFloat, {count})},
                                 {value_info("y", kFloat, {count})},
                                 {float_tensor("by", {}, {exponent})}}))
                        .bytes());
    for (const bool compiled : {false, true}) {
      const onnx::Program program = onnx::load(path);
      if (compiled) program.module->compile();
      const std::vector<float> got = floats(program.run({list(x)}));
      for (size_t i = 0; i < x.size(); ++i) {
        const float expected = std::pow(x[i], exponent);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(got[i])) << x[i] << " by " << exponent;
          continue;
        }
        EXPECT_FLOAT_EQ(got[i], expected) << x[i] << " by " << exponent;
        EXPECT_EQ(std::signbit(got[i]), std::signbit(expected))
            << x[i] << " by " << exponent;
      }
    }
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
