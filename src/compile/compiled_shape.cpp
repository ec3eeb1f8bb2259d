#include "src/compile/compiled_shape.h"

#include <cstring>

#include "src/compile/bound_outputs.h"
#include "src/compile/input_key.h"
#include "src/program/cost/program_bytes.h"
#include "src/support/memory/small_array.h"

namespace fxjit {
namespace {

using program::Buffer;
using program::Home;
using program::Program;

// On the stack for all but unusual models.
constexpr size_t kFewTensors = 16;
using Pointers = support::SmallArray<void*, kFewTensors>;
using InputTensors = support::SmallArray<const Tensor*, kFewTensors>;
using OutputStorages = support::SmallArray<std::shared_ptr<Storage>, 4>;

// Fails for inputs without data: what is inferred of them is no program's work.
void collect(std::span<const Value> inputs, InputTensors& tensors,
             Pointers& data) {
  size_t count = 0;
  const auto take = [&](const Value& leaf) {
    if (!leaf.is_tensor()) return;
    const Tensor& tensor = leaf.as_tensor();
    if (tensor.is_meta())
      throw program::ValueFailure("an input has a shape, but no data");
    tensors[count] = &tensor;
    data[count++] = tensor.data();
  };
  for (const Value& input : inputs)
    input.is_tensor() ? take(input) : visit_leaves(input, take);
}

// In the memory of `bound`, if any is given and can be written straight to.
void bind_outputs(const Program& program, std::span<const Value> inputs,
                  std::span<const Tensor> bound, OutputStorages& made) {
  for (size_t i = 0; i < bound.size(); ++i) {
    const Program::Output& output = program.outputs[i];
    const Buffer& buffer = program.buffers[static_cast<size_t>(output.buffer)];
    if (buffer.home != Home::output) continue;
    auto& storage = made[static_cast<size_t>(buffer.index)];
    if (storage || !can_write_straight(bound[i], output, buffer, inputs))
      continue;
    storage = Storage::borrow(
        bound[i].data(), static_cast<size_t>(buffer.bytes), bound[i].storage());
  }
}

void make_outputs(const Program& program, support::BlockPool& blocks,
                  OutputStorages& made) {
  for (const Program::Output& output : program.outputs) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(output.buffer)];
    if (buffer.home != Home::output) continue;
    auto& storage = made[static_cast<size_t>(buffer.index)];
    if (storage) continue;
    const auto bytes = static_cast<size_t>(buffer.bytes);
    std::shared_ptr<std::byte> block = blocks.acquire(bytes);
    std::byte* const data = block.get();
    storage = Storage::borrow(data, bytes, std::move(block));
  }
}

// An output that is an input or a constant, or a view of one; the view may have
// another dtype than its base.
Tensor known_output(const Program::Output& output, const Tensor& base) {
  const TensorSpec& spec = output.spec;
  if (output.byte_offset == 0 && spec.dtype == base.dtype() &&
      spec.sizes == base.sizes() && spec.strides == base.strides())
    return base;
  const auto item = static_cast<int64_t>(dtype_size(spec.dtype));
  const int64_t before = base.offset() * static_cast<int64_t>(base.item_size());
  if ((before + output.byte_offset) % item != 0)
    throw RuntimeError("Tensor must have a storage_offset divisible by 2");
  const int64_t start = before / item;
  return Tensor::view(base.storage(), spec.sizes, spec.dtype, spec.strides,
                      start + output.byte_offset / item);
}

// Outputs that must not share memory with others, each number of copy once.
class Copies {
 public:
  Tensor operator()(int32_t copy, const Tensor& output) {
    if (copy < 0) return output;
    // Only the program's own memory is copied whole: a mapped file is not.
    const Storage& from = *output.storage();
    if (from.read_only()) return output.clone();
    if (made_.size() <= static_cast<size_t>(copy))
      made_.resize(static_cast<size_t>(copy) + 1);
    auto& storage = made_[static_cast<size_t>(copy)];
    if (!storage) {
      storage = Storage::allocate(from.bytes());
      std::memcpy(storage->data(), from.data(), from.bytes());
    }
    return Tensor::view(storage, output.sizes(), output.dtype(),
                        output.strides(), output.offset());
  }

 private:
  std::vector<std::shared_ptr<Storage>> made_;
};

// The executable and those of the branches and bodies that its steps call.
template <typename Fn>
void for_each_executable(const program::Executable& executable, const Fn& fn) {
  fn(executable);
  for (size_t i = 0; i < executable.program().steps.size(); ++i)
    if (const program::ExternCode* const external = executable.external(i))
      for (const program::ExternCode::Body& body : external->bodies())
        for_each_executable(*body.program, fn);
}

}  // namespace

CompiledShape::CompiledShape(Parts parts) : parts_(std::move(parts)) {
  if (!native()) return;
  const Program& program = parts_.executable->program();
  const std::vector<Tensor>& constants = parts_.executable->constants();
  for_each_executable(executable(), [this](const auto& each) {
    described_bytes_ +=
        program::described_bytes(each.program(), each.constants());
  });
  written_ = WrittenInputs(program, constants);
}

bool CompiledShape::serves(std::span<const Value> inputs) const {
  return same_inputs(parts_.signature, inputs);
}

size_t CompiledShape::bytes() const {
  constexpr size_t kOverhead = 4096;
  return native() ? kOverhead + parts_.code_bytes + described_bytes_
                  : kOverhead;
}

bool CompiledShape::is_remade_soon() const {
  bool soon = parts_.of_kind;
  if (native())
    for_each_executable(executable(), [&soon](const auto& each) {
      for (size_t i = 0; i < each.program().steps.size(); ++i)
        soon = soon && !(each.external(i) && each.external(i)->computed_by() ==
                                                 ComputedBy::library);
    });
  return soon;
}

size_t CompiledShape::working_bytes() const {
  size_t working = 0;
  if (native())
    for_each_executable(executable(), [&working](const auto& each) {
      working += each.working_bytes();
    });
  return working;
}

Value CompiledShape::run_into(std::span<const Value> inputs,
                              std::span<const Tensor> bound,
                              support::BlockPool& blocks) const {
  check_bound_outputs(bound, parts_.executable->program());
  return copy_to_bound(run(inputs, bound, blocks, nullptr), bound);
}

Value CompiledShape::run(std::span<const Value> inputs,
                         std::span<const Tensor> bound,
                         support::BlockPool& blocks,
                         program::StepTimes* times) const {
  const Program& program = parts_.executable->program();
  InputTensors given(program.inputs.size());
  Pointers in(given.size());
  collect(inputs, given, in);
  if (!written_.are_apart({given.data(), given.size()}))
    throw program::ValueFailure(
        "inputs that the call writes share memory with what it reads");
  OutputStorages made(program.outputs.size());
  bind_outputs(program, inputs, bound, made);
  make_outputs(program, blocks, made);
  Pointers out(made.size());
  for (size_t i = 0; i < made.size(); ++i)
    out[i] = made[i] ? made[i]->data() : nullptr;
  parts_.executable->run({in.data(), in.size()}, {out.data(), out.size()},
                         times);
  size_t next = 0;
  Copies copies;
  return map_leaves(program.result, [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Program::Output& output = program.outputs[next++];
    const Buffer& buffer = program.buffers[static_cast<size_t>(output.buffer)];
    const auto index = static_cast<size_t>(buffer.index);
    if (buffer.home == Home::output)
      return copies(
          output.copy,
          Tensor::view(made[index], output.spec.sizes, output.spec.dtype,
                       output.spec.strides,
                       output.byte_offset / static_cast<int64_t>(dtype_size(
                                                output.spec.dtype))));
    return copies(output.copy,
                  known_output(output, buffer.home == Home::input
                                           ? *given[index]
                                           : executable().constants()[index]));
  });
}

}  // namespace fxjit
