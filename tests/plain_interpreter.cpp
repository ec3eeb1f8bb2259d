// In all test programs the interpreter computes convolutions and pooling by
// plain loops: compiled programs are held against it.
#include <cstdlib>

namespace {

[[maybe_unused]] const int given = setenv("FXJIT_INTERPRETER", "plain", 0);

}  // namespace
