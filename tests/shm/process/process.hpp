// Processes that share memory and may die: what the tests of this folder run in. Memory lies between pages that nobody may touch,
// so that an access outside of it is seen as a death, and by the address sanitizer to the byte.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <new>
#include <utility>

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

 private:
  SharedPages pages_;
  T* object_;
};

/// A child process that runs a function and ends with its result. Killed, if it still runs, when it goes out of scope.
class Child {
 public:
  Child() = default;
  explicit Child(const std::function<int()>& body);
  ~Child() { end(); }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }

  /// kill -9. False if it had ended before, by whatever it did.
  bool end();
  /// Waits for its end by itself; its exit status as of waitpid().
  int wait();

 private:
  pid_t pid_ = 0;
};

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
