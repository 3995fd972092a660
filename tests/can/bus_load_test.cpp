// Tests bus plans against the published table and hand calculation. Tests mean bits of a frame against exact
// bits of random frames, and the meter against a plain record of all its frames.
#include "takt/can/bus_load.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::can;
using namespace std::chrono_literals;

namespace {

constexpr FrameFormat classic{};
constexpr FrameFormat fd{.fd = true, .bit_rate_switch = true};

constexpr PlannedFrame each_ms(FrameFormat format, std::uint8_t length, std::uint32_t count) {
  return {format, length, 1ms, count};
}
constexpr double microseconds(const CycleLoad& load) { return 1e6 * load.time; }

Frame random_frame(std::mt19937_64& random, std::size_t length, FrameFormat format) {
  Frame frame;
  frame.extended = format.extended;
  frame.fd = format.fd;
  frame.bit_rate_switch = format.bit_rate_switch;
  frame.id = static_cast<std::uint32_t>(random()) & (format.extended ? max_extended_id : max_standard_id);
  frame.length = static_cast<std::uint8_t>(length);
  for (std::size_t i = 0; i < length; ++i) frame.data[i] = static_cast<std::uint8_t>(random());
  return frame;
}

}  // namespace

TEST_CASE(
    "twenty drives do not fit one classic bus, and do fit two or three FD buses, by the published numbers") {
  constexpr std::array one_classic = {each_ms(classic, 8, 40), each_ms(classic, 0, 1)};
  constexpr BusLoad refused = *bus_load(one_classic, {}, 1ms);
  static_assert(!refused.fits() && refused.worst.frames == 41 && refused.worst.nominal_bits == 40 * 135 + 55);
  CHECK(microseconds(refused.worst) == doctest::Approx(5455));
  CHECK(microseconds(refused.least) == doctest::Approx(4487));
  CHECK(microseconds(refused.mean) == doctest::Approx(40 * 114 + 49).epsilon(0.01));

  const std::array three_drives = {each_ms(classic, 8, 6), each_ms(classic, 0, 1)};
  CHECK(microseconds(bus_load(three_drives, {}, 1ms)->worst) == doctest::Approx(865));
  CHECK(bus_load(three_drives, {}, 1ms)->fits());
  CHECK(!bus_load(three_drives, {}, 1ms)->fits(0.8));

  const std::array one_fd = {each_ms(fd, 8, 40)};
  CHECK(microseconds(bus_load(one_fd, {}, 1ms)->worst) == doctest::Approx(2264).epsilon(0.001));
  const std::array two_fd = {each_ms(fd, 8, 10), each_ms(fd, 64, 1), each_ms(fd, 16, 1)};
  const BusLoad fits = bus_load(two_fd, {}, 1ms).value();
  CHECK(microseconds(fits.worst) == doctest::Approx(808).epsilon(0.001));
  CHECK(microseconds(fits.mean) == doctest::Approx(706).epsilon(0.01));
  CHECK(fits.fits());
  const std::array three_fd = {each_ms(fd, 8, 7), each_ms(fd, 64, 1)};
  CHECK(microseconds(bus_load(three_fd, {}, 1ms)->worst) == doctest::Approx(566).epsilon(0.001));
}

TEST_CASE("frames of other periods fall due at worst, not at all at best, and by their share on average") {
  const std::array plan = {PlannedFrame{classic, 8, 10ms, 20}, PlannedFrame{classic, 8, 400us, 1}};
  const BusLoad load = bus_load(plan, {500'000, 1}, 1ms).value();
  CHECK(load.worst.frames == 20 + 3);
  CHECK(load.least.frames == 2);
  CHECK(load.mean.frames == doctest::Approx(2 + 2.5));
  CHECK(load.worst.utilisation == doctest::Approx(23 * 135 * 2e-6 / 1e-3));
}

TEST_CASE("plans that make no sense are refused") {
  const auto error = [](PlannedFrame frame, BitRates rates, Duration cycle) {
    return bus_load({&frame, 1}, rates, cycle).error();
  };
  CHECK(error({classic, 8, 0ms, 1}, {}, 1ms) == Errc::bad_plan);
  CHECK(error({classic, 8, 1ms, 1}, {}, 0ms) == Errc::bad_plan);
  CHECK(error({classic, 8, 1ms, 1}, {0, 1}, 1ms) == Errc::bad_plan);
  CHECK(error({classic, 9, 1ms, 1}, {}, 1ms) == Errc::wrong_length);
  CHECK(error({fd, 65, 1ms, 1}, {}, 1ms) == Errc::wrong_length);
  CHECK(error({fd, 9, 1ms, 1}, {}, 1ms) == Errc::wrong_length);
  CHECK(bus_load({}, {}, 1ms)->worst.time == 0);
}

TEST_CASE("mean bits are those of random frames, of every format") {
  auto random = test::generator(1);
  for (const bool extended : {false, true}) {
    for (const FrameFormat format : {FrameFormat{extended, false, false}, FrameFormat{extended, true, false},
                                     FrameFormat{extended, true, true}}) {
      for (const std::size_t length : {0U, 1U, 4U, 8U, 16U, 64U}) {
        if (!format.fd && length > 8) continue;
        const std::size_t count = test::count(4'000);
        double nominal = 0;
        double data = 0;
        for (std::size_t i = 0; i < count; ++i) {
          const FrameBits bits = frame_bits(random_frame(random, length, format));
          nominal += bits.nominal;
          data += bits.data;
        }
        const MeanFrameBits mean = mean_frame_bits(length, format);
        CAPTURE(length);
        CAPTURE(extended);
        // The limit is some standard deviations of the mean; one missing stuff bit exceeds it.
        REQUIRE(std::abs(nominal / static_cast<double>(count) - mean.nominal) < 0.25);
        REQUIRE(std::abs(data / static_cast<double>(count) - mean.data) < 0.25);
        // The check detects a mean without stuff bits, which is smaller.
        REQUIRE(mean.total() >= min_frame_bits(length, format).total() + 0.3);
        REQUIRE(mean.total() <= max_frame_bits(length, format).total());
      }
    }
  }
}

TEST_CASE("the meter's load is the time on the wire by the window") {
  auto random = test::generator(2);
  constexpr BitRates rates{1'000'000, 5'000'000};
  for (std::size_t round = 0; round < test::count(20); ++round) {
    BusMeter<4, 10> meter(rates, 100ms);
    std::vector<std::pair<Time, Duration>> account;
    Time now = Time(Duration(test::uniform_int(random, 0, 1'000'000'000)));
    const Time first = now;
    CHECK(meter.load(now) == 0);
    for (int i = 0; i < 500; ++i) {
      Frame frame = random_frame(random, 8, round % 2 == 0 ? classic : fd);
      frame.stamp = now;
      meter.note(frame);
      account.emplace_back(now, transmission_time(frame, rates.nominal, rates.data));
      now += Duration(test::uniform_int(random, 200'000, i % 50 == 0 ? 150'000'000 : 1'000'000));
      // The window begins with a slice of 10 ms; the record knows which one.
      const Time start = std::max(first, Time((now.time_since_epoch() / 10ms - 9) * Duration(10ms)));
      Duration busy{};
      for (const auto& entry : account) {
        if (entry.first >= start && entry.first <= now) busy += entry.second;
      }
      REQUIRE(meter.load(now) == doctest::Approx(to_seconds(busy) / to_seconds(now - start)));
    }
  }
}

TEST_CASE("the meter counts frames, gaps and jitter of the messages that it watches") {
  BusMeter<3> meter({}, 1s);
  CHECK(meter.watch(0x100, false, 10ms));
  CHECK(meter.watch(0x100, true));
  CHECK(!meter.watch(0x100, false, 5ms));
  CHECK(meter.watch(0x050, false, 1ms));
  CHECK(!meter.watch(0x051, false));  // no room
  CHECK(meter.overdue(Time(0ms)) == 2);
  const auto note = [&](std::uint32_t id, bool extended, Duration at) {
    Frame frame;
    frame.id = id;
    frame.extended = extended;
    frame.stamp = Time(at);
    meter.note(frame);
  };
  for (const Duration at : {10ms, 20ms, 31ms, 40ms, 70ms, 80ms}) note(0x100, false, at);  // two are missing
  note(0x100, true, 5ms);
  note(0x7FF, false, 6ms);
  const MessageStatistics statistics = meter.statistics(0x100, false).value();
  CHECK(statistics.frames == 6);
  CHECK(statistics.missing == 2);
  CHECK(statistics.shortest == 9ms);
  CHECK(statistics.longest == 11ms);
  CHECK(statistics.jitter() == 2ms);
  CHECK(statistics.rate() == doctest::Approx(100));
  CHECK(meter.statistics(0x100, true)->frames == 1);
  CHECK(meter.statistics(0x100, true)->rate() == 0);
  CHECK(!meter.statistics(0x7FF, false));
  CHECK(meter.unwatched() == 1);
  CHECK(meter.overdue(Time(95ms)) == 1);  // 0x050 was never received
  CHECK(meter.overdue(Time(96ms)) == 2);
  meter.reset_statistics();
  CHECK(meter.statistics(0x100, false)->frames == 0);
  note(0x100, false, 200ms);
  CHECK(meter.statistics(0x100, false)->missing == 0);
}

TEST_CASE("stamps from the ends of time, as a damaged log may have them, are gaps like others") {
  BusMeter<1> meter({}, 1s);
  CHECK(meter.watch(0x100, false, 10ms));
  Frame frame;
  frame.id = 0x100;
  for (const Duration at : {Duration(0), Duration::max(), Duration::min(), Duration::max(), Duration(0)}) {
    frame.stamp = Time(at);
    meter.note(frame);
    CHECK(meter.load(Time(1s)) <= 1);
    CHECK(meter.overdue(Time(1s)) <= 1);
  }
  const MessageStatistics statistics = meter.statistics(0x100, false).value();
  CHECK(statistics.frames == 5);
  CHECK(statistics.longest < Duration::max());  // forward leaps count as missing frames, not as intervals
  CHECK(statistics.missing == 2 * static_cast<std::uint64_t>(Duration::max() / 10ms) - 2);
}

TEST_CASE("stamps from the future hide the load for a window at most") {
  for (const Duration ahead : {100ms, 200ms, 3'600'000ms}) {
    CAPTURE(ahead.count());
    BusMeter<1, 10> meter({1'000'000}, 100ms);
    Frame frame;
    frame.length = 8;
    const auto note = [&](Duration at) {
      frame.stamp = Time(at);
      meter.note(frame);
    };
    for (Duration at = ahead; at < ahead + 100ms; at += 10ms) note(at);
    Duration now{};
    for (; now < 200ms; now += 1ms) note(now);
    const double share = to_seconds(transmission_time(frame, 1'000'000, 1'000'000)) / 1e-3;
    CHECK(meter.load(Time(now)) > 0.99 * share);
    CHECK(meter.load(Time(now)) < 1.11 * share);  // one frame of eleven may be from the future
  }
}

TEST_CASE("a thousand messages are found again") {
  auto random = test::generator(3);
  BusMeter<1000> meter({}, 1s);
  std::map<std::pair<std::uint32_t, bool>, std::uint64_t> counts;
  while (counts.size() < 1000) {
    const bool extended = (random() & 1) != 0;
    const auto id = static_cast<std::uint32_t>(random()) & (extended ? max_extended_id : max_standard_id);
    REQUIRE(meter.watch(id, extended) == counts.emplace(std::pair(id, extended), 0).second);
  }
  std::vector<std::pair<std::uint32_t, bool>> ids;
  for (const auto& entry : counts) ids.push_back(entry.first);
  for (int i = 0; i < 10'000; ++i) {
    const auto& key = ids[random() % ids.size()];
    Frame frame;
    frame.id = key.first;
    frame.extended = key.second;
    frame.stamp = Time(Duration(i * 1000));
    meter.note(frame);
    ++counts[key];
  }
  for (const auto& entry : counts)
    REQUIRE(meter.statistics(entry.first.first, entry.first.second)->frames == entry.second);
}

TEST_CASE("metering keeps the rules of the loop") {
  BusMeter<> meter({}, 100ms);
  meter.watch(0x123, false, 1ms);
  Frame frame;
  frame.id = 0x123;
  double sum = 0;
  test::RtGuard guard;
  for (int i = 0; i < 1000; ++i) {
    frame.stamp += 1ms;
    meter.note(frame);
    sum += meter.load(frame.stamp) + static_cast<double>(meter.overdue(frame.stamp));
  }
  CHECK(guard.report() == "");
  CHECK(sum > 0);
}

TEST_CASE(
    "mean times of frames by their lengths add up to the exact ones, and no frame is far from its own") {
  std::mt19937_64 random = test::generator();
  const BitRates rates{1'000'000, 5'000'000};
  const MeanFrameTimes times(rates);
  for (const bool extended : {false, true}) {
    for (const FrameFormat format :
         {FrameFormat{.extended = extended}, FrameFormat{.extended = extended, .fd = true},
          FrameFormat{.extended = extended, .fd = true, .bit_rate_switch = true}}) {
      for (std::size_t code = 0; code < (format.fd ? 16U : 9U); ++code) {
        CAPTURE(code);
        Duration exact{};
        Duration estimated{};
        for (int i = 0; i < 1000; ++i) {
          const Frame frame = random_frame(random, fd_lengths[code], format);
          exact += transmission_time(frame, rates.nominal, rates.data);
          estimated += times.time_of(frame);
        }
        CHECK(to_seconds(estimated) == doctest::Approx(to_seconds(exact)).epsilon(0.01));
        const Duration mean = estimated / 1000;
        const auto bounds = [&](FrameBits bits) {
          return transmission_time(bits, rates.nominal, rates.data);
        };
        CHECK(to_seconds(mean) >= 0.9 * to_seconds(bounds(min_frame_bits(fd_lengths[code], format))));
        CHECK(to_seconds(mean) >= 0.8 * to_seconds(bounds(max_frame_bits(fd_lengths[code], format))));
      }
    }
  }
}

TEST_CASE("mean times are bounded for any frame length, and at bit rates of 0") {
  const MeanFrameTimes times({1'000'000, 5'000'000});
  Frame remote;
  remote.remote = true;
  remote.length = 8;
  CHECK(times.time_of(remote) == times.time_of(Frame{}));
  Frame hostile;
  hostile.length = 255;
  CHECK(times.time_of(hostile) < 1ms);
  hostile.fd = true;
  Frame longest;
  longest.fd = true;
  longest.length = 64;
  CHECK(times.time_of(hostile) == times.time_of(longest));
  CHECK(MeanFrameTimes({0, 0}).time_of(longest) > 500s);
}
