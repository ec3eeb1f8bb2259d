// How the rows of the table of layers are written. For layer_types*.cpp alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fxjit/nn.h"

namespace fxjit::nn {

using Args = ArgumentReader;
using Handles = std::vector<std::pair<std::string, Parameter*>>;

inline Value tuple_of(const Dims& dims) {
  return Value::tuple(ValueList(dims.begin(), dims.end()));
}

template <typename T>
ModuleType plain(const char* name) {
  return module_type<T>(
      name, [](const T&) -> Kwargs { return {}; },
      [](Args&) { return T::create(); });
}

// A layer that reads tensors through the given members, registered so.
template <typename T, typename Arguments, typename Make, typename... Members>
ModuleType with_state(const char* name, Arguments arguments, Make make,
                      std::pair<const char*, Members>... members) {
  ModuleType type = module_type<T>(name, arguments, make);
  type.handles = [members...](Module& module) {
    T& layer = static_cast<T&>(module);
    return Handles{{members.first, &(layer.*members.second)}...};
  };
  return type;
}

template <typename T>
auto weight_of() {
  return std::pair("weight", &T::weight);
}
template <typename T>
auto bias_of() {
  return std::pair("bias", &T::bias);
}

}  // namespace fxjit::nn
