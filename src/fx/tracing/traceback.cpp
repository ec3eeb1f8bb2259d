#include "fxjit/fx/traceback.h"

#include <algorithm>
#include <utility>

namespace fxjit::fx::traceback {
namespace {

struct State {
  bool preserve = false;
  Meta meta;
};

State& state() {
  static thread_local State current;
  return current;
}

// The entries that torch's tracers copy.
constexpr std::string_view kCopied[] = {
    "stack_trace",       "nn_module_stack",  "torch_fn",
    "source_fn_stack",   "original_aten",    "recompute",
    "ac_graph_id",       "has_backward_hook", "from_node",
    "quantization_tag",  "_numeric_debug_handle", "custom",
    "partitioner_tag",
};

Value custom_of(const Meta& meta) {
  const Value* const custom = meta.find("custom");
  return custom ? *custom : Value();
}

}  // namespace

bool has_preserved_node_meta() { return state().preserve; }

const Meta& current_meta() { return state().meta; }

void set_stack_trace(std::string_view trace) {
  if (!state().preserve) return;
  if (trace.empty()) {
    state().meta.erase("stack_trace");
  } else {
    state().meta.set("stack_trace", trace);
  }
}

PreserveNodeMeta::PreserveNodeMeta(bool enable)
    : enabled_(std::exchange(state().preserve, enable)),
      meta_(state().meta) {}

PreserveNodeMeta::~PreserveNodeMeta() {
  state().preserve = enabled_;
  state().meta = std::move(meta_);
}

CurrentMeta::CurrentMeta(const Node& node)
    : changed_(state().preserve && !node.meta().empty()) {
  if (changed_) meta_ = std::exchange(state().meta, node.meta());
}

CurrentMeta::~CurrentMeta() {
  if (changed_) state().meta = std::move(meta_);
}

Annotation::Annotation(const ValueDict& entries)
    : custom_(custom_of(state().meta)) {
  ValueDict merged = custom_.is_dict() ? custom_.as_dict() : ValueDict();
  for (const auto& entry : entries) {
    const auto there = std::ranges::find_if(merged, [&](const auto& old) {
      return same(old.first, entry.first);
    });
    if (there == merged.end()) {
      merged.push_back(entry);
    } else {
      there->second = entry.second;
    }
  }
  state().meta.set("custom", Value::dict(std::move(merged)));
}

Annotation::~Annotation() {
  if (custom_.is_none()) {
    state().meta.erase("custom");
  } else {
    state().meta.set("custom", std::move(custom_));
  }
}

void copy_current_meta(Node& node) {
  for (const std::string_view key : kCopied)
    if (const Value* const entry = state().meta.find(key))
      node.meta().set(key, *entry);
}

}  // namespace fxjit::fx::traceback
