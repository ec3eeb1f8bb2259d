// What a call that a routine or an eager function computes costs: the yardstick
// of profiles for steps that no skeleton gives.
#pragma once

#include "fxjit/op.h"

namespace fxjit::program {

struct CallWork {
  double flops = 0;  // Two of a multiply-add; 0 for calls that only move data.
  double bytes = 0;  // Read and written, each byte once.
};

// `args` and `results` hold meta tensors. Elements that a stride of 0 repeats
// count once, and of a tensor that rows are picked from, as many as are picked.
CallWork call_work(const ops::Op& op, const ValueList& args,
                   const ValueList& results);

// The bytes of the elements of a meta tensor, as above.
double tensor_bytes(const Tensor& meta);

}  // namespace fxjit::program
