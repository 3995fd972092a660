#include "shm/process/process.hpp"

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "support/sanitizers.hpp"

#ifdef TAKT_ADDRESS_SANITIZED
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

void SharedPages::forbid_writing() const {
  if (mprotect(pages_ + page, mapped_ - 2 * page, PROT_READ) != 0) fail("mprotect");
}

void sleep_for(std::chrono::nanoseconds time) {
  const timespec length{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
  nanosleep(&length, nullptr);
}

void Patience::lost() {
  if (++tries_ % 2048 == 0) sched_yield();
}

}  // namespace takt::test
