// What the forms of rows and columns share: the sizes and accesses of a step,
// each a number that its code is made for or an argument of it. Sizes and
// strides that change with the batch or the length of a sequence are arguments,
// so that equal forms are equal code whatever they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/error.h"
#include "src/program/steps/access.h"

namespace fxjit::program {

// A size or a stride of a form.
class Extent {
 public:
  // A number that the code is made for.
  constexpr Extent(int64_t number = 0) : number_(number) {}
  // What the code is given with each call.
  static constexpr Extent argument() {
    Extent extent;
    extent.is_argument_ = true;
    return extent;
  }

  constexpr bool is_argument() const { return is_argument_; }
  int64_t number() const {
    FXJIT_CHECK(!is_argument_, "the code is made for a number");
    return number_;
  }
  // "?" for an argument.
  std::string str() const;

  friend constexpr bool operator==(const Extent&, const Extent&) = default;

 private:
  int64_t number_;
  bool is_argument_ = false;
};

using Extents = std::vector<Extent>;

// As Access; what gathers need are arguments.
struct AccessForm {
  DType dtype = DType::f32;
  Extents outer;
  Extents reduce;
  Extent inner = 1;
  int32_t gather_slot = -1;
  bool gathers_elements = false;  // The index differs along the inner dim.
};

struct LoopForm {
  Extents outer;
  Extents reduce;
  Extent inner = 1;
  std::vector<AccessForm> inputs;
  std::vector<AccessForm> outputs;

  size_t operands() const { return inputs.size() + outputs.size(); }
  // Inputs come first.
  AccessForm& access(size_t operand) {
    return operand < inputs.size() ? inputs[operand]
                                   : outputs[operand - inputs.size()];
  }
  const AccessForm& access(size_t operand) const {
    return const_cast<LoopForm&>(*this).access(operand);
  }
};

// The sizes and accesses of a step itself, which is one that has them.
struct Loops {
  Dims outer;
  Dims reduce;
  int64_t inner = 1;
  std::vector<Access> inputs;  // By slot.
  std::vector<Access> outputs;

  // A batch of one has dropped a dim that others have: adds outer dims of one
  // point until there are `dims` of them.
  void pad_outer(int dims);

  friend bool operator==(const Loops&, const Loops&) = default;
};

// A form without arguments, gathers aside.
LoopForm form_of(const Loops& loops);

// Text that is equal for equal forms.
std::string loops_key(const LoopForm& form);

// What the code of a step gets in StepCall::data.
std::vector<int64_t> loop_arguments(const Loops& loops);

// Where they stand there, in 64-bit numbers.
class ArgumentPlaces {
 public:
  explicit ArgumentPlaces(const LoopForm& form)
      : operands_(form.operands()),
        outer_(form.outer.size()),
        reduce_(form.reduce.size()) {}

  size_t inner() const { return 0; }
  size_t outer(size_t dim) const { return 1 + dim; }
  size_t reduce(size_t dim) const { return outer(outer_) + dim; }
  // Strides of the operand; inputs come first.
  size_t outer(size_t operand, size_t dim) const {
    return reduce(reduce_) + operand * per_operand() + dim;
  }
  size_t reduce(size_t operand, size_t dim) const {
    return outer(operand, outer_) + dim;
  }
  size_t inner(size_t operand) const { return reduce(operand, reduce_); }
  size_t gather_stride(size_t operand) const { return inner(operand) + 1; }
  size_t gather_limit(size_t operand) const { return inner(operand) + 2; }
  // What follows them.
  size_t end() const { return outer(operands_, 0); }

 private:
  size_t per_operand() const { return outer_ + reduce_ + 3; }

  size_t operands_;
  size_t outer_;
  size_t reduce_;
};

// Whether a body asks where it is: dims are then what they are.
bool has_index(const ScalarBody& body);

}  // namespace fxjit::program
