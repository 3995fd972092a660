// What the tests of this folder run in: memory that child processes share. It lies between pages that nobody may touch,
// so that an access outside of it is seen as a death, and by the address sanitizer to the byte.
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <new>

#include "support/children.hpp"

namespace takt::test {

/// Pages that child processes share, between two that nobody may touch. Zero at first.
class SharedPages {
 public:
  explicit SharedPages(std::size_t bytes);
  ~SharedPages();
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  /// The last `bytes` of them, which end where the forbidden page begins.
  [[nodiscard]] std::byte* data() const { return data_; }

  /// From now on this process can only read them.
  void forbid_writing() const;

 private:
  std::byte* pages_;
  std::byte* data_;
  std::size_t mapped_;
};

/// A T there.
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

/// What a child's kill() returns if that was what ended it.
inline constexpr int killed = 128 + SIGKILL;

void sleep_for(std::chrono::nanoseconds time);

/// Lets others run every now and then, for who asks again and again.
class Patience {
 public:
  void lost();
  void won() { tries_ = 0; }

 private:
  int tries_ = 0;
};

/// Waits until `condition()` is true. False when that takes so long that only a hang explains it.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

}  // namespace takt::test
