// Instruction counts: the cost of a hot function in instructions. Unlike nanoseconds on a shared machine, the
// count is exact and the same on every run. A room registers its kernels in bench/<room>_instructions.cpp:
//
//     const Kernel sample("trajectory/sample_20_joints", [](Counter& count) {
//       auto trajectory = ...;                                  // set-up is not counted
//       count([&] { keep(trajectory.sample(...)); });           // this is, per call
//     });
//
// bench/callgrind.sh runs them all under callgrind and compares with bench/instructions.json.
#pragma once

#include <valgrind/callgrind.h>

#include <string>
#include <vector>

namespace takt::bench {

/// Prevents the compiler from removing a value.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

class Counter {
 public:
  static constexpr int calls = 1000;

  explicit Counter(const char* name) : name_(name) {}

  /// Counts `call`, after some calls that execute one-time initialisation.
  template <class Call>
  void operator()(Call&& call) const {
    for (int i = 0; i < 10; ++i) call();
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i < calls; ++i) call();
    CALLGRIND_DUMP_STATS_AT(name_);
  }

 private:
  const char* name_;
};

class Kernel {
 public:
  using Run = void (*)(Counter&);
  Kernel(const char* name, Run run) { all().push_back({name, run}); }

  struct Entry {
    const char* name;
    Run run;
  };
  static std::vector<Entry>& all() {
    static std::vector<Entry> entries;
    return entries;
  }
};

}  // namespace takt::bench
