// The rows of fxjit_bench: each graph interpreted, compiled without fusion and
// compiled with it. Called by main once, before Google Benchmark starts.
//
//   steps, MB, MFLOP  of the compiled program: kernels of a call, bytes that
//   they
//                     read and write, operations
//   of_limit          what this machine would need at least for the fused
//                     program, over the time of a call
#pragma once

#include <string>

#include "bench/graphs.h"

namespace fxjit::bench {

// `threads` of one call.
void register_fusion_benchmarks(int threads);

// The same three rows for a graph of the user's.
void register_workload(const std::string& name, const Workload& work,
                       int threads);
// Step by step, why the fused program of `work` is faster: tables of both.
std::string explain(Workload work, int threads);

}  // namespace fxjit::bench
