// passes::optimize_for_inference, which ends with compiling.
#include "fxjit/compile.h"
#include "fxjit/fx/passes/optimization.h"
#include "fxjit/fx/symbolic_trace.h"

namespace fxjit::fx::passes {

nn::Ref<GraphModule> optimize_for_inference(nn::Module& model,
                                            const InferencePasses& steps) {
  nn::Ref<GraphModule> made =
      steps.conv_bn_fuse ? fuse(model) : symbolic_trace(model);
  if (steps.remove_dropout) made = passes::remove_dropout(made);
  if (steps.compile) made->compile();
  return made;
}

}  // namespace fxjit::fx::passes
