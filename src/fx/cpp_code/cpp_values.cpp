#include "src/fx/cpp_code/cpp_values.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "src/fx/text/print_value.h"
#include "src/tensor/dtype_words.h"

namespace fxjit::fx {
namespace {

const std::unordered_set<std::string_view>& reserved() {
  static const std::unordered_set<std::string_view> kNames = {
      // Keywords that Python allows as names.
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
      "bool", "break", "case", "catch", "char", "char8_t", "char16_t",
      "char32_t", "class", "compl", "concept", "const", "consteval",
      "constexpr", "constinit", "const_cast", "continue", "co_await",
      "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false",
      "float", "for", "friend", "goto", "if", "inline", "int", "long",
      "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "private", "protected", "public", "register",
      "reinterpret_cast", "requires", "return", "short", "signed", "sizeof",
      "static", "static_assert", "static_cast", "struct", "switch", "template",
      "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
      "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
      "wchar_t", "while", "xor", "xor_eq",
      // What generated code says.
      "Custom", "DType", "Ellipsis", "Kwargs", "None", "Value", "ValueDict",
      "ValueList", "create", "forward", "function", "fx", "fxjit",
      "get_submodule", "getitem", "int64_t", "method", "nn", "operators",
      "param", "register_buffer", "register_module", "register_parameter",
      "self", "set_attr", "std", "train", "weights",
      // Macros of common headers.
      "EOF", "NAN", "INFINITY", "NULL", "assert", "errno", "linux", "stdin",
      "stdout", "stderr", "unix"};
  return kNames;
}

std::string cpp_dtype(DType dtype) {
  if (dtype == DType::boolean) return "DType::boolean";
  return std::string("DType::") + dtype_words(dtype).brief;
}

void append_integer(std::string& out, int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) {
    out += "std::numeric_limits<int64_t>::min()";
    return;
  }
  append_int(out, value);
  if (value > std::numeric_limits<int>::max() ||
      value < std::numeric_limits<int>::min())
    out += "LL";
}

void append_floating(std::string& out, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  constexpr uint64_t kQuietNan = 0x7ff8000000000000;
  if (std::isnan(value) && bits != kQuietNan) {
    char text[64];
    std::snprintf(text, sizeof text,
                  "std::bit_cast<double>(uint64_t{0x%016llx})",
                  static_cast<unsigned long long>(bits));
    out += text;
  } else if (std::isfinite(value)) {
    append_repr(out, Value(value));
  } else {
    out += std::signbit(value) ? "-" : "";
    out += std::isnan(value) ? "std::numeric_limits<double>::quiet_NaN()"
                             : "std::numeric_limits<double>::infinity()";
  }
}

bool append_items(std::string& out, const ValueList& items, CppNames& names) {
  out += '{';
  const char* separator = "";
  for (const Value& item : items) {
    out += separator;
    separator = ", ";
    if (!append_cpp(out, item, names)) return false;
  }
  out += '}';
  return true;
}

void append_range(std::string& out, const Value::RangeView& range) {
  out += "Value::range(";
  append_integer(out, range.start);
  out += ", ";
  append_integer(out, range.stop);
  out += ", ";
  append_integer(out, range.step);
  out += ')';
}

bool append_dict(std::string& out, const ValueDict& items, CppNames& names) {
  out += "Value::dict({";
  const char* separator = "";
  for (const auto& [key, item] : items) {
    out += separator;
    separator = ", ";
    out += '{';
    if (!append_cpp_typed(out, key, names)) return false;
    out += ", ";
    if (!append_cpp_typed(out, item, names)) return false;
    out += '}';
  }
  out += "})";
  return true;
}

bool append_slice(std::string& out, const Value::SliceView& slice,
                  CppNames& names) {
  out += "Value::slice(";
  if (!append_cpp(out, slice.start, names)) return false;
  out += ", ";
  if (!append_cpp(out, slice.stop, names)) return false;
  out += ", ";
  if (!append_cpp(out, slice.step, names)) return false;
  out += ')';
  return true;
}

}  // namespace

std::string cpp_identifier(std::string_view text) {
  std::string name;
  for (char c : text) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9') || c == '_';
    // Two underscores in a row belong to the compiler.
    const char kept = word ? c : '_';
    if (kept != '_' || name.empty() || name.back() != '_') name += kept;
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9'))
    name.insert(0, "n_");
  // So do a leading underscore and a capital.
  if (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z')
    name.insert(0, "n");
  return reserved().contains(name) ? name + "_" : name;
}

std::string cpp_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20 && byte < 0x7f && c != '?') {
      out += c;
    } else {
      // Three octal digits end by themselves; "?" might start a trigraph.
      out += '\\';
      for (int shift : {6, 3, 0})
        out += static_cast<char>('0' + ((byte >> shift) & 7));
    }
  }
  out += '"';
  if (text.find('\0') == text.npos) return out;
  return "std::string(" + out + ", " + std::to_string(text.size()) + ")";
}

const std::string& CppNames::of(const Node& node) {
  const auto found = names_.find(&node);
  if (found != names_.end()) return found->second;
  return names_.emplace(&node, unique(node.name())).first->second;
}

std::string CppNames::unique(std::string_view wish) {
  const std::string base = cpp_identifier(wish);
  std::string name = base;
  for (int i = 1; !used_.insert(name).second; ++i)
    name = base + (base.back() == '_' ? "" : "_") + std::to_string(i);
  return name;
}

bool append_cpp(std::string& out, const Value& value, CppNames& names) {
  if (value.is_tensor() || value.is_proxy() || value.is_opaque()) return false;
  if (value.is_slice()) return append_slice(out, value.as_slice(), names);
  if (value.is_dict()) return append_dict(out, value.as_dict(), names);
  if (value.is_sequence()) {
    out += value.is_list() ? "Value::list(" : "Value::tuple(";
    if (!append_items(out, value.as_sequence(), names)) return false;
    out += ')';
  } else if (value.is_none()) {
    out += "None";
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else if (value.is_int()) {
    append_integer(out, value.as_int());
  } else if (value.is_float()) {
    append_floating(out, value.as_double());
  } else if (value.is_dtype()) {
    out += cpp_dtype(value.as_dtype());
  } else if (value.is_ellipsis()) {
    out += "Ellipsis";
  } else if (value.is_node()) {
    out += names.of(*value.as_node());
  } else if (value.is_string()) {
    out += cpp_string(value.as_string());
  } else {
    append_range(out, value.as_range());
  }
  return true;
}

bool append_cpp_typed(std::string& out, const Value& value, CppNames& names) {
  if (value.is_node()) return append_cpp(out, value, names);
  out += "Value(";
  if (!append_cpp(out, value, names)) return false;
  out += ')';
  return true;
}

}  // namespace fxjit::fx
