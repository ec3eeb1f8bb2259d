// Whole models against PyTorch in double precision (model_reference.txt): by
// the interpreter, compiled at every CPU level, with one thread and two; and
// for other batches than that of the reference, against the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/made_numbers.h"
#include "tests/compile/models.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::made_number;
using testing::value_difference;

Tensor numbers(std::string_view name, const Dims& sizes) {
  const Tensor made = Tensor::empty(sizes);
  for (int64_t i = 0; i < made.numel(); ++i)
    made.data_as<float>()[i] =
        static_cast<float>(made_number(name, static_cast<uint32_t>(i)));
  return made;
}

Tensor ids(std::string_view name, const Dims& sizes, int64_t limit) {
  const Tensor made = Tensor::empty(sizes, DType::i64);
  for (int64_t i = 0; i < made.numel(); ++i)
    made.data_as<int64_t>()[i] =
        std::llround(made_number(name, static_cast<uint32_t>(i)) * 1000 + 1000) %
        limit;
  return made;
}

void fill(nn::Module& model) {
  for (auto& [name, parameter] : model.named_parameters()) {
    const Tensor t = parameter.tensor();
    const Tensor made = Tensor::empty(t.sizes());
    for (int64_t i = 0; i < t.numel(); ++i) {
      const double value = made_number(name, static_cast<uint32_t>(i));
      made.data_as<float>()[i] = static_cast<float>(
          t.dim() > 1 ? value * std::sqrt(3.0 / double(t.size(-1)))
                      : value * 0.1 + (name.ends_with("bias") ? 0 : 1));
    }
    parameter.set_tensor(made);
  }
  model.eval();
}

struct ModelCase {
  const char* name;
  nn::ModuleRef (*make)();
  ValueList (*inputs)(int64_t batch);
  int64_t batch;  // Of the reference.
  bool native = true;
};

ValueList token_ids(int64_t batch) { return {ids("x", {batch, 6}, 20)}; }

const ModelCase kModels[] = {
    {"windows", testing::make_windows,
     [](int64_t n) { return ValueList{numbers("x", {n, 64, 8})}; }, 1},
    {"rotary", testing::make_rotary, token_ids, 2},
    {"buckets", testing::make_buckets,
     [](int64_t n) {
       const Value kept = clamp(ids("mask", {n, 9}, 4), None, 1);
       return ValueList{ids("x", {n, 9}, 20), kept.as_tensor().to(DType::f32)};
     },
     2},
    {"experts", testing::make_experts,
     [](int64_t n) { return ValueList{numbers("x", {n, 8})}; }, 7, false},
    {"interactions", testing::make_interactions,
     [](int64_t n) {
       return ValueList{numbers("x", {n, 3}), ids("ids", {n, 4, 3}, 10)};
     },
     5},
    {"squeezed", testing::make_squeezed,
     [](int64_t n) { return ValueList{numbers("x", {n, 4, 9, 9})}; }, 2},
};

ValueList reference_of(std::string_view name) {
  std::ifstream file(std::string(FXJIT_SOURCE_DIR) +
                     "/tests/compile/model_reference.txt");
  ValueList results;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string model, size;
    words >> model >> size;
    if (model != name) continue;
    Dims sizes;
    std::istringstream parts(size);
    for (std::string part; std::getline(parts, part, ',');)
      sizes.push_back(std::stoll(part));
    std::vector<float> values;
    for (float value; words >> value;) values.push_back(value);
    results.push_back(Tensor::from(values, sizes));
  }
  return results;
}

class Models : public ::testing::TestWithParam<ModelCase> {
 protected:
  Models() {
    nn::ModuleRef model = GetParam().make();
    fill(*model);
    module_ = fx::symbolic_trace(model);
  }

  // All results as floats, in order.
  static Value floats(const Value& results) {
    return map_leaves(results.is_tensor() ? Value::list({results}) : results,
                      [](const Value& leaf) -> Value {
                        return leaf.as_tensor().to(DType::f32);
                      });
  }
  static void expect_near(const Value& got, const Value& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(value_difference(got.at(i), expected.at(i), 1e-5, 3e-6), "");
  }

  nn::Ref<fx::GraphModule> module_;
};

TEST_P(Models, GiveWhatTorchGives) {
  const ValueList inputs = GetParam().inputs(GetParam().batch);
  const Value expected = Value::list(reference_of(GetParam().name));
  ASSERT_GT(expected.size(), 0u);
  expect_near(floats(module_->interpret(inputs)), expected);
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      compile(*module_, testing::options_for(level, threads));
      expect_near(floats(module_->forward(inputs)), expected);
      EXPECT_THAT(report(*module_), Not(HasSubstr("interpreter")));
      if (GetParam().native)
        EXPECT_THAT(report(*module_), Not(HasSubstr("not native")));
    }
}

TEST_P(Models, TakeOtherBatches) {
  compile(*module_, testing::options_for(host_cpu_level(), 2));
  for (int64_t batch : {1, 3, 4}) {
    const ValueList inputs = GetParam().inputs(batch);
    expect_near(floats(module_->forward(inputs)),
                floats(module_->interpret(inputs)));
  }
}

INSTANTIATE_TEST_SUITE_P(Torch, Models, ::testing::ValuesIn(kModels),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace TEST_FILE
}  // namespace fxjit
