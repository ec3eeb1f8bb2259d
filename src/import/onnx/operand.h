// A value of the model while its graph is imported.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fxjit/carried_type.h"
#include "fxjit/value.h"

namespace fxjit::onnx {

// The elements of a small tensor of integers with at most one dim, as far as
// shapes are computed with them: numbers, and proxies of numbers that follow
// from the inputs' sizes.
struct Numbers {
  std::vector<Value> items;
  bool scalar = false;  // No dims, one item.
  DType dtype = DType::i64;
};

// How many bits a number has that ONNX counts without a sign and the library,
// which has no such type, carries in the next wider one with a sign (64 bits
// in int64 itself). 0: any other type.
using UnsignedBits = int;

// A sequence that a loop makes longer, which becomes a stack: inside of the
// loop what one iteration appends, behind it the stack whose rows are its
// tensors.
struct GrownSequence {
  size_t state = 0;  // Inside of the loop: which of its states it is.
  ValueList appended;
  Value stack;
  // A tensor that Concat makes longer along this dim, in place of a sequence.
  std::optional<int64_t> axis;
};

// `value`, `numbers` or both are set, or `grown`; none of them where an
// optional value is absent.
struct Operand {
  Value value;  // A proxy; a list of them for a sequence.
  std::optional<Numbers> numbers;
  std::shared_ptr<const GrownSequence> grown;
  UnsignedBits unsigned_bits = 0;
  // One of the types of 8 bits that float16 carries (float8.h).
  CarriedType float8 = CarriedType::none;
  // What a tensor of strings is made of: the value holds places in this list.
  std::shared_ptr<const std::vector<std::string>> texts;
  // The labels of the value's columns: it is a list of maps, a row each.
  std::shared_ptr<const ValueList> columns;

  Operand() = default;
  Operand(Value value) : value(std::move(value)) {}          // NOLINT
  Operand(Numbers numbers) : numbers(std::move(numbers)) {}  // NOLINT
  bool absent() const { return value.is_none() && !numbers && !grown; }
};

// What a node gives, one for each of its outputs.
struct Results {
  std::vector<Operand> items;

  Results(Value value) : items{Operand(std::move(value))} {}        // NOLINT
  Results(Numbers numbers) : items{Operand(std::move(numbers))} {}  // NOLINT
  Results(Operand operand) : items{std::move(operand)} {}           // NOLINT
  Results(std::vector<Operand> operands)                            // NOLINT
      : items(std::move(operands)) {}
};

}  // namespace fxjit::onnx
