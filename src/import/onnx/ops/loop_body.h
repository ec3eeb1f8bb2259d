// The body of an ONNX Loop: reads one iteration of it, with the values that it
// is given and gives. loops.cpp derives from it and decides how iterations are
// recorded.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "src/import/onnx/ops/control.h"

namespace fxjit::onnx {

class LoopBody {
 protected:
  explicit LoopBody(Call& call);

  // The carried values that are tensors of one shape, and which ones they are;
  // sequences, and what the body gives back unchanged, are left out.
  struct Carried {
    ValueList values;
    std::vector<Recorder::Known> known;
    std::vector<size_t> places;
  };
  // The results of one iteration: its condition, the next carried values, and
  // one row for each stack. Rows of grown sequences come last.
  struct Iteration {
    Operand condition;
    ValueList carried, rows;
  };

  // Whether a condition is true, if that is known while the model is read.
  std::optional<bool> known_truth(const Operand& condition) const;
  // The condition of the first iteration that is not recorded yet.
  Operand condition() const;

  Carried first_values() const;
  Iteration read_body(const Value& turn, const Operand& going,
                      const ValueList& carried);
  // All outputs of the body for iteration `turn`.
  std::vector<Operand> read_turn(int64_t turn, const Operand& going,
                                 const std::vector<Operand>& carried);

  // Whether the model reads the stack of row `row`.
  bool is_wanted(size_t row) const {
    return call_.wants(carried_.size() + row);
  }
  // Whether carried value `i` becomes a stack of what the iterations append to
  // it: it is a sequence, or a tensor of `joined_`.
  bool is_grown(size_t i) const {
    return joined_.contains(i) || carried_[i].value.is_sequence();
  }
  // Whether each iteration gives the carried value `i` back as it got it.
  // Bodies read such values from outside of the loop.
  bool is_unchanged(size_t i) const { return unchanged_.contains(i); }
  // The carried value `i` after the loop, made of its stack.
  Operand grown_result(size_t i, const Value& stack) const;

  Call& call_;
  const GraphInfo body_;
  std::optional<int64_t> turns_;
  int64_t first_turn_ = 0;        // Iterations before it are recorded already,
  std::optional<Operand> going_;  // and gave this condition.
  std::vector<Operand> carried_;
  size_t rows_ = 0;
  // Carried tensors that the body only extends by Concat, each with the dim
  // along which it does.
  std::map<size_t, int64_t> joined_;
  std::set<size_t> unchanged_;
  // For the carried values and then the stacks: see Operand::unsigned_bits.
  std::vector<UnsignedBits> unsigned_bits_;

 private:
  void find_unchanged();
  void note_types(const std::vector<Operand>& results);
  Value appended(size_t state, const Operand& output);
};

}  // namespace fxjit::onnx
