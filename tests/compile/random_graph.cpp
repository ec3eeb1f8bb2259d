#include "tests/compile/random_graph.h"

#include "tests/compile/graph_writes.h"

namespace fxjit::testing {
namespace {

class RandomGraph : public WritingCalls {
 public:
  explicit RandomGraph(uint32_t seed) : WritingCalls(seed) {
    writes_ = chance(0.7);
  }

  RandomCase run() {
    const int64_t inputs = 1 + pick(3);
    for (int64_t i = 0; i < inputs; ++i) {
      const Dims sizes =
          random_sizes();  // Compilers order arguments otherwise.
      add_input(sizes, chance(0.85) ? DType::f32 : random_dtype());
    }
    const int64_t calls = 4 + pick(14);
    for (int64_t i = 0, tries = 0; i < calls && tries < 200; ++tries)
      i += grow();
    finish();
    return std::move(case_);
  }

 private:
  bool grow() {
    if (writes_ && chance(0.25)) return write_something();
    const int64_t dice = pick(127);
    if (dice < 20) return unary();
    if (dice < 38) return binary();
    if (dice < 46) return reduce();
    if (dice < 52) return norm();
    if (dice < 60) return product();
    if (dice < 75) return view();
    if (dice < 79) return choose();
    if (dice < 83) return pick_rows();
    if (dice < 86) return cast();
    if (dice < 90) return unusual();
    if (dice < 97) return layer();
    if (dice < 103) return pieces();
    if (dice < 110) return composite();
    if (dice < 112) return sort();
    if (dice < 120) return alias();
    return turned();
  }

  bool writes_ = false;
};

}  // namespace

RandomCase random_graph(uint32_t seed) { return RandomGraph(seed).run(); }

}  // namespace fxjit::testing
