// The schemas that torch has for its functions, for the places where torch.fx
// tells overloads apart. Written by tests/fx/make_torch_schemas.py.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "fxjit/value.h"

namespace fxjit::fx {

struct TorchSchema {
  std::string_view function;  // "torch.add"; in order of characters.
  std::string_view text;      // "aten::add.Tensor(Tensor self, ...) -> Tensor"

  // Whether it writes an argument.
  bool is_mutable() const;
};

std::span<const TorchSchema> all_torch_schemas();

// The overloads of `function`; none for what torch writes in Python.
std::span<const TorchSchema> torch_schemas(std::string_view function);

// Those that a call with these arguments fits by their number and names.
std::vector<TorchSchema> fitting_schemas(std::string_view function,
                                         size_t num_args, const Kwargs& kwargs);

}  // namespace fxjit::fx
