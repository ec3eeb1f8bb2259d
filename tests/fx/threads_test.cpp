// Threads trace, edit and run at the same time without knowing of each other.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fx/wrap.h"
#include "fxjit/nn/custom.h"

namespace fxjit::fx {
namespace TEST_FILE {

class Layer : public nn::Custom<Layer> {
 public:
  Layer() : Custom("Layer", {"x"}) {
    weight = register_parameter("weight", Tensor::full({4}, 2));
  }
  Value forward(Value x) { return relu(x * weight) + 1; }
  nn::Parameter weight;
};

class Net : public nn::Custom<Net> {
 public:
  Net() : Custom("Net", {"x"}) {
    for (int i = 0; i < 20; ++i)
      layers.push_back(
          register_module("layer" + std::to_string(i), Layer::create()));
  }
  Value forward(Value x) {
    for (const auto& layer : layers) x = layer(x) / 2;
    return x;
  }
  std::vector<nn::Ref<Layer>> layers;
};

void in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, TraceTheSameModule) {
  const auto net = Net::create();
  const std::string expected = symbolic_trace(net)->graph().str();
  in_threads(4, [&](int) {
    for (int round = 0; round < 10; ++round)
      EXPECT_EQ(symbolic_trace(net)->graph().str(), expected);
  });
}

TEST(Threads, TraceBesideRuns) {
  const auto net = Net::create();
  const auto gm = symbolic_trace(net);
  const Tensor x = Tensor::full({4}, 1);
  const double expected = net(x).as_tensor().at({0});
  in_threads(4, [&](int thread) {
    for (int round = 0; round < 10; ++round) {
      if (thread % 2) {
        const auto copy = symbolic_trace(net);
        copy->graph().eliminate_dead_code();
        copy->recompile();
        EXPECT_EQ(copy(x).as_tensor().at({0}), expected);
      } else {
        EXPECT_EQ(gm(x).as_tensor().at({0}), expected);
        EXPECT_EQ(net(x).as_tensor().at({0}), expected);
        EXPECT_FALSE(gm->code().empty());
      }
    }
  });
}

TEST(Threads, InstallNativeCodeBesideCalls) {
  class Half : public NativeForward {
   public:
    bool run(std::span<const Value> inputs, Value* result) override {
      *result = inputs[0];
      return true;
    }
  };
  const auto gm = symbolic_trace(Net::create());
  const Tensor x = Tensor::full({4}, 1);
  in_threads(4, [&](int thread) {
    for (int round = 0; round < 100; ++round) {
      if (thread == 0) {
        gm->set_native_forward(std::make_shared<Half>());
      } else {
        EXPECT_TRUE(gm(x).is_tensor());
      }
    }
  });
}

TEST(Threads, DefineFunctions) {
  in_threads(4, [](int thread) {
    for (int i = 0; i < 100; ++i)
      wrap(
          "threads_test_fn_" + std::to_string(thread) + "_" + std::to_string(i),
          [](Value v) { return v; });
  });
  EXPECT_NE(find_defined_function("threads_test_fn_3_99"), nullptr);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
