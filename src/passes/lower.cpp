#include "src/passes/lower.h"

#include "src/passes/rebuild.h"

namespace fxjit::passes {

ModelGraph lower(const ModelGraph& model) {
  GraphBuilder::Options options;
  options.lower = true;
  return rebuild(model, options);
}

}  // namespace fxjit::passes
