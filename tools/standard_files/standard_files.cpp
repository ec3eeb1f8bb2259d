// For every program of the project: where it was started without standard
// input, output or error, it gets closed ones that fail, before main and before
// files are opened, which would be read or printed to under these numbers
// otherwise.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace {

// Input can only be written and output only be read, so that use fails as that
// of a closed descriptor does (EBADF). open() gives the lowest free number,
// which is the closed one, as those below are open by then.
void hold(int number) {
  if (fcntl(number, F_GETFD) != -1 || errno != EBADF) return;
  open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

[[gnu::constructor]] void hold_standard_files() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    hold(number);
}

}  // namespace
