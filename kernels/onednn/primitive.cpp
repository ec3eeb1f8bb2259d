#include "kernels/onednn/primitive.h"

#include <mutex>

#include "kernels/onednn/runtime.h"
#include "src/support/memory/aligned_block.h"

namespace fxjit::kernels::onednn {
namespace {

std::string implementation_of(const_dnnl_primitive_desc_t desc) {
  const char* text = nullptr;
  check(dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &text),
        "naming an implementation");
  return text;
}

// oneDNN writes the code of its general product when that is first called, not
// when a primitive is made. Called here, while code may be written.
void warm_gemm() {
  static std::once_flag once;
  std::call_once(once, [] {
    const float one = 1;
    float result = 0;
    check(dnnl_sgemm('N', 'N', 1, 1, 1, 1, &one, 1, &one, 1, 0, &result, 1),
          "a product");
  });
}

}  // namespace

Primitive::Primitive(PrimitiveDesc desc, std::vector<int> arguments)
    : desc_(std::move(desc)), arguments_(std::move(arguments)) {
  SingleThread single;
  dnnl_primitive_t made = nullptr;
  check(dnnl_primitive_create(&made, desc_.get()), "making a primitive");
  primitive_.reset(made);
  implementation_ = implementation_of(desc_.get());
  if (is_gemm(desc_.get())) warm_gemm();
  arguments_.push_back(DNNL_ARG_SCRATCHPAD);
  scratch_bytes_ = bytes_of(DNNL_ARG_SCRATCHPAD);
  spare_.give(bind());
}

const_dnnl_memory_desc_t Primitive::desc_of(int argument) const {
  return dnnl_primitive_desc_query_md(desc_.get(), dnnl_query_exec_arg_md,
                                      argument);
}

size_t Primitive::bytes_of(int argument) const {
  return dnnl_memory_desc_get_size(desc_of(argument));
}

std::unique_ptr<Primitive::Bound> Primitive::bind() const {
  auto bound = std::make_unique<Bound>();
  dnnl_stream_t stream = nullptr;
  check(dnnl_stream_create(&stream, engine(), dnnl_stream_default_flags),
        "making a stream");
  bound->stream.reset(stream);
  for (int argument : arguments_) {
    dnnl_memory_t memory = nullptr;
    check(dnnl_memory_create(&memory, desc_of(argument), engine(),
                             DNNL_MEMORY_NONE),
          "making a memory handle");
    bound->memories.emplace_back(memory);
    bound->args.push_back({argument, memory});
  }
  return bound;
}

void Primitive::execute(std::span<void* const> pointers,
                        std::byte* scratch) const {
  std::unique_ptr<Bound> bound = spare_.take();
  if (!bound) bound = bind();
  for (size_t i = 0; i < pointers.size(); ++i)
    check(dnnl_memory_set_data_handle(bound->memories[i].get(), pointers[i]),
          "setting a pointer");
  check(dnnl_memory_set_data_handle(bound->memories.back().get(), scratch),
        "setting a pointer");
  SingleThread single;
  check(dnnl_primitive_execute(primitive_.get(), bound->stream.get(),
                               static_cast<int>(bound->args.size()),
                               bound->args.data()),
        "running a primitive");
  check(dnnl_stream_wait(bound->stream.get()), "waiting for a primitive");
  spare_.give(std::move(bound));
}

bool Primitive::run(std::span<void* const> pointers,
                    std::byte* scratch) const noexcept {
  try {
    execute(pointers, scratch);
    return true;
  } catch (const Failure& failure) {
    warn_once(failure.what());
    return false;
  }
}

// Null handles where oneDNN could make none: calls with them fail.
class Primitive::ForDriver final : public program::BoundPrimitive {
 public:
  explicit ForDriver(const Primitive& primitive)
      : primitive_(primitive), memories_(primitive.arguments_.size()) {
    try {
      bound_ = primitive.bind();
    } catch (const Failure& failure) {
      warn_once(failure.what());
      return;
    }
    for (size_t i = 0; i < memories_.size(); ++i)
      memories_[i] = bound_->memories[i].get();
  }

  void set(size_t argument, void* address) override {
    const auto memory = static_cast<dnnl_memory_t>(memories_[argument]);
    if (memory) dnnl_memory_set_data_handle(memory, address);
  }

  program::PrimitiveCall call() const override {
    program::PrimitiveCall call;
    call.memories = memories_.data();
    if (!bound_) return call;
    call.primitive = primitive_.primitive_.get();
    call.stream = bound_->stream.get();
    call.arguments = bound_->args.data();
    call.count = static_cast<int32_t>(bound_->args.size());
    return call;
  }

 private:
  const Primitive& primitive_;
  std::unique_ptr<Bound> bound_;
  std::vector<void*> memories_;
};

std::unique_ptr<program::BoundPrimitive> Primitive::bind_for_driver() const {
  return std::make_unique<ForDriver>(*this);
}

Attributes user_scratchpad() {
  dnnl_primitive_attr_t made = nullptr;
  check(dnnl_primitive_attr_create(&made), "making attributes");
  Attributes attributes(made);
  check(
      dnnl_primitive_attr_set_scratchpad_mode(made, dnnl_scratchpad_mode_user),
      "choosing the scratchpad");
  return attributes;
}

std::unique_ptr<Primitive> make_reorder(const_dnnl_memory_desc_t from,
                                        const_dnnl_memory_desc_t to) {
  const Attributes attributes = user_scratchpad();
  SingleThread single;
  dnnl_primitive_desc_t made = nullptr;
  check(dnnl_reorder_primitive_desc_create(&made, from, engine(), to, engine(),
                                           attributes.get()),
        "describing a copy");
  return std::make_unique<Primitive>(
      PrimitiveDesc(made), std::vector<int>{DNNL_ARG_FROM, DNNL_ARG_TO});
}

void reorder(const_dnnl_memory_desc_t from, const void* source,
             const_dnnl_memory_desc_t to, void* target) {
  const auto copy = make_reorder(from, to);
  const support::AlignedBlock scratch(copy->scratch_bytes());
  void* const pointers[] = {const_cast<void*>(source), target};
  if (!copy->run(pointers, scratch.data()))
    throw Failure("oneDNN: a copy between layouts failed");
}

bool is_reference(const_dnnl_primitive_desc_t desc) {
  return implementation_of(desc).find("ref") != std::string::npos;
}

bool is_gemm(const_dnnl_primitive_desc_t desc) {
  return implementation_of(desc).find("gemm:") != std::string::npos;
}

}  // namespace fxjit::kernels::onednn
