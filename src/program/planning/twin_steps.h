// What was planned for one region, told apart from where its inputs and results
// lie, so that its twins (passes/fusing/twins.h) get the same steps without
// being planned. A model of many equal layers is planned in the time of one.
#pragma once

#include <optional>
#include <vector>

#include "src/program/planning/builder.h"

namespace fxjit::program {

class TwinSteps {
 public:
  // How much of a program there was before a region was planned.
  struct Mark {
    explicit Mark(const Program& program)
        : steps(program.steps.size()),
          buffers(program.buffers.size()),
          constants(program.constants.size()),
          bodies(program.bodies.size()) {}
    size_t steps, buffers, constants, bodies;
  };

  // Where a region's inputs lie, in order, and then its results.
  using Ends = std::vector<const Placed*>;
  static Ends ends_of(const RegionCall& call);

  // The steps that were added for a region since `before`. Nothing if something
  // else than operands tells them from those of a twin.
  static std::optional<TwinSteps> of(const Ends& ends, const Mark& before,
                                     const Program& program);

  // Whether the inputs and results of a twin share buffers, and are constants,
  // as those of the region were.
  bool fit(const Ends& ends) const;
  // Adds the steps for a twin that they fit.
  void add_to(PlanBuilder& builder, const RegionCall& call,
              const Ends& ends) const;

 private:
  // An input or a result of the region: the first one that lies in the same
  // buffer, and how far behind it.
  struct Place {
    size_t first = 0;
    int64_t behind = 0;
    bool constant = false;
    TensorSpec spec;

    friend bool operator==(const Place&, const Place&) = default;
  };
  // A buffer that was made for the region: memory of the arena or a packed
  // weight, whose pieces name the region's inputs in place of constants.
  struct Made {
    int64_t bytes = 0;
    std::optional<weights::PackSpec> packed;
  };
  // Bytes from where one of the places or of what was made begins.
  struct Operand {
    bool made = false;
    size_t index = 0;
    int64_t byte_offset = 0;
  };

  static Place place_of(const Ends& ends, size_t number);
  static std::optional<Made> made_of(const Buffer& buffer, const Ends& ends,
                                     const Program& program);
  std::optional<Operand> operand_of(const OperandRef& ref, const Ends& ends,
                                    const Mark& before, const Program& program);

  size_t first_step_ = 0;
  std::vector<Place> places_;
  std::vector<Made> made_;                      // In the order of buffers.
  std::vector<std::vector<Operand>> operands_;  // By step.
};

}  // namespace fxjit::program
