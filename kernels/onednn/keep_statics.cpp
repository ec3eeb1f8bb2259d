#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <oneapi/dnnl/dnnl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "kernels/onednn/runtime.h"
#include "src/support/threads/exit_order.h"

// Static objects register their destructors by calls of __cxa_atexit. Those of
// a shared library go through a slot of its table of addresses, which is made
// to hold a function of ours.

namespace fxjit::kernels::onednn {
namespace {

struct Library {
  ElfW(Addr) base = 0;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  // The relocations that fill the table: of calls, and of other uses.
  const ElfW(Rela)* calls = nullptr;
  size_t calls_bytes = 0;
  const ElfW(Rela)* others = nullptr;
  size_t others_bytes = 0;
};

Library read(const link_map& map) {
  Library library;
  library.base = map.l_addr;
  // glibc adds the base in the section itself, others do not.
  const auto pointer = [&map](const ElfW(Dyn)* entry) {
    const ElfW(Addr) at = entry->d_un.d_ptr;
    return reinterpret_cast<const void*>(at < map.l_addr ? map.l_addr + at
                                                         : at);
  };
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB)
      library.symbols = static_cast<const ElfW(Sym)*>(pointer(entry));
    if (entry->d_tag == DT_STRTAB)
      library.strings = static_cast<const char*>(pointer(entry));
    if (entry->d_tag == DT_JMPREL)
      library.calls = static_cast<const ElfW(Rela)*>(pointer(entry));
    if (entry->d_tag == DT_PLTRELSZ) library.calls_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA)
      library.others = static_cast<const ElfW(Rela)*>(pointer(entry));
    if (entry->d_tag == DT_RELASZ) library.others_bytes = entry->d_un.d_val;
  }
  return library;
}

// The table may have been made read-only once it was filled.
void fill(void** slot, void* address) {
  if (*slot == address) return;
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t start =
      reinterpret_cast<uintptr_t>(slot) / page_bytes * page_bytes;
  if (mprotect(reinterpret_cast<void*>(start), page_bytes,
               PROT_READ | PROT_WRITE) == 0)
    __atomic_store_n(slot, address, __ATOMIC_RELEASE);
}

void redirect(const Library& library, const ElfW(Rela)* entries, size_t bytes,
              void* address) {
  for (size_t i = 0; i < bytes / sizeof(ElfW(Rela)); ++i) {
    const auto type = ELF64_R_TYPE(entries[i].r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
    const ElfW(Sym)& symbol = library.symbols[ELF64_R_SYM(entries[i].r_info)];
    if (std::strcmp(library.strings + symbol.st_name, "__cxa_atexit") == 0)
      fill(reinterpret_cast<void**>(library.base + entries[i].r_offset),
           address);
  }
}

// The library that holds `address`.
const link_map* library_of(const void* address) {
  Dl_info info;
  void* map = nullptr;
  if (dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<const link_map*>(map);
}

}  // namespace

void keep_statics() {
  const link_map* map =
      library_of(reinterpret_cast<const void*>(&dnnl_engine_create));
  // Linked into this library it needs nothing: --wrap has done it.
  if (!map ||
      map == library_of(reinterpret_cast<const void*>(&keep_statics)))
    return;
  const Library library = read(*map);
  if (!library.symbols || !library.strings) return;
  auto* const address = reinterpret_cast<void*>(&support::keep_static);
  redirect(library, library.calls, library.calls_bytes, address);
  redirect(library, library.others, library.others_bytes, address);
}

}  // namespace fxjit::kernels::onednn
