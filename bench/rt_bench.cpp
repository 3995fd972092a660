// The realtime tools, and two other ways beside each. `floor` is the exchange of shm/ that the tool consists
// of. `try_lock` is a std::mutex that the loop only tries to lock. All sides run in one thread, without
// contention. Only the publisher has a thread of its own, which takes the messages outside the measured time.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "takt/rt/logger.hpp"
#include "takt/rt/realtime_box.hpp"
#include "takt/rt/realtime_buffer.hpp"
#include "takt/rt/realtime_clock.hpp"
#include "takt/rt/realtime_goal_handle.hpp"
#include "takt/rt/realtime_publisher.hpp"
#include "takt/rt/tracer.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace {

using namespace takt;
using namespace takt::rt;
using namespace std::chrono_literals;

using Message = std::array<std::uint64_t, 8>;

/// A value that both sides copy under a lock. The loop's side gives up if the lock is taken.
template <class T>
class Locked {
 public:
  void write(const T& value) {
    const std::lock_guard lock(mutex_);
    value_ = value;
  }
  bool try_write(const T& value) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) value_ = value;
    return lock.owns_lock();
  }
  bool try_read(T& value) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) value = value_;
    return lock.owns_lock();
  }

 private:
  std::mutex mutex_;
  T value_{};
};

// ---- a value to the loop: one write, one read ----

void buffer(benchmark::State& state) {
  RealtimeBuffer<Message> values;
  Message message{};
  for (auto _ : state) {
    ++message[0];
    values.write(message);
    benchmark::DoNotOptimize((*values.read())[0]);
  }
}

void latest(benchmark::State& state) {
  shm::LatestValue<Message> values;
  Message message{};
  for (auto _ : state) {
    ++message[0];
    values.write(message);
    benchmark::DoNotOptimize(values.update());
    benchmark::DoNotOptimize(values.value()[0]);
  }
}

void locked_value(benchmark::State& state) {
  Locked<Message> values;
  Message message{};
  Message read{};
  for (auto _ : state) {
    ++message[0];
    values.write(message);
    benchmark::DoNotOptimize(values.try_read(read));
    benchmark::DoNotOptimize(read);
  }
}

BENCHMARK(buffer)->Name("rt/buffer_64B/takt");
BENCHMARK(latest)->Name("rt/buffer_64B/floor");
BENCHMARK(locked_value)->Name("rt/buffer_64B/try_lock");

// ---- the loop's read of a value that has not changed: the usual cycle ----

void buffer_unchanged(benchmark::State& state) {
  RealtimeBuffer<Message> values(Message{});
  for (auto _ : state) benchmark::DoNotOptimize((*values.read())[0]);
}

void latest_unchanged(benchmark::State& state) {
  shm::LatestValue<Message> values;
  values.write({});
  for (auto _ : state) {
    benchmark::DoNotOptimize(values.update());
    benchmark::DoNotOptimize(values.value()[0]);
  }
}

void locked_unchanged(benchmark::State& state) {
  Locked<Message> values;
  Message read{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(values.try_read(read));
    benchmark::DoNotOptimize(read);
  }
}

BENCHMARK(buffer_unchanged)->Name("rt/buffer_unchanged_64B/takt");
BENCHMARK(latest_unchanged)->Name("rt/buffer_unchanged_64B/floor");
BENCHMARK(locked_unchanged)->Name("rt/buffer_unchanged_64B/try_lock");

// ---- a value that both sides write: each sets and gets once ----

void box(benchmark::State& state) {
  RealtimeBox<Message> value;
  Message message{};
  for (auto _ : state) {
    ++message[0];
    value.realtime().set(message);
    benchmark::DoNotOptimize(value.other().get()[0]);
    value.other().set(message);
    benchmark::DoNotOptimize(value.realtime().get()[0]);
  }
}

void two_latest(benchmark::State& state) {
  shm::LatestValue<Message> there;
  shm::LatestValue<Message> back;
  Message message{};
  for (auto _ : state) {
    ++message[0];
    for (auto* const way : {&there, &back}) {
      way->write(message);
      benchmark::DoNotOptimize(way->update());
      benchmark::DoNotOptimize(way->value()[0]);
    }
  }
}

void locked_box(benchmark::State& state) {
  Locked<Message> value;
  Message message{};
  Message read{};
  for (auto _ : state) {
    ++message[0];
    for (int side = 0; side < 2; ++side) {
      benchmark::DoNotOptimize(value.try_write(message));
      benchmark::DoNotOptimize(value.try_read(read));
      benchmark::DoNotOptimize(read);
    }
  }
}

BENCHMARK(box)->Name("rt/box_64B/takt");
BENCHMARK(two_latest)->Name("rt/box_64B/floor");
BENCHMARK(locked_box)->Name("rt/box_64B/try_lock");

// ---- the loop's side of a publisher: batches of messages that fit ----

constexpr std::size_t batch = 512;  // messages
constexpr int batches = 100;        // for each, the publisher needs a period

/// Measures publish(message) for batches; after each, drain() empties what they fill.
template <class Publish, class Drain>
void publish_batches(benchmark::State& state, Publish&& publish, Drain&& drain) {
  Message message{};
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < batch; ++i) {
      ++message[0];
      if (!publish(message)) state.SkipWithError("a message was dropped");
    }
    const auto end = std::chrono::steady_clock::now();
    state.SetIterationTime(std::chrono::duration<double>(end - start).count() / batch);
    drain();
  }
}

void publisher(benchmark::State& state) {
  std::atomic<std::uint64_t> published{0};
  RealtimePublisher<Message> messages(
      [&](const Message& message) { published.store(message[0], std::memory_order_release); },
      {.capacity = 2 * batch});
  std::uint64_t sent = 0;
  publish_batches(
      state, [&](const Message& message) { return messages.try_publish(message); },
      [&] {
        sent += batch;
        while (published.load(std::memory_order_acquire) != sent) std::this_thread::yield();
      });
}

void ring(benchmark::State& state) {
  shm::SpscRing<Message> messages(2 * batch);
  std::array<Message, batch> taken;
  publish_batches(
      state, [&](const Message& message) { return messages.try_push(message); },
      [&] { benchmark::DoNotOptimize(messages.pop(taken)); });
}

void locked_message(benchmark::State& state) {
  Locked<Message> messages;
  publish_batches(
      state, [&](const Message& message) { return messages.try_write(message); }, [] {});
}

BENCHMARK(publisher)->Name("rt/publish_64B/takt")->UseManualTime()->Iterations(batches);
BENCHMARK(ring)->Name("rt/publish_64B/floor")->UseManualTime()->Iterations(batches);
BENCHMARK(locked_message)->Name("rt/publish_64B/try_lock")->UseManualTime()->Iterations(batches);

// ---- a span of a trace: both of its times, and its place in the ring ----

const TextId step = intern("step");

void trace_span(benchmark::State& state) {
  Tracer tracer(batch);
  tracer.switch_on();
  std::array<TraceSpan, batch> written;
  publish_batches(
      state,
      [&](const Message&) {
        const TraceScope span(tracer.in_this_cycle(), step);
        return true;
      },
      [&] { benchmark::DoNotOptimize(tracer.take(written)); });
  if (tracer.dropped() > 0) state.SkipWithError("a span was dropped");
}

/// Two readings of the counter, and a store.
void span_floor(benchmark::State& state) {
  std::array<TraceSpan, batch> spans;
  std::size_t next = 0;
  publish_batches(
      state,
      [&](const Message&) {
        const std::uint64_t begin = ticks_now();
        spans[next++] = {begin, ticks_now(), step};
        return true;
      },
      [&] {
        benchmark::DoNotOptimize(spans);
        next = 0;
      });
}

/// An entry with two numbers.
void log_entry(benchmark::State& state) {
  Logger logger(batch);
  LogStatement<std::uint64_t, double> statement{LogLevel::warning, "{} of {}", {.entries = 0xffff'ffff}};
  std::array<LogRecord, batch> written;
  publish_batches(
      state, [&](const Message& message) { return logger.log(statement, step, message[0], 0.5); },
      [&] { benchmark::DoNotOptimize(logger.take(written)); });
  if (logger.dropped() > 0) state.SkipWithError("an entry was dropped");
}

/// The store of such an entry.
void entry_floor(benchmark::State& state) {
  std::array<LogRecord, batch> entries;
  std::size_t next = 0;
  publish_batches(
      state,
      [&](const Message& message) {
        entries[next++] = {.source = step,
                           .text = step,
                           .level = LogLevel::warning,
                           .count = 2,
                           .arguments = {to_log_argument(message[0]), to_log_argument(0.5)}};
        return true;
      },
      [&] {
        benchmark::DoNotOptimize(entries);
        next = 0;
      });
}

void trace_off(benchmark::State& state) {
  Tracer tracer(2);
  publish_batches(
      state,
      [&](const Message& message) {
        benchmark::DoNotOptimize(message[0]);
        const TraceScope span(tracer.in_this_cycle(), step);
        return true;
      },
      [] {});
}

/// The loop of the measurement.
void off_floor(benchmark::State& state) {
  publish_batches(
      state,
      [&](const Message& message) {
        benchmark::DoNotOptimize(message[0]);
        return true;
      },
      [] {});
}

BENCHMARK(trace_span)->Name("rt/trace_span/takt")->UseManualTime()->Iterations(batches);
BENCHMARK(span_floor)->Name("rt/trace_span/floor")->UseManualTime()->Iterations(batches);
BENCHMARK(log_entry)->Name("rt/log_entry/takt")->UseManualTime()->Iterations(batches);
BENCHMARK(entry_floor)->Name("rt/log_entry/floor")->UseManualTime()->Iterations(batches);
BENCHMARK(trace_off)->Name("rt/trace_off/takt")->UseManualTime()->Iterations(batches);
BENCHMARK(off_floor)->Name("rt/trace_off/floor")->UseManualTime()->Iterations(batches);

// ---- the loop's look at another clock ----

void clock_at(benchmark::State& state) {
  RealtimeClock clock;
  Time local(100s);
  clock.observe(local, local + 1000s, local);
  for (auto _ : state) {
    local += 1ms;
    benchmark::DoNotOptimize(clock.at(local));
  }
}

void clock_floor(benchmark::State& state) {
  shm::LatestValue<Duration> offset;
  offset.write(1000s);
  Time local(100s);
  for (auto _ : state) {
    local += 1ms;
    benchmark::DoNotOptimize(offset.update());
    benchmark::DoNotOptimize(local + offset.value());
  }
}

void clock_locked(benchmark::State& state) {
  Locked<Duration> offset;
  offset.write(1000s);
  Duration last{};
  Time local(100s);
  for (auto _ : state) {
    local += 1ms;
    benchmark::DoNotOptimize(offset.try_read(last));
    benchmark::DoNotOptimize(local + last);
  }
}

BENCHMARK(clock_at)->Name("rt/clock/takt");
BENCHMARK(clock_floor)->Name("rt/clock/floor");
BENCHMARK(clock_locked)->Name("rt/clock/try_lock");

// ---- feedback of a goal: the loop's report and its delivery ----

void goal(benchmark::State& state) {
  RealtimeGoalHandle<NoGoalData, Message> handle;
  Message message{};
  for (auto _ : state) {
    ++message[0];
    handle.set_feedback(message);
    handle.run_non_realtime([](const Message& feedback) { benchmark::DoNotOptimize(feedback[0]); },
                            [](GoalOutcome, NoGoalData) {});
  }
}

BENCHMARK(goal)->Name("rt/goal_feedback_64B/takt");
BENCHMARK(latest)->Name("rt/goal_feedback_64B/floor");
BENCHMARK(locked_value)->Name("rt/goal_feedback_64B/try_lock");

}  // namespace
