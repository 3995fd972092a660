// The steps of a loop in each cycle, and how long each took: spans of time with a name. The loop puts them
// into a ring. record/trace_writer.hpp writes them as a trace for Chrome and Perfetto.
//
//     rt::Tracer tracer;                                    // set-up
//     rt::PeriodicConfig config{.tracer = &tracer};         // the loop adds spans of its own: cycle, sleep
//     tracer.switch_on();                                   // any thread, while the loop runs
//     loop->run([&](const rt::Tick& tick) noexcept {
//       const rt::TraceScope span(tick.tracer, read_step);  // const rt::TextId read_step = intern("read")
//       ...
//     });
//
// A loop asks once in a cycle whether the tracer is on. So a cycle has all of its spans or none. A span of
// a tracer that is off costs a comparison of a pointer with null.
//
// A span is recorded once, at its end, with both of its times. So a span that is lost breaks no other one.
//
// Times are ticks of the processor's counter: rdtsc on x86-64, cntvct_el0 on arm64. Reading it takes a third
// of the time of a clock. Linux keeps the counters of all processors equal. TickScale makes nanoseconds of
// the steady clock from them. On other processors a tick is a nanosecond of the steady clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/time.hpp"
#include "takt/rt/text_id.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::rt {

/// The present time in ticks. Real-time safe.
[[nodiscard]] inline std::uint64_t ticks_now() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// One instant on both clocks.
struct TickAnchor {
  std::uint64_t ticks = 0;
  Time time{};  ///< steady clock

  /// The present instant, to about 20 ns. Takes a microsecond.
  [[nodiscard]] static TickAnchor now() noexcept;
};

/// Converts ticks to times of the steady clock, along the line through two anchors. Times keep the order of
/// their ticks.
class TickScale {
 public:
  /// A scale without two different anchors takes a tick for a nanosecond.
  TickScale(const TickAnchor& first, const TickAnchor& second) noexcept;
  [[nodiscard]] Time time_of(std::uint64_t ticks) const noexcept;

 private:
  TickAnchor anchor_;
  double nanoseconds_per_tick_ = 1;
};

/// A step of a cycle, or an instant in it.
struct TraceSpan {
  std::uint64_t begin = 0;  ///< ticks
  std::uint64_t end = 0;    ///< ticks; an instant ends where it begins
  TextId name;
  std::uint32_t value = 0;  ///< of an instant: what it counts
};
static_assert(sizeof(TraceSpan) == 24);

/// The spans of one loop. Its functions are real-time safe, except the constructor.
class Tracer {
 public:
  /// Allocates a ring for so many spans, rounded up to a power of two.
  explicit Tracer(std::size_t capacity = std::size_t{1} << 14) : ring_(capacity) {}
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // ---- any thread ----

  // relaxed: the flag publishes no other data.
  void switch_on() noexcept { on_.store(true, std::memory_order_relaxed); }
  void switch_off() noexcept { on_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool is_on() const noexcept { return on_.load(std::memory_order_relaxed); }
  /// Spans that found the ring full, since the construction.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  // ---- the loop's thread ----

  /// Called once in a cycle: this tracer if it is on, else null.
  [[nodiscard]] Tracer* in_this_cycle() noexcept { return is_on() ? this : nullptr; }
  /// Records a span that ends now.
  void record(TextId name, std::uint64_t begin) noexcept { push({begin, ticks_now(), name}); }
  /// Records an instant, with a count.
  void mark(TextId name, std::uint32_t value) noexcept {
    const std::uint64_t now = ticks_now();
    push({now, now, name, value});
  }

  // ---- one thread that writes ----

  /// Takes the oldest spans, in the order of their ends. Returns their number.
  [[nodiscard]] std::size_t take(std::span<TraceSpan> spans) noexcept { return ring_.pop(spans); }

 private:
  void push(const TraceSpan& span) noexcept {
    if (ring_.try_push(span)) return;
    // relaxed: only this thread writes the count.
    dropped_.store(dropped() + 1, std::memory_order_relaxed);
  }

  std::atomic<bool> on_{false};
  std::atomic<std::uint64_t> dropped_{0};
  shm::SpscRing<TraceSpan> ring_;
};

/// Records a span from its construction to its end of scope. A null tracer: nothing. Real-time safe.
class TraceScope {
 public:
  TraceScope(Tracer* tracer, TextId name) noexcept : tracer_(tracer), name_(name) {
    if (tracer_ != nullptr) begin_ = ticks_now();
  }
  ~TraceScope() {
    if (tracer_ != nullptr) tracer_->record(name_, begin_);
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Tracer* tracer_;
  TextId name_;
  std::uint64_t begin_ = 0;
};

}  // namespace takt::rt
