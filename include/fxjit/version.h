// The version of fxjit. The build reads it from here, so it stands nowhere
// else. Anyone may include this header; it includes nothing.
#ifndef FXJIT_VERSION_H_
#define FXJIT_VERSION_H_

#define FXJIT_VERSION_MAJOR 0
#define FXJIT_VERSION_MINOR 1
#define FXJIT_VERSION_PATCH 0

// "0.1.0", as a string literal.
#define FXJIT_VERSION_STRING "0.1.0"

#endif  // FXJIT_VERSION_H_
