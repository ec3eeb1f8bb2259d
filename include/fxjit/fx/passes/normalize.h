// Calls written in one way (torch.fx.experimental.normalize).
#pragma once

#include <optional>

#include "fxjit/fx/transformer.h"

namespace fxjit::fx::passes {

// Gives calls of functions and layers all their arguments, defaults filled in:
// as keywords, or behind those given by position. See
// Node::normalized_arguments for what is left as it is.
//
//   auto normalized = passes::NormalizeArgs(gm).transform();
class NormalizeArgs : public Transformer {
 public:
  explicit NormalizeArgs(const nn::Ref<GraphModule>& module,
                         bool normalize_to_only_use_kwargs = true);
  // The new node takes over the old one's meta.
  Value run_node(const Node& node) override;
  Value call_function(const Target& target, const ValueList& args,
                      const Kwargs& kwargs) override;
  Value call_module(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override;

 private:
  std::optional<ArgsKwargs> normalized() const;

  bool only_kwargs_;
};

// torch.add, mul, sub, div, floor_divide, remainder and the comparisons of two
// arguments become operators. Calls with further arguments, such as alpha, are
// left as they are (torch drops those).
class NormalizeOperators : public Transformer {
 public:
  using Transformer::Transformer;
  Value call_function(const Target& target, const ValueList& args,
                      const Kwargs& kwargs) override;
};

}  // namespace fxjit::fx::passes
