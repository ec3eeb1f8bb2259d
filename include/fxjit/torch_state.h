// Writes tensors by name as torch.save writes a state dict, for torch.load to
// read (with weights_only too).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "fxjit/tensor.h"

namespace fxjit {

// Each tensor is written contiguous, without sharing. RuntimeError when the
// file cannot be written, and for more than 4 GiB of tensors; UserError for a
// meta tensor.
void save_torch_state(const std::filesystem::path& path,
                      std::span<const std::pair<std::string, Tensor>> state);

}  // namespace fxjit
