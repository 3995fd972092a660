#include "shm/process/process.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(place, bytes) ((void)(place), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(place, bytes) ((void)(place), (void)(bytes))
#endif

namespace takt::test {

namespace {
constexpr std::size_t page = 4096;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::abort();
}
}  // namespace

SharedPages::SharedPages(std::size_t bytes) : mapped_((bytes + page - 1) / page * page + 2 * page) {
  void* const place = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) fail("mmap");
  pages_ = static_cast<std::byte*>(place);
  data_ = pages_ + mapped_ - page - bytes;
  if (mprotect(pages_, page, PROT_NONE) != 0) fail("mprotect");
  if (mprotect(pages_ + mapped_ - page, page, PROT_NONE) != 0) fail("mprotect");
  ASAN_POISON_MEMORY_REGION(pages_ + page, static_cast<std::size_t>(data_ - pages_) - page);
}

SharedPages::~SharedPages() {
  ASAN_UNPOISON_MEMORY_REGION(pages_, mapped_);
  munmap(pages_, mapped_);
}

Child::Child(const std::function<int()>& body) : pid_(fork()) {
  if (pid_ < 0) fail("fork");
  if (pid_ != 0) return;
  // The test framework reports a crash as its own, and goes on.
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, SIG_DFL);
  _exit(body());
}

bool Child::end() {
  if (pid_ == 0) return true;
  kill(pid_, SIGKILL);
  const int status = wait();
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

int Child::wait() {
  int status = 0;
  if (waitpid(std::exchange(pid_, 0), &status, 0) < 0) fail("waitpid");
  return status;
}

void sleep_for(std::chrono::nanoseconds time) {
  const timespec length{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
  nanosleep(&length, nullptr);
}

void Patience::lost() {
  if (++tries_ % 2048 == 0) sched_yield();
}

bool eventually(const std::function<bool()>& condition) {
  constexpr auto hang = std::chrono::seconds(60);
  const auto start = std::chrono::steady_clock::now();
  while (!condition()) {
    if (std::chrono::steady_clock::now() - start > hang) return false;
    sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

}  // namespace takt::test
