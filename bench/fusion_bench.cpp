#include "bench/fusion_bench.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "bench/graphs.h"
#include "examples/minilm/bert.h"
#include "examples/minilm/embedder.h"
#include "fxjit/compile.h"

namespace fxjit::bench {
namespace {

using Clock = std::chrono::steady_clock;

enum class Mode { interpreter, unfused, fused };

struct NamedMode {
  Mode mode;
  const char* name;
};
constexpr NamedMode kModes[] = {{Mode::interpreter, "interpreter"},
                                {Mode::unfused, "unfused"},
                                {Mode::fused, "fused"}};

void compile_for(Workload& work, Mode mode, int threads) {
  CompileOptions options;
  options.threads = threads;
  options.cache_folder = "";
  if (mode == Mode::unfused)
    options.disabled_passes = {"fuse", "fuse_epilogues", "fuse_attention",
                               "merge_linears"};
  compile(*work.module, options);
  prepare(*work.module, work.inputs);
}

// What a compiled program does in a call.
struct Work {
  double steps = 0, megabytes = 0, megaflops = 0;
  double least_us = 0;  // What the machine would need for it.
};

Work work_of(Workload& work) {
  Work sum;
  for (const StepProfile& step :
       profile(*work.module, work.inputs, /*calls=*/1).steps) {
    sum.steps += 1;
    sum.megabytes += step.bytes / 1e6;
    sum.megaflops += step.flops / 1e6;
    sum.least_us += step.microseconds * step.of_limit;
  }
  return sum;
}

// The graph that the running row measures. Google Benchmark enters a row
// several times, and rows of one graph follow each other: it is made once for
// them.
class Current {
 public:
  explicit Current(int threads) : threads_(threads) {}

  template <typename Make>
  Workload& get(const std::string& name, Mode mode, const Make& make) {
    if (name != name_) {
      work_ = make();
      compile_for(work_, Mode::fused, threads_);
      done_ = work_of(work_);
      least_us_ = done_.least_us;
      mode_ = Mode::fused;
      name_ = name;
    }
    if (mode != mode_) {
      work_.module->set_native_forward(nullptr);
      done_ = {};
      if (mode != Mode::interpreter) {
        compile_for(work_, mode, threads_);
        done_ = work_of(work_);
      }
      mode_ = mode;
    }
    return work_;
  }
  // The least time of a call of the fused program.
  double least_us() const { return least_us_; }
  // What the running row's program does; zeros for the interpreter.
  const Work& done() const { return done_; }

 private:
  int threads_;
  std::string name_;
  Mode mode_ = Mode::fused;
  Workload work_;
  Work done_;
  double least_us_ = 0;
};

class Registry {
 public:
  explicit Registry(int threads)
      : current_(std::make_shared<Current>(threads)) {}

  template <typename Make>
  void add(const std::string& name, Make make) {
    for (const NamedMode& mode : kModes)
      benchmark::RegisterBenchmark((name + "/" + mode.name).c_str(),
                                   [current = current_, name, make,
                                    mode = mode.mode](benchmark::State& state) {
                                     run(state, *current,
                                         current->get(name, mode, make));
                                   })
          ->Unit(benchmark::kMicrosecond)
          ->UseRealTime();
  }

 private:
  static void run(benchmark::State& state, const Current& current,
                  Workload& work) {
    const auto start = Clock::now();
    for (auto _ : state)
      benchmark::DoNotOptimize(work.module->forward(work.inputs));
    const std::chrono::duration<double, std::micro> spent =
        Clock::now() - start;
    state.counters["of_limit"] = current.least_us() *
                                 static_cast<double>(state.iterations()) /
                                 spent.count();
    const Work& done = current.done();
    if (done.steps == 0) return;
    state.counters["steps"] = done.steps;
    state.counters["MB"] = done.megabytes;
    state.counters["MFLOP"] = done.megaflops;
  }

  std::shared_ptr<Current> current_;
};

std::string sized(std::string name, std::initializer_list<int64_t> sizes) {
  for (int64_t size : sizes) name += "/" + std::to_string(size);
  return name;
}

void add_chains(Registry& registry) {
  constexpr int64_t kElements[] = {1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 24};
  for (int ops : {2, 5, 10, 20, 40})
    for (int64_t elements : kElements)
      registry.add(sized("chain", {ops, elements}),
                   [=] { return elementwise_chain(ops, elements); });
}

void add_rows(Registry& registry) {
  for (int64_t columns : {128, 1024, 8192})
    registry.add(sized("softmax", {128, columns}),
                 [=] { return softmax(128, columns); });
  for (int64_t columns : {384, 1024, 4096})
    registry.add(sized("residual_norm", {128, columns}),
                 [=] { return residual_norm(128, columns); });
}

void add_contractions(Registry& registry) {
  for (int64_t rows : {1, 16, 128})
    registry.add(sized("gelu_mlp", {rows, 384, 1536}),
                 [=] { return gelu_mlp(rows, 384, 1536); });
  constexpr int64_t kHeads = 12, kDepth = 64;
  for (int64_t tokens : {16, 128, 384})
    registry.add(sized("attention", {kHeads, tokens, kDepth}),
                 [=] { return attention(kHeads, tokens, kDepth); });
}

Workload minilm_workload(int64_t batch, int64_t tokens) {
  const Dims sizes{batch, tokens};
  const Tensor ids = Tensor::empty(sizes, DType::i64);
  // Any ordinary words of the vocabulary.
  constexpr int64_t kFirstWord = 2000, kWords = 20000, kStride = 7919;
  for (int64_t i = 0; i < ids.numel(); ++i)
    ids.data_as<int64_t>()[i] = kFirstWord + i * kStride % kWords;
  return {
      fx::symbolic_trace(minilm::load_encoder(minilm::default_model_folder())),
      {ids, Tensor::full(sizes, 1, DType::i64)}};
}

void add_minilm(Registry& registry) {
  std::error_code error;
  if (!std::filesystem::exists(
          minilm::default_model_folder() / "model.safetensors", error))
    return;
  constexpr std::pair<int64_t, int64_t> kSizes[] = {{1, 16}, {1, 128}, {8, 32}};
  for (const auto& [batch, tokens] : kSizes)
    registry.add(sized("minilm", {batch, tokens}),
                 [b = batch, t = tokens] { return minilm_workload(b, t); });
}

}  // namespace

void register_fusion_benchmarks(int threads) {
  Registry registry(threads);
  add_chains(registry);
  add_rows(registry);
  add_contractions(registry);
  registry.add("gated", [] { return gated(); });
  registry.add("norm_softmax", [] { return norm_softmax(); });
  registry.add("mlp", [] { return mlp(); });
  registry.add("swiglu", [] { return swiglu(); });
  add_minilm(registry);
}

}  // namespace fxjit::bench
