#include "src/compile/compiled_shape.h"

#include <array>
#include <bit>
#include <cstdio>

namespace fxjit {
namespace {

using program::Buffer;
using program::Home;
using program::Program;
using program::TensorSpec;

size_t mix(size_t hash, uint64_t word) {
  return (hash ^ word) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

size_t hash_tensor(size_t hash, const Tensor& t) {
  hash = mix(hash, static_cast<uint64_t>(t.dtype()));
  for (int64_t size : t.sizes()) hash = mix(hash, static_cast<uint64_t>(size));
  for (int64_t stride : t.strides())
    hash = mix(hash, static_cast<uint64_t>(stride));
  return hash;
}

bool same_inputs(const Value& known, const Value& given) {
  if (known.kind() != given.kind()) return false;
  if (known.is_tensor()) {
    const Tensor& a = known.as_tensor();
    const Tensor& b = given.as_tensor();
    return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
           a.strides() == b.strides();
  }
  if (known.is_sequence()) {
    if (known.size() != given.size()) return false;
    for (size_t i = 0; i < known.size(); ++i)
      if (!same_inputs(known.at(i), given.at(i))) return false;
    return true;
  }
  if (known.is_dict()) {
    const ValueDict &a = known.as_dict(), &b = given.as_dict();
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!same(a[i].first, b[i].first) ||
          !same_inputs(a[i].second, b[i].second))
        return false;
    return true;
  }
  if (known.is_float())  // 0.0 and -0.0 differ, NaN is NaN.
    return std::bit_cast<uint64_t>(known.as_double()) ==
           std::bit_cast<uint64_t>(given.as_double());
  return same(known, given);
}

// Pointers of a call; on the stack for all but unusual models.
class Pointers {
 public:
  explicit Pointers(size_t count) {
    if (count > inline_.size()) {
      many_.resize(count);
      data_ = many_.data();
    }
  }
  void*& operator[](size_t i) { return data_[i]; }
  void** data() { return data_; }

 private:
  std::array<void*, 16> inline_{};
  std::vector<void*> many_;
  void** data_ = inline_.data();
};

std::shared_ptr<Storage> storage_of(support::Block* block, size_t bytes) {
  std::shared_ptr<void> owner(block, [](void* p) {
    static_cast<support::Block*>(p)->release();
  });
  return Storage::borrow(block->data(), bytes, std::move(owner));
}

// Storage of each output buffer of a call.
std::vector<std::shared_ptr<Storage>> make_outputs(const Program& program,
                                                   support::BlockPool& blocks) {
  std::vector<std::shared_ptr<Storage>> made;
  for (const Program::Output& output : program.outputs) {
    const Buffer& buffer =
        program.buffers[static_cast<size_t>(output.buffer)];
    if (buffer.home != Home::output) continue;
    const auto index = static_cast<size_t>(buffer.index);
    if (made.size() <= index) made.resize(index + 1);
    if (made[index]) continue;
    const auto bytes = static_cast<size_t>(buffer.bytes);
    made[index] = storage_of(blocks.acquire(bytes), bytes);
  }
  return made;
}

}  // namespace

CallInputs::CallInputs(std::span<const Value> inputs) {
  for (const Value& input : inputs)
    visit_leaves(input, [&](const Value& leaf) {
      if (leaf.is_tensor()) tensors.push_back(&leaf.as_tensor());
    });
}

size_t hash_inputs(std::span<const Value> inputs) {
  size_t hash = inputs.size();
  for (const Value& input : inputs)
    visit_leaves(input, [&](const Value& leaf) {
      hash = leaf.is_tensor() ? hash_tensor(hash, leaf.as_tensor())
                              : mix(hash, static_cast<uint64_t>(leaf.kind()));
    });
  return hash;
}

bool CompiledShape::serves(std::span<const Value> inputs) const {
  if (inputs.size() != parts_.signature.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!same_inputs(parts_.signature[i], inputs[i])) return false;
  return true;
}

size_t CompiledShape::bytes() const {
  constexpr size_t kOverhead = 4096;
  if (!native()) return kOverhead;
  return kOverhead + parts_.code_bytes + parts_.executable->working_bytes();
}

Value CompiledShape::run(std::span<const Value> inputs,
                         support::BlockPool& blocks,
                         program::StepTimes* times) const {
  const Program& program = parts_.executable->program();
  const CallInputs given(inputs);
  Pointers in(given.tensors.size());
  for (size_t i = 0; i < given.tensors.size(); ++i)
    in[i] = given.tensors[i]->data();
  const auto made = make_outputs(program, blocks);
  Pointers out(made.size());
  for (size_t i = 0; i < made.size(); ++i) out[i] = made[i]->data();
  parts_.executable->run({in.data(), given.tensors.size()},
                         {out.data(), made.size()}, times);
  size_t next = 0;
  const auto wrap = [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Program::Output& output = program.outputs[next++];
    const Buffer& buffer =
        program.buffers[static_cast<size_t>(output.buffer)];
    const auto item = static_cast<int64_t>(dtype_size(output.spec.dtype));
    const int64_t offset = output.byte_offset / item;
    if (buffer.home == Home::output)
      return Tensor::view(made[static_cast<size_t>(buffer.index)],
                          output.spec.sizes, output.spec.dtype,
                          output.spec.strides, offset);
    const Tensor& base =
        buffer.home == Home::input
            ? *given.tensors[static_cast<size_t>(buffer.index)]
            : program.constants[static_cast<size_t>(buffer.index)];
    const TensorSpec& spec = output.spec;
    if (!output.copied && offset == 0 && spec.dtype == base.dtype() &&
        spec.sizes == base.sizes() && spec.strides == base.strides())
      return base;
    // The view may have another dtype than its base.
    const int64_t start =
        base.offset() * static_cast<int64_t>(base.item_size()) / item;
    const Tensor view =
        Tensor::view(base.storage(), spec.sizes, spec.dtype, spec.strides,
                     start + offset);
    return output.copied ? view.clone() : view;
  };
  return map_leaves(program.result, wrap);
}

std::string CompiledShape::report() const {
  std::string text;
  for (const Value& input : parts_.signature) {
    if (!text.empty()) text += ", ";
    text += input.is_tensor() ? input.as_tensor().describe() : repr(input);
  }
  text = "inputs: " + text + "\n";
  if (!native()) return text + "  interpreter: " + parts_.why_not + "\n";
  const Program& program = parts_.executable->program();
  int number = 0;
  for (const program::Step& step : program.steps) {
    const auto* external = std::get_if<program::ExternStep>(&step.body);
    char head[32];
    std::snprintf(head, sizeof head, "  %3d ", number++);
    text += head;
    text += external ? external->kernel->describe() : "generated";
    text += external && !external->kernel->native() ? " (not native)" : "";
    text += "  " + step.label;
    if (!step.nodes.empty()) {
      text += "  <-";
      for (const std::string& node : step.nodes) text += " %" + node;
    }
    text += "\n";
  }
  return text;
}

}  // namespace fxjit
