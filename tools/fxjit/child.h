// A program that answers in lines of JSON, for as long as it lives.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "fxjit/error.h"

namespace fxjit::command {

// The program could not be started, ended, stayed silent or said what was
// missing; what() is for the user.
class ChildError : public UserError {
 public:
  using UserError::UserError;
};

// Ended by force where it goes out of scope, and with this process.
class Child {
 public:
  // Errors that it prints go to the file `errors`. ChildError where the system
  // cannot start it.
  Child(const std::vector<std::string>& command, std::string errors);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void say(const std::string& line);
  // The next line that begins with '{': libraries may print lines of their own.
  // ChildError after so many seconds without one, or at the end of the program,
  // then with the last line of its errors.
  std::string answer(double seconds);

  // Between turns it gets no time.
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
