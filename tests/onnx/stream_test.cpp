// Models with a state, over a real signal window by window: real_models.py has
// stored the windows and ONNX Runtime's answers in FXJIT_ONNX_STREAMS.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "fxjit/compile.h"
#include "fxjit/functions_structured.h"
#include "fxjit/onnx.h"
#include "fxjit/report.h"
#include "src/io/npy.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

namespace fs = std::filesystem;

double largest_difference(const Value& a, const Value& b) {
  const Tensor x = a.as_tensor().to(DType::f64).contiguous();
  const Tensor y = b.as_tensor().to(DType::f64).contiguous();
  EXPECT_EQ(x.numel(), y.numel());
  double worst = 0;
  for (int64_t i = 0; i < x.numel(); ++i)
    worst = std::fmax(
        worst, std::abs(x.data_as<double>()[i] - y.data_as<double>()[i]));
  return worst;
}

void check_stream(const fs::path& folder) {
  const auto stored = [&](const char* name) -> Value {
    return io::load_npy((folder / name).string());
  };
  const onnx::Program program = onnx::load((folder / "model.onnx").string());
  program.module->compile();
  const Value windows = stored("windows.npy"), outputs = stored("outputs.npy"),
              states = stored("states.npy");
  Value state = select(states, 0, 0);
  for (int64_t i = 0; i < windows.as_tensor().size(0); ++i) {
    ValueList inputs;
    for (const auto& input : program.inputs)
      inputs.push_back(input.path == "state"   ? state
                       : input.path == "input" ? select(windows, 0, i)
                                               : stored("sr.npy"));
    const Value results = program.run(inputs);
    state = results.at(1);
    ASSERT_LE(largest_difference(results.at(0), select(outputs, 0, i)), 1e-4)
        << "window " << i;
    ASSERT_LE(largest_difference(state, select(states, 0, i + 1)), 1e-3)
        << "window " << i;
  }
  EXPECT_TRUE(make_report(*program.module).native());
}

TEST(Streams, AreAsOnnxRuntimeGivesThem) {
  const char* const folder = std::getenv("FXJIT_ONNX_STREAMS");
  if (!folder) GTEST_SKIP() << "FXJIT_ONNX_STREAMS names no folder";
  for (const auto& one : fs::directory_iterator(folder)) {
    SCOPED_TRACE(one.path().filename().string());
    check_stream(one.path());
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
