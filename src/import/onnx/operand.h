// A value of the model while its graph is imported.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fxjit/carried_type.h"
#include "fxjit/value.h"

namespace fxjit::onnx {

// A small tensor of integers with at most one dim, kept as its elements so that
// shapes can be computed with it. Elements are numbers, or proxies of numbers
// that follow from the sizes of inputs.
struct Numbers {
  std::vector<Value> items;
  bool scalar = false;  // No dims, one item.
  DType dtype = DType::i64;
};

// A list that strings are places in.
using Texts = std::shared_ptr<const std::vector<std::string>>;

// The bits of an unsigned ONNX type that the library lacks and carries in the
// next wider signed type (64: uint64, by its bits in int64). 0 for any other
// type.
using UnsignedBits = int;

// A sequence that a loop extends. It becomes a stack of tensors: inside of the
// loop, this holds the tensors that one iteration appends; after the loop, the
// stack whose rows are the tensors of the sequence.
struct GrownSequence {
  size_t state = 0;  // Inside of the loop: which of its states it is.
  ValueList appended;
  Value stack;
  // Set for a tensor that Concat extends along this dim, instead of a sequence.
  std::optional<int64_t> axis;
};

// A value of the model. `value`, `numbers` or both are set, or `grown` alone.
// None is set if an optional value is absent.
struct Operand {
  Value value;  // A proxy; a list of them for a sequence.
  std::optional<Numbers> numbers;
  std::shared_ptr<const GrownSequence> grown;
  UnsignedBits unsigned_bits = 0;
  // One of the real types of 8 bits, or of those of fewer (narrow_types.h).
  CarriedType narrow = CarriedType::none;
  // What a tensor of strings is made of: the value holds places in this list.
  Texts texts;
  bool has_other_texts = false;  // -1 stands for any text that is not there.
  // The labels of the value's columns: it is a list of maps, a row each.
  std::shared_ptr<const ValueList> columns;

  Operand() = default;
  Operand(Value value) : value(std::move(value)) {}          // NOLINT
  Operand(Numbers numbers) : numbers(std::move(numbers)) {}  // NOLINT
  bool absent() const { return value.is_none() && !numbers && !grown; }
};

// The results of a node, one for each of its outputs.
struct Results {
  std::vector<Operand> items;

  Results(Value value) : items{Operand(std::move(value))} {}        // NOLINT
  Results(Numbers numbers) : items{Operand(std::move(numbers))} {}  // NOLINT
  Results(Operand operand) : items{std::move(operand)} {}           // NOLINT
  Results(std::vector<Operand> operands)                            // NOLINT
      : items(std::move(operands)) {}
};

}  // namespace fxjit::onnx
