#include "src/nn/layer_types.h"

#include <functional>
#include <typeinfo>

#include "fxjit/nn.h"

namespace fxjit::nn {
namespace {

using Make = LayerBase* (*)(LayerArgs);

template <typename T>
LayerBase* make_layer(LayerArgs given) {
  // A layer without arguments has no constructor of its own.
  if constexpr (std::is_constructible_v<T, LayerArgs>)
    return new T(std::move(given));
  else
    return new T();
}

ModuleType layer_type(const LayerClass& layer, const std::type_info& type,
                      Make make) {
  return {
      layer.name,
      type,
      [](const Module& module) {
        return static_cast<const LayerBase&>(module).arguments();
      },
      [make](ArgumentReader& args) -> ModuleRef {
        LayerBase* const made = make(LayerArgs(args));
        const ModuleRef owner(detail::owned<Module>(made));
        made->finish_reading();
        return owner;
      },
      true,
      [](Module& module) { return static_cast<LayerBase&>(module).handles(); }};
}

template <typename... Layers>
void add(std::vector<ModuleType>& types, LayerList<Layers...>) {
  (types.push_back(
       layer_type(Layers::kClass, typeid(Layers), make_layer<Layers>)),
   ...);
}

template <typename T>
ModuleType container(const char* name) {
  ModuleType type = module_type<T>(
      name, [](const T&) { return Kwargs(); },
      [](ArgumentReader&) { return ModuleRef(std::make_shared<T>()); });
  type.transparent = true;
  return type;
}

}  // namespace

std::vector<ModuleType> layer_types() {
  std::vector<ModuleType> types = {
      container<Module>("Module"), container<Sequential>("Sequential"),
      container<ModuleList>("ModuleList"), container<ModuleDict>("ModuleDict")};
  add(types, ActivationLayers());
  add(types, PointwiseLayers());
  add(types, LinearLayers());
  add(types, BagLayers());
  add(types, ConvolutionLayers());
  add(types, PoolingLayers());
  add(types, PaddingLayers());
  add(types, NormalizationLayers());
  add(types, ShapingLayers());
  add(types, CellLayers());
  add(types, RecurrentLayers());
  add(types, AttentionLayers());
  add(types, TransformerLayers());
  add(types, LossLayers());
  return types;
}

}  // namespace fxjit::nn
