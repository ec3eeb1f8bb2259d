// Shapes not seen before: compiled by the call or behind it, prepared, kept
// within bounds, from several threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "src/compile/compiled_module.h"
#include "src/compile/input_key.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::batch;
using testing::expect_right;
using testing::model;
using testing::options_for;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;

int shapes_in(const std::string& report) {
  int count = 0;
  for (size_t at = 0; (at = report.find("inputs: ", at)) != report.npos; ++at)
    ++count;
  return count;
}

TEST(NewShapes, AreCompiledByTheCallThatBringsThem) {
  const auto gm = model();
  compile(*gm, quick());
  EXPECT_EQ(report(*gm), "");
  for (int64_t rows : {1, 2, 5, 2, 1}) expect_right(*gm, batch(rows));
  EXPECT_EQ(shapes_in(report(*gm)), 3);
  EXPECT_THAT(report(*gm), Not(HasSubstr("interpreter")));
}

TEST(NewShapes, AreAnsweredAtOnceAndCompiledBehind) {
  const auto gm = model();
  CompileOptions options = quick();
  options.new_shape = CompileOptions::NewShape::behind;
  compile(*gm, options);
  for (int64_t rows : {3, 4}) expect_right(*gm, batch(rows));
  while (shapes_in(report(*gm)) < 2)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(report(*gm), Not(HasSubstr("interpreter")));
  for (int64_t rows : {3, 4}) expect_right(*gm, batch(rows, 5));
}

TEST(NewShapes, CanBePreparedFromShapesAlone) {
  const auto gm = model();
  compile(*gm, quick());
  const ValueList shapes{Tensor::meta({4, 6}, DType::f32)};
  EXPECT_TRUE(prepare(*gm, shapes));
  EXPECT_EQ(shapes_in(report(*gm)), 1);
  expect_right(*gm, batch(4));
  EXPECT_EQ(shapes_in(report(*gm)), 1);
}

TEST(NewShapes, StridesAreShapesToo) {
  const auto gm = model();
  compile(*gm, quick());
  const Tensor wide = random_tensor({4, 12});
  expect_right(*gm, {wide.as_strided({4, 6}, {12, 2}, 1)});
  expect_right(*gm, {wide.as_strided({4, 6}, {0, 1}, 3)});
  expect_right(*gm, {wide.as_strided({4, 6}, {1, 4}, 0)});
  EXPECT_EQ(shapes_in(report(*gm)), 3);
  // Where a tensor starts in its memory is no part of its shape.
  expect_right(*gm, {wide.as_strided({4, 6}, {12, 2}, 0)});
  EXPECT_EQ(shapes_in(report(*gm)), 3);
}

TEST(NewShapes, StridesThatLeadNowhereAreNone) {
  const auto gm = model();
  compile(*gm, quick());
  const Tensor wide = random_tensor({4, 12});
  expect_right(*gm, {wide.as_strided({1, 6}, {6, 1}, 0)});
  expect_right(*gm, {wide.as_strided({1, 6}, {0, 1}, 3)});
  expect_right(*gm, {wide.as_strided({1, 6}, {40, 1}, 3)});
  EXPECT_EQ(shapes_in(report(*gm)), 1);
}

TEST(NewShapes, NumbersAndTextTellInputsApart) {
  const Tensor x = random_tensor({2, 3});
  const auto hash = [&](Value other) {
    return hash_inputs(ValueList{x, std::move(other)});
  };
  std::set<size_t> hashes;
  for (int64_t i = 0; i < 1000; ++i) hashes.insert(hash(i));
  for (const char* text : {"", "a", "b", "ab"}) hashes.insert(hash(text));
  for (double number : {0.0, -0.0, 0.5}) hashes.insert(hash(number));
  EXPECT_EQ(hashes.size(), 1007u);
}

TEST(NewShapes, AThousandNumbersStayWithinTheCap) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value n) { return x * n + 1; }, {"x", "n"});
  CompileOptions options = quick();
  options.memory_cap = size_t{1} << 20;
  compile(*gm, options);
  const Tensor x = random_tensor({2, 3});
  for (int64_t i = 0; i < 1000; ++i) expect_right(*gm, {x, i});
  const auto programs = compiled_module(*gm);
  EXPECT_LE(programs->program_size().bytes, options.memory_cap);
  EXPECT_LT(shapes_in(report(*gm)), 1000);
}

TEST(NewShapes, NumbersArePartOfThem) {
  const auto gm = fx::symbolic_trace([](Value x, Value s) { return x / s; },
                                     {"x", "s"}, "f");
  compile(*gm, quick());
  const Tensor x = random_tensor({5});
  for (const Value& s : ValueList{2, 2.0, 3, true, 0.0, -0.0, NAN, NAN})
    expect_right(*gm, {x, s});
  EXPECT_EQ(shapes_in(report(*gm)), 7);
}

TEST(NewShapes, KeptProgramsAreBounded) {
  const auto gm = model();
  CompileOptions options = quick();
  options.memory_cap = 60 << 10;
  compile(*gm, options);
  int most = 0;
  for (int64_t rows = 1; rows <= 24; ++rows) {
    expect_right(*gm, batch(rows));
    most = std::max(most, shapes_in(report(*gm)));
  }
  EXPECT_LT(most, 24);
  EXPECT_GE(most, 1);
  // The newest stays, however small the cap.
  options.memory_cap = 1;
  compile(*gm, options);
  for (int64_t rows = 1; rows <= 3; ++rows) expect_right(*gm, batch(rows));
  EXPECT_EQ(shapes_in(report(*gm)), 1);
}

// Weights computed while compiling belong to one program; another's may come to
// lie at the same place.
TEST(NewShapes, WeightsOfDroppedProgramsAreForgotten) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value s) {
        return matmul(x, full({6, 6}, s) * tril(ones({6, 6})));
      },
      {"x", "s"}, "f");
  CompileOptions options = quick();
  options.memory_cap = 1;
  compile(*gm, options);
  for (int i = 0; i < 30; ++i) expect_right(*gm, {batch(2)[0], 0.5 + i});
}

TEST(NewShapes, ModulesMayGoWhileTheyAreCompiled) {
  CompileOptions options = quick();
  options.new_shape = CompileOptions::NewShape::behind;
  for (int i = 1; i <= 30; ++i) {
    const auto gm = model();
    compile(*gm, options);
    expect_right(*gm, batch(i));
  }
}

TEST(NewShapes, ProgramsGoWhenTheModuleIsCompiledAnew) {
  const auto gm = model();
  compile(*gm, quick());
  const auto first = compiled_module(*gm);
  std::weak_ptr<const CompiledShape> program = first->get(batch(3));
  std::optional<Value> output = gm->forward(batch(3));
  compile(*gm, quick());
  EXPECT_TRUE(program.expired());
  // A call that had begun before, and one that compiles for it.
  Value result;
  EXPECT_FALSE(first->run(batch(3), &result));
  program = first->get(batch(3));
  EXPECT_TRUE(program.expired());
  EXPECT_EQ(first->report().text(), "");
  output.reset();
  expect_right(*gm, batch(3));
}

// Copies of the graph hold what hangs on its nodes.
TEST(NewShapes, GraphsGoWhenTheModuleIsCompiledAnew) {
  const Tensor held = Tensor::zeros({1});
  const auto gm = fx::symbolic_trace(
      [](Value v) { return sum(masked_select(exp(v), v > 0), 0); }, {"v"}, "f");
  gm->graph().output_node()->meta().set("held", held);
  const testing::WarningLog log;  // Of what is interpreted.
  compile(*gm, quick());
  expect_right(*gm, {random_tensor({3, 4})});
  const long holders = held.storage().use_count();
  for (int i = 0; i < 5; ++i) {
    compile(*gm, quick());
    expect_right(*gm, {random_tensor({3, 4})});
  }
  EXPECT_EQ(held.storage().use_count(), holders);
}

// Who asks for a report holds programs that are dropped beside.
TEST(NewShapes, ProgramsKeepTheGraphWhoseNodesTheyName) {
  const auto gm = fx::symbolic_trace(
      [](Value v) { return sum(masked_select(exp(v), v > 0), 0); }, {"v"}, "f");
  const testing::WarningLog log;  // Of what is interpreted.
  compile(*gm, quick());
  const ValueList inputs{random_tensor({3, 4})};
  const auto program = compiled_module(*gm)->get(inputs);
  const std::string before = Report{{program->report()}}.text();
  EXPECT_THAT(before, HasSubstr("masked_select"));
  compile(*gm, quick());
  EXPECT_EQ(Report{{program->report()}}.text(), before);
}

TEST(NewShapes, ThreadsCallWhileTheModuleIsCompiledAnew) {
  const auto gm = model();
  CompileOptions options = options_for(host_cpu_level(), 2);
  compile(*gm, options);
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&gm, &done, t] {
      for (int i = 0; !done; ++i) expect_right(*gm, batch(1 + (i + t) % 3));
    });
  for (int i = 0; i < 10; ++i) {
    options.new_shape = i % 2 ? CompileOptions::NewShape::wait
                              : CompileOptions::NewShape::behind;
    compile(*gm, options);
    expect_right(*gm, batch(2));
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(NewShapes, ManyThreadsWithMixedShapes) {
  using NewShape = CompileOptions::NewShape;
  for (NewShape policy : {NewShape::wait, NewShape::behind}) {
    const auto gm = model();
    CompileOptions options = options_for(host_cpu_level(), 2);
    options.new_shape = policy;
    options.memory_cap = 300 << 10;  // Programs come and go.
    compile(*gm, options);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&gm, t] {
        for (int i = 0; i < 30; ++i)
          expect_right(*gm, batch(1 + (i * (t + 1)) % 7, uint32_t(i)));
      });
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
