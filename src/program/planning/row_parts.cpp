#include "src/program/planning/row_parts.h"

#include "src/program/planning/pieces.h"

namespace fxjit::program {

bool RowParts::is_kept(int32_t id, int32_t pass) const {
  return schedule_.buffered[static_cast<size_t>(id)] &&
         schedule_.level[static_cast<size_t>(id)] < pass;
}

// Whether the value is constant along rows and takes operations to compute.
bool RowParts::is_constant(int32_t id) const {
  const Prim prim = instr(id).prim;
  return prim != Prim::input && prim != Prim::constant &&
         !schedule_.varies[static_cast<size_t>(id)];
}

// Whether the part of a pass reads the value from memory.
bool RowParts::is_leaf(int32_t id, int32_t pass) const {
  if (pass == kConstants)
    return is_reduction(instr(id).prim) || constants_.contains(id);
  return is_kept(id, pass) || is_constant(id);
}

// Marks the instructions that the part of a pass computes or reads for `roots`.
std::vector<bool> RowParts::find_needed(const std::vector<int32_t>& roots,
                                        int32_t pass) const {
  std::vector<bool> needed(step_.body.instrs.size());
  for (int32_t id : roots) needed[static_cast<size_t>(id)] = true;
  for (size_t i = needed.size(); i-- > 0;) {
    const auto id = static_cast<int32_t>(i);
    if (!needed[i] || is_leaf(id, pass)) continue;
    for (int a = 0; a < prim_arity(instr(id).prim); ++a)
      needed[static_cast<size_t>(instr(id).args[static_cast<size_t>(a)])] =
          true;
  }
  return needed;
}

std::vector<int32_t> RowParts::missing_constants(
    const std::vector<int32_t>& roots, int32_t pass) const {
  const std::vector<bool> needed = find_needed(roots, pass);
  std::vector<int32_t> missing;
  for (size_t i = 0; i < needed.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (needed[i] && is_constant(id) && !constants_.contains(id))
      missing.push_back(id);
  }
  return missing;
}

RowPart RowParts::compute(const std::vector<int32_t>& roots,
                          int32_t pass) const {
  RowPart part;
  const std::vector<bool> needed = find_needed(roots, pass);
  for (size_t i = 0; i < needed.size(); ++i)
    if (needed[i]) {
      const auto id = static_cast<int32_t>(i);
      part.made[id] = make(part, id, pass);
    }
  return part;
}

int32_t RowParts::make(RowPart& part, int32_t id, int32_t pass) const {
  ScalarInstr made = instr(id);
  if (const auto known = constants_.find(id); known != constants_.end())
    return part.read(known->second, made.type);
  if (is_reduction(made.prim)) return combine(part, id);
  if (is_kept(id, pass)) return part.read(kept_.at(id), made.type);
  if (made.prim == Prim::input) {
    const auto slot = static_cast<size_t>(made.slot);
    return part.read({operands_[slot], step_.inputs[slot]}, made.type);
  }
  for (int32_t& arg : made.args)
    if (arg >= 0) arg = part.made.at(arg);
  return push_as(part, id, made);
}

int32_t RowParts::push_as(RowPart& part, int32_t id,
                          const ScalarInstr& made) const {
  const int32_t added = part.push(made);
  if (schedule_.softmax[static_cast<size_t>(id)]) part.softmax.push_back(added);
  return added;
}

// Combines the partial results of a row's pieces.
int32_t RowParts::combine(RowPart& part, int32_t id) const {
  const DType type = instr(id).type;
  const PartOperand& pieces = reduced_.at(id);
  int32_t all = -1;
  for (int64_t piece = 0; piece < pieces_; ++piece) {
    PartOperand one = pieces;
    one.ref.byte_offset +=
        piece * pieces.piece_stride * static_cast<int64_t>(dtype_size(type));
    one.piece_stride = 0;
    const int32_t read = part.read(std::move(one), type);
    all = piece == 0 ? read
                     : part.push({.prim = *combination(instr(id).prim),
                                  .type = type,
                                  .args = {all, read, -1}});
  }
  return all;
}

}  // namespace fxjit::program
