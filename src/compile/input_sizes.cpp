#include "src/compile/input_sizes.h"

#include <algorithm>

#include "fxjit/error.h"

namespace fxjit {
namespace {

std::string range_text(const NamedSize& size) {
  return std::to_string(size.least) + ".." +
         (size.most ? std::to_string(*size.most) : "");
}

void require_range(const NamedSize& size) {
  if (size.least >= 0 && (!size.most || *size.most >= size.least)) return;
  throw UserError("compile: sizes: no size of " +
                  (size.name.empty() ? "a dim" : size.name) +
                  " is in the range " + range_text(size));
}

}  // namespace

DeclaredInputs::DeclaredInputs(const fx::Graph& graph,
                               const std::vector<InputSizes>& given)
    : given_(given) {
  for (const fx::NodePtr node : graph.placeholders()) {
    if (InputSizes sizes = declared_sizes(*node); !sizes.empty())
      of_placeholders_.emplace(names_.size(), std::move(sizes));
    names_.emplace_back(node->name());
  }
  for (const auto& [place, sizes] : of_placeholders_) add(sizes);
  for (const InputSizes& sizes : given_) add(sizes);
}

void DeclaredInputs::add(const InputSizes& sizes) {
  for (const std::optional<NamedSize>& size : sizes) {
    if (!size) continue;
    require_range(*size);
    if (size->name.empty()) continue;
    NamedSize& known = ranges_.emplace(size->name, *size).first->second;
    known.least = std::max(known.least, size->least);
    if (size->most)
      known.most = std::min(*size->most, known.most.value_or(*size->most));
    require_range(known);
  }
}

// The sizes of one call, as they are met.
class DeclaredInputs::Call {
 public:
  explicit Call(const DeclaredInputs& all) : all_(all) {}

  void add(const std::string& input, const InputSizes* own, const Value& leaf) {
    const size_t at = leaf_++;
    const InputSizes* const given =
        at < all_.given_.size() ? &all_.given_[at] : nullptr;
    const bool tensor = leaf.is_tensor();
    const size_t count = tensor ? static_cast<size_t>(leaf.as_tensor().dim())
                                : static_cast<size_t>(leaf.is_int() ? 1 : 0);
    for (const InputSizes* declared : {own, given})
      if (declared && declared->size() > count && (tensor || leaf.is_int()))
        fail(input, "expected " + std::to_string(declared->size()) +
                        " dims, as declared, got " + std::to_string(count));
    for (size_t d = 0; d < count; ++d) {
      const NamedSize* size = named(given, d);
      if (!size) size = named(own, d);
      sizes_.push_back(size);
      if (!size) continue;
      check(tensor ? input + ", dim " + std::to_string(d) : input, *size,
            tensor ? int64_t{leaf.as_tensor().sizes()[static_cast<int>(d)]}
                   : leaf.as_int());
    }
  }

  std::vector<const NamedSize*> finish() {
    if (leaf_ < all_.given_.size())
      throw RuntimeError("[compile] sizes: declared for " +
                         std::to_string(all_.given_.size()) +
                         " inputs, of which the call has " +
                         std::to_string(leaf_));
    return std::move(sizes_);
  }

 private:
  [[noreturn]] static void fail(const std::string& input,
                                const std::string& what) {
    throw RuntimeError("[compile] input " + input + ": " + what);
  }

  const NamedSize* named(const InputSizes* declared, size_t dim) const {
    return declared && dim < declared->size() ? all_.find((*declared)[dim])
                                              : nullptr;
  }

  void check(const std::string& place, const NamedSize& size, int64_t got) {
    const std::string name = size.name.empty() ? "" : " (" + size.name + ")";
    if (got < size.least || (size.most && got > *size.most))
      fail(place + name, "expected a size in " + range_text(size) + ", got " +
                             std::to_string(got));
    if (size.name.empty()) return;
    const auto [first, fresh] = met_.emplace(size.name, Met{place, got});
    if (!fresh && first->second.size != got)
      fail(place + name, "expected a size of " +
                             std::to_string(first->second.size) +
                             ", that of input " + first->second.place +
                             ", got " + std::to_string(got));
  }

  struct Met {
    std::string place;
    int64_t size;
  };
  const DeclaredInputs& all_;
  size_t leaf_ = 0;
  std::vector<const NamedSize*> sizes_;
  std::map<std::string, Met> met_;
};

std::vector<const NamedSize*> DeclaredInputs::of(
    std::span<const Value> inputs) const {
  Call call(*this);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto own = of_placeholders_.find(i);
    const std::string name = i < names_.size() ? names_[i] : std::to_string(i);
    visit_leaves(inputs[i], [&](const Value& leaf) {
      call.add(name, own == of_placeholders_.end() ? nullptr : &own->second,
               leaf);
    });
  }
  return call.finish();
}

const NamedSize* DeclaredInputs::find(
    const std::optional<NamedSize>& declared) const {
  if (!declared) return nullptr;
  return declared->name.empty() ? &*declared : &ranges_.at(declared->name);
}

}  // namespace fxjit
