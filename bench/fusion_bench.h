// The rows of fxjit_bench: each graph interpreted, compiled without fusion and
// compiled with it. Called by main once, before Google Benchmark starts.
#pragma once

namespace fxjit::bench {

// `threads` of one call.
void register_fusion_benchmarks(int threads);

}  // namespace fxjit::bench
