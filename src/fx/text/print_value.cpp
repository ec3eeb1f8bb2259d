#include "src/fx/text/print_value.h"

#include <charconv>

#include "fxjit/fx/node.h"
#include "src/fx/text/print_tensor.h"

namespace fxjit::fx {
namespace {

using Append = void (*)(std::string&, const Value&);

void append_items(std::string& out, const ValueList& items, Append append) {
  bool first = true;
  for (const Value& item : items) {
    if (!first) out += ", ";
    first = false;
    append(out, item);
  }
}

void append_dict(std::string& out, const ValueDict& items, Append append_key,
                 Append append) {
  out += '{';
  bool first = true;
  for (const auto& [key, item] : items) {
    if (!first) out += ", ";
    first = false;
    append_key(out, key);
    out += ": ";
    append(out, item);
  }
  out += '}';
}

void append_slice(std::string& out, const Value::SliceView& slice,
                  Append append) {
  out += "slice(";
  append(out, slice.start);
  out += ", ";
  append(out, slice.stop);
  out += ", ";
  append(out, slice.step);
  out += ')';
}

void append_shape(std::string& out, const Tensor& tensor) {
  out += "torch.Tensor(size=";
  out += tensor.sizes().str();
  out += ", dtype=";
  out += dtype_name(tensor.dtype());
  out += ')';
}

void append_sequence(std::string& out, const Value& value, Append append) {
  const bool is_list = value.is_list();
  out += is_list ? '[' : '(';
  append_items(out, value.as_sequence(), append);
  if (!is_list && value.size() == 1) out += ',';
  out += is_list ? ']' : ')';
}

// `append` writes what containers hold.
void append_value(std::string& out, const Value& value, Append append) {
  if (value.is_node())
    out += value.as_node()->name();
  else if (value.is_named_size())
    out += to_string(value.as_size());
  else if (value.is_int())
    append_int(out, value.as_int());
  else if (value.is_slice())
    append_slice(out, value.as_slice(), append);
  else if (value.is_sequence())
    append_sequence(out, value, append);
  else if (value.is_dict())
    append_dict(out, value.as_dict(), append, append);
  else if (value.is_tensor())
    out += tensor_text(value.as_tensor());
  else
    out += repr(value);
}

}  // namespace

void append_int(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}

void append_code(std::string& out, const Value& value) {
  if (value.is_tensor()) {
    append_shape(out, value.as_tensor());
  } else {
    // torch does not look into dicts.
    append_value(out, value, value.is_dict() ? append_repr : append_code);
  }
}

void append_repr(std::string& out, const Value& value) {
  append_value(out, value, append_repr);
}

void append_str(std::string& out, const Value& value) {
  if (value.is_string()) {
    out += value.as_string();
  } else {
    append_repr(out, value);
  }
}

void append_argument(std::string& out, const Value& value) {
  if (value.is_node()) {
    out += '%';
    out += value.as_node()->name();
  } else if (value.is_sequence()) {
    append_sequence(out, value, append_argument);
  } else if (value.is_dict()) {
    append_dict(out, value.as_dict(), append_str, append_argument);
  } else {
    append_str(out, value);
  }
}

}  // namespace fxjit::fx
