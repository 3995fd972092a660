#include "takt/rt/thread_setup.hpp"

#include <alloca.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

namespace takt::rt {

namespace {

struct Outcome {
  bool granted = false;
  Errc error = Errc::not_granted;
  std::string detail;
};

Outcome granted(std::string detail) { return {true, Errc::not_granted, std::move(detail)}; }

Outcome refused(int error_number, const std::string& hint) {
  const bool permission = error_number == EPERM || error_number == EACCES;
  return {false, permission ? Errc::not_permitted : Errc::not_granted,
          std::generic_category().message(error_number) + ": " + hint};
}

/// The soft limit as text.
std::string limit_text(rlim_t limit) { return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit); }

rlim_t soft_limit(decltype(RLIMIT_RTPRIO) resource) {
  rlimit limit{};
  getrlimit(resource, &limit);
  return limit.rlim_cur;
}

/// Whether the process has a capability, by its number in linux/capability.h. /proc reports it without a
/// library.
bool has_capability(unsigned number) {
  std::FILE* file = std::fopen("/proc/thread-self/status", "re");
  if (file == nullptr) return false;
  char line[256];
  unsigned long long effective = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "CapEff: %llx", &effective) == 1) break;
  }
  std::fclose(file);
  return ((effective >> number) & 1) != 0;
}

Outcome use_fifo(int priority) {
  sched_param parameter{};
  parameter.sched_priority = priority;
  // Threads that this one starts do not inherit its scheduling class.
  const int error = pthread_setschedparam(pthread_self(), SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter);
  if (error == 0) return granted("SCHED_FIFO, priority " + std::to_string(priority));
  constexpr unsigned cap_sys_nice = 23;
  const rlim_t limit = soft_limit(RLIMIT_RTPRIO);
  if (has_capability(cap_sys_nice) || limit >= static_cast<rlim_t>(priority)) {
    return refused(error,
                   "the process may use real-time priorities, but its cpu cgroup has no real-time runtime "
                   "(write some to cpu.rt_runtime_us, or leave the cgroup)");
  }
  return refused(error, "needs CAP_SYS_NICE or RLIMIT_RTPRIO >= " + std::to_string(priority) + " (it is " +
                            limit_text(limit) + "); see limits.conf(5), rtprio");
}

Outcome use_cores(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string names;
  for (const int core : cores) {
    CPU_SET(static_cast<std::size_t>(core), &set);
    names += (names.empty() ? "" : ", ") + std::to_string(core);
  }
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    return refused(errno, "none of the cores " + names + " exists and is available to this process");
  }
  cpu_set_t got;
  CPU_ZERO(&got);
  if (sched_getaffinity(0, sizeof(got), &got) != 0 || !CPU_EQUAL(&set, &got)) {
    return refused(EINVAL,
                   "some of the cores " + names + " do not exist or are not available to this process");
  }
  return granted("cores " + names);
}

Outcome shorten_timer_slack() {
  if (prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) != 0) return refused(errno, "prctl(PR_SET_TIMERSLACK)");
  return granted("1 ns");
}

/// How much of the calling thread's stack is left below this frame.
std::size_t stack_left() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here - reinterpret_cast<std::uintptr_t>(lowest);
}

/// A separate frame, so that the stack is free again on return.
[[gnu::noinline]] void touch_stack(std::size_t bytes) {
  auto* memory = static_cast<volatile unsigned char*>(alloca(bytes));
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // From the top down, because the kernel extends a stack only by a small step at a time.
  for (std::size_t done = 0; done < bytes; done += page) memory[bytes - 1 - done] = 0;
}

Outcome prefault_stack(std::size_t bytes) {
  constexpr std::size_t reserve = 64 * 1024;  // for the frames of this file and those of a signal handler
  const std::size_t left = stack_left();
  if (bytes > left || left - bytes < reserve) {
    return refused(ENOMEM,
                   std::to_string(bytes) + " bytes requested, " + std::to_string(left) +
                       " left; give the thread a larger stack (pthread_attr_setstacksize, ulimit -s)");
  }
  touch_stack(bytes);
  return granted(std::to_string(bytes / 1024) + " KiB touched");
}

Outcome lock_all_memory() {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return granted("present and future pages");
  const rlim_t limit = soft_limit(RLIMIT_MEMLOCK);
  return refused(errno, "needs CAP_IPC_LOCK or a larger RLIMIT_MEMLOCK (it is " + limit_text(limit) +
                            " bytes); see limits.conf(5), memlock");
}

Outcome keep_all_heap() {
#ifdef __GLIBC__
  if (mallopt(M_TRIM_THRESHOLD, -1) == 1 && mallopt(M_MMAP_MAX, 0) == 1) {
    return granted("no trimming, no separately mapped blocks");
  }
#endif
  return refused(ENOSYS, "this C library has no mallopt()");
}

Outcome forbid_deep_sleep(int& file) {
  file = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
  if (file < 0) return refused(errno, "needs write access to /dev/cpu_dma_latency (root, or a udev rule)");
  const std::int32_t microseconds = 0;
  if (write(file, &microseconds, sizeof(microseconds)) != sizeof(microseconds)) {
    return refused(errno, "/dev/cpu_dma_latency does not accept 0");
  }
  return granted("0 us while the set-up exists");
}

}  // namespace

ThreadConfig ThreadConfig::all(Want want, int priority, std::vector<int> cores) {
  ThreadConfig config;
  config.fifo = want;
  config.priority = priority;
  config.affinity = cores.empty() ? Want::off : want;
  config.cores = std::move(cores);
  config.timer_slack = want;
  config.stack = want;
  config.lock_memory = want;
  config.keep_heap = want;
  config.wake_up_latency = want;
  return config;
}

ThreadSetup::ThreadSetup(ThreadSetup&& other) noexcept
    : measures_(std::move(other.measures_)), latency_file_(std::exchange(other.latency_file_, -1)) {}

ThreadSetup& ThreadSetup::operator=(ThreadSetup&& other) noexcept {
  std::swap(measures_, other.measures_);
  std::swap(latency_file_, other.latency_file_);
  return *this;
}

ThreadSetup::~ThreadSetup() {
  if (latency_file_ >= 0) close(latency_file_);
}

bool ThreadSetup::all_granted() const noexcept {
  return std::all_of(measures_.begin(), measures_.end(),
                     [](const Measure& measure) { return measure.granted; });
}

std::string ThreadSetup::text() const {
  std::string text;
  for (const Measure& measure : measures_) {
    text += measure.name + (measure.granted ? ": granted, " : ": refused, ") + measure.detail + "\n";
  }
  return text;
}

SetupResult<ThreadSetup> set_up_thread(const ThreadConfig& config) {
  if (config.fifo != Want::off && (config.priority < 1 || config.priority > 99)) {
    return fail(Errc::bad_priority, "priority " + std::to_string(config.priority) + " is not within 1..99");
  }
  if (config.affinity != Want::off) {
    if (config.cores.empty()) return fail(Errc::bad_cores, "affinity is requested, but no core is given");
    for (const int core : config.cores) {
      if (core < 0 || core >= CPU_SETSIZE) {
        return fail(Errc::bad_cores, "core " + std::to_string(core) + " is not within 0..1023");
      }
    }
  }

  ThreadSetup setup;
  std::optional<Error> error;
  const auto take = [&](const char* name, Want want, auto&& measure) {
    if (want == Want::off || error) return;
    Outcome outcome = measure();
    if (!outcome.granted && want == Want::enforce) error = outcome.error;
    setup.measures_.push_back({name, want, outcome.granted, std::move(outcome.detail)});
  };
  take("fifo", config.fifo, [&] { return use_fifo(config.priority); });
  take("affinity", config.affinity, [&] { return use_cores(config.cores); });
  take("timer_slack", config.timer_slack, [] { return shorten_timer_slack(); });
  take("stack", config.stack, [&] { return prefault_stack(config.stack_bytes); });
  take("lock_memory", config.lock_memory, [] { return lock_all_memory(); });
  take("keep_heap", config.keep_heap, [] { return keep_all_heap(); });
  take("wake_up_latency", config.wake_up_latency, [&] { return forbid_deep_sleep(setup.latency_file_); });
  if (error) return fail(*error, setup.measures_.back().name + ": " + setup.measures_.back().detail);
  return setup;
}

}  // namespace takt::rt
