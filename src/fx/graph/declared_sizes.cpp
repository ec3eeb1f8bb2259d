#include <algorithm>

#include "fxjit/error.h"
#include "fxjit/fx/node.h"
#include "fxjit/named_sizes.h"

namespace fxjit {
namespace {

constexpr std::string_view kSizesKey = "sizes";

[[noreturn]] void fail_entry(const fx::Node& node) {
  throw UserError("[" + std::string(node.name()) +
                      "] meta['sizes']: expected a list with None or (name, "
                      "least, most) for each dim",
                  node.error_context());
}

NamedSize size_of_entry(const fx::Node& node, const Value& entry) {
  const bool fits = entry.is_tuple() && entry.size() == 3 &&
                    entry.at(0).is_string() && entry.at(1).is_int() &&
                    (entry.at(2).is_int() || entry.at(2).is_none());
  if (!fits) fail_entry(node);
  NamedSize size{
      std::string(entry.at(0).as_string()), entry.at(1).as_int(), {}};
  if (entry.at(2).is_int()) size.most = entry.at(2).as_int();
  return size;
}

}  // namespace

void declare_sizes(fx::Node& placeholder, const InputSizes& sizes) {
  if (std::ranges::none_of(sizes, [](const auto& s) { return s.has_value(); }))
    return;
  ValueList entries;
  for (const std::optional<NamedSize>& size : sizes)
    entries.push_back(
        size ? Value::tuple({size->name, size->least,
                             size->most ? Value(*size->most) : None})
             : None);
  placeholder.meta().set(kSizesKey, Value::list(std::move(entries)));
}

InputSizes declared_sizes(const fx::Node& placeholder) {
  const Value* const entries = placeholder.meta().find(kSizesKey);
  InputSizes sizes;
  if (!entries) return sizes;
  if (!entries->is_list()) fail_entry(placeholder);
  for (const Value& entry : entries->as_sequence())
    sizes.push_back(entry.is_none() ? std::optional<NamedSize>()
                                    : size_of_entry(placeholder, entry));
  return sizes;
}

}  // namespace fxjit
