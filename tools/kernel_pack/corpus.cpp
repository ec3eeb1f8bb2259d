#include "tools/kernel_pack/corpus.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace fxjit::corpus {
namespace {

nn::Signature inputs_named(size_t count) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < count; ++i)
    names.emplace_back("x" + std::to_string(i));
  return nn::Signature(std::move(names));
}

}  // namespace

void Corpus::add(Function function, std::vector<std::vector<Tensor>> shapes) {
  const size_t inputs = shapes.at(0).size();
  samples_.push_back({[=] {
                        return fx::symbolic_trace(fx::TracedFunction{
                            "sample", inputs_named(inputs), function});
                      },
                      std::move(shapes)});
}

void Corpus::add_layer(nn::ModuleRef layer,
                       std::vector<std::vector<Tensor>> shapes) {
  const auto whole = nn::Sequential::create(std::move(layer));
  samples_.push_back(
      {[=] { return fx::symbolic_trace(whole); }, std::move(shapes)});
}

void Corpus::compile_sample(const Sample& sample, CompileOptions options) {
  const auto gm = sample.trace();
  for (int threads : {1, 2}) {
    options.threads = threads;
    compile(*gm, options);
    for (const std::vector<Tensor>& shape : sample.shapes) {
      const std::vector<Value> inputs(shape.begin(), shape.end());
      if (!prepare(*gm, inputs))
        throw InternalError("[kernels] a sample was not compiled:\n" +
                            gm->code());
    }
  }
}

void Corpus::run(const CompileOptions& options) const {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (size_t i; (i = next++) < samples_.size();) {
      try {
        compile_sample(samples_[i], options);
      } catch (const Error&) {
        next = samples_.size();
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> threads(
      std::max(1u, std::thread::hardware_concurrency()));
  for (std::jthread& thread : threads) thread = std::jthread(work);
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

Tensor floats(const Dims& sizes) { return Tensor::meta(sizes, DType::f32); }

Tensor weights(const Dims& sizes) { return Tensor::zeros(sizes); }

Tensor full_weights(const Dims& sizes) {
  std::mt19937 random(1);
  std::normal_distribution<float> value;
  Tensor t = Tensor::empty(sizes);
  for (int64_t i = 0; i < t.numel(); ++i) t.data_as<float>()[i] = value(random);
  return t;
}

}  // namespace fxjit::corpus
