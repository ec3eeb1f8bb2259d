// Steps that one primitive of oneDNN computes: a driver makes the call itself,
// through the library's C API, of which handles are all that is seen here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/program/driver/frame.h"
#include "src/program/steps/step_code.h"

namespace fxjit::program {

// Where an argument of a primitive lies.
struct PrimitiveArgument {
  enum class Kind : uint8_t { operand, constant, scratch };
  Kind kind = Kind::operand;
  int32_t operand = -1;            // Of the step.
  const void* constant = nullptr;  // Packed weights.
};

// The handles that one call at a time needs.
class BoundPrimitive {
 public:
  virtual ~BoundPrimitive() = default;
  // Sets the address of an argument for the calls to come.
  virtual void set(size_t argument, void* address) = 0;
  // What the driver passes on; it lives as long as this. Calls with it fail if
  // the handles could not be made.
  virtual PrimitiveCall call() const = 0;
};

class PrimitiveCode : public ExternCode {
 public:
  // By the arguments of the primitive, the scratchpad last. Empty where run()
  // is more than one call of a primitive.
  virtual std::vector<PrimitiveArgument> arguments() const = 0;
  // Only of code that has arguments. Does not throw.
  virtual std::unique_ptr<BoundPrimitive> bind() const = 0;
};

// That of the code, null where a driver cannot call it.
inline const PrimitiveCode* primitive_code(const ExternCode* code) {
  const auto* const primitive = dynamic_cast<const PrimitiveCode*>(code);
  return primitive && !primitive->arguments().empty() ? primitive : nullptr;
}

}  // namespace fxjit::program
