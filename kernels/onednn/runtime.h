// Guards the process's use of oneDNN: whether it may be called, its engine and
// its threads. Every call of oneDNN that may compute happens while a
// SingleThread lives.
#pragma once

#include <oneapi/dnnl/dnnl_types.h>

#include <cstdint>
#include <string>

#include "src/support/threads/section.h"

namespace fxjit::kernels::onednn {

// Whether primitives may be made now. oneDNN writes code for each primitive and
// crashes if executable memory is denied. Takes a few microseconds, so it is
// asked before a primitive is made, not before it runs. A denial is reported
// once.
bool may_generate_code();

// The CPU engine, made on first use and never destroyed. Throws Failure.
dnnl_engine_t engine();

// A use of oneDNN. fork() and the end of the process wait for it, because
// oneDNN holds locks and has objects that are destroyed when it is unloaded.
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

// While this lives, oneDNN computes on the calling thread alone, since the
// library has threads of its own. libgomp's thread count belongs to the host
// program and is restored afterwards. Throws Failure if oneDNN may not be used
// any more.
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

// Keeps oneDNN's static objects alive, such as its cache of primitives and its
// tables of kernels. They would be destroyed as soon as exit() begins, while
// other threads still use them. Objects that oneDNN makes after this call are
// never destroyed; those made when it was loaded are destroyed when it is
// unloaded (see Use). Must be called before oneDNN is used.
void keep_statics();

// Logs a warning the first time that `text` is given. Thread-safe.
void warn_once(const std::string& text);

}  // namespace fxjit::kernels::onednn
