// Another program that runs as a child process and answers in lines of JSON.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "fxjit/error.h"

namespace fxjit::command {

// Thrown if the program cannot be started, ends, stays silent, or says what it
// lacks. what() is a message for the user.
class ChildError : public UserError {
 public:
  using UserError::UserError;
};

// The process is killed when this object is destroyed, and when this process
// ends.
class Child {
 public:
  // Starts the program, with its standard error in the file `errors`. Throws
  // ChildError if the system cannot start it.
  Child(const std::vector<std::string>& command, std::string errors);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void say(const std::string& line);
  // The next line that begins with '{'; libraries may print other lines. Throws
  // ChildError if there is none for `seconds` seconds, or if the program ends,
  // then with the last line of its errors.
  std::string answer(double seconds);

  // Pauses the program between its turns.
  void stop() const { signal(kStop); }
  void resume() const { signal(kResume); }

 private:
  static const int kStop, kResume;
  void start(const std::vector<std::string>& command);
  void signal(int number) const;
  void end();
  // False at the end of the output.
  bool read_more(double seconds);
  [[noreturn]] void report_end();

  std::string errors_;
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;
  std::string pending_;  // Read, but no whole line yet.
};

}  // namespace fxjit::command
