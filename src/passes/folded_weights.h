// Keeps the weights that passes make of a module's weights, for all shapes of
// the module. What is made of the same tensors is then the same tensor, and so
// packed once. What is made of tensors in files is shared by all modules of the
// process.
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

// Thread-safe. It keeps nothing alive: a made weight is freed with the last
// program that reads it.
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
    // The sources are remembered weakly, because another tensor may take the
    // address of one that was freed.
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

// A tensor with the dtype of `source` and these sizes, of as many elements. Its
// numbers are made when they are read, since such a tensor is mostly read once,
// for packing.
Tensor made_when_read(const Tensor& source, const Dims& sizes,
                      std::function<void(std::byte* out)> make);

}  // namespace fxjit::passes
