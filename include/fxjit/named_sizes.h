// Names for sizes of inputs that change from call to call. The graph is then
// taken for all of these sizes by the first call already (docs/sizes.md); dims
// without a name get one when their size has changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fxjit {

namespace fx {
class Node;
}

// One size that changes. Sizes of one name are equal in every call, and in all
// ranges that were given for it.
struct NamedSize {
  // Empty: the size changes, and what it is equal to is not known.
  std::string name;
  int64_t least = 0;
  std::optional<int64_t> most = {};

  friend bool operator==(const NamedSize&, const NamedSize&) = default;
};

// The dims of a tensor from the first on, or an integer, as the only one.
// Nothing: not declared; nor are dims behind the last one.
using InputSizes = std::vector<std::optional<NamedSize>>;

// Keeps what is known of an input with its placeholder, as the entry "sizes" of
// its metadata: a list with None or a tuple (name, least, most) for each dim.
// Loaders of files do so. Nothing is kept where no dim is declared.
void declare_sizes(fx::Node& placeholder, const InputSizes& sizes);
// What declare_sizes() kept. UserError if the entry is another one.
InputSizes declared_sizes(const fx::Node& placeholder);

}  // namespace fxjit
