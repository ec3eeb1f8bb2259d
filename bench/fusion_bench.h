// The rows of fxjit_bench: each graph interpreted, compiled without fusion and
// compiled with it. Called by main once, before Google Benchmark starts.
//
//   steps, MB, MFLOP  of the compiled program: kernels of a call, bytes that
//   they
//                     read and write, operations
//   of_limit          what this machine would need at least for the fused
//                     program, over the time of a call
#pragma once

namespace fxjit::bench {

// `threads` of one call.
void register_fusion_benchmarks(int threads);

}  // namespace fxjit::bench
