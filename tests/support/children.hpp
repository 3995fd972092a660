// Child processes for tests of interactions between processes. Each runs a function and ends without
// unwinding, like a killed process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <utility>

namespace takt::test {

/// A child that runs `work` and ends with its result. The destructor kills it if it still runs.
class Child {
 public:
  explicit Child(const std::function<int()>& work) : pid_(::fork()) {
    if (pid_ < 0) std::abort();
    if (pid_ != 0) return;
    // Otherwise the test framework would treat a crash as its own and continue.
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, SIG_DFL);
    ::_exit(work());
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Child() { kill(); }

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// The exit code; 128 and the signal's number if a signal ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Sends SIGKILL and waits for the end. Returns the status of wait(); 0 if it was waited for already.
  int kill() {
    if (pid_ <= 0) return 0;
    ::kill(pid_, SIGKILL);
    return wait();
  }

 private:
  pid_t pid_;
};

/// The exit code of a child that runs `work`.
inline int in_child(const std::function<int()>& work) { return Child(work).wait(); }

/// Lets one process signal another to continue.
class Signal {
 public:
  Signal() {
    if (::pipe(ends_) != 0) std::abort();
  }
  ~Signal() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void give() const {
    while (::write(ends_[1], "x", 1) < 0) {
    }
  }
  void wait() const {
    char byte = 0;
    while (::read(ends_[0], &byte, 1) < 0) {
    }
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace takt::test
