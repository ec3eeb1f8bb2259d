#include "src/support/disk/mapping_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "fxjit/error.h"

namespace fxjit::support {
namespace {

constexpr size_t kSlots = 4096;
constexpr size_t kNoSlot = kSlots;

// A guarded range. The signal handler may take no lock and allocate nothing, so
// ranges lie in an array of atomics. `size` is written last and cleared first;
// 0 means that the slot is free.
struct RangeSlot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<size_t> size{0};
  std::atomic<uint64_t> device{0}, inode{0}, bytes{0};
  std::atomic<int64_t> modified_ns{0};
  std::atomic<bool> lost{false};
};
static_assert(std::atomic<uintptr_t>::is_always_lock_free);

std::array<RangeSlot, kSlots>& range_slots() {
  static auto& slots = *new std::array<RangeSlot, kSlots>;
  return slots;
}

// What the handler needs, set before it is installed.
std::array<RangeSlot, kSlots>* handler_slots = nullptr;
size_t handler_page_size = 0;
std::atomic<bool> any_lost{false};  // Whether there is anything to look for.
struct sigaction action_before{};

RangeSlot* slot_at(uintptr_t address) {
  for (RangeSlot& slot : *handler_slots) {
    const size_t size = slot.size.load(std::memory_order_acquire);
    const uintptr_t begin = slot.begin.load(std::memory_order_relaxed);
    if (size > 0 && address >= begin && address - begin < size) return &slot;
  }
  return nullptr;
}

// Puts zeros from the page of `address` to the end of the range. The kernel is
// asked itself: POSIX does not allow a handler to call mmap, and race detectors
// take that for a write of what other threads read meanwhile.
bool put_zeros(RangeSlot& slot, uintptr_t address) {
  const uintptr_t page = address / handler_page_size * handler_page_size;
  const uintptr_t end = slot.begin.load(std::memory_order_relaxed) +
                        slot.size.load(std::memory_order_relaxed);
  slot.lost.store(true, std::memory_order_release);
  any_lost.store(true, std::memory_order_release);
  return syscall(SYS_mmap, page, end - page, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != -1;
}

void call_before(int number, siginfo_t* info, void* context) {
  if (action_before.sa_flags & SA_SIGINFO) {
    action_before.sa_sigaction(number, info, context);
  } else if (action_before.sa_handler != SIG_DFL &&
             action_before.sa_handler != SIG_IGN) {
    action_before.sa_handler(number);
  } else {
    // Comes when this handler is done, and ends the process.
    sigaction(number, &action_before, nullptr);
    raise(number);
  }
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  RangeSlot* const slot =
      info->si_code == BUS_ADRERR ? slot_at(address) : nullptr;
  if (!slot || !put_zeros(*slot, address)) call_before(number, info, context);
  errno = error;
}

size_t take_slot() {
  auto& slots = range_slots();
  for (size_t at = 0; at < kSlots; ++at) {
    bool free = false;
    if (slots[at].taken.compare_exchange_strong(free, true)) return at;
  }
  return kNoSlot;
}

}  // namespace

void guard_mapped_files() {
  static std::once_flag once;
  std::call_once(once, [] {
    handler_slots = &range_slots();
    handler_page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action{};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    FXJIT_CHECK(sigaction(SIGBUS, nullptr, &action_before) == 0 &&
                    sigaction(SIGBUS, &action, nullptr) == 0,
                "no handler for SIGBUS");
  });
}

std::vector<FileVersion> lost_files() {
  std::vector<FileVersion> files;
  if (!any_lost.load(std::memory_order_acquire)) return files;
  for (const RangeSlot& slot : range_slots())
    if (slot.size.load(std::memory_order_acquire) > 0 &&
        slot.lost.load(std::memory_order_acquire))
      files.push_back({slot.device.load(), slot.inode.load(), slot.bytes.load(),
                       slot.modified_ns.load()});
  return files;
}

GuardedRange::GuardedRange(const void* data, size_t size, FileVersion file)
    : slot_(take_slot()) {
  if (slot_ == kNoSlot) return;
  RangeSlot& slot = range_slots()[slot_];
  slot.lost.store(false);
  slot.device.store(file.device);
  slot.inode.store(file.inode);
  slot.bytes.store(file.bytes);
  slot.modified_ns.store(file.modified_ns);
  slot.begin.store(reinterpret_cast<uintptr_t>(data));
  slot.size.store(size, std::memory_order_release);
}

GuardedRange::~GuardedRange() {
  if (slot_ == kNoSlot) return;
  RangeSlot& slot = range_slots()[slot_];
  slot.size.store(0, std::memory_order_release);
  slot.taken.store(false, std::memory_order_release);
}

}  // namespace fxjit::support
