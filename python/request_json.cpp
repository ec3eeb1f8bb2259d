#include "python/request_json.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/error.h"
#include "python/buffer.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;
namespace od = simdjson::ondemand;

constexpr size_t kMaxNesting = 8;          // Of lists of elements.
constexpr size_t kMaxAround = 1 << 20;     // Bytes of JSON beside the elements.
constexpr size_t kMaxTexts = 1 << 20;      // Elements of BYTES.
constexpr size_t kTextsAtATime = 1 << 12;  // Made under the lock in one go.
constexpr size_t kShownBytes = 24;         // Of an element in a message.

using Span = std::pair<size_t, size_t>;

// A range of a buffer that simdjson may read. It reads some bytes beyond the
// range; where the buffer ends before, the range is copied.
class Text {
 public:
  Text(std::span<const char> whole, size_t begin, size_t end) {
    if (begin > end || end > whole.size())
      throw ValueError("a range beyond the body");
    const size_t size = end - begin;
    if (whole.size() - end >= simdjson::SIMDJSON_PADDING) {
      view_ = simdjson::padded_string_view(whole.data() + begin, size,
                                           whole.size() - begin);
      return;
    }
    copy_.reserve(size + simdjson::SIMDJSON_PADDING);
    copy_.assign(whole.data() + begin, size);
    view_ = simdjson::padded_string_view(copy_.data(), size, copy_.capacity());
  }

  simdjson::padded_string_view view() const { return view_; }

 private:
  std::string copy_;
  simdjson::padded_string_view view_;
};

[[noreturn]] void refuse(simdjson::error_code error) {
  throw ValueError(simdjson::error_message(error));
}

template <typename T>
T checked(simdjson::simdjson_result<T> result) {
  T value;
  if (const auto error = std::move(result).get(value)) refuse(error);
  return value;
}

// The text of a value, without the space behind it.
std::string_view text_of_json(od::value value) {
  if (checked(value.type()) == od::json_type::array)
    return checked(checked(value.get_array()).raw_json());
  if (checked(value.type()) == od::json_type::object)
    return checked(checked(value.get_object()).raw_json());
  return value.raw_json_token();
}

// A tensor's "data" in the text of a body.
struct Data {
  std::string_view text;
  bool is_list;
};

void find_data_of_input(od::object input, std::vector<Data>& found) {
  for (auto entry : input) {
    od::field field = checked(std::move(entry));
    if (checked(field.unescaped_key()) != "data") continue;
    od::value value = field.value();
    const bool is_list = checked(value.type()) == od::json_type::array;
    found.push_back({text_of_json(value), is_list});
  }
}

std::vector<Data> find_data(od::parser& parser, const Text& text) {
  std::vector<Data> found;
  od::document body = checked(parser.iterate(text.view()));
  if (checked(body.type()) != od::json_type::object) return found;
  for (auto entry : checked(body.get_object())) {
    od::field field = checked(std::move(entry));
    if (checked(field.unescaped_key()) != "inputs") continue;
    od::value inputs = field.value();
    if (checked(inputs.type()) != od::json_type::array) continue;
    for (auto item : checked(inputs.get_array())) {
      od::value input = checked(std::move(item));
      if (checked(input.type()) == od::json_type::object)
        find_data_of_input(checked(input.get_object()), found);
    }
  }
  return found;
}

struct Parts {
  std::string around;
  std::vector<Span> lists;
};

// In place of each list of elements `around` has its place among `lists`; other
// values that stand there become null.
Parts parts_of(const Text& text, const std::vector<Data>& found) {
  Parts parts;
  const std::string_view whole(text.view().data(), text.view().length());
  size_t size = whole.size();
  for (const Data& data : found) size -= data.text.size();
  if (size > kMaxAround)
    throw ValueError("more than " + std::to_string(kMaxAround) +
                     " bytes beside the elements of tensors");
  size_t at = 0;
  for (const Data& data : found) {
    const auto begin = static_cast<size_t>(data.text.data() - whole.data());
    parts.around += whole.substr(at, begin - at);
    at = begin + data.text.size();
    parts.around += data.is_list ? std::to_string(parts.lists.size()) : "null";
    if (data.is_list) parts.lists.emplace_back(begin, at);
  }
  parts.around += whole.substr(at);
  return parts;
}

std::pair<nb::bytes, std::vector<Span>> split_json(nb::handle body,
                                                   size_t length) {
  const Buffer buffer(body);
  Parts parts;
  {
    const UnlockedToRead unlocked(buffer);
    const Text text(buffer.bytes(), 0, length);
    od::parser parser;
    parts = parts_of(text, find_data(parser, text));
  }
  return {nb::bytes(parts.around.data(), parts.around.size()),
          std::move(parts.lists)};
}

// Bytes of simdjson's index of the structure: four for each mark and each
// value, and at most one of these at a byte.
size_t json_index_bytes(nb::handle body, size_t length) {
  const Buffer buffer(body);
  const UnlockedToRead unlocked(buffer);
  const auto bytes =
      buffer.bytes().first(std::min(length, buffer.bytes().size()));
  size_t marks = 0;
  for (const char byte : bytes)
    marks += byte == ',' || byte == ':' || byte == '[' || byte == ']' ||
             byte == '{' || byte == '}' || byte == '"';
  return 4 * std::min(2 * marks, bytes.size());
}

// Walks nested lists whose sizes agree, and gives each element to `take`.
template <typename Take>
class Elements {
 public:
  explicit Elements(Take take) : take_(std::move(take)) {}

  size_t read(od::array list) {
    walk(list, 0);
    return count_;
  }

 private:
  void walk(od::array list, size_t depth) {
    if (depth == kMaxNesting)
      throw ValueError("lists more than " + std::to_string(kMaxNesting) +
                       " deep");
    size_t size = 0;
    for (auto item : list) {
      od::value value = checked(std::move(item));
      ++size;
      if (checked(value.type()) == od::json_type::array) {
        if (leaves_ && *leaves_ <= depth) refuse_mixture();
        walk(checked(value.get_array()), depth + 1);
      } else {
        if (leaves_.value_or(depth) != depth || sizes_[depth + 1])
          refuse_mixture();
        leaves_ = depth;
        take_(value, count_++);
      }
    }
    if (sizes_[depth].value_or(size) != size)
      throw ValueError("lists of different lengths");
    sizes_[depth] = size;
  }

  [[noreturn]] static void refuse_mixture() {
    throw ValueError("lists and elements beside each other");
  }

  Take take_;
  size_t count_ = 0;
  std::optional<size_t> leaves_;  // The depth at which elements stand.
  std::array<std::optional<size_t>, kMaxNesting + 1> sizes_;
};

// Texts are of the parser's memory.
template <typename Take>
size_t read_elements(od::parser& parser, const Text& text, Take take) {
  od::document list = checked(parser.iterate(text.view()));
  return Elements<Take>(std::move(take)).read(checked(list.get_array()));
}

[[noreturn]] void refuse_element(od::value& value, size_t place,
                                 const std::string& datatype) {
  std::string_view shown = value.raw_json_token();
  size_t size = std::min(shown.size(), kShownBytes);
  // No part of a character: Python takes whole ones only.
  while (size < shown.size() && (shown[size] & 0xC0) == 0x80) --size;
  shown = shown.substr(0, size);
  shown = shown.substr(0, shown.find_last_not_of(" \t\r\n") + 1);
  throw ValueError("expected numbers of " + datatype + ", but element " +
                   std::to_string(place) + " is " + std::string(shown));
}

// Nothing for what is no number of type T.
template <typename T>
std::optional<T> element_of(od::value& value) {
  if constexpr (std::is_same_v<T, bool>) {
    bool read = false;
    if (value.get_bool().get(read)) return std::nullopt;
    return read;
  } else if constexpr (std::is_floating_point_v<T>) {
    double read = 0;
    if (value.get_double().get(read)) return std::nullopt;
    // Halfway from the largest float to the next that there would be.
    constexpr double kBeyondFloat = 0x1.ffffffp127;
    if (std::is_same_v<T, float> && std::abs(read) >= kBeyondFloat)
      return std::nullopt;
    return static_cast<T>(read);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    Wide read = 0;
    simdjson::error_code error = simdjson::SUCCESS;
    if constexpr (std::is_signed_v<T>)
      error = value.get_int64().get(read);
    else
      error = value.get_uint64().get(read);
    if (error || read < std::numeric_limits<T>::min() ||
        read > std::numeric_limits<T>::max())
      return std::nullopt;
    return static_cast<T>(read);
  }
}

template <typename T>
size_t fill(const Text& text, std::span<char> out,
            const std::string& datatype) {
  const size_t room = out.size() / sizeof(T);
  T* const to = reinterpret_cast<T*>(out.data());
  od::parser parser;
  return read_elements(parser, text, [&](od::value& value, size_t place) {
    const std::optional<T> number = element_of<T>(value);
    if (!number) refuse_element(value, place, datatype);
    if (place < room) to[place] = *number;
  });
}

using Fill = size_t (*)(const Text&, std::span<char>, const std::string&);

Fill fill_of(const std::string& datatype) {
  static constexpr std::array<std::pair<std::string_view, Fill>, 11> kFills{{
      {"BOOL", fill<bool>},
      {"INT8", fill<int8_t>},
      {"INT16", fill<int16_t>},
      {"INT32", fill<int32_t>},
      {"INT64", fill<int64_t>},
      {"UINT8", fill<uint8_t>},
      {"UINT16", fill<uint16_t>},
      {"UINT32", fill<uint32_t>},
      {"UINT64", fill<uint64_t>},
      {"FP32", fill<float>},
      {"FP64", fill<double>},
  }};
  for (const auto& [name, function] : kFills)
    if (name == datatype) return function;
  throw ValueError("no numbers of " + datatype);
}

// The count of elements in the list; `out` has those for which it has room.
size_t fill_numbers(nb::handle body, size_t begin, size_t end,
                    const std::string& datatype, nb::handle out) {
  const Buffer buffer(body);
  const Buffer target(out, /*writable=*/true);
  const Fill function = fill_of(datatype);
  const UnlockedToRead unlocked(buffer);
  return function(Text(buffer.bytes(), begin, end), target.bytes(), datatype);
}

nb::list read_texts(nb::handle body, size_t begin, size_t end) {
  const Buffer buffer(body);
  nb::list made;
  const UnlockedToRead unlocked(buffer);
  const Text text(buffer.bytes(), begin, end);
  od::parser parser;
  std::vector<std::string_view> texts;
  read_elements(parser, text, [&](od::value& value, size_t place) {
    if (place == kMaxTexts)
      throw ValueError("more than " + std::to_string(kMaxTexts) + " texts");
    std::string_view read;
    if (value.get_string().get(read))
      throw ValueError("expected texts, but element " + std::to_string(place) +
                       " is none");
    texts.push_back(read);
    if (texts.size() == kTextsAtATime) append_bytes(made, texts);
  });
  append_bytes(made, texts);
  return made;
}

}  // namespace

void register_request_json(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "split_json", split_json, "body"_a, "length"_a,
      "The JSON of a request with the place in a list instead of the "
      "elements of each tensor, and that list: where they begin and end.");
  module.def(
      "json_index_bytes", json_index_bytes, "body"_a, "length"_a,
      "The most memory that reading this JSON takes beside its results.");
  module.def("fill_numbers", fill_numbers, "body"_a, "begin"_a, "end"_a,
             "datatype"_a, "out"_a,
             "Writes the elements of a list into an array, and counts them.");
  module.def("read_texts", read_texts, "body"_a, "begin"_a, "end"_a,
             "The elements of a list of texts, as bytes of UTF-8.");
}

}  // namespace fxjit::python
