// The mutex between callers of one component or context. The thread that runs the context never locks it.
#pragma once

#include <mutex>

namespace takt::component {

#if !defined(__GLIBCXX__) || defined(_GLIBCXX_HAS_GTHREADS)
/// Keeps callers in several threads apart. Not real-time safe.
using CallersMutex = std::mutex;
#else
/// Where the standard library has no threads, as newlib's, all callers are one thread: nothing to keep apart.
/// Only one task of a real-time operating system may then call a context.
class CallersMutex {
 public:
  void lock() noexcept {}
  void unlock() noexcept {}
};
#endif

}  // namespace takt::component
