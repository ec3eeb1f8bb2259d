// Included by code for a CPU level (each_level.h): compiles FXJIT_LOOPS, a
// header of loops, once per vector width, with FXJIT_LANES floats to a vector:
// wide, as many as a register holds; narrow, half of it but four at least.

namespace wide {
#include FXJIT_LOOPS
}  // namespace wide

#undef FXJIT_LANES
#if FXJIT_REGISTER == 4
namespace narrow = wide;
#else
#define FXJIT_LANES (FXJIT_REGISTER / 2)
namespace narrow {
#include FXJIT_LOOPS
}  // namespace narrow
#undef FXJIT_LANES
#endif

#define FXJIT_LANES FXJIT_REGISTER
