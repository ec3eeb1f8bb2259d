#include "jit/emit/epilogue.h"

#include "jit/emit/body.h"
#include "jit/emit/interleave.h"
#include "jit/emit/kernel_function.h"
#include "src/program/cost/body_work.h"
#include "src/program/tiles/form.h"

namespace fxjit::jit {

using program::TileAccess;

namespace {

// More do not fit sixteen registers beside the numbers that they share.
constexpr int kVectors = 2;

}  // namespace

int epilogue_vectors(const ScalarBody& body) {
  return program::body_cost(body) <= kInlineEpilogueCost ? 1 : kVectors;
}

EpilogueOperands::EpilogueOperands(VectorBuilder& b,
                                   const program::Epilogue& epilogue,
                                   Value* operands)
    : b_(b), epilogue_(epilogue) {
  const size_t count = epilogue.extras.size() + epilogue.outputs.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i * sizeof(program::TileOperand);
    first_.push_back(load_constant(b, b.ptr(), operands,
                                   at + offsetof(program::TileOperand, first)));
    row_bytes_.push_back(load_constant(
        b, b.i64(), operands, at + offsetof(program::TileOperand, row)));
  }
}

Value* EpilogueOperands::at(size_t i, Value* row, Value* column) const {
  const size_t extras = epilogue_.extras.size();
  const TileAccess& access =
      i < extras ? epilogue_.extras[i] : epilogue_.outputs[i - extras];
  Value* at = first_[i];
  if (access.row != 0) at = b_.offset_bytes(at, b_.mul(row, row_bytes_[i]));
  if (access.column == 0 || column == nullptr) return at;
  return b_.offset(at, b_.memory_type(access.dtype), column);
}

Values EpilogueOperands::numbers(int lanes) const {
  Values numbers;
  for (size_t i = 0; i < epilogue_.extras.size(); ++i) {
    const TileAccess& access = epilogue_.extras[i];
    const bool is_number = access.row == 0 && access.column == 0;
    numbers.push_back(is_number
                          ? b_.load_broadcast(access.dtype, first_[i], lanes)
                          : nullptr);
  }
  return numbers;
}

void emit_tile_epilogue(VectorBuilder& b, const ScalarBody& body,
                        const std::vector<TileAccess>& extras,
                        const std::vector<TileAccess>& outputs,
                        const std::vector<EpilogueVector>& vectors,
                        const Values& numbers) {
  const SideBySide side_by_side(b);
  // All is read before anything is written: an output may lie where an extra
  // does.
  std::vector<Values> results;
  for (const EpilogueVector& vector : vectors) {
    const int lanes = VectorBuilder::lane_count(vector.sum);
    BodyValues values(b, body, lanes, [&](BodyValues&, int32_t id) {
      const ScalarInstr& instr = body.instrs[id];
      if (instr.prim != Prim::input) return static_cast<Value*>(nullptr);
      if (instr.slot == 0) return vector.sum;
      const auto slot = static_cast<size_t>(instr.slot - 1);
      if (slot < numbers.size() && numbers[slot] != nullptr)
        return numbers[slot];
      const TileAccess& access = extras[slot];
      Value* at = vector.address(slot);
      if (access.column == 0) return b.load_broadcast(access.dtype, at, lanes);
      return vector.mask == nullptr ? b.load(access.dtype, at, lanes)
                                    : b.load(access.dtype, at, vector.mask);
    });
    results.emplace_back();
    for (size_t i = 0; i < outputs.size(); ++i)
      results.back().push_back(values.result(i, outputs[i].dtype));
  }
  if (vectors.size() > 1) side_by_side.arrange();
  for (size_t v = 0; v < vectors.size(); ++v)
    for (size_t i = 0; i < outputs.size(); ++i)
      b.store(outputs[i].dtype, results[v][i],
              vectors[v].address(extras.size() + i), vectors[v].mask);
}

}  // namespace fxjit::jit
