// Compiles loops over vectors of floats once per CPU level and vector width.
// Who includes this, in an unnamed namespace, defines
//
//   FXJIT_LOOPS       a header of loops: included with FXJIT_LANES floats to a
//                     vector into avx512::wide, narrow (half of it) and single
//                     (one float), and the same of avx2 and sse41
//   FXJIT_LEVEL_CODE  a header on top of them: included into avx512, ...

#define FXJIT_INLINE [[gnu::always_inline]] inline
#define FXJIT_FORCED __attribute__((always_inline))

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
namespace avx512 {
namespace wide {
#define FXJIT_LANES 16
#include FXJIT_LOOPS
#undef FXJIT_LANES
}  // namespace wide
namespace narrow {
#define FXJIT_LANES 8
#include FXJIT_LOOPS
#undef FXJIT_LANES
}  // namespace narrow
namespace single {
#define FXJIT_LANES 1
#include FXJIT_LOOPS
#undef FXJIT_LANES
}  // namespace single
#include FXJIT_LEVEL_CODE
}  // namespace avx512
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
namespace wide {
#define FXJIT_LANES 8
#include FXJIT_LOOPS
#undef FXJIT_LANES
}  // namespace wide
namespace narrow {
#define FXJIT_LANES 4
#include FXJIT_LOOPS
#undef FXJIT_LANES
}  // namespace narrow
namespace single {
#define FXJIT_LANES 1
#include FXJIT_LOOPS
#undef FXJIT_LANES
}  // namespace single
#include FXJIT_LEVEL_CODE
}  // namespace avx2
#pragma GCC pop_options

namespace sse41 {
namespace wide {
#define FXJIT_LANES 4
#include FXJIT_LOOPS
#undef FXJIT_LANES
}  // namespace wide
namespace narrow = wide;
namespace single {
#define FXJIT_LANES 1
#include FXJIT_LOOPS
#undef FXJIT_LANES
}  // namespace single
#include FXJIT_LEVEL_CODE
}  // namespace sse41
