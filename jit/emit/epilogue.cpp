#include "jit/emit/epilogue.h"

#include "jit/emit/body.h"

namespace fxjit::jit {

using program::TileAccess;

void emit_tile_epilogue(VectorBuilder& b, const ScalarBody& body,
                        const std::vector<TileAccess>& extras,
                        const std::vector<TileAccess>& outputs,
                        llvm::function_ref<Value*(size_t)> address, Value* sum,
                        Value* mask) {
  BodyValues values(b, body, b.lanes(), [&](BodyValues&, int32_t id) {
    const ScalarInstr& instr = body.instrs[id];
    if (instr.prim != Prim::input) return static_cast<Value*>(nullptr);
    if (instr.slot == 0) return sum;
    const auto slot = static_cast<size_t>(instr.slot - 1);
    const TileAccess& access = extras[slot];
    Value* at = address(slot);
    return access.column == 0 ? b.load_broadcast(access.dtype, at)
                              : b.load(access.dtype, at, mask);
  });
  // All is read before anything is written: an output may lie where an extra
  // does.
  Values results;
  for (size_t i = 0; i < outputs.size(); ++i)
    results.push_back(values.result(i, outputs[i].dtype));
  for (size_t i = 0; i < outputs.size(); ++i)
    b.store(outputs[i].dtype, results[i], address(extras.size() + i), mask);
}

}  // namespace fxjit::jit
