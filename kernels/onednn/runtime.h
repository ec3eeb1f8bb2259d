// The process's use of oneDNN: whether it may be called, its engine, and its
// threads. Every call of oneDNN that may compute happens inside SingleThread.
#pragma once

#include <oneapi/dnnl/dnnl_types.h>

#include <cstdint>
#include <string>

#include "src/support/threads/section.h"

namespace fxjit::kernels::onednn {

// Whether primitives may be made now: oneDNN writes code for each, and crashes
// where executable memory is denied. A few microseconds; ask before making
// something, not before running it. Reports a denial once.
bool may_generate_code();

// The CPU engine, made on first use and never destroyed. Throws Failure.
dnnl_engine_t engine();

// A use of oneDNN, for which fork() and the end of the process wait: oneDNN has
// locks, and objects that are destroyed when it is unloaded.
class Use {
 public:
  // As two calls: whether it is allowed.
  static bool enter() noexcept;
  static void leave() noexcept;

  Use() : allowed_(enter()) {}
  ~Use() { leave(); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  // False once the process is about to unload oneDNN.
  bool allowed() const { return allowed_; }

 private:
  const bool allowed_;
};

// oneDNN computes inline on the calling thread for the scope's lifetime: the
// parallelism is ours. libgomp's thread count belongs to the host program, so
// it is put back afterwards. Throws Failure where use is not allowed any more.
class SingleThread {
 public:
  // The scope as two calls, for generated code: the thread count to put back, 0
  // where use is not allowed any more, which needs no leave().
  static int32_t enter() noexcept;
  static void leave(int32_t before) noexcept;

  SingleThread();
  ~SingleThread();
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int32_t before_;
};

// oneDNN is a shared library, whose static objects (its cache of primitives,
// tables of kernels that calls fill) would be destroyed as soon as exit()
// begins, while other threads use them. Those that it makes from now on never
// are, nor are our own (exit_order.h); what it made when it was loaded goes
// when it is unloaded (see Use). Called before oneDNN is used.
void keep_statics();

// Logs a warning the first time that `text` is given. Thread-safe.
void warn_once(const std::string& text);

}  // namespace fxjit::kernels::onednn
