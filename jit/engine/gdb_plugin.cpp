// LLVM 19's own plugin never withdraws an object, which leaves the debugger
// with dangling symbol files once code is unmapped; hence this one.
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/Object/ELFObjectFile.h>

#include <map>
#include <vector>

#include "jit/engine/debug_plugins.h"
#include "jit/engine/gdb_interface.h"

namespace fxjit::jit {
namespace {

using llvm::Error;
using llvm::jitlink::LinkGraph;
using llvm::orc::JITDylib;
using llvm::orc::MaterializationResponsibility;
using llvm::orc::ResourceKey;

// A copy of an object with load addresses, announced while it lives.
class SymbolFile {
 public:
  explicit SymbolFile(llvm::StringRef object)
      : bytes_(object.begin(), object.end()) {}
  SymbolFile(const SymbolFile&) = delete;
  SymbolFile& operator=(const SymbolFile&) = delete;
  ~SymbolFile() {
    if (announced_) withdraw_from_debugger(entry_);
  }

  // Writes the final address of each loaded section into its header.
  Error place(LinkGraph& graph);
  void announce();

 private:
  std::vector<char> bytes_;
  JitCodeEntry entry_{};
  bool announced_ = false;
};

Error SymbolFile::place(LinkGraph& graph) {
  using ElfFile = llvm::object::ELFFile<llvm::object::ELF64LE>;
  auto file = ElfFile::create(llvm::StringRef(bytes_.data(), bytes_.size()));
  if (!file) return file.takeError();
  auto headers = file->sections();
  if (!headers) return headers.takeError();
  for (const auto& header : *headers) {
    if (!(header.sh_flags & llvm::ELF::SHF_ALLOC)) continue;
    auto name = file->getSectionName(header);
    if (!name) return name.takeError();
    auto* section = graph.findSectionByName(*name);
    if (section == nullptr || section->blocks_size() == 0) continue;
    const llvm::jitlink::SectionRange range(*section);
    const_cast<ElfFile::Elf_Shdr&>(header).sh_addr =
        range.getStart().getValue();
  }
  return Error::success();
}

void SymbolFile::announce() {
  entry_.symbol_file = bytes_.data();
  entry_.symbol_file_bytes = bytes_.size();
  announce_to_debugger(entry_);
  announced_ = true;
}

// Called by one link at a time, as the linker makes them.
class GdbPlugin : public llvm::orc::ObjectLinkingLayer::Plugin {
 public:
  void notifyMaterializing(MaterializationResponsibility&, LinkGraph&,
                           llvm::jitlink::JITLinkContext&,
                           llvm::MemoryBufferRef object) override {
    linking_ = std::make_unique<SymbolFile>(object.getBuffer());
  }

  void modifyPassConfig(MaterializationResponsibility&, LinkGraph&,
                        llvm::jitlink::PassConfiguration& passes) override {
    passes.PostAllocationPasses.push_back(
        [this](LinkGraph& graph) { return linking_->place(graph); });
  }

  Error notifyEmitted(MaterializationResponsibility& link) override {
    linking_->announce();
    return link.withResourceKeyDo(
        [&](ResourceKey key) { linked_.emplace(key, std::move(linking_)); });
  }

  Error notifyFailed(MaterializationResponsibility&) override {
    linking_.reset();
    return Error::success();
  }

  Error notifyRemovingResources(JITDylib&, ResourceKey key) override {
    linked_.erase(key);
    return Error::success();
  }

  // Libraries hold one object each, whose key stays.
  void notifyTransferringResources(JITDylib&, ResourceKey,
                                   ResourceKey) override {}

 private:
  std::unique_ptr<SymbolFile> linking_;
  std::map<ResourceKey, std::unique_ptr<SymbolFile>> linked_;
};

}  // namespace

std::shared_ptr<llvm::orc::ObjectLinkingLayer::Plugin> make_gdb_plugin() {
  return std::make_shared<GdbPlugin>();
}

}  // namespace fxjit::jit
