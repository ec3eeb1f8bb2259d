// fxjit_kernel_pack: compiles the kernels of common layers for this machine's
// CPU into one file, from which the library takes them instead of compiling.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

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

size_t write(const std::string& file) {
  Corpus corpus;
  add_products(corpus);
  add_images(corpus);
  add_sequences(corpus);
  add_pointwise(corpus);
  const TemporaryFolder folder(file);
  CompileOptions options;
  options.cache_folder = folder.path();
  options.shipped_kernels = false;
  corpus.run(options);
  return write_kernel_pack(folder.path(), file);
}

int run(int argc, char** argv) {
  CLI::App app("Compiles the kernels of common layers into one file.");
  std::string file;
  app.add_option("FILE", file, "the file to write")->required();
  app.set_version_flag("--version", version_text());
  CLI11_PARSE(app, argc, argv);
  const size_t kernels = write(file);
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
