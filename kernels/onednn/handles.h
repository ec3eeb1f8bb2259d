// Owning handles of oneDNN's C objects and the check of its status codes. Used
// in kernels/onednn/ only.
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "kernels/onednn/runtime.h"

namespace fxjit::kernels::onednn {

// Thrown when a call of oneDNN fails. It never leaves the kernels folder; the
// work is then done without oneDNN.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void check(dnnl_status_t status, const char* what) {
  if (status != dnnl_success)
    throw Failure(std::string("oneDNN: ") + what + " failed with status " +
                  std::to_string(static_cast<int>(status)));
}

// The pointer that `make` returns. Null if oneDNN may not write code, or if
// `make` throws Failure, which is reported once.
template <typename Make>
auto by_onednn(Make&& make) -> decltype(make()) {
  if (!may_generate_code()) return nullptr;
  try {
    return make();
  } catch (const Failure& failure) {
    warn_once(failure.what());
    return nullptr;
  }
}

// Destroys an object of oneDNN. Primitives share data that oneDNN destroys when
// the process ends; from then on objects are leaked instead.
struct Destroy {
  void operator()(dnnl_memory_desc_t p) const { dnnl_memory_desc_destroy(p); }
  void operator()(dnnl_memory_t p) const { dnnl_memory_destroy(p); }
  void operator()(dnnl_primitive_desc_t p) const {
    if (const Use use; use.allowed()) dnnl_primitive_desc_destroy(p);
  }
  void operator()(dnnl_primitive_t p) const {
    if (const Use use; use.allowed()) dnnl_primitive_destroy(p);
  }
  void operator()(dnnl_primitive_attr_t p) const {
    dnnl_primitive_attr_destroy(p);
  }
  void operator()(dnnl_post_ops_t p) const { dnnl_post_ops_destroy(p); }
  void operator()(dnnl_stream_t p) const { dnnl_stream_destroy(p); }
};

template <typename Pointer>
using Handle = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy>;

using MemoryDesc = Handle<dnnl_memory_desc_t>;
using Memory = Handle<dnnl_memory_t>;
using PrimitiveDesc = Handle<dnnl_primitive_desc_t>;
using PrimitiveHandle = Handle<dnnl_primitive_t>;
using Attributes = Handle<dnnl_primitive_attr_t>;
using PostOps = Handle<dnnl_post_ops_t>;
using Stream = Handle<dnnl_stream_t>;

}  // namespace fxjit::kernels::onednn
