#include <algorithm>

#include "jit/emit/access.h"
#include "jit/emit/body.h"
#include "jit/emit/reduction.h"
#include "jit/emit/skeletons.h"
#include "src/program/cost/body_work.h"

namespace fxjit::jit {
namespace {

// Independent sums that hide the latency of one addition. A body that costs
// more than the second number hides it by itself.
constexpr int64_t kChains = 4;
constexpr int kHeavyBody = 16;
// Points whose sum is made separately before it is added to the total, so that
// rounding errors grow with the number of such stretches and not of points.
constexpr int64_t kStretch = 128;

// One task: a block of columns at one point of the outer dims.
class ColumnBlock {
 public:
  ColumnBlock(VectorBuilder& b, const program::ColumnForm& form,
              const StepArguments& arguments, const Values& operands,
              const Values& outer, const std::vector<Place>& places)
      : b_(b),
        loops_(form.loops),
        body_(form.body),
        arguments_(arguments),
        operands_(operands),
        outer_(outer),
        places_(places) {
    for (size_t i = 0; i < body_.instrs.size(); ++i) {
      if (is_reduction(body_.instrs[i].prim)) {
        reductions_.push_back(int32_t(i));
      }
    }
    copies_ = choose_copies();
  }

  void run() {
    const Values sums = joined(reduce(0, {}, identities()));
    for (size_t p = 0; p < places_.size(); ++p) store(p, sums);
  }

 private:
  // Accumulators: [copy][place][reduction].
  size_t group() const { return places_.size() * reductions_.size(); }

  // How many neighbouring points of the last reduced dim are reduced side by
  // side.
  int choose_copies() const {
    if (loops_.reduce.empty() || program::body_cost(body_) >= kHeavyBody)
      return 1;
    const int64_t wanted =
        std::max<int64_t>(kChains / int64_t(places_.size()), 1);
    const program::Extent& last = loops_.reduce.back();
    if (last.is_argument()) return int(wanted);
    return int(std::clamp(last.number(), int64_t{1}, wanted));
  }

  Values identities() {
    Values values;
    for (int copy = 0; copy < copies_; ++copy) {
      for (size_t p = 0; p < places_.size(); ++p) {
        for (int32_t id : reductions_) {
          values.push_back(
              reduction_identity(b_, body_.instrs[size_t(id)], b_.lanes()));
        }
      }
    }
    return values;
  }

  // Loops over reduced dim number `dim` and those inside it.
  Values reduce(size_t dim, const Values& point, const Values& sums) {
    if (dim == loops_.reduce.size()) return one_point(point, 0, sums);
    Value* size = arguments_.reduce[dim];
    Value* zero = b_.i64(0);
    if (dim + 1 < loops_.reduce.size()) {
      return count(zero, size, 1, sums, [&](Value* i, const Values& carried) {
        return reduce(dim + 1, with(point, i), carried);
      });
    }
    if (!is_long(dim)) return stretch(zero, size, point, sums);
    return count(zero, size, kStretch, sums,
                 [&](Value* i, const Values& carried) {
                   Value* end = b_.min(b_.add(i, b_.i64(kStretch)), size);
                   return added(carried, stretch(i, end, point, identities()));
                 });
  }

  bool is_long(size_t dim) const {
    const program::Extent& size = loops_.reduce[dim];
    return size.is_argument() || size.number() > kStretch;
  }

  // Reduces points [first, end) of the last reduced dim, as many at a time as
  // there are copies of the sums.
  Values stretch(Value* first, Value* end, const Values& point,
                 const Values& sums) {
    Value* copies = b_.i64(copies_);
    Value* whole = b_.ir().CreateUDiv(b_.sub(end, first), copies);
    Value* main = b_.add(first, b_.mul(whole, copies));
    const Values done =
        count(first, main, copies_, sums, [&](Value* i, const Values& carried) {
          Values next = carried;
          for (int copy = 0; copy < copies_; ++copy) {
            next = one_point(with(point, b_.add(i, b_.i64(copy))), copy, next);
          }
          return next;
        });
    if (copies_ == 1) return done;
    return count(main, end, 1, done, [&](Value* i, const Values& carried) {
      return one_point(with(point, i), 0, carried);
    });
  }

  // Emits a loop from `lo` to `hi`, or straight code if the sizes are known to
  // need no loop.
  Values count(Value* lo, Value* hi, int64_t step, const Values& sums,
               VectorBuilder::LoopBody body) {
    const auto* first = llvm::dyn_cast<llvm::ConstantInt>(lo);
    const auto* last = llvm::dyn_cast<llvm::ConstantInt>(hi);
    if (first && last) {
      const int64_t rest = last->getSExtValue() - first->getSExtValue();
      if (rest <= 0) return sums;
      if (rest <= step) return body(lo, sums);
    }
    return b_.loop(lo, hi, b_.i64(step), sums, body);
  }

  static Values with(Values point, Value* index) {
    point.push_back(index);
    return point;
  }

  Values one_point(const Values& point, int copy, const Values& sums) {
    const Values inputs = addresses(point);
    Values next = sums;
    for (size_t p = 0; p < places_.size(); ++p) {
      BodyValues values = values_at(places_[p], inputs, point, {});
      for (size_t r = 0; r < reductions_.size(); ++r) {
        const ScalarInstr& instr = body_.instrs[size_t(reductions_[r])];
        Value* value = values.reduced(instr);
        Value*& sum = next[size_t(copy) * group() + p * reductions_.size() + r];
        sum = reduction_step(b_, instr, sum, value, /*mask=*/nullptr);
      }
    }
    return next;
  }

  // Combines the copies of the sums: [place][reduction].
  Values joined(const Values& sums) {
    const auto first = sums.begin();
    const auto size = std::ptrdiff_t(group());
    Values total(first, first + size);
    for (auto copy = first + size; copy != sums.end(); copy += size)
      total = added(total, Values(copy, copy + size));
    return total;
  }

  // Combines two lists of sums of the same places, element by element.
  Values added(const Values& sums, const Values& more) {
    Values total = sums;
    for (size_t i = 0; i < total.size(); ++i) {
      const int32_t id = reductions_[i % reductions_.size()];
      total[i] = reduction_step(b_, body_.instrs[size_t(id)], total[i], more[i],
                                /*mask=*/nullptr);
    }
    return total;
  }

  void store(size_t p, const Values& sums) {
    const Values origin(loops_.reduce.size(), b_.i64(0));
    const Values inputs = addresses(origin);
    Values reduced(body_.instrs.size(), nullptr);
    for (size_t r = 0; r < reductions_.size(); ++r) {
      reduced[size_t(reductions_[r])] = sums[p * reductions_.size() + r];
    }
    BodyValues values = values_at(places_[p], inputs, origin, reduced);
    for (size_t r = 0; r < loops_.outputs.size(); ++r) {
      const program::AccessForm& access = loops_.outputs[r];
      // A block of one column may have any stride.
      const int64_t stride = loops_.inner == 1 ? 1 : access.inner.number();
      store_at(b_, access.dtype, stride, values.result(r, access.dtype),
               operands_[loops_.inputs.size() + r], places_[p]);
    }
  }

  // Where the columns of each input begin at a point of the reduced dims.
  Values addresses(const Values& point) {
    return operand_addresses(b_, loops_, arguments_, operands_,
                             loops_.inputs.size(), &ArgumentAccess::reduce,
                             point);
  }

  BodyValues values_at(const Place& place, const Values& inputs,
                       const Values& point, const Values& reduced) {
    return BodyValues(
        b_, body_, b_.lanes(),
        [this, place, inputs, point, reduced](BodyValues&,
                                              int32_t id) -> Value* {
          const ScalarInstr& instr = body_.instrs[size_t(id)];
          if (is_reduction(instr.prim) && !reduced.empty()) {
            return reduced[size_t(id)];
          }
          if (instr.prim == Prim::index) return index(instr.slot, place, point);
          if (instr.prim != Prim::input) return nullptr;
          const auto slot = size_t(instr.slot);
          const program::AccessForm& access = loops_.inputs[slot];
          Value* loaded = load_at(b_, access.dtype, access.inner.number(),
                                  inputs[slot], place);
          return convert_computed(b_, loaded, access.dtype, instr.type);
        });
  }

  // Positions are numbered outer dims first, then reduced ones, then inner.
  Value* index(int32_t slot, const Place& place, const Values& point) {
    const auto at = size_t(slot);
    if (at < outer_.size()) return b_.splat(outer_[at]);
    if (at < outer_.size() + point.size())
      return b_.splat(point[at - outer_.size()]);
    return b_.add(b_.splat(place.first), b_.iota(b_.i64()));
  }

  VectorBuilder& b_;
  const program::LoopForm& loops_;
  const ScalarBody& body_;
  const StepArguments& arguments_;
  const Values& operands_;
  const Values& outer_;
  const std::vector<Place>& places_;
  std::vector<int32_t> reductions_;
  int copies_ = 1;
};

class ColumnsEmitter {
 public:
  ColumnsEmitter(VectorBuilder& b, const program::ColumnForm& form)
      : b_(b),
        args_(b),
        form_(form),
        loops_(form.loops),
        arguments_(b, form.loops),
        width_(form.block) {}

  void run() {
    place_operands();
    b_.loop(args_.begin(), args_.end(), b_.i64(1),
            [&](Value* number) { task(number); });
    b_.ret();
  }

 private:
  // Numbers of the body lie among the arguments, everything else in the call.
  void place_operands() {
    const auto numbers = size_t(form_.numbers);
    const size_t inputs = loops_.inputs.size() - numbers;
    const size_t first = program::ArgumentPlaces(loops_).end();
    for (size_t i = 0; i < inputs; ++i) operands_.push_back(args_.operand(i));
    for (size_t i = 0; i < numbers; ++i)
      operands_.push_back(b_.offset_bytes(
          args_.data(), int64_t((first + i) * sizeof(int64_t))));
    for (size_t i = 0; i < loops_.outputs.size(); ++i)
      operands_.push_back(args_.operand(inputs + i));
  }

  void task(Value* number) {
    if (loops_.inner == 0) return;
    Value* blocks = b_.ir().CreateUDiv(
        b_.add(arguments_.inner, b_.i64(width_ - 1)), b_.i64(width_));
    const bool one = !form_.whole_blocks;
    Value* point = one ? number : b_.ir().CreateUDiv(number, blocks);
    Value* block = one ? b_.i64(0) : b_.sub(number, b_.mul(point, blocks));
    const Values outer = unravel(b_, point, arguments_.outer);
    Values bases;
    for (size_t i = 0; i < operands_.size(); ++i) {
      bases.push_back(point_address(b_, operands_[i], loops_.access(i).dtype,
                                    arguments_.accesses[i].outer, outer));
    }
    Value* first = b_.mul(block, b_.i64(width_));
    const auto emit = [&](const std::vector<Place>& places) -> Values {
      ColumnBlock(b_, form_, arguments_, bases, outer, places).run();
      return {};
    };
    if (form_.rest_vectors == 0 || one) {
      emit(one ? rest(first) : whole(first));
    } else {
      b_.if_else(
          b_.eq(block, b_.sub(blocks, b_.i64(1))),
          [&] { return emit(rest(first)); },
          [&] { return emit(whole(first)); });
    }
  }

  std::vector<Place> whole(Value* first) {
    return places(first, width_ / b_.lanes());
  }

  // The places from `first` on of the last, narrower block: as many vectors as
  // the form says.
  std::vector<Place> rest(Value* first) {
    if (loops_.inner == 1) return {{first, b_.i64(1)}};
    std::vector<Place> all = places(first, form_.rest_vectors);
    if (form_.rest_partial)
      all.back().active = b_.sub(arguments_.inner, all.back().first);
    return all;
  }

  std::vector<Place> places(Value* first, int64_t vectors) {
    std::vector<Place> all;
    for (int64_t i = 0; i < vectors; ++i)
      all.push_back({b_.add(first, b_.i64(i * b_.lanes()))});
    return all;
  }

  VectorBuilder& b_;
  KernelArgs args_;
  const program::ColumnForm& form_;
  const program::LoopForm& loops_;
  const StepArguments arguments_;
  const int64_t width_;
  Values operands_;
};

}  // namespace

void emit(VectorBuilder& b, const program::ColumnForm& form) {
  ColumnsEmitter(b, form).run();
}

}  // namespace fxjit::jit
