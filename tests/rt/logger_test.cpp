// Tests the logger: what is logged arrives in order with its arguments, limits and full rings lose nothing
// unnoticed, and the cycle stays real-time safe.
#include "takt/rt/logger.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/component/error.hpp"

using namespace takt;
using namespace takt::rt;
using namespace std::chrono_literals;

namespace {

std::vector<LogRecord> taken_from(Logger& logger) {
  std::vector<LogRecord> all;
  std::array<LogRecord, 7> some;
  while (const std::size_t count = logger.take(some))
    all.insert(all.end(), some.begin(), some.begin() + count);
  return all;
}

static_assert(count_placeholders("") == 0);
static_assert(count_placeholders("{} of {}{}") == 3);
static_assert(!count_placeholders("{0}"));
static_assert(!count_placeholders("{:.3f}"));
static_assert(!count_placeholders("{"));
static_assert(!count_placeholders("}{"));
static_assert(!count_placeholders("{{}}"));

}  // namespace

TEST_CASE("an entry has the time of its cycle, its source, and its arguments") {
  Logger logger;
  LogStatement<int, std::uint32_t, double, bool, TextId> all{LogLevel::warning, "{} {} {} {} {}"};
  LogStatement<component::Errc> error{LogLevel::error, "failed: {}"};
  LogStatement<> plain{LogLevel::debug, "here"};
  const TextId who = intern("who");
  test::RtGuard guard;
  logger.set_time(Time{} + 5ms);
  logger.log(all, who, -3, 7U, 0.25, true, who);
  logger.log(error, {}, component::Errc::bad_value);
  logger.set_time(Time{} + 6ms);
  logger.log(plain, {});
  CHECK(guard.report() == "");
  const auto entries = taken_from(logger);
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].time == Time{} + 5ms);
  CHECK(entries[0].source == who);
  CHECK(entries[0].level == LogLevel::warning);
  CHECK(text_of(entries[0].text) == "{} {} {} {} {}");
  REQUIRE(entries[0].count == 5);
  CHECK(static_cast<std::int64_t>(entries[0].arguments[0].bits) == -3);
  CHECK(entries[0].arguments[1].bits == 7);
  CHECK(std::bit_cast<double>(entries[0].arguments[2].bits) == 0.25);
  CHECK(entries[0].arguments[3].kind == LogArgument::Kind::truth);
  CHECK(entries[0].arguments[4].bits == who.number);
  CHECK(entries[1].arguments[0].kind == LogArgument::Kind::error);
  CHECK(entries[2].time == Time{} + 6ms);
  CHECK(entries[2].count == 0);
}

TEST_CASE("a statement beyond its limit is suppressed, and the next entry tells how often") {
  Logger logger;
  LogStatement<int> often{LogLevel::info, "{}", {.entries = 3, .interval = 100ms}};
  LogStatement<> other{LogLevel::info, "other"};
  for (int i = 0; i < 1000; ++i) {
    logger.set_time(Time{} + std::chrono::milliseconds(i));
    logger.log(often, {}, i);
    if (i == 50) CHECK(logger.log(other, {}));
  }
  const auto entries = taken_from(logger);
  CHECK(entries.size() == 10 * 3 + 1);
  std::uint64_t told = 0;
  for (const LogRecord& entry : entries) told += entry.suppressed;
  CHECK(told == 9 * 97);  // those of the last interval wait for the next entry
  CHECK(logger.suppressed() == 10 * 97);
  CHECK(logger.dropped() == 0);
}

TEST_CASE("a clock that was set back begins another interval") {
  Logger logger;
  LogStatement<> often{LogLevel::info, "often", {.entries = 1}};
  logger.set_time(Time{} + 10s);
  CHECK(logger.log(often, {}));
  logger.set_time(Time{} + 9s);
  CHECK(logger.log(often, {}));
  CHECK_FALSE(logger.log(often, {}));
}

TEST_CASE("what finds the ring full is counted, and its statement tells no suppressed entry twice") {
  Logger logger(4);
  LogStatement<int> often{LogLevel::info, "{}", {.entries = 1000}};
  for (int i = 0; i < 10; ++i) logger.log(often, {}, i);
  CHECK(logger.dropped() == 6);
  CHECK(taken_from(logger).size() == 4);
  CHECK(logger.log(often, {}, 10));
}

TEST_CASE("entries of one thread arrive in order at another") {
  Logger logger(64);
  LogStatement<std::uint64_t> count{LogLevel::info, "{}", {.entries = 1'000'000}};
  constexpr std::uint64_t most = 20'000;
  std::atomic<bool> ended{false};
  std::thread loop([&] {
    for (std::uint64_t i = 1; i <= most; ++i) {
      logger.set_time(Time(Duration(static_cast<std::int64_t>(i))));
      logger.log(count, {}, i);
    }
    ended.store(true, std::memory_order_release);
  });
  std::uint64_t last = 0;
  std::uint64_t received = 0;
  bool in_order = true;
  for (bool is_last = false; !is_last;) {
    is_last = ended.load(std::memory_order_acquire);
    for (const LogRecord& entry : taken_from(logger)) {
      const std::uint64_t number = entry.arguments[0].bits;
      in_order = in_order && number > last && to_nanoseconds(entry.time) == static_cast<std::int64_t>(number);
      last = number;
      ++received;
    }
  }
  loop.join();
  CHECK(in_order);
  CHECK(received + logger.dropped() == most);
}
