// The schemas that torch has for its functions, for the places where torch.fx
// tells overloads apart.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/value.h"
#include "src/ops/aten/overload.h"

namespace fxjit::fx {

struct TorchSchema {
  std::string_view function;  // "torch.add"
  const ops::OverloadRow* row;

  // "aten::add.Tensor(Tensor self, ...) -> Tensor"
  std::string text() const;

  // Whether it writes an argument.
  bool is_mutable() const;
};

// The overloads of `function`; none for what torch writes in Python.
std::span<const TorchSchema> torch_schemas(std::string_view function);

// Those that a call with these arguments fits by their number and names.
std::vector<TorchSchema> fitting_schemas(std::string_view function,
                                         size_t num_args, const Kwargs& kwargs);

}  // namespace fxjit::fx
