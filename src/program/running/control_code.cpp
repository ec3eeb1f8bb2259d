#include "src/program/running/control_code.h"

#include <cstring>
#include <optional>

#include "src/program/planning/builder.h"
#include "src/program/running/body_call.h"
#include "src/program/running/eager_code.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using fx::ControlFlow;
using support::round_up;

size_t bytes_of(const Value& meta) {
  return static_cast<size_t>(extent_bytes(meta.as_tensor()));
}

// Python's bool() of the one element at `place`.
bool holds(void* place, const Tensor& meta) {
  if (meta.dtype() == DType::boolean)
    return *static_cast<const uint8_t*>(place) != 0;
  return static_cast<bool>(Value(borrow(place, meta)));
}

Tensor contiguous_meta(const Tensor& like) {
  return Tensor::meta(like.sizes(), like.dtype());
}

// A slice of a stack, as it is written.
Value slice_of(const Value& stack) {
  Dims sizes = stack.as_tensor().sizes();
  sizes.erase(0);
  return Tensor::meta(sizes, stack.as_tensor().dtype());
}

// Where the argument of a body comes from: a state, a slice, or an operand of
// the step.
struct Source {
  enum class Kind : uint8_t { state, before, slice, operand };
  Kind kind = Kind::operand;
  int32_t index = 0;  // Which state, slice or operand of the step.
};

class ControlCode final : public ExternCode {
 public:
  ControlCode(ControlCall step,
              std::vector<std::shared_ptr<const Executable>> programs,
              fx::LoopLimits limits)
      : step_(std::move(step)),
        programs_(std::move(programs)),
        limits_(std::move(limits)) {
    number_operands();
    plan_bodies();
    for (const BodyPlan& plan : plans_)
      scratch_.push_back(place(plan.scratch_bytes()));
    for (const Value& state : step_.carried)
      states_.push_back(place(bytes_of(contiguous_meta(state.as_tensor()))));
    flag_ = place(1);
  }

  size_t scratch_bytes() const override { return scratch_bytes_; }
  ComputedBy computed_by() const override { return ComputedBy::routine; }
  std::string describe() const override { return "calls of programs"; }
  std::vector<Body> bodies() const override {
    std::vector<Body> all;
    for (size_t i = 0; i < programs_.size(); ++i)
      all.push_back({step_.bodies[i].name, programs_[i].get()});
    return all;
  }

  void run(const StepCall& call, int64_t, int64_t) const override {
    if (call.bodies) {
      call.bodies->resize(plans_.size());
      for (size_t i = 0; i < plans_.size(); ++i)
        (*call.bodies)[i].nanoseconds.resize(
            plans_[i].program().program().steps.size());
    }
    switch (step_.kind) {
      case ControlFlow::cond:
        return run_branch(call);
      case ControlFlow::while_loop:
        return run_while(call);
      case ControlFlow::scan:
      case ControlFlow::associative_scan:
      case ControlFlow::map:
        return run_slices(call);
    }
  }

 private:
  size_t place(size_t bytes) {
    const size_t at = scratch_bytes_;
    scratch_bytes_ += round_up(bytes, kScratchAlignment);
    return at;
  }

  void number_operands() {
    int32_t next = step_.pred.is_tensor() ? 1 : 0;
    first_carried_ = next;
    next += static_cast<int32_t>(step_.carried.size());
    first_xs_ = next;
    next += static_cast<int32_t>(step_.xs.size());
    using Kind = Source::Kind;
    const auto add = [&](Kind kind, size_t count) {
      for (size_t i = 0; i < count; ++i)
        arguments_.push_back({kind, static_cast<int32_t>(i)});
    };
    add(Kind::state, step_.carried.size());
    if (step_.kind == ControlFlow::associative_scan)
      add(Kind::before, step_.xs.size());
    add(Kind::slice, step_.xs.size());
    for (const Value& operand : step_.operands)
      arguments_.push_back(
          {Kind::operand, operand.is_tensor() ? next++ : int32_t{-1}});
    first_result_ = next;
  }

  // Meta tensors of the results that the step wants from body `which`.
  ValueList wanted(size_t which) const {
    if (step_.kind == ControlFlow::while_loop && which == 0)
      return {Tensor::meta({}, DType::boolean)};
    ValueList made = step_.results;
    if (step_.kind == ControlFlow::cond) return made;
    for (size_t i = step_.carried.size(); i < made.size(); ++i)
      made[i] = slice_of(made[i]);
    return made;
  }

  void plan_bodies() {
    for (size_t i = 0; i < step_.bodies.size(); ++i) {
      plans_.emplace_back(*programs_[i], wanted(i));
      std::vector<Source>& sources = sources_.emplace_back();
      for (const int32_t argument : step_.bodies[i].arguments)
        sources.push_back(arguments_[static_cast<size_t>(argument)]);
    }
  }

  std::byte* result(const StepCall& call, size_t i) const {
    return static_cast<std::byte*>(
        call.operands[static_cast<size_t>(first_result_) + i]);
  }

  static StepTimes* times(const StepCall& call, size_t which) {
    return call.bodies ? &(*call.bodies)[which] : nullptr;
  }

  void run_branch(const StepCall& call) const {
    const Tensor& pred = step_.pred.as_tensor();
    const size_t which = holds(call.operands[0], pred) ? 0 : 1;
    if (step_.bodies[which].fails)
      throw ValueFailure("the branch fails for these sizes");
    BodyCall body(plans_[which], call.scratch + scratch_[which]);
    set_operands(call, which, body);
    for (size_t i = 0; i < step_.results.size(); ++i)
      body.results()[i] = result(call, i);
    body.run(times(call, which));
  }

  // The carried values of a loop: where each one is now, and where the next one
  // goes.
  class States {
   public:
    States(const ControlCode& code, const StepCall& call)
        : code_(code), call_(call) {
      for (size_t i = 0; i < code.step_.carried.size(); ++i)
        now_.push_back(first(i));
      next_.resize(now_.size());
    }

    void* now(size_t i) const { return now_[i]; }
    // Where the next value of state `i` goes: of the two places of a state, the
    // one that is free.
    void* next(size_t i) {
      std::byte* const home = code_.result(call_, i);
      next_[i] = now_[i] == home ? other(i) : home;
      return next_[i];
    }
    void keep(size_t i) { next_[i] = now_[i]; }
    void advance() { std::swap(now_, next_); }
    // Copies the states to the results of the step, unless they are there.
    void finish() {
      for (size_t i = 0; i < now_.size(); ++i)
        if (const size_t bytes = size(i);
            bytes > 0 && now_[i] != code_.result(call_, i))
          std::memcpy(code_.result(call_, i), now_[i], bytes);
    }

   private:
    size_t size(size_t i) const {
      return bytes_of(contiguous_meta(code_.step_.carried[i].as_tensor()));
    }
    std::byte* other(size_t i) const {
      return call_.scratch + code_.states_[i];
    }
    // The first value of a state, contiguous: the operand itself if it is, else
    // a copy.
    void* first(size_t i) const {
      const Tensor& given = code_.step_.carried[i].as_tensor();
      void* const from =
          call_.operands[static_cast<size_t>(code_.first_carried_) + i];
      if (given.is_contiguous() || given.numel() == 0) return from;
      borrow(other(i), contiguous_meta(given)).copy_from(borrow(from, given));
      return other(i);
    }

    const ControlCode& code_;
    const StepCall& call_;
    std::vector<void*> now_, next_;
  };

  // Sets the inputs of one kind; place(index) gives the address of input number
  // `index` of that kind.
  template <typename Place>
  void set_inputs(Source::Kind kind, size_t which, BodyCall& body,
                  const Place& place) const {
    for (size_t i = 0; i < sources_[which].size(); ++i)
      if (sources_[which][i].kind == kind)
        body.inputs()[i] = place(static_cast<size_t>(sources_[which][i].index));
  }

  // Sets the inputs that are the same in all iterations.
  void set_operands(const StepCall& call, size_t which, BodyCall& body) const {
    set_inputs(Source::Kind::operand, which, body,
               [&](size_t i) { return call.operands[i]; });
  }

  void set_states(const States& states, size_t which, BodyCall& body) const {
    set_inputs(Source::Kind::state, which, body,
               [&](size_t i) { return states.now(i); });
  }

  // Sets where the body writes the carried values. One that it returns
  // unchanged stays where it is.
  void set_next(States& states, size_t which, BodyCall& body) const {
    for (size_t i = 0; i < step_.carried.size(); ++i) {
      const int32_t input = plans_[which].input_of(i);
      const bool same = input >= 0 &&
                        sources_[which][static_cast<size_t>(input)].kind ==
                            Source::Kind::state &&
                        sources_[which][static_cast<size_t>(input)].index ==
                            static_cast<int32_t>(i);
      if (same) {
        states.keep(i);
        body.results()[i] = states.now(i);
      } else {
        body.results()[i] = states.next(i);
      }
    }
  }

  void run_while(const StepCall& call) const {
    States states(*this, call);
    BodyCall condition(plans_[0], call.scratch + scratch_[0]);
    BodyCall body(plans_[1], call.scratch + scratch_[1]);
    set_operands(call, 0, condition);
    set_operands(call, 1, body);
    auto* const flag = reinterpret_cast<uint8_t*>(call.scratch + flag_);
    const Value& known = plans_[0].known();
    if (known.is_none()) condition.results()[0] = flag;
    for (int64_t done = 0;; ++done) {
      set_states(states, 0, condition);
      condition.run(times(call, 0));
      if (known.is_none() ? *flag == 0 : !static_cast<bool>(known)) break;
      fx::check_limits(limits_, step_.kind, done);
      set_states(states, 1, body);
      set_next(states, 1, body);
      body.run(times(call, 1));
      states.advance();
    }
    states.finish();
  }

  void run_slices(const StepCall& call) const {
    States states(*this, call);
    BodyCall body(plans_[0], call.scratch + scratch_[0]);
    set_operands(call, 0, body);
    const int64_t count = step_.xs[0].as_tensor().size(0);
    const bool pairs = step_.kind == ControlFlow::associative_scan;
    if (pairs) copy_first(call);
    for (int64_t i = pairs ? 1 : 0; i < count; ++i) {
      fx::check_limits(limits_, step_.kind, i);
      set_states(states, 0, body);
      set_next(states, 0, body);
      set_slices(call, i, body);
      body.run(times(call, 0));
      states.advance();
    }
    states.finish();
  }

  void set_slices(const StepCall& call, int64_t i, BodyCall& body) const {
    set_inputs(Source::Kind::slice, 0, body,
               [&](size_t k) { return slice(call, k, i); });
    set_inputs(Source::Kind::before, 0, body,
               [&](size_t k) { return stacked(call, k, i - 1); });
    for (size_t k = step_.carried.size(); k < step_.results.size(); ++k)
      body.results()[k] = stacked(call, k, i);
  }

  std::byte* slice(const StepCall& call, size_t index, int64_t i) const {
    const Tensor& xs = step_.xs[index].as_tensor();
    return static_cast<std::byte*>(
               call.operands[static_cast<size_t>(first_xs_) + index]) +
           i * xs.stride(0) * static_cast<int64_t>(xs.item_size());
  }

  std::byte* stacked(const StepCall& call, size_t k, int64_t i) const {
    const Tensor& stack = step_.results[k].as_tensor();
    return result(call, k) +
           i * stack.stride(0) * static_cast<int64_t>(stack.item_size());
  }

  // Copies the first slice to the result, since there is nothing to combine it
  // with.
  void copy_first(const StepCall& call) const {
    for (size_t k = 0; k < step_.xs.size(); ++k) {
      const Tensor& xs = step_.xs[k].as_tensor();
      Dims sizes = xs.sizes(), strides = xs.strides();
      sizes.erase(0);
      strides.erase(0);
      borrow(stacked(call, k, 0), Tensor::meta(sizes, xs.dtype()))
          .copy_from(borrow(slice(call, k, 0),
                            Tensor::meta(sizes, xs.dtype(), strides, 0)));
    }
  }

  const ControlCall step_;
  const std::vector<std::shared_ptr<const Executable>> programs_;
  const fx::LoopLimits limits_;
  int32_t first_carried_ = 0, first_xs_ = 0, first_result_ = 0;
  std::vector<Source> arguments_;             // What a body is given.
  std::vector<std::vector<Source>> sources_;  // By body and program input.
  std::vector<BodyPlan> plans_;
  std::vector<size_t> scratch_, states_;  // In the scratch.
  size_t flag_ = 0;
  size_t scratch_bytes_ = 0;
};

}  // namespace

std::shared_ptr<const ExternCode> make_control_code(
    ControlCall call, std::vector<std::shared_ptr<const Executable>> programs,
    fx::LoopLimits limits) {
  return std::make_shared<ControlCode>(std::move(call), std::move(programs),
                                       std::move(limits));
}

}  // namespace fxjit::program
