// What a loop and a branch cost beyond the work of their bodies:
//
//   loop/while     one iteration of a while_loop over a small linear layer
//   loop/scan      one step of a scan over it
//   loop/branch    a cond in the body of such a while_loop
//
//   ns             slope of the time of a call between 1,000 and 100,000
//                  iterations
//   overhead_ns    that less the layer alone in a straight program; of a
//   branch,
//                  less the same loop without it
#pragma once

namespace fxjit::bench {

// `threads` of one call.
void register_loop_benchmarks(int threads);

}  // namespace fxjit::bench
