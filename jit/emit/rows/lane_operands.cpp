#include "jit/emit/rows/lane_operands.h"

#include <algorithm>

#include "jit/emit/body.h"
#include "src/support/rounding.h"

namespace fxjit::jit {

using support::ceil_div;

LaneOperands::LaneOperands(VectorBuilder& b, const program::RowForm& form,
                           const StepArguments& arguments)
    : b_(b),
      loops_(form.loops),
      body_(form.body),
      code_(form.code),
      group_(code_.lanes),
      arguments_(arguments),
      inner_(loops_.inner.number()) {}

int LaneOperands::vectors_of_rest() const {
  return int(ceil_div(inner_ % group_.positions * group_.rows, b_.lanes()));
}

int64_t LaneOperands::positions_of(LaneSpot spot) const {
  return spot.is_rest ? inner_ % group_.positions : group_.positions;
}

Value* LaneOperands::leaf(const LaneGroupPlace& group, const ScalarInstr& instr,
                          LaneSpot spot) {
  const auto slot = size_t(instr.slot);
  if (instr.prim == Prim::input) {
    const DType dtype = loops_.inputs[slot].dtype;
    return convert_computed(b_, load(group, slot, spot), dtype, instr.type);
  }
  const int64_t first = int64_t{spot.vector} * b_.lanes();
  if (slot == group.outer.size()) {
    Value* position = b_.mul(spot.round, b_.i64(group_.positions));
    return b_.add(b_.splat(position), lane_numbers([&](int64_t lane) {
                    return (first + lane) / group_.rows;
                  }));
  }
  if (slot + 1 < group.outer.size()) return b_.splat(group.outer[slot]);
  return b_.add(b_.splat(group.outer[slot]), lane_numbers([&](int64_t lane) {
                  return (first + lane) % group_.rows;
                }));
}

// Loads an operand. If a vector holds several positions of each row, a value
// that is the same for all rows, or for all positions, is copied to the lanes
// that need it.
Value* LaneOperands::load(const LaneGroupPlace& group, size_t operand,
                          LaneSpot spot) {
  const program::AccessForm& access = loops_.access(operand);
  const bool repeated = access.outer.back() == 0;
  const bool constant = access.inner == 0;
  const bool shares = group_.positions > 1;
  if (repeated && (constant || !shares))
    return b_.load_broadcast(access.dtype, element(group, operand, spot));
  if (shares && (repeated || constant)) {
    Value* from = element(group, operand, {spot.round, 0, spot.is_rest});
    const int64_t first = int64_t{spot.vector} * b_.lanes();
    const int64_t count = repeated ? positions_of(spot) : group_.rows;
    return pick(load_few(access.dtype, from, count), [&](int64_t lane) {
      const int64_t at = first + lane;
      return repeated ? std::min(at / group_.rows, count - 1)
                      : at % group_.rows;
    });
  }
  return b_.load(access.dtype, element(group, operand, spot),
                 mask(group, spot));
}

void LaneOperands::store(const LaneGroupPlace& group, size_t result,
                         Value* value, LaneSpot spot) {
  const size_t operand = loops_.inputs.size() + result;
  const program::AccessForm& access = loops_.access(operand);
  Value* lanes = mask(group, spot);
  if (group_.takes_all() && spot.round == nullptr) {
    const int64_t rows = group_.rows - int64_t{spot.vector} * b_.lanes();
    if (rows <= 0) return;
    lanes = first_lanes(rows);
  }
  b_.store(access.dtype, value, element(group, operand, spot), lanes);
}

Value* LaneOperands::element(const LaneGroupPlace& group, size_t operand,
                             LaneSpot spot) {
  const program::AccessForm& access = loops_.access(operand);
  llvm::Type* type = b_.memory_type(access.dtype);
  const bool repeated = access.outer.back() == 0;
  Value* row = group.operands[operand];
  if (spot.round != nullptr && access.inner != 0) {
    const int64_t together = repeated ? 1 : group_.rows;
    Value* stride = group_.positions > 1 ? b_.i64(group_.positions * together)
                                         : arguments_.accesses[operand].inner;
    row = b_.offset(row, type, b_.mul(spot.round, stride));
  }
  return repeated ? row
                  : b_.offset(row, type, int64_t{spot.vector} * b_.lanes());
}

void LaneOperands::prefetch(const LaneGroupPlace& group, size_t operand,
                            LaneSpot first, int vectors) {
  const program::AccessForm& access = loops_.access(operand);
  if (access.inner == 0 || access.outer.back() == 0) return;
  const int64_t bytes =
      int64_t{vectors} * b_.lanes() * int64_t(dtype_size(access.dtype));
  Value* from = element(group, operand, first);
  for (int64_t at = 0; at < bytes; at += kCacheLine)
    b_.prefetch(b_.offset_bytes(from, at));
}

Value* LaneOperands::kept(const LaneGroupPlace& group, int32_t id,
                          LaneSpot spot) {
  const DType dtype = type_of(id);
  const auto& buffer = code_.schedule.buffer_of(id);
  if (buffer.result < 0) return b_.load(dtype, in_scratch(buffer, spot));
  return b_.load(
      dtype, element(group, loops_.inputs.size() + size_t(buffer.result), spot),
      mask(group, spot));
}

void LaneOperands::keep(const LaneGroupPlace& group, int32_t id, Value* value,
                        LaneSpot spot) {
  const auto& buffer = code_.schedule.buffer_of(id);
  if (buffer.result < 0)
    b_.store(type_of(id), value, in_scratch(buffer, spot));
  else
    store(group, size_t(buffer.result), value, spot);
}

Value* LaneOperands::in_scratch(const program::RowSchedule::Buffer& buffer,
                                LaneSpot spot) {
  llvm::Type* type = b_.memory_type(type_of(buffer.id));
  Value* start = b_.offset_bytes(KernelArgs(b_).scratch(),
                                 int64_t(buffer.offset) * group_.kept());
  Value* round =
      b_.offset(start, type, b_.mul(spot.round, b_.i64(group_.elements)));
  return b_.offset(round, type, int64_t{spot.vector} * b_.lanes());
}

Value* LaneOperands::mask(const LaneGroupPlace& group, LaneSpot spot) {
  if (!group_.takes_all()) return group.mask;
  return first_lanes(positions_of(spot) * group_.rows -
                     int64_t{spot.vector} * b_.lanes());
}

Values LaneOperands::met(const Values& vectors,
                         llvm::function_ref<Value*(Value*, Value*)> combine) {
  if (group_.positions == 1) return vectors;
  Values rows;
  for (int64_t first = 0; first < group_.rows; first += b_.lanes()) {
    Values parts;
    for (int64_t position = 0; position < group_.positions; ++position)
      parts.push_back(pick(vectors, [&](int64_t lane) {
        const int64_t row = first + lane;
        return row < group_.rows ? position * group_.rows + row : -1;
      }));
    for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2))
      for (size_t i = parts.size() / 2; i-- > 0;)
        parts[i] = combine(parts[i], parts[parts.size() - 1 - i]);
    rows.push_back(parts[0]);
  }
  Values all;
  for (size_t v = 0; v < vectors.size(); ++v)
    all.push_back(pick(rows, [&](int64_t lane) {
      return (int64_t(v) * b_.lanes() + lane) % group_.rows;
    }));
  return all;
}

// `count` elements that follow one another, as vectors.
Values LaneOperands::load_few(DType dtype, Value* from, int64_t count) {
  llvm::Type* type = b_.memory_type(dtype);
  Values vectors;
  for (int64_t first = 0; first < count; first += b_.lanes())
    vectors.push_back(b_.load(dtype, b_.offset(from, type, first),
                              first_lanes(count - first)));
  return vectors;
}

Value* LaneOperands::first_lanes(int64_t count) {
  return count >= b_.lanes() ? nullptr : b_.tail_mask(b_.i64(count));
}

// A vector whose lane k is lane index(k) of the vectors `from`, counted through
// all of them; -1 stands for any value.
Value* LaneOperands::pick(const Values& from,
                          llvm::function_ref<int64_t(int64_t)> index) {
  const int64_t lanes = b_.lanes();
  Value* picked = nullptr;
  for (size_t source = 0; source < from.size(); ++source) {
    llvm::SmallVector<int> lanes_of;
    bool used = false;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t at = index(lane) - int64_t(source) * lanes;
      const bool here = at >= 0 && at < lanes;
      used = used || here;
      lanes_of.push_back(here     ? int(picked ? lanes + at : at)
                         : picked ? int(lane)
                                  : -1);
    }
    if (!used) continue;
    picked = picked
                 ? b_.ir().CreateShuffleVector(picked, from[source], lanes_of)
                 : b_.ir().CreateShuffleVector(from[source], lanes_of);
  }
  return picked;
}

// A vector of i64.
Value* LaneOperands::lane_numbers(llvm::function_ref<int64_t(int64_t)> number) {
  std::vector<llvm::Constant*> numbers;
  for (int64_t lane = 0; lane < b_.lanes(); ++lane)
    numbers.push_back(llvm::ConstantInt::get(b_.i64(), uint64_t(number(lane))));
  return llvm::ConstantVector::get(numbers);
}

}  // namespace fxjit::jit
