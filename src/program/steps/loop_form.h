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

// A size or a stride of a form: a number for which the code is made, or an
// argument that the code is given at each call.
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

  friend constexpr bool operator==(const Extent&, const Extent&) = default;

 private:
  int64_t number_;
  bool is_argument_ = false;
};

using Extents = std::vector<Extent>;

// What a form knows of an access (Access); the stride and the limit of a gather
// are arguments.
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

// The sizes and accesses of a row or column step, which derives from this.
struct Loops {
  Dims outer;
  Dims reduce;
  int64_t inner = 1;
  std::vector<Access> inputs;  // By slot.
  std::vector<Access> outputs;

  // Adds outer dims of size 1 in front until there are `dims` of them. A batch
  // of one has lost a dim that larger batches have, but should use their
  // kernel.
  void pad_outer(int dims);

  friend bool operator==(const Loops&, const Loops&) = default;
};

// The form of the loops with all sizes and strides as numbers. Gathers still
// have arguments.
LoopForm form_of(const Loops& loops);

// The form of the loops with the sizes of outer and inner dims as arguments,
// and strides along outer ones: those of zero, where something is broadcast,
// stay.
LoopForm form_of_any_size(const Loops& loops);

// Equal for equal forms and bodies; raw words, not to be read.
std::string loops_key(const LoopForm& form);
std::string body_key(const ScalarBody& body);

// The arguments of the loops, in the order in which code reads them from
// StepCall::data.
std::vector<int64_t> loop_arguments(const Loops& loops);

// Where each of these arguments stands in StepCall::data, counted in numbers of
// 64 bits.
class ArgumentPlaces {
 public:
  explicit ArgumentPlaces(const LoopForm& form)
      : operands_(form.operands()),
        outer_(form.outer.size()),
        reduce_(form.reduce.size()) {}

  size_t inner() const { return 0; }
  size_t outer(size_t dim) const { return 1 + dim; }
  size_t reduce(size_t dim) const { return outer(outer_) + dim; }
  // The stride of an operand along an outer dim; inputs are counted first.
  size_t outer(size_t operand, size_t dim) const {
    return reduce(reduce_) + operand * per_operand() + dim;
  }
  size_t reduce(size_t operand, size_t dim) const {
    return outer(operand, outer_) + dim;
  }
  size_t inner(size_t operand) const { return reduce(operand, reduce_); }
  size_t gather_stride(size_t operand) const { return inner(operand) + 1; }
  size_t gather_limit(size_t operand) const { return inner(operand) + 2; }
  // The place behind all of these arguments.
  size_t end() const { return outer(operands_, 0); }

 private:
  size_t per_operand() const { return outer_ + reduce_ + 3; }

  size_t operands_;
  size_t outer_;
  size_t reduce_;
};

// Whether the body reads positions. The dims of its loops must not be joined
// then.
bool has_index(const ScalarBody& body);

}  // namespace fxjit::program
