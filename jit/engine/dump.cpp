#include "jit/engine/dump.h"

#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <atomic>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "fxjit/log.h"
#include "jit/engine/codegen.h"

namespace fxjit::jit {
namespace {

std::string file_stem(const llvm::Module& module) {
  std::string stem = module.getName().str();
  for (char& c : stem) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (!plain && c != '-' && c != '.') c = '_';
  }
  return stem.empty() ? "module" : stem;
}

void write_text(const llvm::Module& module, const std::string& folder,
                std::string_view suffix, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const auto path =
      std::filesystem::path(folder) / (file_stem(module) + std::string(suffix));
  std::ofstream file(path, std::ios::binary);
  file << text;
  static std::atomic<bool> reported = false;
  if (!file.flush() && !reported.exchange(true))
    log(LogLevel::warning, "[jit] cannot write " + path.string());
}

}  // namespace

void dump_ir(const llvm::Module& module, const std::string& folder,
             std::string_view suffix) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  write_text(module, folder, suffix, text);
}

void dump_assembly(const llvm::Module& module, CodeGenerator& generator,
                   const std::string& folder) {
  const auto copy = llvm::CloneModule(module);
  write_text(module, folder, ".s", generator.assembly(*copy));
}

}  // namespace fxjit::jit
