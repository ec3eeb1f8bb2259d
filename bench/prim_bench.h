// The rows prim/... of fxjit_bench: the cost of single primitives. Called by
// main once, before Google Benchmark starts.
#pragma once

namespace fxjit::bench {

void register_prim_benchmarks();

}  // namespace fxjit::bench
