// The body of a Loop: what it is given and what it gives, iteration by
// iteration.
#pragma once

#include <map>
#include <optional>

#include "src/import/onnx/ops/control.h"

namespace fxjit::onnx {

class LoopBody {
 protected:
  explicit LoopBody(Call& call);

  // The carried values that are tensors, those of sequences left out.
  struct Carried {
    ValueList values;
    std::vector<Recorder::Known> known;
  };
  // One iteration: its condition, the next carried values, the rows of stacks;
  // the rows of grown sequences are behind the others.
  struct Iteration {
    Operand condition;
    ValueList carried, rows;
  };

  // Whether a condition holds, where that is known.
  std::optional<bool> known_truth(const Operand& condition) const;
  // That of the first iteration which is not recorded yet.
  Operand condition() const;

  Carried first_values() const;
  Iteration read_body(const Value& turn, const Operand& going,
                      const ValueList& carried);
  // All that one iteration gives, by the body's outputs.
  std::vector<Operand> read_turn(int64_t turn, const Operand& going,
                                 const std::vector<Operand>& carried);

  // Whether the model reads the stack of these rows.
  bool is_wanted(size_t row) const {
    return call_.wants(carried_.size() + row);
  }
  // Whether a carried value is no tensor of the loop's own, but a stack of what
  // its iterations append: to a sequence, or to a tensor of `joined_`.
  bool is_grown(size_t i) const {
    return joined_.contains(i) || carried_[i].value.is_sequence();
  }
  // Behind the loop.
  Operand grown_result(size_t i, const Value& stack) const;

  Call& call_;
  const GraphInfo body_;
  std::optional<int64_t> turns_;
  int64_t first_turn_ = 0;        // Iterations before it are recorded already,
  std::optional<Operand> going_;  // and gave this condition.
  std::vector<Operand> carried_;
  size_t rows_ = 0;
  // Carried tensors that the body only appends to by Concat, and along which
  // dim.
  std::map<size_t, int64_t> joined_;
  // See Operand: of the carried values and then of the stacks.
  std::vector<UnsignedBits> unsigned_bits_;

 private:
  void note_types(const std::vector<Operand>& results);
  Value appended(size_t state, const Operand& output);
};

}  // namespace fxjit::onnx
