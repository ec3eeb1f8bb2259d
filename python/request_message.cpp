#include "python/request_message.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/error.h"
#include "python/buffer.h"
#include "python/wire_format.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

// Numbers of the fields of ModelInferRequest and InferInputTensor.
constexpr uint64_t kInputs = 5;
constexpr uint64_t kRawContents = 7;
constexpr uint64_t kContents = 5;

constexpr size_t kMaxTensors = 1 << 10;
constexpr size_t kMaxAroundTensors = 1 << 18;  // Bytes beside their elements.
constexpr size_t kMaxItems = 1 << 20;          // Elements of BYTES.
constexpr size_t kItemsAtATime = 1 << 12;      // Made under the lock in one go.

using Place = std::pair<size_t, size_t>;

std::string_view text_of_message(const Buffer& buffer) {
  return {buffer.bytes().data(), buffer.bytes().size()};
}

struct SplitMessage {
  std::string around;
  std::vector<std::vector<Place>> contents;  // Of each input.
  std::vector<Place> raw;
};

class Splitter {
 public:
  explicit Splitter(std::string_view whole) : whole_(whole) {}

  SplitMessage split() && {
    for (wire::Reader reader(whole_); !reader.done();) {
      const wire::Field field = wire::read_field(reader);
      if (field.number == kInputs && field.kind == wire::Kind::bytes)
        add_input(field.payload);
      else if (field.number == kRawContents && field.kind == wire::Kind::bytes)
        made_.raw.push_back(place_of(field.payload));
      else
        add_around(field.whole);
      if (made_.raw.size() > kMaxTensors || made_.contents.size() > kMaxTensors)
        throw ValueError("more than " + std::to_string(kMaxTensors) +
                         " tensors");
    }
    return std::move(made_);
  }

 private:
  void add_input(std::string_view input) {
    std::string kept;
    std::vector<Place>& contents = made_.contents.emplace_back();
    for (wire::Reader reader(input); !reader.done();) {
      const wire::Field field = wire::read_field(reader);
      if (field.number != kContents || field.kind != wire::Kind::bytes)
        kept += field.whole;
      else
        contents.push_back(place_of(field.payload));
      check_size(kept.size() + contents.size());
    }
    check_size(kept.size());
    wire::append_bytes_field(made_.around, kInputs, kept);
  }

  void add_around(std::string_view field) {
    check_size(field.size());
    made_.around += field;
  }

  void check_size(size_t more) const {
    if (made_.around.size() + more > kMaxAroundTensors)
      throw ValueError("more than " + std::to_string(kMaxAroundTensors) +
                       " bytes beside the elements of tensors");
  }

  Place place_of(std::string_view part) const {
    const auto begin = static_cast<size_t>(part.data() - whole_.data());
    return {begin, begin + part.size()};
  }

  std::string_view whole_;
  SplitMessage made_;
};

nb::tuple split_message(nb::handle message) {
  const Buffer buffer(message);
  SplitMessage parts;
  {
    const UnlockedToRead unlocked(buffer);
    parts = Splitter(text_of_message(buffer)).split();
  }
  return nb::make_tuple(nb::bytes(parts.around.data(), parts.around.size()),
                        std::move(parts.contents), std::move(parts.raw));
}

// Names of InferTensorContents's fields by their numbers.
constexpr std::array<std::string_view, 9> kMembers{"",
                                                   "bool_contents",
                                                   "int_contents",
                                                   "int64_contents",
                                                   "uint_contents",
                                                   "uint64_contents",
                                                   "fp32_contents",
                                                   "fp64_contents",
                                                   "bytes_contents"};

[[noreturn]] void refuse_member(uint64_t number, uint64_t expected) {
  throw ValueError(
      "comes in " + std::string(kMembers[expected]) + ", not " +
      (number < kMembers.size() ? std::string(kMembers[number]) : "others"));
}

// A number of the wire as T. `Wire` is its type in the message.
template <typename T, typename Wire>
T read_number(wire::Reader& reader, size_t place) {
  if constexpr (std::is_floating_point_v<T>) {
    return reader.fixed<T>();
  } else {
    const auto number = static_cast<Wire>(reader.varint());
    if constexpr (!std::is_same_v<T, Wire>)
      if (number < std::numeric_limits<T>::min() ||
          number > std::numeric_limits<T>::max())
        throw ValueError("element " + std::to_string(place) + " is " +
                         std::to_string(number));
    return static_cast<T>(number);
  }
}

// Gives the payload of each field to `read`: packed numbers are many in one.
template <typename Read>
void for_fields(std::string_view whole, const std::vector<Place>& contents,
                uint64_t expected, const Read& read) {
  for (const auto& [begin, end] : contents) {
    if (begin > end || end > whole.size()) wire::refuse();
    for (wire::Reader reader(whole.substr(begin, end - begin));
         !reader.done();) {
      const wire::Field field = wire::read_field(reader);
      if (field.number != expected) refuse_member(field.number, expected);
      read(field.payload);
    }
  }
}

template <typename T, typename Wire, uint64_t kMember>
size_t fill_from(std::string_view whole, const std::vector<Place>& contents,
                 std::span<char> out) {
  const size_t room = out.size() / sizeof(T);
  T* const to = reinterpret_cast<T*>(out.data());
  size_t count = 0;
  for_fields(whole, contents, kMember, [&](std::string_view numbers) {
    for (wire::Reader reader(numbers); !reader.done(); ++count) {
      const T number = read_number<T, Wire>(reader, count);
      if (count < room) to[count] = number;
    }
  });
  return count;
}

using FillContents = size_t (*)(std::string_view, const std::vector<Place>&,
                                std::span<char>);

FillContents contents_fill_of(const std::string& datatype) {
  static constexpr std::array<std::pair<std::string_view, FillContents>, 11>
      kFills{{{"BOOL", fill_from<bool, bool, 1>},
              {"INT8", fill_from<int8_t, int32_t, 2>},
              {"INT16", fill_from<int16_t, int32_t, 2>},
              {"INT32", fill_from<int32_t, int32_t, 2>},
              {"INT64", fill_from<int64_t, int64_t, 3>},
              {"UINT8", fill_from<uint8_t, uint32_t, 4>},
              {"UINT16", fill_from<uint16_t, uint32_t, 4>},
              {"UINT32", fill_from<uint32_t, uint32_t, 4>},
              {"UINT64", fill_from<uint64_t, uint64_t, 5>},
              {"FP32", fill_from<float, float, 6>},
              {"FP64", fill_from<double, double, 7>}}};
  for (const auto& [name, function] : kFills)
    if (name == datatype) return function;
  throw ValueError("comes in raw_input_contents");
}

// The count of elements; `out` has those for which it has room.
size_t fill_contents(nb::handle message, const std::vector<Place>& contents,
                     const std::string& datatype, nb::handle out) {
  const Buffer buffer(message);
  const Buffer target(out, /*writable=*/true);
  const FillContents fill = contents_fill_of(datatype);
  const UnlockedToRead unlocked(buffer);
  return fill(text_of_message(buffer), contents, target.bytes());
}

nb::list read_byte_contents(nb::handle message,
                            const std::vector<Place>& contents) {
  constexpr uint64_t kBytesContents = 8;
  const Buffer buffer(message);
  nb::list made;
  const UnlockedToRead unlocked(buffer);
  std::vector<std::string_view> items;
  size_t count = 0;
  for_fields(text_of_message(buffer), contents, kBytesContents,
             [&](std::string_view item) {
               if (++count > kMaxItems)
                 throw ValueError("more than " + std::to_string(kMaxItems) +
                                  " elements of BYTES");
               items.push_back(item);
               if (items.size() == kItemsAtATime) append_bytes(made, items);
             });
  append_bytes(made, items);
  return made;
}

}  // namespace

void register_request_message(nb::module_& module) {
  using namespace nb::literals;
  module.def("split_message", split_message, "message"_a,
             "The message of a request without the elements of tensors, and "
             "where those begin and end: lists of contents for each input, and "
             "the raw contents.");
  module.def("fill_contents", fill_contents, "message"_a, "contents"_a,
             "datatype"_a, "out"_a,
             "Writes the elements of an input into an array, and counts them.");
  module.def("read_byte_contents", read_byte_contents, "message"_a,
             "contents"_a, "The elements of an input of BYTES.");
}

}  // namespace fxjit::python
