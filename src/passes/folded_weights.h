// Weights that passes made of a module's weights, for all shapes of the module:
// what is made of the same tensors is the same tensor, so that it is packed
// once. What is made of files is the same tensor in all modules of the process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/tensor.h"

namespace fxjit::passes {

// Thread-safe. Keeps nothing alive: with the last program that reads them, made
// weights are gone.
class FoldedWeights {
 public:
  // What `make` gives for these sources (undefined ones stand for none) and
  // this text or number, or what it gave before.
  std::vector<Tensor> get(const std::vector<Tensor>& sources,
                          std::string_view how,
                          const std::function<std::vector<Tensor>()>& make);
  std::vector<Tensor> get(const std::vector<Tensor>& sources, double number,
                          const std::function<std::vector<Tensor>()>& make);

 private:
  struct Made {
    // Another tensor may come to lie where a freed one was.
    std::vector<std::weak_ptr<const void>> sources;
    std::vector<std::weak_ptr<Storage>> storages;
    std::vector<Tensor> metas;
  };
  static FoldedWeights& of_files();
  static std::vector<Tensor> alive(const Made& made,
                                   const std::vector<Tensor>& sources);

  std::mutex mutex_;
  std::map<std::string, Made> made_;
};

// A tensor with the dtype of `source` and these sizes, as many elements: its
// numbers are made when they are read, as `source` is mostly read once then.
Tensor made_when_read(const Tensor& source, const Dims& sizes,
                      std::function<void(std::byte* out)> make);

}  // namespace fxjit::passes
