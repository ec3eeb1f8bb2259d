// The tensors of an exported program as members of a module tree.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fxjit/nn/module.h"
#include "src/import/pt2/archive.h"
#include "src/import/pt2/signature.h"

namespace fxjit::import {

class WeightReader {
 public:
  // `replacement` is the path of a .safetensors file or empty.
  WeightReader(Pt2Archive& archive, const std::string& replacement);

  // Registers the weight that `spec` names below `root`, under its qualified
  // name. Weights that are one tensor in the archive (tied weights) are one
  // parameter here. `meta` is what the graph says of it; `own_memory`: a copy
  // that may be written. UserError.
  void add(nn::Module& root, const InputSpec& spec, const Field& meta,
           bool own_memory);
  // Logs the names in the replacement that the program does not have.
  void finish() const;

 private:
  struct Made {
    StoredTensor stored;
    bool is_parameter;
    nn::Parameter parameter;
    nn::Buffer buffer;
  };

  const StoredTensor* find_stored(const InputSpec& spec) const;
  Tensor read(const InputSpec& spec, const StoredTensor* stored,
              const Field& meta);
  Tensor replaced(const std::string& name, DType dtype, const Dims& sizes);
  const Made* find_made(const StoredTensor& stored, bool is_parameter) const;

  Pt2Archive& archive_;
  std::string replacement_path_;
  std::unordered_map<std::string, Tensor> replacement_;
  std::unordered_set<std::string> used_;  // Names of the replacement.
  bool keeps_own_ = false;                // Some weights are the archive's.
  std::unordered_map<std::string, std::vector<Made>> made_;  // By entry.
};

}  // namespace fxjit::import
