#include "src/program/driver/turns.h"

#include <algorithm>

namespace fxjit::program {
namespace {

// Steps by tasks that walk places in order, if they do. Places of an image with
// channels innermost are the rows of a product.

int64_t tasks_of(const TileStep& step) {
  return step.cut.groups() * step.cut.blocks();
}
int64_t tasks_of(const WindowStep& step) {
  return step.slices() * step.code.row_blocks;
}

// Places of the result that the first `tasks` tasks complete.
int64_t places_after(const TileStep& step, int64_t tasks) {
  return step.cut.starts[static_cast<size_t>(tasks / step.cut.groups())];
}
int64_t rows_after(const WindowStep& step, int64_t tasks) {
  return tasks % step.code.row_blocks * step.code.rows_of_block;
}
int64_t places_after(const WindowStep& step, int64_t tasks) {
  const int64_t images = tasks / step.code.row_blocks;
  return (images * step.rows() + rows_after(step, tasks)) * step.columns();
}

// Places of the first operand that have to be there for them. They are no fewer
// than those of the result: what reads this may write where the operand's
// source lies.
int64_t places_before(const TileStep& step, int64_t tasks) {
  return places_after(step, tasks);
}
int64_t places_before(const WindowStep& step, int64_t tasks) {
  const int64_t images = tasks / step.code.row_blocks;
  const int64_t rows = rows_after(step, tasks);
  const int64_t reach = (rows - 1) * step.strides[1] - step.pads[1] +
                        (step.taps[1] - 1) * step.dilations[1] + 1;
  const int64_t read =
      rows == 0 ? 0 : std::min<int64_t>(std::max(rows, reach), step.sizes[1]);
  return (images * step.sizes[1] + read) * step.sizes[2];
}

// How places lie in memory: elements from one to the next, and how many.
struct PlaceRun {
  int64_t stride = 0, count = 0;
  friend bool operator==(const PlaceRun&, const PlaceRun&) = default;
};
constexpr PlaceRun kNowhere{};

PlaceRun read_by(const TileStep& step) {
  return step.has_window() ? kNowhere : PlaceRun{step.lhs_row, step.rows};
}
PlaceRun read_by(const WindowStep& step) {
  const int64_t column = step.steps[4];
  const int64_t row = column * step.sizes[2];
  if (step.steps[3] != row || step.steps[0] != row * step.sizes[1] ||
      step.input != DType::f32)
    return kNowhere;
  return {column, step.outer[0] * step.sizes[1] * step.sizes[2]};
}

PlaceRun written_by(const TileStep& step) {
  const TileAccess& out = step.outputs[0];
  return out.dtype == DType::f32 ? PlaceRun{out.row, step.rows} : kNowhere;
}
PlaceRun written_by(const WindowStep& step) {
  const Access& out = step.outputs[0];
  const int64_t column = out.outer[3], row = column * step.columns();
  if (out.outer[2] != row || out.outer[0] != row * step.rows() ||
      out.dtype != DType::f32)
    return kNowhere;
  return {column, step.outer[0] * step.rows() * step.columns()};
}

bool walks_places(const TileStep& step) {
  return step.batch == 1 && step.cut.rows_first && !step.packs() &&
         step.outputs.size() == 1;
}
bool walks_places(const WindowStep& step) {
  return step.channels_inner && step.has_dense_channels() &&
         step.outer[1] == 1 && step.sizes[0] == 1 && step.taps[0] == 1 &&
         step.outputs.size() == 1;
}

int64_t weight_bytes(const TileStep& step) {
  return step.columns * step.depth * int64_t{sizeof(float)};
}
int64_t weight_bytes(const WindowStep&) { return 0; }

// `fn` of the step's body if it may be of a chain, else what `Result` begins
// with.
template <typename Result, typename Fn>
Result of_body(const Step& step, Fn fn) {
  return std::visit(
      Overloaded{[&](const TileStep& body) { return Result(fn(body)); },
                 [&](const WindowStep& body) { return Result(fn(body)); },
                 [](const auto&) { return Result{}; }},
      *step.body);
}

bool walks_places(const Step& step) {
  return of_body<bool>(step, [](const auto& s) { return walks_places(s); });
}
PlaceRun read_by(const Step& step) {
  return of_body<PlaceRun>(step, [](const auto& s) { return read_by(s); });
}
PlaceRun written_by(const Step& step) {
  return of_body<PlaceRun>(step, [](const auto& s) { return written_by(s); });
}
int64_t weight_bytes(const Step& step) {
  return of_body<int64_t>(step, [](const auto& s) { return weight_bytes(s); });
}

class ChainFinder {
 public:
  explicit ChainFinder(const Program& program) : program_(program) {}

  std::vector<Chain> find() const {
    std::vector<Chain> found;
    const auto count = static_cast<int32_t>(program_.steps.size());
    for (int32_t first = 0; first < count;) {
      const int32_t length = this->length(first);
      if (length > 1) found.push_back({first, length});
      first += length;
    }
    return found;
  }

 private:
  const Step& step(int32_t number) const {
    return program_.steps[static_cast<size_t>(number)];
  }

  int32_t length(int32_t first) const {
    if (!walks_places(step(first))) return 1;
    // Weights stay in half of the cache, beside the places under way.
    int64_t room = program_.machine.cache_bytes / 2 - weight_bytes(step(first));
    int32_t next = first + 1;
    for (; next < static_cast<int32_t>(program_.steps.size()); ++next) {
      room -= weight_bytes(step(next));
      if (room < 0 || !follows(first, next)) break;
    }
    return next - first;
  }

  // Whether step `next` takes turns with those from `first` on.
  bool follows(int32_t first, int32_t next) const {
    const Step &before = step(next - 1), &after = step(next);
    if (!walks_places(after)) return false;
    const OperandRef &from = before.operands.back(), &to = after.operands[0];
    const PlaceRun places = read_by(after);
    if (from != to || places == kNowhere || places != written_by(before))
      return false;
    const int64_t bytes = places.stride * places.count * int64_t{sizeof(float)};
    return bytes > program_.machine.cache_bytes && stands_apart(first, next);
  }

  // Whether its operands but for the first are not written here, and its result
  // is not used here. It may replace what the first step reads, place by place.
  bool stands_apart(int32_t first, int32_t next) const {
    const std::vector<OperandRef>& operands = step(next).operands;
    const OperandRef& result = operands.back();
    for (int32_t s = first; s < next; ++s) {
      const std::vector<OperandRef>& earlier = step(s).operands;
      for (size_t i = 1; i < operands.size(); ++i)
        if (operands[i].buffer == earlier.back().buffer) return false;
      for (size_t i = 0; i < earlier.size(); ++i) {
        const bool replaced =
            s == first && i == 0 && earlier[i] == result &&
            std::holds_alternative<TileStep>(*step(s).body) &&
            read_by(step(s)) != kNowhere &&
            read_by(step(s)) == written_by(step(next));
        if (earlier[i].buffer == result.buffer && !replaced) return false;
      }
    }
    return true;
  }

  const Program& program_;
};

// Makes the turns of a chain: what is wanted of a step first asks the one
// before.
class TurnMaker {
 public:
  explicit TurnMaker(std::span<const Step> steps)
      : steps_(steps), done_(steps.size(), 0) {}

  std::vector<Turn> make() {
    const size_t last = steps_.size() - 1;
    while (done_[last] < tasks(last)) run(last, after(last, done_[last]) + 1);
    for (size_t s = 0; s < steps_.size(); ++s)
      if (done_[s] < tasks(s)) run(s, after(s, tasks(s)));
    return std::move(turns_);
  }

 private:
  int64_t tasks(size_t s) const {
    return of_body<int64_t>(steps_[s],
                            [](const auto& step) { return tasks_of(step); });
  }
  int64_t after(size_t s, int64_t tasks) const {
    return of_body<int64_t>(
        steps_[s], [&](const auto& step) { return places_after(step, tasks); });
  }
  int64_t before(size_t s, int64_t tasks) const {
    return of_body<int64_t>(steps_[s], [&](const auto& step) {
      return places_before(step, tasks);
    });
  }

  // Runs step `s` until `places` of its result are there.
  void run(size_t s, int64_t places) {
    const int64_t begin = done_[s];
    int64_t end = begin;
    while (end < tasks(s) && after(s, end) < places) ++end;
    if (end == begin) return;
    if (s > 0) run(s - 1, before(s, end));
    turns_.push_back({static_cast<int32_t>(s), begin, end});
    done_[s] = end;
  }

  std::span<const Step> steps_;
  std::vector<int64_t> done_;  // Tasks.
  std::vector<Turn> turns_;
};

}  // namespace

std::vector<Chain> chains_of(const Program& program) {
  // Not measured with AVX-512, whose caches are larger.
  if (program.machine.threads != 1 ||
      program.machine.level == CpuLevel::avx512)
    return {};
  return ChainFinder(program).find();
}

std::vector<Turn> turns_of(std::span<const Step> steps) {
  return TurnMaker(steps).make();
}

}  // namespace fxjit::program
