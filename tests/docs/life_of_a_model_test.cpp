// docs/architecture.md follows one small model from stage to stage. What it
// shows is made here by the library, with public means only, for one CPU level;
// FXJIT_WRITE_DOCS=1 (scripts/life_of_a_model) writes it into the page.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn/custom.h"
#include "fxjit/nn/linear.h"
#include "tests/compile/subprocess.h"
#include "tests/docs/marked_blocks.h"

namespace fxjit {
namespace TEST_FILE {

using testing::MarkedPage;
using testing::TemporaryFolder;

// [model]
struct Classifier : nn::Custom<Classifier> {
  Classifier() : Custom("Classifier", {"x"}) {
    linear = register_module("linear", nn::Linear::create(16, 8));
  }
  Value forward(Value x) {
    Value scores = nn::functional::relu(linear(x));
    return nn::functional::softmax(scores, -1);
  }
  nn::Ref<nn::Linear> linear;
};
// [end]

std::string file_text(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// From one text to before another.
std::string between(const std::string& text, const std::string& first,
                    const std::string& last) {
  const size_t begin = text.find(first);
  const size_t end = text.find(last, begin);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return text.substr(begin, end - begin);
}

// Whole lines, from the first that has one text to the next that has another.
std::string lines_between(const std::string& text, const std::string& first,
                          const std::string& last) {
  const size_t at = text.find(first);
  const size_t end = text.find(last, at);
  if (at == std::string::npos || end == std::string::npos) return "";
  const size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', end) + 1 - begin);
}

// The buffers and the first step.
std::string excerpt_of_program(const std::string& program) {
  return between(program, " \"buffers\"", "  {\n   \"body\": [\n    \"rows\"") +
         "  ...\n";
}

// One step of the first row's sums, and the epilogue of that row.
std::string excerpt_of_tile(const std::string& ir) {
  return lines_between(ir, "load <8 x float>", "@llvm.fma") + "  ...\n" +
         lines_between(ir, "@llvm.masked.load", "@llvm.masked.store");
}

// What a call without a profile runs.
std::string excerpt_of_driver(const std::string& ir) {
  return between(ir, "  %operands", "\nobserved:") + "  ...\n";
}

// The one file of a folder whose name has this part and ends so.
std::string dumped(const TemporaryFolder& folder, const std::string& part,
                   const std::string& end) {
  std::string text;
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (const std::string name = entry.path().filename();
        name.find(part) != std::string::npos && name.ends_with(end)) {
      text = file_text(entry.path());
      ++found;
    }
  EXPECT_EQ(found, 1) << part << end;
  return text;
}

struct Stage {
  std::string name, text;
};

std::vector<Stage> stages() {
  const auto gm = fx::symbolic_trace(Classifier::create());
  const TemporaryFolder folder;
  CompileOptions options;
  options.threads = 1;
  options.cpu_level = CpuLevel::avx2;
  options.portable_kernels = true;
  options.dump_folder = folder.path();
  compile(*gm, options);
  EXPECT_TRUE(prepare(*gm, ValueList{Tensor::zeros({4, 16})}));
  const std::string source =
      file_text(FXJIT_SOURCE_DIR "/tests/docs/life_of_a_model_test.cpp");
  return {{"model", between(source, "struct Classifier", "// [end]")},
          {"captured", gm->graph().str() + "\n"},
          {"normalized", dumped(folder, "_normalize", ".txt")},
          {"lowered", dumped(folder, "_lower", ".txt")},
          {"fused", dumped(folder, "_fuse", ".txt")},
          {"program", excerpt_of_program(dumped(folder, "_program", ".json"))},
          {"ir", excerpt_of_tile(dumped(folder, "tile", ".before.ll"))},
          {"driver", excerpt_of_driver(dumped(folder, "driver", ".before.ll"))},
          {"report", gm->report()}};
}

TEST(LifeOfAModel, ThePageShowsWhatTheLibraryMakes) {
  if (host_cpu_level() < CpuLevel::avx2)
    GTEST_SKIP() << "the page shows code for AVX2, which this machine lacks";
  MarkedPage page("docs/architecture.md");
  const std::vector<Stage> made = stages();
  if (std::getenv("FXJIT_WRITE_DOCS")) {
    for (const auto& [name, text] : made) page.set_block(name, text);
    page.save();
  }
  EXPECT_EQ(page.blocks(), static_cast<int>(made.size()));
  for (const auto& [name, text] : made) {
    EXPECT_FALSE(text.empty()) << name;
    EXPECT_EQ(page.block(name), text)
        << name << " differs: scripts/life_of_a_model writes it anew";
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
