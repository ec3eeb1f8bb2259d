// Sample layers whose kernels are compiled into the pack that is shipped beside
// the library. Sizes are arguments of kernels, so a few sizes of a layer stand
// for all. What a model needs beyond these it compiles itself.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"

namespace fxjit::corpus {

using Function = std::function<Value(std::vector<Value>)>;

// Collects sample layers, which run() compiles. Not thread-safe.
class Corpus {
 public:
  // Adds a function, to be compiled for each element of `shapes`, the tensors
  // of one call. The function is called later, from another thread.
  void add(Function function, std::vector<std::vector<Tensor>> shapes);
  // The same for a layer.
  void add_layer(nn::ModuleRef layer, std::vector<std::vector<Tensor>> shapes);

  // Compiles all samples, on as many threads as the machine has; each sample
  // both for one thread and for two, since their work is cut differently.
  // Throws what tracing and compiling throw, and InternalError if the
  // interpreter would run a part of a sample.
  void run(const CompileOptions& options) const;

 private:
  struct Sample {
    std::function<nn::Ref<fx::GraphModule>()> trace;
    std::vector<std::vector<Tensor>> shapes;
  };
  static void compile_sample(const Sample& sample, CompileOptions options);

  std::vector<Sample> samples_;
};

Tensor floats(const Dims& sizes);        // An input: sizes and type alone.
Tensor weights(const Dims& sizes);       // Zeros, each time others.
Tensor full_weights(const Dims& sizes);  // Numbers that need all their bits.

void add_products(Corpus& to);   // Linear layers, 1x1 convolutions.
void add_images(Corpus& to);     // Other convolutions, pooling, norms.
void add_sequences(Corpus& to);  // Norms of rows, attention, embeddings.
void add_pointwise(Corpus& to);  // Single functions, reductions, copies.

}  // namespace fxjit::corpus
