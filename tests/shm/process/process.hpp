// Memory that child processes share, for the tests of this folder. It lies between inaccessible pages, so an
// access outside kills the process. The address sanitizer detects it to the byte.
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <new>

#include "support/children.hpp"
#include "support/eventually.hpp"

namespace takt::test {

/// Pages that child processes share, between two inaccessible pages. Zeroed.
class SharedPages {
 public:
  explicit SharedPages(std::size_t bytes);
  ~SharedPages();
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  /// The last `bytes` bytes, which end where the inaccessible page begins.
  [[nodiscard]] std::byte* data() const { return data_; }

  /// Makes the pages read-only for this process.
  void forbid_writing() const;

 private:
  std::byte* pages_;
  std::byte* data_;
  std::size_t mapped_;
};

/// A T in the pages.
template <class T>
class Shared {
 public:
  Shared() : pages_(sizeof(T)), object_(new (pages_.data()) T) {}
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  void forbid_writing() const { pages_.forbid_writing(); }

 private:
  SharedPages pages_;
  T* object_;
};

/// The exit status of a child that was killed.
inline constexpr int killed = 128 + SIGKILL;

void sleep_for(std::chrono::nanoseconds time);

/// Yields the processor regularly in loops that poll.
class Patience {
 public:
  void lost();
  void won() { tries_ = 0; }

 private:
  int tries_ = 0;
};

}  // namespace takt::test
