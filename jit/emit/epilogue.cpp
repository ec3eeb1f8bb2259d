#include "jit/emit/epilogue.h"

#include "jit/emit/body.h"
#include "src/ops/table/prims.h"
#include "src/program/rows/schedule.h"

namespace fxjit::jit {

using program::TileAccess;

void emit_tile_epilogue(VectorBuilder& b, const TileEpilogue& epilogue,
                        Value* sum, Value* mask) {
  BodyValues values(b, epilogue.body, b.lanes(), [&](BodyValues&, int32_t id) {
    const ScalarInstr& instr = epilogue.body.instrs[id];
    if (instr.prim != Prim::input) return static_cast<Value*>(nullptr);
    if (instr.slot == 0) return sum;
    const auto slot = static_cast<size_t>(instr.slot - 1);
    const TileAccess& access = epilogue.extras[slot];
    Value* at = epilogue.extra_at(slot);
    if (access.column == 0) return b.load_broadcast(access.dtype, at);
    return mask ? b.load(access.dtype, at, mask) : b.load(access.dtype, at);
  });
  // All is read before anything is written: an output may lie where an extra
  // does.
  std::vector<Value*> results;
  for (size_t i = 0; i < epilogue.outputs.size(); ++i)
    results.push_back(values.result(i, epilogue.outputs[i].dtype));
  for (size_t i = 0; i < epilogue.outputs.size(); ++i) {
    const DType dtype = epilogue.outputs[i].dtype;
    Value* at = epilogue.output_at(i);
    if (mask)
      b.store(dtype, results[i], at, mask);
    else
      b.store(dtype, results[i], at);
  }
}

int tile_epilogue_cost(const ScalarBody& body) {
  int cost = 0;
  for (const ScalarInstr& instr : body.instrs) cost += prim_cost(instr.prim);
  return cost;
}

}  // namespace fxjit::jit
