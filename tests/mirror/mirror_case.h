// What the C++ cases of this folder share: the fixture that compares with the
// sections torch wrote, and the values that both sides can make. README.md says
// how to add a case.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/mirror/expected_file.h"

// The namespace of a file, of a name where files are compiled together, since
// each has helpers called `Net` and `traced`; else unnamed.
#ifndef TEST_FILE
#define TEST_FILE
#endif

// Opens the area of a file, once: MIRROR_AREA(Trace) for expected/trace.txt.
#define MIRROR_AREA(area)                       \
  namespace TEST_FILE {                       \
  class area : public ::fxjit::mirror::Case {}; \
  }
// The C++ side of the case `name` of cases_<area>.py.
#define MIRROR_CASE(area, name) TEST_F(area, name)

namespace fxjit::mirror {

// The tensor of mirror.py's `fill`: floats are whole multiples of 1/8.
Tensor fill(const Dims& sizes, int seed = 0, DType dtype = DType::f32);
// mirror.py's `filled`: fills parameters and float buffers, sets eval mode.
void fill_parameters(nn::Module& module);
template <typename T>
nn::Ref<T> filled(const nn::Ref<T>& module) {
  fill_parameters(*module);
  return module;
}

// How close the numbers must come, and which steps need not be native.
struct OutputOptions {
  double relative = 1e-5;
  double absolute = 1e-6;
  // Labels of the steps that eager functions run, in order. Any other step that
  // is not native fails the case.
  std::vector<std::string> eager = {};
  // Part of the reason why the compiler leaves these inputs to the interpreter;
  // empty: it must not.
  std::string interpreted = {};
};

class Case : public ::testing::Test {
 protected:
  // Each compares with the next section that torch wrote for this case.
  void expect_graph(const fx::Graph& graph);
  void expect_graph(const nn::Ref<fx::GraphModule>& module) {
    expect_graph(module->graph());
  }
  void expect_code(const fx::Graph& graph);
  void expect_code(const nn::Ref<fx::GraphModule>& module);
  void expect_tabular(const fx::Graph& graph);
  void expect_tabular(const nn::Ref<fx::GraphModule>& module) {
    expect_tabular(module->graph());
  }
  void expect_text(const std::string& label, const std::string& text);
  void expect_value(const std::string& label, const Value& value);
  // `function` must throw an Error of the type and with the message of torch,
  // compared up to `until` where torch goes on with addresses.
  void expect_error(const std::function<void()>& function,
                    std::string_view until = {});
  // `function` must log one warning, torch's.
  void expect_warning(const std::function<void()>& function);
  // Runs the module by the interpreter and compiled, and compares both with
  // torch's numbers; checks which steps were native.
  void expect_outputs(const nn::Ref<fx::GraphModule>& module,
                      const ValueList& inputs,
                      const OutputOptions& options = {});

  void SetUp() override;
  void TearDown() override;

 private:
  // The text of the next section; fails the case when it is of another kind.
  std::string next(const std::string& kind);
  void compare(const std::string& kind, const std::string& got);
  void expect_native(const fx::GraphModule& module,
                     const OutputOptions& options);

  std::vector<Section> sections_;
  size_t used_ = 0;
  int exported_ = 0;
};

}  // namespace fxjit::mirror
