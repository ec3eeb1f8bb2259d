#include "src/passes/fusing/twins.h"

#include <bit>
#include <string>
#include <unordered_map>

#include "src/passes/value_words.h"

namespace fxjit::passes {
namespace {

// Equal for regions that compute the same of their inputs.
ValueWords words_of(const Region& region) {
  ValueWords words;
  words.add(static_cast<int64_t>(region.kind));
  words.add(region.domain);
  words.add(int64_t{region.inner_dims});
  words.add(int64_t{region.inner_at});
  for (const fx::NodePtr node : region.graph->nodes()) {
    words.add(static_cast<int64_t>(node->op()));
    words.add(std::bit_cast<int64_t>(node->called_op()));
    for (const Value& arg : node->args()) words.add(arg);
    if (!node->is(fx::Opcode::output)) words.add(node->val());
    words.number(*node);
  }
  return words;
}

}  // namespace

void mark_twins(ModelGraph& model) {
  std::unordered_map<std::string, int32_t> numbers;
  for (auto& [name, region] : model.regions) {
    const ValueWords words = words_of(region);
    if (!words.is_known()) continue;
    const auto next = static_cast<int32_t>(numbers.size());
    region.twin = numbers.emplace(words.text(), next).first->second;
  }
}

}  // namespace fxjit::passes
