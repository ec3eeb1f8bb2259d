// Whose memory the values of a GraphBuilder are, told call by call from
// src/ops/table/aliasing.h.
#include "src/ops/table/aliasing.h"
#include "src/ops/table/sized_calls.h"
#include "src/passes/lowering/builder_proxy.h"

namespace fxjit::passes {

int32_t GraphBuilder::new_memory(bool outside) {
  outside_.push_back(outside);
  return static_cast<int32_t>(outside_.size()) - 1;
}

ValueMemory GraphBuilder::memory_of(const Value& leaf) {
  if (leaf.is_proxy()) return static_cast<Proxy*>(leaf.as_proxy())->memory();
  const auto [known, added] = storages_.emplace(leaf.as_tensor().storage(), -1);
  if (added) known->second = new_memory(false);
  return {known->second, nullptr};
}

void GraphBuilder::hold_outside(const Tensor& tensor) {
  const int32_t id = memory_of(tensor).id;
  outside_[static_cast<size_t>(id)] = true;
}

Value GraphBuilder::as_written(const Value& result, const Value& written) {
  const fx::NodePtr node = node_of(result);
  return proxy(node, {memory_of(written).id, node});
}

Value GraphBuilder::base_of(const Value& leaf) {
  const ValueMemory memory = memory_of(leaf);
  return proxy(memory.base, memory);
}

// For each tensor of the result the argument that it is a view of, or none.
ValueList GraphBuilder::viewed_by(const ops::Op& op, const ValueList& args,
                                  const ValueList& metas, const Value& val) {
  ValueList given, viewed;
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (leaf.is_proxy()) given.push_back(leaf);
    });
  for (const ops::ResultMemory& memory : ops::result_memory({op, metas}, val)) {
    FXJIT_CHECK(memory.argument != ops::ResultMemory::kTogether,
                "results of known shapes have a memory each");
    const bool own = memory.argument == ops::ResultMemory::kOwn;
    const bool written = !own && options_.is_written && options_.is_written();
    if (written && !memory.placed)
      refuse("it views a place that only its numbers tell, where calls write");
    viewed.push_back(own || !memory.placed
                         ? Value()
                         : given[static_cast<size_t>(memory.argument)]);
  }
  return viewed;
}

// The call, with the memory of its results known.
Value GraphBuilder::make_placed(const ops::Op& op, const ValueList& args,
                                const ValueList& metas, const Value& val) {
  // Its own calls tell.
  if (ops::aliasing(op) == ops::Aliasing::composed ||
      op.row.lowering == ops::Lowering::inlined) {
    const ops::SizedCalls sized(args);
    return op.row.decompose({op, args});
  }
  const ValueList viewed = viewed_by(op, args, metas, val);
  if (val.is_tensor() && viewed[0].is_proxy() &&
      same_view(viewed[0].as_proxy()->val().as_tensor(), val.as_tensor()))
    return viewed[0];
  const Value result = make(op, args, val);
  size_t next = 0;
  visit_leaves(result, [&](const Value& leaf) {
    if (leaf.is_proxy())
      place(*static_cast<Proxy*>(leaf.as_proxy()), viewed[next++]);
  });
  return result;
}

void GraphBuilder::place(Proxy& made, const Value& viewed) {
  if (made.memory().id >= 0) return;  // An argument, or made by other calls.
  ValueMemory memory;
  if (viewed.is_proxy()) {
    memory = memory_of(viewed);
    // Places of a complex number's parts are counted in other elements.
    if (is_complex(made.val().as_tensor().dtype()) !=
        is_complex(viewed.as_proxy()->val().as_tensor().dtype()))
      memory.base = nullptr;
  } else {
    memory.id = new_memory(false);
  }
  // Offsets of constants count from their own first element.
  if (!memory.base || made.node()->is(fx::Opcode::get_attr))
    memory.base = made.node();
  made.set_memory(memory);
}

}  // namespace fxjit::passes
