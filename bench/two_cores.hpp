// Measuring between two cores: the placement of the two sides, and the distance of their cores.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "takt/shm/memory.hpp"

namespace takt::bench {

inline void pin(std::size_t core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core % std::max(1u, std::thread::hardware_concurrency()), &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

inline double nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Runs the other side on the other core, in its own thread or process, until it is done.
template <class Side>
class Beside {
 public:
  Beside(bool process, Side side) {
    if (!process) {
      thread_ = std::thread([side] {
        pin(0);
        side();
      });
      return;
    }
    process_ = fork();
    if (process_ < 0) std::abort();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      pin(0);
      side();
      _exit(0);
    }
  }
  ~Beside() {
    if (thread_.joinable())
      thread_.join();
    else
      waitpid(process_, nullptr, 0);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

 private:
  std::thread thread_;
  pid_t process_ = 0;
};

/// The time of one cache line from core to core, in ns. It shows the present place of the two cores, which a
/// host may change during a virtual machine's run. It is one core, two at a shared cache, or two apart. Only
/// runs at the same place are comparable.
inline double line_time() {
  struct alignas(shm::interference_size) Word {
    std::atomic<std::uint32_t> number{0};
  };
  constexpr std::uint32_t chunk = 50;
  constexpr std::uint32_t chunks = 40;
  Word there;
  Word back;
  const Beside echo(false, [&] {
    for (std::uint32_t i = 1; i <= chunk * chunks; ++i) {
      while (there.number.load(std::memory_order_acquire) != i) {
      }
      back.number.store(i, std::memory_order_release);
    }
  });
  std::vector<double> times;
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < chunks; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t j = 0; j < chunk; ++j) {
      there.number.store(++number, std::memory_order_release);
      while (back.number.load(std::memory_order_acquire) != number) {
      }
    }
    times.push_back(nanoseconds_since(start) / (2 * chunk));
  }
  return median(times);
}

}  // namespace takt::bench
