// The ONNX op Loop. A short loop of known length is unrolled. Otherwise it
// becomes a scan or map if the number of iterations is given, and a while_loop
// if data decide.
#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "src/import/onnx/ops/growing_loops.h"
#include "src/import/onnx/ops/loop_body.h"

namespace fxjit::onnx {
namespace {

// Why unrolling ends: the condition of an iteration is not known.
struct UnknownCondition {};

class LoopReader : LoopBody {
 public:
  explicit LoopReader(Call& call) : LoopBody(call) {}

  Results run() {
    if (turns_ && is_short(*turns_, body_)) {
      try {
        return unrolled();
      } catch (const UnknownCondition&) {
        return recorded_or_growing();
      }
    }
    if (!turns_ || *turns_ > kMostTurns) return recorded_or_growing();
    std::exception_ptr why;
    try {
      return recorded();
    } catch (const UserError&) {
      why = std::current_exception();
    }
    // Some of what differs between iterations may be known for each of them, so
    // unrolling is tried. If that fails as well, the first error is thrown: it
    // is about the body as the file has it, the second one about a copy of it.
    try {
      return unrolled();
    } catch (const UnknownCondition&) {
    } catch (const UserError&) {
    }
    return growing(why);
  }

 private:
  // --- Unrolled. ---

  Results unrolled() {
    Operand going = condition();
    std::vector<Operand> carried = carried_;
    std::vector<ValueList> rows(rows_);
    for (int64_t turn = first_turn_; turn < *turns_; ++turn) {
      const auto goes_on = known_truth(going);
      if (!goes_on) throw UnknownCondition();
      if (!*goes_on) break;
      const auto results = read_turn(turn, going, carried);
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

  // --- Recorded. ---

  Results recorded_or_growing() {
    std::exception_ptr why;
    try {
      return recorded();
    } catch (const UserError&) {
      why = std::current_exception();
    }
    return growing(why);
  }

  // Records the loop with those sizes taken for unknown that iterations change.
  // Reading the body again may find more of them. Throws `why` if that does not
  // help.
  Results growing(const std::exception_ptr& why) {
    for (size_t before = 0; before < grown_.size();) {
      before = grown_.size();
      try {
        return by_condition();
      } catch (const UserError&) {
      }
    }
    std::rethrow_exception(why);
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
    if (auto results = joined()) return *results;
    try {
      if (run_first()) return from_first();
    } catch (const UserError&) {
    }
    std::rethrow_exception(why);
  }

  // Records the loop with the tensors that it extends as stacks of what is
  // appended. None if the body reads these tensors in another way.
  std::optional<Results> joined() {
    if (grown_.empty()) return std::nullopt;
    for (const auto& [i, dim] : grown_) joined_.emplace(i, dim);
    const auto grown = std::exchange(grown_, {});
    try {
      return from_first();
    } catch (const UserError&) {
    }
    joined_.clear();
    grown_ = grown;
    return std::nullopt;
  }

  Results from_first() {
    if (known_truth(condition()) == true && call_.has(0) && has_number())
      if (auto results = counted()) return *results;
    return by_condition();
  }

  // Records the first iteration outside of the loop, so that the loop begins
  // with values that the body made; exporters start with placeholders that the
  // body does not read. Returns false if there may be no first iteration, or if
  // more than the last carried value is wanted.
  bool run_first() {
    const bool begins = first_turn_ == 0 && known_truth(condition()) == true &&
                        (!call_.has(0) || turns_.value_or(0) > 0);
    if (!begins || rows_ > 0) return false;
    auto results = read_turn(0, condition(), carried_);
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

  // Records a loop whose number of iterations is given. None if the body's
  // condition may end it earlier.
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

  void check(const Carried& first, const ValueList& next) {
    for (size_t i = 0; i < next.size(); ++i)
      note_growth(first.places[i], first.known[i], Recorder::known(next[i]));
    for (size_t i = 0; i < next.size(); ++i)
      check_carried(call_, first.places[i], first.known[i],
                    Recorder::known(next[i]));
  }

  // The dims in which the next value has another size.
  void note_growth(size_t i, const Recorder::Known& first,
                   const Recorder::Known& next) {
    if (next.guessed || !first.example.is_tensor() || !next.example.is_tensor())
      return;
    const Tensor &a = first.example.as_tensor(), &b = next.example.as_tensor();
    if (a.dtype() != b.dtype() || a.dim() != b.dim()) return;
    for (int d = 0; d < a.dim(); ++d)
      if (a.size(d) != b.size(d)) grown_.emplace(i, d);
  }

  // The first values, without the sizes that change.
  Carried first_of_growing() const {
    Carried first = first_values();
    for (size_t i = 0; i < first.places.size(); ++i)
      for (const auto& [place, dim] : grown_) {
        if (place != first.places[i]) continue;
        first.known[i].fixed_dims &= ~(1u << dim);
        first.known[i].guessed = true;
      }
    return first;
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

  // Records a loop that ends with its condition. Stacks are carried with as
  // many rows as there may be iterations, and are cut after the loop.
  Results by_condition() {
    Recorder& recorder = call_.recorder();
    const Carried first = first_of_growing();
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
    ValueList values = {
        recorder.constant(Tensor::full({}, first_turn_, DType::i64)),
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
    if (!grown_.empty()) made.function = &growing_loop();
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

  // Dims of carried values that iterations change.
  std::set<std::pair<size_t, int>> grown_;

  // Carried values and stacks by the outputs that they are.
  Results outputs(const ValueList& made) const {
    std::vector<Operand> all;
    size_t next = 0;
    for (size_t i = 0; i < carried_.size(); ++i) {
      Operand& one = all.emplace_back();
      if (is_unchanged(i))
        one = carried_[i];
      else if (!is_grown(i))
        one.value = made[next++];
    }
    for (size_t i = 0; i < rows_; ++i)
      all.emplace_back(is_wanted(i) ? made[next++] : Value());
    for (size_t i = 0; i < carried_.size(); ++i)
      if (is_grown(i)) all[i] = grown_result(i, made[next++]);
    for (size_t i = 0; i < all.size(); ++i)
      all[i].unsigned_bits = unsigned_bits_[i];
    return all;
  }
};

}  // namespace

Results loop(Call& call) { return LoopReader(call).run(); }

}  // namespace fxjit::onnx
