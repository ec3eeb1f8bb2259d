// Typed errors of the library. Every failure that a user can see is one of
// these; the library never prints or aborts. Messages of our own start with
// "[op %node]" and give expected and got; errors that mirror torch.fx keep
// torch's type name and text, and carry the source line as a field.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fxjit {

// Where in the user's C++ code an operation was written. Empty when unknown.
struct SourceLocation {
  std::string_view file;  // Points at a literal of the user's binary.
  int line = 0;

  SourceLocation() = default;
  SourceLocation(const std::source_location& at)  // NOLINT: converts by intent
      : file(at.file_name()), line(static_cast<int>(at.line())) {}
  bool known() const { return line != 0; }
  std::string str() const;  // "file.cpp:12", or "" when unknown.
};

// What an error is about, beside its text.
struct ErrorContext {
  std::string op;           // Canonical op or target name.
  std::string node;         // Name of the graph node, without '%'.
  std::string module_path;  // Qualified name of the module being traced.
  SourceLocation source;
};

// Base of all errors thrown by fxjit. `what()` is the message followed, when
// known, by a line "  at file:line in module.path".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorContext context = {});

  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& message() const { return message_; }
  const ErrorContext& context() const { return context_; }
  // For a handler that knows more and rethrows: appends `note` to the message
  // and fills in what the context lacks.
  void extend(const std::string& note, const ErrorContext& more);
  // For a handler that knows the user's line where the error names one of the
  // library's own. Nothing where `source` is not known.
  void set_source(const SourceLocation& source);

 private:
  std::string text_;  // What `what()` returns.
  std::string message_;
  ErrorContext context_;
};

// The graph, module, file or argument given by the user is wrong.
class UserError : public Error {
 public:
  using Error::Error;
};

// A call failed at run time: bad shapes, missing resources, denied memory.
class RuntimeError : public Error {
 public:
  using Error::Error;
};

// A broken invariant of fxjit itself: always a bug to report.
class InternalError : public Error {
 public:
  using Error::Error;
};

// Counterparts of Python's and torch.fx's exception types.
class TraceError : public UserError {
 public:
  using UserError::UserError;
};
class SyntaxError : public UserError {
 public:
  using UserError::UserError;
};
class NameError : public UserError {
 public:
  using UserError::UserError;
};
class TypeError : public UserError {
 public:
  using UserError::UserError;
};
class ValueError : public UserError {
 public:
  using UserError::UserError;
};
class IndexError : public UserError {
 public:
  using UserError::UserError;
};
class KeyError : public UserError {
 public:
  using UserError::UserError;
};
class AttributeError : public UserError {
 public:
  using UserError::UserError;
};
class NotImplementedError : public UserError {
 public:
  using UserError::UserError;
};
class AssertionError : public UserError {
 public:
  using UserError::UserError;
};
class ZeroDivisionError : public UserError {
 public:
  using UserError::UserError;
};
// Also where Python's ints would grow beyond 64 bits.
class OverflowError : public UserError {
 public:
  using UserError::UserError;
};

namespace support {

// Throws InternalError with the text of the failed condition.
[[noreturn]] void check_failed(const char* condition, const char* file,
                               int line, const std::string& detail);

}  // namespace support
}  // namespace fxjit

// Invariant of our own code; always on. Never applied to user input.
#define FXJIT_CHECK(condition, detail)                                  \
  do {                                                                  \
    if (!(condition))                                                   \
      ::fxjit::support::check_failed(#condition, __FILE__, __LINE__,    \
                                     (detail));                         \
  } while (false)
