// A process may end while shapes are being compiled behind its calls.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"

namespace fxjit {
namespace {

Value chain(Value x) {
  for (int i = 0; i < 12; ++i)
    x = softmax(nn::functional::gelu(x) * 0.5 + tanh(x), -1);
  return x;
}

// Calls with several shapes not seen before, then ends at once.
[[noreturn]] void call_and_exit() {
  auto gm = fx::symbolic_trace(chain, {"x"}, "chain");
  CompileOptions options;
  options.threads = 1;
  options.cache_folder = "";
  options.new_shape = CompileOptions::NewShape::behind;
  compile(*gm, options);
  for (int64_t rows = 1; rows < 5; ++rows) {
    gm(Tensor::full({rows, 33}, 0.25, DType::f32));
  }
  std::exit(7);
}

TEST(ExitDeathTest, WhileAShapeIsCompiled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EXIT(call_and_exit(), ::testing::ExitedWithCode(7), "");
  }
}

}  // namespace
}  // namespace fxjit
