#include "tests/ops/structured_reference.h"

#include "tests/ops/reference_values.h"

namespace fxjit::testing {
namespace {

// A result keeps torch's strides and offset beside its row-major elements: the
// elements stand where a tensor with those strides has them.
Tensor result_of(const std::vector<std::string>& parts) {
  const DType type = dtype(parts.at(1));
  const Dims sizes = dims(parts.at(2)), strides = dims(parts.at(3));
  const int64_t offset = std::stoll(parts.at(4));
  int64_t last = offset;
  for (int d = 0; d < sizes.size(); ++d)
    last += std::max<int64_t>(sizes[d] - 1, 0) * strides[d];
  const Tensor tensor =
      Tensor::zeros({last + 1}, type).as_strided(sizes, strides, offset);
  if (tensor.numel() > 0) tensor.copy_from(tensor_of(parts.at(5), type, sizes));
  return tensor;
}

class StructuredParser {
 public:
  void pool(const std::vector<std::string>& words) {
    pools_.add(words.at(1), dtype(words.at(2)), words.at(3));
  }

  StructuredCase parse(const std::string& line,
                       const std::vector<std::string>& words) const {
    using Kind = StructuredCase::Kind;
    StructuredCase result;
    result.kind = words.at(0) == "view"   ? Kind::view
                  : words.at(0) == "fail" ? Kind::failure
                                          : Kind::value;
    result.op = words.at(1);
    result.text = line.substr(5, line.find(" -> ") - 5);
    size_t i = 2;
    for (; words.at(i) != "->"; ++i) {
      const size_t mark = words[i].find('=');
      if (mark == std::string::npos)
        result.args.push_back(value(words[i]));
      else
        result.kwargs.emplace_back(words[i].substr(0, mark),
                                   value(words[i].substr(mark + 1)));
    }
    if (result.kind == Kind::failure) {
      const std::vector<std::string> parts = split(words.at(i + 1), ':');
      result.error_type = parts.at(1);
      result.error_text = decode_base64(parts.at(2));
    } else {
      result.expected = value(words.at(i + 1));
    }
    return result;
  }

 private:
  ValueList items(const std::string& word) const {
    ValueList result;
    const std::string inner = word.substr(1, word.size() - 2);
    if (inner.empty()) return result;
    for (const std::string& part : split(inner, '|'))
      result.push_back(value(part));
    return result;
  }

  Value value(const std::string& word) const {
    if (word == "...") return Ellipsis;
    if (word[0] == '[') return Value::list(items(word));
    if (word[0] == '(') return Value::tuple(items(word));
    if (word[0] == '<') {
      const ValueList parts = items(word);
      return Value::slice(parts.at(0), parts.at(1), parts.at(2));
    }
    if (const auto plain = plain_value(word)) return *plain;
    const std::vector<std::string> parts = split(word, ':');
    switch (word[0]) {
      case 's':
        return spaced(word.substr(2));
      case 't':
        return pools_.view(parts.at(1), parts.at(2), parts.at(3), parts.at(4));
      case 'l':
        return literal(parts);
      case 'r':
        return result_of(parts);
      default:
        throw UserError("reference: bad value " + word);
    }
  }

  static std::string spaced(std::string text) {
    if (text.find("->") == text.npos) return text;
    for (char& c : text)
      if (c == '_') c = ' ';
    return text;
  }

  static Tensor literal(const std::vector<std::string>& parts) {
    std::vector<int64_t> numbers;
    if (parts.at(3) != "()")
      for (const std::string& number : split(parts.at(3), ','))
        numbers.push_back(std::stoll(number));
    return Tensor::from(numbers, dims(parts.at(2))).to(dtype(parts.at(1)));
  }

  ReferencePools pools_;
};

Tolerance structured_tolerance(DType type) {
  switch (type) {
    case DType::f32:
      return {1e-5, 2e-6};
    case DType::f64:
      return {1e-12, 1e-14};
    case DType::f16:
      return {2e-3, 1e-3};
    case DType::bf16:
      return {1.6e-2, 1e-2};
    default:
      return {0, 0};
  }
}

std::string element_difference(const Tensor& got, const Tensor& expected) {
  // Integers beyond 2^53 compare exactly.
  if (got.dtype() == DType::i64)
    return got.to_ints() == expected.to_ints() ? "" : "integers differ";
  return first_difference(got, expected,
                          structured_tolerance(part_type(expected.dtype())));
}

std::string tensor_shape_difference(const Tensor& got, const Tensor& expected,
                                    bool strides, bool offset) {
  if (got.describe() != expected.describe())
    return "expected " + expected.describe() + ", got " + got.describe();
  if (strides && !(got.strides() == expected.strides()))
    return "expected strides " + expected.strides().str() + ", got " +
           got.strides().str();
  if (offset && got.numel() > 0 && got.offset() != expected.offset())
    return "expected offset " + std::to_string(expected.offset()) + ", got " +
           std::to_string(got.offset());
  return "";
}

// Walks two structures; `compare` sees pairs of tensors.
template <typename Fn>
std::string walk(const Value& got, const Value& expected, const Fn& compare) {
  if (got.kind() != expected.kind())
    return "expected " + std::string(expected.kind_name()) + ", got " +
           std::string(got.kind_name());
  if (got.is_tensor()) return compare(got.as_tensor(), expected.as_tensor());
  if (!got.is_sequence())
    return same(got, expected)
               ? ""
               : "expected " + repr(expected) + ", got " + repr(got);
  if (got.size() != expected.size())
    return "expected " + std::to_string(expected.size()) + " items, got " +
           std::to_string(got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string text = walk(got.at(i), expected.at(i), compare);
    if (!text.empty()) return "item " + std::to_string(i) + ": " + text;
  }
  return "";
}

}  // namespace

std::vector<StructuredCase> read_structured_reference(
    const std::string& file_name) {
  StructuredParser parser;
  std::vector<StructuredCase> cases;
  for (const std::string& line : reference_lines(file_name)) {
    const std::vector<std::string> words = words_of(line);
    if (words.at(0) == "pool")
      parser.pool(words);
    else
      cases.push_back(parser.parse(line, words));
  }
  return cases;
}

std::string difference(const Value& got, const Value& expected, bool views) {
  return walk(got, expected, [&](const Tensor& a, const Tensor& b) {
    const std::string text = tensor_shape_difference(a, b, views, views);
    return text.empty() ? element_difference(a, b) : text;
  });
}

std::string shape_difference(const Value& inferred, const Value& result,
                             bool views) {
  return walk(inferred, result, [&](const Tensor& a, const Tensor& b) {
    return tensor_shape_difference(a, b, true, views);
  });
}

bool depends_on_data_always(std::string_view op) {
  for (const char* name : {"masked_select", "nonzero", "argwhere", "unique",
                           "unique_consecutive", "item", "equal", "allclose",
                           "is_nonzero", "tolist", "_assert_async", "bincount"})
    if (op == name) return true;
  return false;
}

}  // namespace fxjit::testing
