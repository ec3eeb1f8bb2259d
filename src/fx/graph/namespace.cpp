#include "src/fx/graph/namespace.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_set>

namespace fxjit::fx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word(char c) {
  return is_digit(c) || is_upper(c) || is_lower(c) || c == '_';
}

bool is_legal(std::string_view name) {
  return !name.empty() && !is_digit(name[0]) &&
         std::all_of(name.begin(), name.end(), is_word);
}

// Runs of illegal characters become one "_".
std::string legalise(std::string_view candidate) {
  std::string name;
  bool in_run = false;
  for (char c : candidate) {
    if (is_word(c)) {
      name += c;
    } else if (!in_run) {
      name += '_';
    }
    in_run = !is_word(c);
  }
  if (name.empty()) return "_unnamed";
  if (is_digit(name[0])) name.insert(name.begin(), '_');
  return name;
}

struct NameParts {
  std::string_view base;
  std::string_view digits;  // Of a "_<digits>" suffix; empty without one.
};

NameParts split_number(std::string_view name) {
  size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  if (digits == name.size() || digits < 2 || name[digits - 1] != '_')
    return {name, {}};
  return {name.substr(0, digits - 1), name.substr(digits)};
}

}  // namespace

bool is_identifier(std::string_view text) {
  auto is_part = [](char c) {
    return is_word(c) || static_cast<unsigned char>(c) >= 0x80;
  };
  return !text.empty() && !is_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), is_part);
}

std::string snake_case(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 4);
  char before = 0;
  for (char c : text) {
    if (is_upper(c)) {
      if (is_lower(before)) out += '_';
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c;
    }
    before = c;
  }
  return out;
}

bool is_keyword(std::string_view name) {
  static const std::unordered_set<std::string_view> kKeywords = {
      "False", "None", "True", "and", "as", "assert", "async", "await", "break",
      "class", "continue", "def", "del", "elif", "else", "except", "finally",
      "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
      "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"};
  return kKeywords.contains(name);
}

bool is_illegal_name(std::string_view name) {
  static const std::unordered_set<std::string_view> kIllegal = {
      // Python 3.11's builtins.
      "ArithmeticError", "AssertionError", "AttributeError", "BaseException",
      "BaseExceptionGroup", "BlockingIOError", "BrokenPipeError", "BufferError",
      "BytesWarning", "ChildProcessError", "ConnectionAbortedError",
      "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
      "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning",
      "EnvironmentError", "Exception", "ExceptionGroup", "FileExistsError",
      "FileNotFoundError", "FloatingPointError", "FutureWarning",
      "GeneratorExit", "IOError", "ImportError", "ImportWarning",
      "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError",
      "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError",
      "ModuleNotFoundError", "NameError", "NotADirectoryError",
      "NotImplemented", "NotImplementedError", "OSError", "OverflowError",
      "PendingDeprecationWarning", "PermissionError", "ProcessLookupError",
      "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError",
      "RuntimeWarning", "StopAsyncIteration", "StopIteration", "SyntaxError",
      "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError",
      "TypeError", "UnboundLocalError", "UnicodeDecodeError",
      "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError",
      "UnicodeWarning", "UserWarning", "ValueError", "Warning",
      "ZeroDivisionError", "__build_class__", "__debug__", "__doc__",
      "__import__", "__loader__", "__name__", "__package__", "__spec__", "abs",
      "aiter", "all", "anext", "any", "ascii", "bin", "bool", "breakpoint",
      "bytearray", "bytes", "callable", "chr", "classmethod", "compile",
      "complex", "copyright", "credits", "delattr", "dict", "dir", "divmod",
      "enumerate", "eval", "exec", "exit", "filter", "float", "format",
      "frozenset", "getattr", "globals", "hasattr", "hash", "help", "hex", "id",
      "input", "int", "isinstance", "issubclass", "iter", "len", "license",
      "list", "locals", "map", "max", "memoryview", "min", "next", "object",
      "oct", "open", "ord", "pow", "print", "property", "quit", "range", "repr",
      "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod",
      "str", "sum", "super", "tuple", "type", "vars", "zip",
      // What generated code defines.
      "NoneType", "device", "fx_pytree", "inf", "nan", "pytree", "torch"};
  return is_keyword(name) || kIllegal.contains(name);
}

Namespace::Base& Namespace::base_of(std::string_view text) {
  auto found = bases_.find(text);
  if (found == bases_.end()) {
    found = bases_.emplace(base_names_.intern(text), Base()).first;
    // torch finds "None" in its table of illegal names under the value None,
    // which to it says that the name is not there.
    found->second.illegal = text != "None" && is_illegal_name(text);
  }
  return found->second;
}

void NameNumber::assign(std::string_view digits) {
  constexpr size_t kMaxDigits = 18;  // Fit int64.
  const size_t first = digits.find_first_not_of('0');
  digits.remove_prefix(first == digits.npos ? digits.size() : first);
  value_ = 0;
  long_.clear();
  if (digits.size() > kMaxDigits) {
    long_ = digits;
  } else {
    std::from_chars(digits.data(), digits.data() + digits.size(), value_);
  }
}

void NameNumber::increment() {
  if (long_.empty()) {
    ++value_;  // Names run out first.
    return;
  }
  auto digit = long_.rbegin();
  for (; digit != long_.rend() && *digit == '9'; ++digit) *digit = '0';
  if (digit == long_.rend()) {
    long_.insert(0, 1, '1');
  } else {
    ++*digit;
  }
}

void NameNumber::append_to(std::string& out) const {
  if (!long_.empty()) {
    out += long_;
    return;
  }
  char digits[24];
  out.append(digits, std::to_chars(digits, std::end(digits), value_).ptr);
}

std::string_view Namespace::number_until_free(std::string_view base,
                                              NameNumber& number) {
  std::string candidate(base);
  candidate += '_';
  const size_t stem = candidate.size();
  while (true) {
    number.increment();
    candidate.resize(stem);
    number.append_to(candidate);
    bool added = false;
    const std::string_view name = used_.intern(candidate, &added);
    if (added) return name;
  }
}

std::string_view Namespace::create_name(std::string_view wish) {
  std::string legal;
  std::string_view candidate = wish;
  if (!is_legal(candidate)) candidate = legal = legalise(wish);

  const NameParts parts = split_number(candidate);
  Base& base = base_of(parts.base);
  const bool bare = parts.digits.empty();
  if (!bare || !base.illegal) {
    bool added = false;
    const std::string_view name = used_.intern(candidate, &added);
    if (added) {
      if (!bare) base.count.assign(parts.digits);
      return name;
    }
  }
  return number_until_free(parts.base, base.count);
}

}  // namespace fxjit::fx
