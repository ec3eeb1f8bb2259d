// Which sanitizer this program was built with, for what cannot hold under one.
#pragma once

namespace fxjit::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
inline constexpr bool kSanitizer = kAddressSanitizer || kThreadSanitizer;

// Why a test is skipped.
inline constexpr char kNoThreadsAfterFork[] =
    "ThreadSanitizer allows no new threads after a fork";
inline constexpr char kFreedIsKept[] = "sanitizers keep what is freed";

}  // namespace fxjit::testing
