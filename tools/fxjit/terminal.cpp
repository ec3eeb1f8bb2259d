#include "tools/fxjit/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace fxjit::command {
namespace {

bool is_plain_terminal() {
  const char* const kind = std::getenv("TERM");
  return !kind || std::string_view(kind) == "dumb";
}

size_t columns_of(int descriptor) {
  constexpr size_t kUsual = 80;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return kUsual;
  return size.ws_col;
}

}  // namespace

Colours::Colours(std::FILE* stream)
    : on_(isatty(fileno(stream)) && !is_plain_terminal()) {
  const char* const none = std::getenv("NO_COLOR");
  if (none && *none) on_ = false;
}

std::string Colours::in(const char* code, const std::string& text) const {
  return on_ ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
}

Progress::Progress() : on_(isatty(STDERR_FILENO) && !is_plain_terminal()) {}

Progress::~Progress() { clear(); }

void Progress::say(const std::string& text) {
  if (!on_) return;
  // A line that wraps could not be taken back.
  const std::string line = text.substr(0, columns_of(STDERR_FILENO) - 1);
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  shown_ = true;
}

void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace fxjit::command
