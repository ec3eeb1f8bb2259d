// What depends on whether somebody watches: colours and progress. Neither is
// seen in files and pipes.
#pragma once

#include <cstdio>
#include <string>

namespace fxjit::command {

// On a terminal, unless NO_COLOR is set or TERM is "dumb".
class Colours {
 public:
  explicit Colours(std::FILE* stream);
  std::string bold(const std::string& text) const { return in("1", text); }
  std::string green(const std::string& text) const { return in("32", text); }
  std::string red(const std::string& text) const { return in("31", text); }

 private:
  std::string in(const char* code, const std::string& text) const;
  bool on_;
};

// One line on standard error that says what is being done, where that is a
// terminal; gone at the end.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(const std::string& text);
  // Before anything else is printed.
  void clear();

 private:
  bool on_, shown_ = false;
};

}  // namespace fxjit::command
