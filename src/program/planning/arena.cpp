// Places arena buffers so that buffers alive at different times share memory:
// largest first, each at the lowest offset where it meets no other that is
// alive with it.
#include <algorithm>

#include "src/program/planning/builder.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

constexpr int64_t kAlignment = 64;

struct Life {
  int32_t buffer = -1;
  int32_t first = INT32_MAX;  // Steps, inclusive.
  int32_t last = -1;
  int64_t bytes = 0;
  int64_t offset = 0;
};

std::vector<Life> lifetimes(const Program& program) {
  std::vector<Life> lives(program.buffers.size());
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    lives[i].buffer = static_cast<int32_t>(i);
    lives[i].bytes = support::round_up(program.buffers[i].bytes, kAlignment);
  }
  for (size_t s = 0; s < program.steps.size(); ++s)
    for (const OperandRef& ref : program.steps[s].operands) {
      Life& life = lives[static_cast<size_t>(ref.buffer)];
      life.first = std::min(life.first, static_cast<int32_t>(s));
      life.last = std::max(life.last, static_cast<int32_t>(s));
    }
  for (int32_t kept : program.kept)
    lives[static_cast<size_t>(kept)].last =
        static_cast<int32_t>(program.steps.size()) - 1;
  std::erase_if(lives, [&](const Life& life) {
    return life.last < 0 ||
           program.buffers[static_cast<size_t>(life.buffer)].home !=
               Home::arena;
  });
  return lives;
}

// The buffers that have their place, by the steps in which they are alive.
class Layout {
 public:
  explicit Layout(size_t steps) : alive_(steps) {}

  int64_t lowest_offset(const Life& life) const {
    std::vector<Life> meets = meeting(life);
    std::sort(meets.begin(), meets.end(),
              [](const Life& a, const Life& b) { return a.offset < b.offset; });
    int64_t offset = 0;
    for (const Life& other : meets) {
      if (offset + life.bytes <= other.offset) break;
      offset = std::max(offset, other.offset + other.bytes);
    }
    return offset;
  }

  void add(const Life& life) {
    for (int32_t s = life.first; s <= life.last; ++s)
      alive_[static_cast<size_t>(s)].push_back(life);
  }

 private:
  // Each once: at the first of the steps that both are alive in.
  std::vector<Life> meeting(const Life& life) const {
    std::vector<Life> found;
    for (int32_t s = life.first; s <= life.last; ++s)
      for (const Life& other : alive_[static_cast<size_t>(s)])
        if (s == std::max(life.first, other.first)) found.push_back(other);
    return found;
  }

  std::vector<std::vector<Life>> alive_;
};

}  // namespace

void assign_arena(Program& program) {
  std::vector<Life> lives = lifetimes(program);
  std::stable_sort(
      lives.begin(), lives.end(),
      [](const Life& a, const Life& b) { return a.bytes > b.bytes; });
  Layout placed(program.steps.size());
  for (Life& life : lives) {
    life.offset = placed.lowest_offset(life);
    program.buffers[static_cast<size_t>(life.buffer)].offset = life.offset;
    program.arena_bytes =
        std::max(program.arena_bytes, life.offset + life.bytes);
    placed.add(life);
  }
}

}  // namespace fxjit::program
