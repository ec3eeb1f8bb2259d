// Descriptors 0, 1 and 2 belong to whoever reads standard input and prints: a
// file that gets one of them, in a process that was started without, is read as
// input or written over by messages.
#pragma once

namespace fxjit::support {

// `descriptor`, just opened with O_CLOEXEC, or the same file under a number
// above
// 2. Negative as given, and with errno set where there is no other number.
int above_standard(int descriptor);

}  // namespace fxjit::support
