// Sections: work during which fork() by another thread waits, because the
// child would find its locks taken and its data half changed, without the
// thread that finishes it. Taking a lock of this library or of LLVM begins a
// section (lock_sections.cpp), so only work on what other libraries guard needs
// one of its own. fork() waits for a section at most kLongestForkWait: one that
// runs code of the user's may be waiting for the thread that forks.
#pragma once

#include <chrono>

namespace fxjit::support {

inline constexpr std::chrono::seconds kLongestForkWait{10};

// Begins a section; waits while another thread is forking. It does not wait
// inside another section of this thread, nor inside a HelperScope.
void begin_section() noexcept;
void end_section() noexcept;

class Section {
 public:
  Section() { begin_section(); }
  ~Section() { end_section(); }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
};

// Whether this thread is inside a section.
bool in_section() noexcept;

// For threads that work for a section of another thread (`helps`). fork() waits
// for that section, so the sections of the helper must not wait for fork().
class HelperScope {
 public:
  explicit HelperScope(bool helps = true);
  ~HelperScope();
  HelperScope(const HelperScope&) = delete;
  HelperScope& operator=(const HelperScope&) = delete;

 private:
  bool outer_;
};

// Repairs an object in a forked child. Threads that stayed in the parent may
// have left it half changed outside of sections, as calls do. Registered for
// the lifetime of this object.
class ForkReset {
 public:
  using Function = void (*)(void* object);

  // `reset` runs in the child before fork() returns there.
  ForkReset(Function reset, void* object);
  ~ForkReset();
  ForkReset(const ForkReset&) = delete;
  ForkReset& operator=(const ForkReset&) = delete;

 private:
  friend class ForkResets;

  const Function reset_;
  void* const object_;
  ForkReset* previous_ = nullptr;
  ForkReset* next_ = nullptr;
};

}  // namespace fxjit::support
