#include "src/support/machine/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace fxjit::support {
namespace {

constexpr size_t kNoteAlignment = 4;

size_t padded(size_t bytes) {
  return (bytes + kNoteAlignment - 1) / kNoteAlignment * kNoteAlignment;
}

std::string hex_of(const unsigned char* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

// The build id among the notes of one segment; empty when there is none.
std::string find_in_notes(const unsigned char* notes, size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    const size_t name = sizeof(note);
    const size_t text = name + padded(note.n_namesz);
    const size_t next = text + padded(note.n_descsz);
    if (next > bytes) return "";
    const bool gnu = note.n_namesz == sizeof("GNU") &&
                     std::memcmp(notes + name, "GNU", sizeof("GNU")) == 0;
    if (gnu && note.n_type == NT_GNU_BUILD_ID) {
      return hex_of(notes + text, note.n_descsz);
    }
    notes += next;
    bytes -= next;
  }
  return "";
}

bool holds_this_code(const dl_phdr_info& file) {
  const auto here = reinterpret_cast<uintptr_t>(&build_id);
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const auto& segment = file.dlpi_phdr[i];
    const uintptr_t start = file.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && here - start < segment.p_memsz) {
      return true;
    }
  }
  return false;
}

int visit(dl_phdr_info* file, size_t, void* result) {
  if (!holds_this_code(*file)) return 0;
  auto& id = *static_cast<std::string*>(result);
  for (int i = 0; i < file->dlpi_phnum && id.empty(); ++i) {
    const auto& segment = file->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    id = find_in_notes(reinterpret_cast<const unsigned char*>(file->dlpi_addr +
                                                              segment.p_vaddr),
                       segment.p_memsz);
  }
  return 1;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    std::string found;
    dl_iterate_phdr(visit, &found);
    return found.empty() ? std::string("none") : found;
  }();
  return id;
}

}  // namespace fxjit::support
