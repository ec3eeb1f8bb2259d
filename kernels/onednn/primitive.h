// A oneDNN primitive with everything that a call needs. It is made once and may
// run on any number of threads at a time, on raw pointers. The caller brings
// the scratch memory.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "kernels/onednn/handles.h"
#include "src/program/driver/primitive_code.h"
#include "src/support/memory/spare_slots.h"

namespace fxjit::kernels::onednn {

class Primitive {
 public:
  // `arguments` are oneDNN's DNNL_ARG_... numbers in the order in which run()
  // is given pointers, without the scratchpad. Throws Failure.
  Primitive(PrimitiveDesc desc, std::vector<int> arguments);

  // "jit:avx512_core".
  const std::string& implementation() const { return implementation_; }
  size_t scratch_bytes() const { return scratch_bytes_; }
  const_dnnl_memory_desc_t desc_of(int argument) const;
  size_t bytes_of(int argument) const;

  // Returns false if oneDNN fails, which is reported once; the outputs are
  // undefined then. `scratch` has scratch_bytes() bytes.
  bool run(std::span<void* const> pointers, std::byte* scratch) const noexcept;

  // For drivers, which call it themselves: run()'s pointers are its arguments,
  // then the scratchpad. Lives no longer than this.
  std::unique_ptr<program::BoundPrimitive> bind_for_driver() const;

 private:
  // Handles to memory belong to one call at a time.
  struct Bound {
    std::vector<Memory> memories;
    std::vector<dnnl_exec_arg_t> args;
    Stream stream;
  };

  class ForDriver;
  std::unique_ptr<Bound> bind() const;
  void execute(std::span<void* const> pointers, std::byte* scratch) const;

  PrimitiveDesc desc_;
  PrimitiveHandle primitive_;
  std::vector<int> arguments_;
  std::string implementation_;
  size_t scratch_bytes_ = 0;
  mutable support::SpareSlots<Bound> spare_;
};

// Attributes with the scratchpad in the caller's hands, as Primitive needs.
Attributes user_scratchpad();

// Copies from one layout to another, once. Throws Failure.
void reorder(const_dnnl_memory_desc_t from, const void* source,
             const_dnnl_memory_desc_t to, void* target);
// The same as a primitive; arguments are DNNL_ARG_FROM and DNNL_ARG_TO.
std::unique_ptr<Primitive> make_reorder(const_dnnl_memory_desc_t from,
                                        const_dnnl_memory_desc_t to);

// Whether this is one of oneDNN's reference loops, far slower than our own.
bool is_reference(const_dnnl_primitive_desc_t desc);
// Whether it runs through oneDNN's general matrix product.
bool is_gemm(const_dnnl_primitive_desc_t desc);

}  // namespace fxjit::kernels::onednn
