#include "src/ops/aten/overload.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "src/ops/aten/torch_schema.h"
#include "src/ops/table/binder.h"
#include "src/ops/table/op_call.h"
#include "src/ops/table/schema.h"

namespace fxjit::ops {
namespace {

// A line of overloads.inc, and one of unserved.inc.
struct ServedLine {
  std::string_view name, call, functions, others, schema;
};
struct UnservedLine {
  std::string_view overload, names, schema;
};

constexpr ServedLine kServed[] = {
#include "src/ops/aten/overloads.inc"
};
constexpr UnservedLine kUnserved[] = {
#include "src/ops/aten/unserved.inc"
};

template <typename Fn>
void each_word(std::string_view words, Fn fn) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    fn(std::string(word));
  }
}

// Those words that end with an underscore, or the others.
std::string words_in_place(std::string_view words, bool in_place) {
  std::string chosen;
  each_word(words, [&](const std::string& word) {
    if (word.ends_with('_') == in_place)
      chosen += (chosen.empty() ? "" : " ") + word;
  });
  return chosen;
}

// The overload that does the same in place.
OverloadRow row_in_place(OverloadRow row) {
  row.name.insert(row.name.find('.'), "_");
  row.call.insert(std::min(row.call.find('('), row.call.size()), "_");
  row.functions = words_in_place(row.functions, true);
  row.schema = schema_in_place(row.schema);
  return row;
}

void add_line(const ServedLine& line, std::vector<OverloadRow>& rows) {
  OverloadRow row{std::string(line.name), std::string(line.call),
                  std::string(line.functions), std::string(line.schema)};
  if (line.others.ends_with('_')) {
    rows.push_back(row_in_place(row));
    row.functions = words_in_place(line.functions, false);
  }
  const std::string name = row.name.substr(0, row.name.find('.') + 1);
  each_word(line.others, [&](const std::string& other) {
    if (other != "_")
      rows.push_back(
          {name + other, "", row.functions, schema_with_out(line.schema)});
  });
  rows.push_back(std::move(row));
}

std::vector<OverloadRow> make_rows() {
  std::vector<OverloadRow> rows;
  for (const ServedLine& line : kServed) add_line(line, rows);
  for (const UnservedLine& line : kUnserved)
    each_word(line.names, [&](const std::string& name) {
      rows.push_back({name + "." + std::string(line.overload), "",
                      "torch." + name, std::string(line.schema)});
    });
  std::ranges::sort(rows, {}, &OverloadRow::name);
  return rows;
}

constexpr std::string_view function_of(std::string_view name) {
  return name.substr(0, name.find('.'));
}
constexpr std::string_view function_of_line(const ServedLine& line) {
  return function_of(line.name);
}
static_assert(std::ranges::is_sorted(kServed, {}, function_of_line));

// The row of a name, made of the few lines that can say it: programs use few
// overloads, and to make all rows takes milliseconds.
std::optional<OverloadRow> find_row(std::string_view name) {
  const std::string_view function = function_of(name);
  const std::string_view not_in_place =
      function.substr(0, function.size() - function.ends_with('_'));
  for (const std::string_view said : {function, not_in_place}) {
    std::vector<OverloadRow> rows;
    for (const ServedLine& line :
         std::ranges::equal_range(kServed, said, {}, function_of_line))
      add_line(line, rows);
    const auto found = std::ranges::find(rows, name, &OverloadRow::name);
    if (found != rows.end()) return std::move(*found);
  }
  return std::nullopt;
}

// The overload's parameter for one of the op's, by name or by the names that
// both have for the same thing.
std::optional<size_t> counterpart(const std::vector<Parameter>& torch,
                                  const std::string& name) {
  constexpr std::pair<std::string_view, std::string_view> kSame[] = {
      {"input", "self"}, {"input", "x"},       {"input", "A"},
      {"dim", "axis"},   {"other", "tensor2"}, {"training", "train"}};
  if (const auto found = index_of(torch, name)) return found;
  for (const auto& [ours, theirs] : kSame)
    if (name == ours)
      if (const auto found = index_of(torch, theirs)) return found;
  return std::nullopt;
}

class Reader {
 public:
  Reader(Overload& overload, std::string_view text)
      : overload_(overload), text_(text) {}

  void read() {
    const size_t open = text_.find('(');
    overload_.op = &get_op(text_.substr(0, open));
    overload_.is_read.resize(overload_.parameters.size());
    for (const Parameter& parameter : overload_.op->parameters)
      overload_.sources.push_back(
          {Overload::Source::Kind::value, 0, {}, parameter.default_value});
    if (open == text_.npos)
      by_names();
    else
      by_text(text_.substr(open + 1, text_.size() - open - 2));
  }

 private:
  void by_names() {
    for (size_t i = 0; i < overload_.sources.size(); ++i)
      if (const auto found = counterpart(overload_.parameters,
                                         overload_.op->parameters[i].name))
        overload_.sources[i] = parameter(*found);
  }

  // "self, 1, mode='linear'"
  void by_text(std::string_view arguments) {
    size_t next = 0;
    for (std::string_view part : split_text(arguments)) {
      const size_t mark = part.find('=');
      size_t at = next++;
      if (mark != part.npos) {
        const auto named =
            index_of(overload_.op->parameters, part.substr(0, mark));
        if (!named) bad(part);
        at = *named;
        part.remove_prefix(mark + 1);
      }
      if (at >= overload_.sources.size()) bad(part);
      overload_.sources[at] = source(part);
    }
  }

  Overload::Source source(std::string_view text) {
    if (const auto found = index_of(overload_.parameters, text))
      return parameter(*found);
    if (!text.starts_with('[')) {
      const std::optional<Value> literal = parse_literal(text);
      if (!literal) bad(text);
      return {Overload::Source::Kind::value, 0, {}, *literal};
    }
    Overload::Source list{Overload::Source::Kind::list, 0, {}, {}};
    for (std::string_view item : split_text(text.substr(1, text.size() - 2)))
      list.items.push_back(source(item));
    return list;
  }

  Overload::Source parameter(size_t i) {
    overload_.is_read[i] = true;
    return {Overload::Source::Kind::parameter, i, {}, {}};
  }

  [[noreturn]] void bad(std::string_view part) const {
    throw InternalError("overloads.inc: " + overload_.name + ": " +
                        std::string(part));
  }

  Overload& overload_;
  const std::string_view text_;
};

// What cannot change a result here: there is one device and one layout, and no
// other algorithm to choose; results that were not asked for are given as well.
bool changes_nothing(std::string_view parameter) {
  constexpr std::string_view kNames[] = {
      "allow_tf32",    "assume_unique", "benchmark",      "compute_mode",
      "cudnn_enable",  "cudnn_enabled", "deterministic",  "device",
      "implicit",      "layout",        "non_blocking",   "pin_memory",
      "requires_grad", "return_counts", "return_inverse", "scale_grad_by_freq",
      "sparse",        "unsafe"};
  return std::ranges::find(kNames, parameter) != std::end(kNames);
}

// Numbers that torch's enums are in schemas, in the words of its functions.
Value in_words(const Overload& overload, const Parameter& parameter,
               const Value& value) {
  using Words = std::span<const std::string_view>;
  constexpr std::string_view kReductions[] = {"none", "mean", "sum"};
  constexpr std::string_view kBags[] = {"sum", "mean", "max"};
  constexpr std::string_view kSampling[] = {"bilinear", "nearest", "bicubic"};
  constexpr std::string_view kPadding[] = {"zeros", "border", "reflection"};
  Words words;
  if (parameter.name == "reduction") words = kReductions;
  if (parameter.name == "mode")
    words =
        overload.op->name() == "grid_sample" ? Words(kSampling) : Words(kBags);
  if (parameter.name == "padding_mode") words = kPadding;
  if (words.empty() || !value.is_int()) return value;
  const int64_t number = value.as_int();
  if (number < 0 || number >= static_cast<int64_t>(words.size())) return value;
  return words[static_cast<size_t>(number)];
}

Value value_of(const Overload::Source& source, const ValueList& bound) {
  switch (source.kind) {
    case Overload::Source::Kind::parameter:
      return bound[source.parameter];
    case Overload::Source::Kind::value:
      return source.value;
    case Overload::Source::Kind::list:
      break;
  }
  ValueList items;
  for (const Overload::Source& item : source.items)
    items.push_back(value_of(item, bound));
  return Value::list(std::move(items));
}

void check_unread(const Overload& overload, const ValueList& bound,
                  SourceLocation source) {
  for (size_t i = 0; i < bound.size(); ++i) {
    const Parameter& parameter = overload.parameters[i];
    if (overload.is_read[i] || changes_nothing(parameter.name)) continue;
    if (parameter.has_default && same(parameter.default_value, bound[i]))
      continue;
    throw NotImplementedError("argument `" + parameter.name +
                                  "` = " + repr(bound[i]) + " is not supported",
                              context_of("aten." + overload.name, source));
  }
}

}  // namespace

std::span<const OverloadRow> overload_rows() {
  static const std::vector<OverloadRow> rows = make_rows();
  return rows;
}

std::unique_ptr<Overload> make_overload(std::string_view name) {
  const std::optional<OverloadRow> row = find_row(name);
  if (!row || row->call.empty()) return nullptr;
  auto overload = std::make_unique<Overload>();
  overload->name = std::string(name);
  overload->parameters = parse_torch_schema(row->schema);
  Reader(*overload, row->call).read();
  return overload;
}

bool asks_for_write(const Overload& overload) {
  const int at = overload.op->index_of("inplace");
  if (at < 0) return false;
  const Overload::Source& source = overload.sources[static_cast<size_t>(at)];
  return source.kind == Overload::Source::Kind::value &&
         same(source.value, true);
}

ValueList bind_torch(const Overload& overload, std::span<const Value> args,
                     const Kwargs& kwargs, SourceLocation source) {
  return bind_parameters({"aten." + overload.name, overload.parameters}, args,
                         kwargs, source);
}

ValueList bind(const Overload& overload, std::span<const Value> args,
               const Kwargs& kwargs, SourceLocation source) {
  const ValueList bound = bind_torch(overload, args, kwargs, source);
  check_unread(overload, bound, source);
  ValueList arranged;
  for (size_t i = 0; i < overload.sources.size(); ++i) {
    const Parameter& parameter = overload.op->parameters[i];
    Value value =
        in_words(overload, parameter, value_of(overload.sources[i], bound));
    // Strides of windows that are left out.
    if (parameter.name == "stride" && value.is_sequence() && value.size() == 0)
      value = parameter.default_value;
    arranged.push_back(std::move(value));
  }
  return arranged;
}

}  // namespace fxjit::ops
