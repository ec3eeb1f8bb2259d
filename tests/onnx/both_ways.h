// Models of branches and loops, interpreted and compiled.
#pragma once

#include <gtest/gtest.h>

#include "fxjit/compile.h"
#include "fxjit/onnx.h"
#include "fxjit/report.h"
#include "tests/onnx/model_writer.h"

namespace fxjit::testing_onnx {

inline constexpr int64_t kFloat = 1, kInt64 = 7, kBool = 9;

inline std::vector<float> floats(const Value& value) {
  const Tensor t = value.as_tensor().to(DType::f32).contiguous();
  return {t.data_as<float>(), t.data_as<float>() + t.numel()};
}

inline std::string text_of(const onnx::Program& program) {
  return program.module->code();
}

inline Tensor flag(bool value) { return Tensor::full({}, value, DType::boolean); }
inline Tensor number(int64_t value) { return Tensor::full({}, value, DType::i64); }
inline Tensor list(const std::vector<float>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

// A program as it is read, and a compiled one.
struct Both {
  explicit Both(const Message& message)
      : path(write_model(message.bytes())),
        interpreted(onnx::load(path)),
        compiled(onnx::load(path)) {
    compiled.module->compile();
  }

  // The result, which is the same by both ways.
  std::vector<float> operator()(const ValueList& inputs) const {
    const std::vector<float> result = floats(interpreted.run(inputs));
    EXPECT_EQ(floats(compiled.run(inputs)), result);
    return result;
  }
  bool native() const { return make_report(*compiled.module).native(); }

  std::string path;
  onnx::Program interpreted, compiled;
};

}  // namespace fxjit::testing_onnx
