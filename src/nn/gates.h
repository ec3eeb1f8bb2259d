// How many gates a class of recurrent layers or cells has.
#pragma once

#include <string_view>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

inline int64_t gates_of(const LayerClass& layer) {
  const std::string_view name = layer.name;
  if (name.starts_with("LSTM")) return 4;
  return name.starts_with("GRU") ? 3 : 1;
}

}  // namespace fxjit::nn
