#include "fxjit/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/error.h"
#include "fxjit/log.h"
#include "src/support/errors/exception_text.h"
#include "src/support/machine/cpu_quota.h"
#include "src/support/threads/region_slot.h"
#include "src/support/threads/section.h"
#include "src/support/threads/sleep_gate.h"
#include "src/support/threads/spin_timer.h"
#include "src/support/threads/wake_backoff.h"

namespace fxjit::support {
namespace {

// True while the thread runs a task: regions begun then run inline.
constinit thread_local bool in_task = false;
// The pool of the innermost RequestScope of the thread.
constinit thread_local void* request_pool = nullptr;

class TaskScope {
 public:
  TaskScope() : outer_(std::exchange(in_task, true)) {}
  ~TaskScope() { in_task = outer_; }

 private:
  bool outer_;
};

// Blocks the signals that the host may direct at any thread, so that no handler
// of the host runs on a worker. Signals of faults and of profiling are not
// blocked.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int kept :
         {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
      sigdelset(&blocked, kept);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

class ThreadPool::Impl {
 public:
  explicit Impl(const Options& options, const Impl* parent = nullptr);
  ~Impl();

  // This pool. In a forked child: the pool that has taken its place, which
  // starts its threads when it is first asked for. Null if there is no memory
  // for it.
  Impl* live();

  int size() const { return worker_count_ + 1; }
  void run(RegionWork work);
  void add_hook(void (*hook)());

  // Request threads that are active; returns the number with this one.
  int enter() { return active_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void leave() { active_.fetch_sub(1, std::memory_order_relaxed); }
  int active() const { return active_.load(std::memory_order_relaxed); }

 private:
  struct alignas(128) Worker {
    Impl* pool = nullptr;
    int number = 0;  // From 1.
    pthread_t thread = {};
    int hooks_run = 0;
    bool woken = false;   // Since its last sleep ...
    bool useful = false;  // ... it helped a caller on another CPU.
    // The CPU on which it joined a region, kNoCpu outside regions.
    std::atomic<int> region_cpu{kNoCpu};
  };

  static constexpr int kMaxSlots = 8;
  static constexpr int kNoCpu = -1;

  // Whether the threads stayed in the parent of this process.
  bool forked() const { return forked_.load(std::memory_order_relaxed); }
  Impl* heir();
  void start_workers(int count);
  static void* worker_main(void* worker);
  void worker_loop(Worker& worker);
  bool serve(Worker& worker);
  void rest(Worker& worker);
  bool worth_staying_awake() const;
  bool spinning_hurts() const;
  // More workers awake than CPUs that active request threads leave.
  bool crowded() const { return active() - 1 > gate_.sleepers(); }
  void run_hooks(Worker& worker);
  RegionSlot* own_slot();
  void wake_helpers(const RegionWork& work, int active);
  // Whether a worker that takes part in a region does not get to run, because
  // it is on the CPU of the calling thread.
  bool worker_displaced() const;

  std::atomic<bool> forked_{false};
  const ForkReset fork_reset_{
      [](void* pool) { static_cast<Impl*>(pool)->forked_ = true; }, this};
  std::atomic<Impl*> heir_{nullptr};  // Once forked and asked for.
  const Options options_;
  const std::chrono::nanoseconds spin_;
  int worker_count_ = 0;
  std::unique_ptr<Worker[]> workers_;
  int slot_count_ = 0;
  std::array<RegionSlot, kMaxSlots> slots_;
  SleepGate gate_;
  WakeBackoff backoff_;
  alignas(128) std::atomic<int> active_{0};
  alignas(128) std::atomic<bool> stopping_{false};
  std::atomic<int> hook_count_{0};
  std::array<std::atomic<void (*)()>, kMaxHooks> hooks_{};
  std::mutex hook_mutex_;
};

ThreadPool::Impl::Impl(const Options& options, const Impl* parent)
    : options_(options), spin_(options.spin) {
  // Its mutex may be held by a thread that is not here.
  if (parent != nullptr) {
    const int count = parent->hook_count_.load();
    for (int i = 0; i < count; ++i) hooks_[i].store(parent->hooks_[i].load());
    hook_count_.store(count);
  }
  int threads = options.threads > 0 ? options.threads : available_cpus();
  threads = std::min(threads, kMaxThreads);
  slot_count_ = std::clamp(threads - 1, 1, kMaxSlots);
  start_workers(threads - 1);
}

void ThreadPool::Impl::start_workers(int count) {
  workers_ = std::make_unique<Worker[]>(count);
  BlockedSignals blocked;
  for (; worker_count_ < count; ++worker_count_) {
    Worker& worker = workers_[worker_count_];
    worker.pool = this;
    worker.number = worker_count_ + 1;
    if (pthread_create(&worker.thread, nullptr, worker_main, &worker) != 0)
      return;
  }
}

ThreadPool::Impl::~Impl() {
  if (forked()) {
    delete heir_.load();
    return;
  }
  stopping_.store(true, std::memory_order_seq_cst);
  gate_.wake_all();
  for (int i = 0; i < worker_count_; ++i)
    pthread_join(workers_[i].thread, nullptr);
}

ThreadPool::Impl* ThreadPool::Impl::live() {
  Impl* pool = this;
  while (pool != nullptr && pool->forked()) pool = pool->heir();
  return pool;
}

// The pool that takes this one's place in a forked child; the first call makes
// it. What this pool knows of regions and sleepers stays as the fork found it.
ThreadPool::Impl* ThreadPool::Impl::heir() {
#if defined(__SANITIZE_THREAD__)
  return nullptr;  // TSan allows no new threads after a fork.
#endif
  Impl* known = heir_.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  std::unique_ptr<Impl> made;
  try {
    made = std::make_unique<Impl>(options_, this);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  if (heir_.compare_exchange_strong(known, made.get(),
                                    std::memory_order_acq_rel,
                                    std::memory_order_acquire))
    return made.release();
  return known;
}

void* ThreadPool::Impl::worker_main(void* argument) {
  Worker& worker = *static_cast<Worker*>(argument);
  std::array<char, 16> name{};  // The kernel's limit.
  std::snprintf(name.data(), name.size(), "fxjit-%d", worker.number);
  pthread_setname_np(pthread_self(), name.data());
  in_task = true;
  worker.pool->worker_loop(worker);
  return nullptr;
}

void ThreadPool::Impl::worker_loop(Worker& worker) {
  SpinTimer timer(spin_);
  for (;;) {
    if (serve(worker)) {
      timer.restart();
    } else if (timer.pause()) {
      if (stopping_.load(std::memory_order_relaxed)) return;
      if (crowded() || timer.expired() || spinning_hurts()) {
        rest(worker);
        timer.restart();
      }
    }
  }
}

bool ThreadPool::Impl::serve(Worker& worker) {
  // Workers start at different slots, to spread over simultaneous regions.
  for (int i = 0; i < slot_count_; ++i) {
    RegionSlot& slot = slots_[(worker.number - 1 + i) % slot_count_];
    ClaimWord seen = slot.look();
    if (!seen.open()) continue;
    // Hooks registered before this region began are visible now, and the join
    // fails if `seen` is no longer that region.
    run_hooks(worker);
    int cpu = sched_getcpu();
    worker.region_cpu.store(cpu, std::memory_order_relaxed);
    bool joined = slot.run_worker(seen);
    worker.region_cpu.store(kNoCpu, std::memory_order_relaxed);
    if (!joined) continue;
    worker.useful |= cpu != slot.owner_cpu();
    return true;
  }
  return false;
}

void ThreadPool::Impl::run_hooks(Worker& worker) {
  int count = hook_count_.load(std::memory_order_acquire);
  for (; worker.hooks_run < count; ++worker.hooks_run) try {
      hooks_[worker.hooks_run].load(std::memory_order_relaxed)();
    } catch (...) {
      log(LogLevel::error,
          "[thread_pool] a start hook failed: " + exception_text());
    }
}

bool ThreadPool::Impl::worth_staying_awake() const {
  if (stopping_.load(std::memory_order_seq_cst)) return true;
  return std::any_of(
      slots_.begin(), slots_.begin() + slot_count_,
      [](const RegionSlot& slot) { return slot.joinable(slot.look()); });
}

bool ThreadPool::Impl::spinning_hurts() const {
  // On the CPU of a caller a spinning worker keeps the caller from running.
  int cpu = sched_getcpu();
  return std::any_of(
      slots_.begin(), slots_.begin() + slot_count_,
      [cpu](const RegionSlot& slot) { return slot.owner_cpu() == cpu; });
}

void ThreadPool::Impl::rest(Worker& worker) {
  if (worker.woken) backoff_.report(worker.useful);
  worker.woken = false;
  gate_.announce();
  if (worth_staying_awake() && gate_.cancel()) return;
  gate_.sleep();
  worker.woken = true;
  worker.useful = false;
}

RegionSlot* ThreadPool::Impl::own_slot() {
  for (int i = 0; i < slot_count_; ++i)
    if (slots_[i].own()) return &slots_[i];
  return nullptr;
}

void ThreadPool::Impl::wake_helpers(const RegionWork& work, int active) {
  int sleepers = gate_.sleepers();
  if (sleepers == 0) return;
  // If every active caller wants as many helpers as this one, those that are
  // awake may be enough. Never wakes more workers than there are CPUs left.
  int helpers = work.threads - 1;
  int awake = worker_count_ - sleepers;
  int count =
      std::min({helpers * active - awake, helpers, sleepers + 1 - active});
  if (count > 0 && backoff_.should_wake()) gate_.wake(count);
}

bool ThreadPool::Impl::worker_displaced() const {
  int cpu = sched_getcpu();
  return std::any_of(
      workers_.get(), workers_.get() + worker_count_,
      [cpu](const Worker& worker) {
        return worker.region_cpu.load(std::memory_order_relaxed) == cpu;
      });
}

void ThreadPool::Impl::run(RegionWork work) {
  bool counted = request_pool == this;
  int active = counted ? this->active() : enter();
  work.threads = static_cast<int>(
      std::min<int64_t>({work.threads, work.chunks, size() + 1 - active}));
  RegionSlot* slot = work.threads > 1 ? own_slot() : nullptr;
  TaskScope scope;
  if (slot == nullptr) {
    work.fn(work.context, 0, work.tasks, 0);
  } else {
    slot->open(work);
    wake_helpers(work, active);
    slot->run_owner(work, spin_, [this] { return worker_displaced(); });
    slot->disown();
  }
  if (!counted) leave();
}

void ThreadPool::Impl::add_hook(void (*hook)()) {
  std::lock_guard lock(hook_mutex_);
  int count = hook_count_.load(std::memory_order_relaxed);
  for (int i = 0; i < count; ++i)
    if (hooks_[i].load(std::memory_order_relaxed) == hook) return;
  if (count == kMaxHooks)
    throw RuntimeError("[thread_pool] start hooks: expected at most " +
                       std::to_string(kMaxHooks) + " different ones");
  hooks_[count].store(hook, std::memory_order_relaxed);
  hook_count_.store(count + 1, std::memory_order_release);
}

ThreadPool::ThreadPool() : ThreadPool(Options{}) {}

ThreadPool::ThreadPool(const Options& options)
    : impl_(std::make_unique<Impl>(options)) {}

ThreadPool::~ThreadPool() = default;

ThreadPool& ThreadPool::shared() {
  // Never destroyed: its workers may be awake while the process exits.
  static ThreadPool* pool = new ThreadPool;
  return *pool;
}

int ThreadPool::size() const { return impl_->size(); }

void ThreadPool::run_region(int64_t tasks, TaskFn fn, void* context,
                            int max_threads, int64_t chunk) noexcept {
  Impl* const pool = in_task ? nullptr : impl_->live();
  if (pool == nullptr) {
    fn(context, 0, tasks, 0);
    return;
  }
  auto divide_up = [](int64_t a, int64_t b) { return a / b + (a % b != 0); };
  chunk = std::max({chunk, int64_t{1}, divide_up(tasks, kMaxChunks)});
  pool->run({.fn = fn,
             .context = context,
             .tasks = tasks,
             .chunk = chunk,
             .chunks = divide_up(tasks, chunk),
             .threads = std::min(max_threads, kMaxThreads)});
}

void ThreadPool::on_thread_start(void (*hook)()) {
  if (Impl* const pool = impl_->live()) pool->add_hook(hook);
}

ThreadPool::RequestScope::RequestScope(ThreadPool& pool)
    : outer_pool_(request_pool), pool_(nullptr) {
  Impl* const live = pool.impl_->live();
  if (live == nullptr || request_pool == live) return;
  live->enter();
  pool_ = live;
  request_pool = live;
}

ThreadPool::RequestScope::~RequestScope() {
  if (pool_ == nullptr) return;
  static_cast<Impl*>(pool_)->leave();
  request_pool = outer_pool_;
}

}  // namespace fxjit::support
