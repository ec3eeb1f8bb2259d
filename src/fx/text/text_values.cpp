#include "src/fx/text/text_values.h"

#include <algorithm>

#include "fxjit/fx/node.h"
#include "src/fx/text/print_value.h"

namespace fxjit::fx {
namespace {

using AppendText = bool (*)(std::string&, const Value&);

bool is_plain_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '*';
  });
}

bool append_items(std::string& out, const Value& value, AppendText append) {
  out += value.is_list() ? '[' : '(';
  const char* separator = "";
  for (const Value& item : value.as_sequence()) {
    out += separator;
    separator = ", ";
    if (!append(out, item)) return false;
  }
  if (value.is_tuple() && value.size() == 1) out += ',';
  out += value.is_list() ? ']' : ')';
  return true;
}

bool append_dict(std::string& out, const Value& value, AppendText append) {
  out += '{';
  const char* separator = "";
  for (const auto& [key, item] : value.as_dict()) {
    out += separator;
    separator = ", ";
    if (!append_value_text(out, key)) return false;
    out += ": ";
    if (!append(out, item)) return false;
  }
  out += '}';
  return true;
}

void append_tensor(std::string& out, const Tensor& tensor) {
  out += dtype_name(tensor.dtype());
  out += tensor.sizes().str();
  if (!tensor.is_contiguous()) {
    std::string strides = tensor.strides().str();
    strides.front() = '{';
    strides.back() = '}';
    out += strides;
  }
  if (tensor.offset() != 0) {
    out += '+';
    append_int(out, tensor.offset());
  }
}

}  // namespace

bool append_value_text(std::string& out, const Value& value) {
  if (value.is_sequence()) return append_items(out, value, append_value_text);
  if (value.is_dict()) return append_dict(out, value, append_value_text);
  if (value.is_tensor() || value.is_proxy() || value.is_opaque()) return false;
  if (value.is_slice()) {
    const auto s = value.as_slice();
    out += "slice";
    return append_items(out, Value::tuple({s.start, s.stop, s.step}),
                        append_value_text);
  }
  if (value.is_node()) {
    out += '%';
    append_name_text(out, value.as_node()->name());
  } else {
    append_repr(out, value);
  }
  return true;
}

bool append_result_text(std::string& out, const Value& value) {
  if (value.is_sequence()) return append_items(out, value, append_result_text);
  if (value.is_dict()) return append_dict(out, value, append_result_text);
  if (!value.is_tensor()) return append_value_text(out, value);
  append_tensor(out, value.as_tensor());
  return true;
}

void append_name_text(std::string& out, std::string_view name) {
  if (is_plain_word(name)) {
    out += name;
  } else {
    append_repr(out, Value(name));
  }
}

}  // namespace fxjit::fx
