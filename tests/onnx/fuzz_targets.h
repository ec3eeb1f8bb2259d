// What fuzzers of ONNX files call: any bytes are loaded, or refused by an Error
// that is not the library's own. scripts/fuzz_onnx makes a libFuzzer program of
// it; test_onnx runs the corpus.
#pragma once

#include <cstdint>
#include <string_view>

namespace fxjit::testing_onnx {

enum class FuzzTarget : uint8_t {
  decoder,   // The wire format and the messages.
  importer,  // A whole file.
  external,  // Where a weight in another file lies.
};

void run_fuzz_target(FuzzTarget target, std::string_view bytes);

}  // namespace fxjit::testing_onnx

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
