// Loop: unrolled where it is short and its length known, otherwise fx's scan or
// map where the number of iterations is given, while_loop where data decide.
#include <algorithm>
#include <exception>

#include "src/import/onnx/ops/control.h"

namespace fxjit::onnx {
namespace {

// Why unrolling ends: the condition of an iteration is not known.
struct UnknownCondition {};

class LoopReader {
 public:
  explicit LoopReader(Call& call) : call_(call), body_(call.graph("body")) {
    if (body_.inputs.size() < 2 || body_.outputs.empty())
      call.fail("body: expected a count and a condition among its inputs");
    if (call.has(0)) {
      const auto known = call.known_ints(0);
      if (known && known->size() != 1)
        call.fail("the number of iterations: expected one element");
      if (known) turns_ = (*known)[0];
    }
    // Absent trailing inputs are none at all.
    for (size_t i = 2; i < body_.inputs.size(); ++i)
      carried_.push_back(call.has(i) ? call.operand(i) : Operand());
    if (body_.outputs.size() < 1 + carried_.size())
      call.fail("body: it has fewer outputs than carried values");
    rows_ = body_.outputs.size() - 1 - carried_.size();
    for (const Operand& one : carried_)
      unsigned_bits_.push_back(one.unsigned_bits);
    unsigned_bits_.resize(carried_.size() + rows_);
  }

  Results run() {
    if (turns_ && is_short(*turns_, body_)) {
      try {
        return unrolled();
      } catch (const UnknownCondition&) {
        return recorded();
      }
    }
    if (!turns_ || *turns_ > kMostTurns) return recorded();
    std::exception_ptr why;
    try {
      return recorded();
    } catch (const UserError&) {
      why = std::current_exception();
    }
    // What iterations differ in may be known for each of them. Where that does
    // not help either, the first reason is the one to tell: it is about the
    // body as the file has it, the second one about some copy of it.
    try {
      return unrolled();
    } catch (const UnknownCondition&) {
    } catch (const UserError&) {
    }
    std::rethrow_exception(why);
  }

 private:
  // --- Unrolled. ---

  std::optional<bool> known_truth(const Operand& condition) const {
    if (condition.absent()) return true;
    if (condition.numbers && condition.numbers->items.size() == 1 &&
        condition.numbers->items[0].is_number())
      return condition.numbers->items[0].as_int() != 0;
    const Tensor* const known =
        condition.value.is_none()
            ? nullptr
            : call_.recorder().constant_of(condition.value);
    if (!known || known->numel() != 1) return std::nullopt;
    return known->item() != 0;
  }

  Operand condition() const {
    if (going_) return *going_;
    if (call_.has(1)) return call_.operand(1);
    return call_.recorder().constant(Tensor::full({}, 1, DType::boolean));
  }

  Results unrolled() {
    Operand going = condition();
    std::vector<Operand> carried = carried_;
    std::vector<ValueList> rows(rows_);
    for (int64_t turn = 0; turn < *turns_; ++turn) {
      const auto goes_on = known_truth(going);
      if (!goes_on) throw UnknownCondition();
      if (!*goes_on) break;
      std::vector<Operand> inputs = {Numbers{{Value(turn)}, true, DType::i64},
                                     going};
      inputs.insert(inputs.end(), carried.begin(), carried.end());
      auto results =
          call_.reader().read_inside(call_, body_, std::move(inputs));
      note_types(results);
      going = results[0];
      for (size_t i = 0; i < carried.size(); ++i) carried[i] = results[1 + i];
      for (size_t i = 0; i < rows_; ++i)
        rows[i].push_back(call_.tensor_of(results[1 + carried.size() + i]));
    }
    for (size_t i = 0; i < rows_; ++i) {
      if (rows[i].empty())
        call_.fail("a loop of no iterations collects nothing");
      Operand& one =
          carried.emplace_back(stack(Value::list(std::move(rows[i])), 0));
      one.unsigned_bits = unsigned_bits_[carried.size() - 1];
    }
    return carried;
  }

  // What the body gives behind its condition: carried values and rows.
  void note_types(const std::vector<Operand>& results) {
    for (size_t i = 0; i < unsigned_bits_.size(); ++i)
      unsigned_bits_[i] =
          std::max(unsigned_bits_[i], results[1 + i].unsigned_bits);
  }

  // --- Recorded. ---

  // The carried values that are tensors, those of sequences left out.
  struct Carried {
    ValueList values;
    std::vector<Recorder::Known> known;
  };

  // Whether the model reads the stack of these rows.
  bool is_wanted(size_t row) const {
    return call_.wants(carried_.size() + row);
  }
  bool is_sequence(size_t i) const { return carried_[i].value.is_sequence(); }

  Carried first_values() const {
    Carried first;
    for (size_t i = 0; i < carried_.size(); ++i) {
      if (is_sequence(i)) {
        if (carried_[i].value.size() != 0)
          call_.fail("carried value " + std::to_string(i) +
                     ": a sequence that a loop makes longer begins empty");
        continue;
      }
      if (carried_[i].absent())
        call_.fail("carried value " + std::to_string(i) +
                   ": an optional value that is absent at first");
      if (call_.recorder().is_list(carried_[i].value))
        call_.fail("carried value " + std::to_string(i) +
                   ": a sequence that is an input of the model");
      first.values.push_back(call_.tensor_of(carried_[i]));
      first.known.push_back(Recorder::known(first.values.back()));
    }
    return first;
  }

  // One iteration: its condition, the next carried values, the rows of stacks;
  // the rows of grown sequences are behind the others.
  struct Iteration {
    Operand condition;
    ValueList carried, rows;
  };

  Iteration read_body(const Value& turn, const Operand& going,
                      const ValueList& carried) {
    std::vector<Operand> inputs = {turn, going};
    size_t next = 0;
    for (size_t i = 0; i < carried_.size(); ++i) {
      Operand& input = inputs.emplace_back();
      input.unsigned_bits = carried_[i].unsigned_bits;
      if (is_sequence(i))
        input.grown = std::make_shared<GrownSequence>(GrownSequence{i, {}, {}});
      else
        input.value = carried[next++];
    }
    const auto results = call_.reader().read_inside(call_, body_, inputs);
    note_types(results);
    Iteration made;
    made.condition = results[0];
    for (size_t i = 0; i < carried_.size(); ++i) {
      if (!is_sequence(i))
        made.carried.push_back(call_.tensor_of(results[1 + i]));
    }
    for (size_t i = 0; i < rows_; ++i)
      if (is_wanted(i))
        made.rows.push_back(call_.tensor_of(results[1 + carried_.size() + i]));
    for (size_t i = 0; i < carried_.size(); ++i)
      if (is_sequence(i)) made.rows.push_back(appended(i, results[1 + i]));
    return made;
  }

  Value appended(size_t state, const Operand& output) const {
    if (!output.grown || output.grown->state != state ||
        output.grown->appended.size() != 1)
      call_.fail("carried value " + std::to_string(state) +
                 ": expected a sequence to which each iteration appends one "
                 "tensor");
    return output.grown->appended[0];
  }

  static Recorder::Known number() {
    return {Tensor::meta({}, DType::i64), ~0u};
  }
  static Recorder::Known flag() {
    return {Tensor::meta({}, DType::boolean), ~0u};
  }

  Results recorded() {
    std::exception_ptr why;
    try {
      return from_first();
    } catch (const UserError&) {
      why = std::current_exception();
    }
    try {
      if (run_first()) return from_first();
    } catch (const UserError&) {
    }
    std::rethrow_exception(why);
  }

  Results from_first() {
    if (known_truth(condition()) == true && call_.has(0) && has_number())
      if (auto results = counted()) return *results;
    return by_condition();
  }

  // Records the first iteration by itself, so that the values carried from then
  // on are the body's own: exporters begin with placeholders that the body does
  // not read. False where there need not be a first one, or where it is not the
  // last value alone that counts.
  bool run_first() {
    const bool begins = first_turn_ == 0 && known_truth(condition()) == true &&
                        (!call_.has(0) || turns_.value_or(0) > 0);
    if (!begins || rows_ > 0) return false;
    std::vector<Operand> inputs = {Numbers{{Value(0)}, true, DType::i64},
                                   condition()};
    inputs.insert(inputs.end(), carried_.begin(), carried_.end());
    auto results = call_.reader().read_inside(call_, body_, std::move(inputs));
    note_types(results);
    going_ = std::move(results[0]);
    carried_.assign(results.begin() + 1, results.end());
    first_turn_ = 1;
    return true;
  }

  // Whether the number of iterations is one of the graph, not in a tensor.
  bool has_number() const {
    return turns_ || call_.operand(0).numbers ||
           Recorder::follows_from_sizes(call_[0]);
  }

  // As many iterations as given; nothing where the body's condition may end
  // them.
  std::optional<Results> counted() {
    const Value turns = at_least_0(call_.scalar_int(0));
    Carried first = first_values();
    std::vector<Recorder::Known> inputs = first.known, results = first.known;
    inputs.push_back(number());
    bool ends = false;
    Recorder::Body body =
        call_.recorder().record_body(inputs, [&](const ValueList& in) {
          Iteration made =
              read_body(in.back(), condition(), {in.begin(), in.end() - 1});
          ends = known_truth(made.condition) != true;
          check(first, made.carried);
          for (const Value& row : made.rows)
            results.push_back(
                known_stack(known_row(row, first, made.carried), turns));
          made.carried.insert(made.carried.end(), made.rows.begin(),
                              made.rows.end());
          return made.carried;
        });
    if (ends) return std::nullopt;
    Recorder::ControlCall made{
        first.values.empty() ? fx::ControlFlow::map : fx::ControlFlow::scan,
        {},
        {},
        first.values,
        {held(call_, arange(first_turn_, turns))}};
    made.bodies.push_back(std::move(body));
    return outputs(call_.recorder().record_control(std::move(made), results));
  }

  void check(const Carried& first, const ValueList& next) const {
    for (size_t i = 0; i < next.size(); ++i)
      check_carried(call_, i, first.known[i], Recorder::known(next[i]));
  }

  // A row that is carried as well has the sizes of its first value.
  static Recorder::Known known_row(const Value& row, const Carried& first,
                                   const ValueList& next) {
    for (size_t i = 0; i < next.size(); ++i)
      if (row.is_proxy() && next[i].is_proxy() &&
          row.as_proxy() == next[i].as_proxy())
        return first.known[i];
    return Recorder::known(row);
  }

  // Iterations as long as the condition holds. Stacks are carried as well, as
  // long as the number of iterations may become, and cut behind the loop.
  Results by_condition() {
    Recorder& recorder = call_.recorder();
    Carried first = first_values();
    Value most;
    if (call_.has(0)) most = reshape(call_[0], Value::list({}));
    std::vector<Recorder::Known> state = {number(), flag()};
    state.insert(state.end(), first.known.begin(), first.known.end());
    std::vector<Recorder::Known> rows;
    Recorder::Body body = recorder.record_body(state, [&](const ValueList& in) {
      Iteration made = read_body(in[0], in[1], {in.begin() + 2, in.end()});
      check(first, made.carried);
      check_end(made.condition, in[1]);
      ValueList next = {in[0] + 1, flag_of(call_.tensor_of(made.condition))};
      next.insert(next.end(), made.carried.begin(), made.carried.end());
      for (const Value& row : made.rows) {
        rows.push_back(fixed(known_row(row, first, made.carried)));
        const Value stack = recorder.body_input(known_stack(rows.back(), {}));
        next.push_back(function(
            "torch.index_copy",
            {stack, 0, reshape(in[0], Value::list({1})), unsqueeze(row, 0)}));
      }
      return next;
    });
    ValueList values = {recorder.constant(Tensor::full({}, first_turn_, DType::i64)),
                        flag_of(call_.tensor_of(condition()))};
    values.insert(values.end(), first.values.begin(), first.values.end());
    for (const Recorder::Known& row : rows) {
      state.push_back(known_stack(row, {}));
      values.push_back(empty_stack(row));
    }
    Recorder::Body goes_on =
        recorder.record_body(state, [&](const ValueList& in) -> ValueList {
          return {most.is_none() ? in[1] : logical_and(in[1], in[0] < most)};
        });
    Recorder::ControlCall made{fx::ControlFlow::while_loop, {}, {}, values, {}};
    made.bodies.push_back(std::move(goes_on));
    made.bodies.push_back(std::move(body));
    const ValueList all = recorder.record_control(std::move(made), state);
    ValueList results(all.begin() + 2, all.end());
    if (!rows.empty()) {
      const Value turns = call_.item_of(all[0]);
      for (size_t i = first.values.size(); i < results.size(); ++i)
        results[i] = narrow(results[i], 0, 0, turns);
    }
    return outputs(results);
  }

  // A condition that stays true ends no loop.
  void check_end(const Operand& next, const Value& given) const {
    const bool same =
        next.value.is_proxy() && next.value.as_proxy() == given.as_proxy();
    if (!call_.has(0) && known_truth(condition()) == true &&
        (same || known_truth(next) == true))
      call_.fail(
          "it never ends: neither a number of iterations nor a condition");
  }

  // Rows of a stack that is made before the loop.
  Recorder::Known fixed(Recorder::Known row) const {
    const bool is_known =
        row.example.is_tensor() &&
        (row.fixed_dims | ~0u << row.example.as_tensor().dim()) == ~0u;
    if (!is_known) call_.fail("the sizes of a result that it collects vary");
    if (!call_.has(0))
      call_.fail("it collects results without a largest number of iterations");
    return row;
  }

  // As many as there may be iterations.
  Value most_rows() const {
    if (turns_) return std::max(*turns_, int64_t{0});
    if (has_number()) return at_least_0(call_.scalar_int(0));
    return call_.item_of(clamp_min(reshape(call_[0], Value::list({})), 0));
  }

  Value empty_stack(const Recorder::Known& row) const {
    ValueList sizes = {most_rows()};
    const Tensor& slice = row.example.as_tensor();
    for (const int64_t size : slice.sizes()) sizes.emplace_back(size);
    return zeros(Value::list(std::move(sizes)), slice.dtype());
  }

  // Carried values and stacks by the outputs that they are.
  Results outputs(const ValueList& made) const {
    std::vector<Operand> all;
    size_t next = 0;
    for (size_t i = 0; i < carried_.size(); ++i) {
      Operand& one = all.emplace_back();
      if (!is_sequence(i)) one.value = made[next++];
    }
    for (size_t i = 0; i < rows_; ++i)
      all.emplace_back(is_wanted(i) ? made[next++] : Value());
    for (size_t i = 0; i < carried_.size(); ++i)
      if (is_sequence(i))
        all[i].grown =
            std::make_shared<GrownSequence>(GrownSequence{i, {}, made[next++]});
    for (size_t i = 0; i < all.size(); ++i)
      all[i].unsigned_bits = unsigned_bits_[i];
    return all;
  }

  Call& call_;
  const GraphInfo body_;
  std::optional<int64_t> turns_;
  int64_t first_turn_ = 0;        // Iterations before it are recorded already,
  std::optional<Operand> going_;  // and gave this condition.
  std::vector<Operand> carried_;
  size_t rows_ = 0;
  // See Operand: of the carried values and then of the stacks.
  std::vector<UnsignedBits> unsigned_bits_;
};

}  // namespace

Results loop(Call& call) { return LoopReader(call).run(); }

}  // namespace fxjit::onnx
