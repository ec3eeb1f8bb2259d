#include "src/program/steps/program.h"

namespace fxjit::program {

bool operator==(const ControlCall& a, const ControlCall& b) {
  return a.kind == b.kind && a.bodies == b.bodies &&
         equal_specs(a.pred, b.pred) && equal_specs(a.carried, b.carried) &&
         equal_specs(a.xs, b.xs) && equal_specs(a.operands, b.operands) &&
         equal_specs(a.results, b.results);
}

bool operator==(const Program& a, const Program& b) {
  return a.machine == b.machine && a.buffers == b.buffers &&
         a.steps == b.steps && a.constants == b.constants &&
         a.packed == b.packed && a.inputs == b.inputs &&
         a.outputs == b.outputs && equal_specs(a.result, b.result) &&
         a.written == b.written && a.kept == b.kept &&
         a.arena_bytes == b.arena_bytes && a.bodies == b.bodies;
}

}  // namespace fxjit::program
