#include "kernels/onednn/driver_calls.h"

#include <oneapi/dnnl/dnnl.h>

#include "kernels/onednn/runtime.h"

namespace fxjit::kernels::onednn {
namespace {

template <typename Function>
void* address_of_function(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::span<const std::pair<const char*, void*>> driver_symbols() {
  static const std::pair<const char*, void*> symbols[] = {
      {"fxjit_enter_onednn", address_of_function(&SingleThread::enter)},
      {"fxjit_leave_onednn", address_of_function(&SingleThread::leave)},
      {"dnnl_memory_set_data_handle",
       address_of_function(&dnnl_memory_set_data_handle)},
      {"dnnl_primitive_execute", address_of_function(&dnnl_primitive_execute)},
  };
  return symbols;
}

}  // namespace fxjit::kernels::onednn
