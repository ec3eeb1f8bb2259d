// A user's program: the installed package must be enough for it.
#include <cstdio>

#include "fxjit/fxjit.h"
#include "fxjit/version.h"

int main() {
  std::printf("fxjit %s\n", FXJIT_VERSION_STRING);
  return 0;
}
