// fxjit_kernel_pack: compiles the kernels of common layers for this machine's
// CPU into one file, from which the library takes them instead of compiling.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/kernel_pack/corpus.h"

namespace fxjit::corpus {
namespace {

namespace fs = std::filesystem;

// Ends with the folder and what is in it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& beside)
      : path_(beside.string() + ".tmp-" + std::to_string(getpid())) {
    fs::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

// The levels of this machine that packs are worth for.
std::vector<CpuLevel> levels() {
  std::vector<CpuLevel> levels;
  for (const CpuLevel level : {CpuLevel::avx2, CpuLevel::avx512})
    if (level <= host_cpu_level()) levels.push_back(level);
  return levels;
}

size_t write(const std::string& file, bool portable) {
  Corpus corpus;
  add_products(corpus);
  add_images(corpus);
  add_sequences(corpus);
  add_pointwise(corpus);
  const TemporaryFolder folder(file);
  CompileOptions options;
  options.cache_folder = folder.path();
  options.shipped_kernels = false;
  options.portable_kernels = portable;
  if (!portable) corpus.run(options);
  for (const CpuLevel level : portable ? levels() : std::vector<CpuLevel>()) {
    options.cpu_level = level;
    corpus.run(options);
  }
  return write_kernel_pack(folder.path(), file);
}

int run(int argc, char** argv) {
  CLI::App app("Compiles the kernels of common layers into one file.");
  std::string file;
  app.add_option("FILE", file, "the file to write")->required();
  bool portable = false;
  app.add_flag("--portable", portable,
               "for other machines: code that any CPU of x86-64-v3 or, where "
               "this machine has it, x86-64-v4 can use");
  app.set_version_flag("--version", version_text());
  CLI11_PARSE(app, argc, argv);
  const size_t kernels = write(file, portable);
  std::printf("%zu kernels in %s\n", kernels, file.c_str());
  return 0;
}

}  // namespace
}  // namespace fxjit::corpus

int main(int argc, char** argv) {
  try {
    return fxjit::corpus::run(argc, argv);
  } catch (const fxjit::Error& error) {
    std::fprintf(stderr, "fxjit_kernel_pack: %s\n", error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "fxjit_kernel_pack: %s\n", error.what());
  }
  return 1;
}
