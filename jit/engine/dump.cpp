#include "jit/engine/dump.h"

#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cctype>

#include "jit/engine/codegen.h"
#include "src/support/disk/dump_file.h"

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

}  // namespace

void dump_ir(const llvm::Module& module, const std::string& folder,
             std::string_view suffix) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  support::write_dump(folder, file_stem(module) + std::string(suffix), text);
}

void dump_assembly(const llvm::Module& module, CodeGenerator& generator,
                   const std::string& folder) {
  const auto copy = llvm::CloneModule(module);
  support::write_dump(folder, file_stem(module) + ".s",
                      generator.assembly(*copy));
}

}  // namespace fxjit::jit
