// Compiles code once per CPU level. Who includes this, in an unnamed namespace,
// defines FXJIT_LEVEL_CODE, a header that has a function run(): it is included
// into avx512, avx2 and sse41 under that level's target options, with
// FXJIT_REGISTER floats to a register. at_level() calls the run() of a level.

#define FXJIT_INLINE [[gnu::always_inline]] inline
#define FXJIT_FORCED __attribute__((always_inline))
#define FXJIT_LANES FXJIT_REGISTER  // Floats to a vector; see vector_widths.h.

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
namespace avx512 {
#define FXJIT_REGISTER 16
#include FXJIT_LEVEL_CODE
#undef FXJIT_REGISTER
}  // namespace avx512
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
#define FXJIT_REGISTER 8
#include FXJIT_LEVEL_CODE
#undef FXJIT_REGISTER
}  // namespace avx2
#pragma GCC pop_options

namespace sse41 {
#define FXJIT_REGISTER 4
#include FXJIT_LEVEL_CODE
#undef FXJIT_REGISTER
}  // namespace sse41

template <typename... Args>
void at_level(CpuLevel level, const Args&... args) {
  switch (level) {
    case CpuLevel::avx512:
      return avx512::run(args...);
    case CpuLevel::avx2:
      return avx2::run(args...);
    case CpuLevel::sse41:
      return sse41::run(args...);
  }
}
