#include "tests/structure/rules.h"

namespace fxjit::structure {

// Public headers that stand directly in include/fxjit/ belong to the box that
// implements them, so a new one needs an entry here.
const std::vector<Box>& boxes() {
  static const std::vector<Box> kBoxes = {
      {"support",
       {"src/support/", "include/fxjit/cpu_level.h", "include/fxjit/error.h",
        "include/fxjit/log.h", "include/fxjit/thread_pool.h",
        "include/fxjit/version.h"},
       {}},
      {"tensor",
       {"src/tensor/", "include/fxjit/carried_type.h", "include/fxjit/dims.h",
        "include/fxjit/dtype.h", "include/fxjit/function_ref.h",
        "include/fxjit/half.h", "include/fxjit/node_ptr.h",
        "include/fxjit/proxy_base.h", "include/fxjit/size.h",
        "include/fxjit/tensor.h", "include/fxjit/value.h"},
       {"support"}},
      {"io",
       {"src/io/", "include/fxjit/safetensors.h",
        "include/fxjit/torch_state.h"},
       {"tensor"}},
      {"ops",
       {"src/ops/", "include/fxjit/functions", "include/fxjit/op.h",
        "include/fxjit/op_facts.h", "include/fxjit/prims.inc",
        "include/fxjit/random.h", "include/fxjit/scalar_args.h",
        "include/fxjit/scalar_body.h"},
       {"tensor"}},
      {"fx",
       {"src/fx/", "src/nn/", "include/fxjit/fx/", "include/fxjit/nn/",
        "include/fxjit/named_sizes.h", "include/fxjit/nn.h"},
       {"ops", "io"}},
      {"fx_passes",
       {"src/fx/passes/", "include/fxjit/fx/passes/",
        "include/fxjit/fx/passes.h", "include/fxjit/fx/subgraph_rewriter.h",
        "include/fxjit/fx.h"},
       {"fx"}},
      {"import",
       {"src/import/", "include/fxjit/exported.h", "include/fxjit/imported.h",
        "include/fxjit/onnx.h", "include/fxjit/pt2.h"},
       {"fx", "io"}},
      {"passes", {"src/passes/", "include/fxjit/passes/"}, {"fx"}},
      {"weights", {"src/weights/"}, {"tensor"}},
      {"program",
       {"src/program/", "include/fxjit/program/",
        "include/fxjit/computed_by.h"},
       {"passes", "weights"}},
      {"kernels", {"kernels/"}, {"program"}},
      {"jit", {"jit/"}, {"program"}},
      {"bind", {"src/bind/"}, {"jit", "kernels"}},
      {"compile",
       {"src/compile/", "include/fxjit/compile.h", "include/fxjit/fxjit.h",
        "include/fxjit/inspection.h", "include/fxjit/report.h"},
       {"bind", "io", "import", "fx_passes"}},
      {"check", {"src/check/", "include/fxjit/check.h"}, {"compile"}},
      {"python", {"python/"}, {"check"}},
      {"tools", {"tools/"}, {"check"}},
      {"examples", {"examples/"}, {"check"}},
      {"bench", {"bench/"}, {"compile", "examples"}},
      {"tests", {"tests/"}, {"tools", "examples", "bench"}},
  };
  return kBoxes;
}

const std::vector<Room>& rooms() {
  static const std::vector<Room> kRooms = {
      {"llvm/", {"jit/", "tests/jit/"}},
      {"llvm-c/", {"jit/", "tests/jit/"}},
      {"dnnl", {"kernels/onednn/", "tests/kernels/"}},
      {"oneapi/dnnl/", {"kernels/onednn/", "tests/kernels/"}},
      {"omp.h", {"kernels/", "tests/kernels/", "bench/"}},
      {"Python.h", {"python/"}},
      {"nanobind/", {"python/"}},
      {"simdjson.h", {"python/"}},
      {"xxhash.h", {"src/support/"}},
      {"zlib.h", {"tools/", "tests/"}},
      {"CLI/", {"tools/", "examples/", "bench/", "tests/"}},
      {"nlohmann/",
       {"src/io/", "src/fx/archive/", "src/import/", "src/program/text/",
        "src/compile/report_text.cpp", "tools/", "examples/", "bench/",
        "tests/"}},
      {"spdlog/", {"tools/", "examples/", "bench/", "tests/"}},
      {"benchmark/", {"bench/"}},
      {"gtest/", {"tests/"}},
      {"gmock/", {"tests/"}},
  };
  return kRooms;
}

}  // namespace fxjit::structure
