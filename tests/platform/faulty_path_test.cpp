// The faults that other tests rely on occur at the requested rate and within their bounds. The same seed
// gives the same faults.
#include "support/faulty_path.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

using namespace takt;
using test::FaultyPath;
using test::PathFaults;

namespace {

constexpr Duration ms = std::chrono::milliseconds(1);
constexpr Time start{};

struct Arrival {
  Time at;
  FaultyPath::Bytes bytes;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

FaultyPath::Bytes numbered(std::uint32_t number) {
  FaultyPath::Bytes bytes(4);
  std::memcpy(bytes.data(), &number, 4);
  return bytes;
}
std::uint32_t number_of(const Arrival& arrival) {
  std::uint32_t number = 0;
  REQUIRE(arrival.bytes.size() == 4);
  std::memcpy(&number, arrival.bytes.data(), 4);
  return number;
}

/// Sends a datagram every 10 ms.
std::vector<Arrival> drive(FaultyPath& way, std::uint32_t count) {
  std::vector<Arrival> arrivals;
  for (std::uint32_t i = 0; i < count; ++i) way.take(numbered(i), start + i * 10 * ms);
  while (way.next() != Time::max()) {
    const Time at = way.next();
    arrivals.push_back({at, *way.give(at)});
  }
  return arrivals;
}

/// Checks a share within five standard deviations.
void check_share(std::uint64_t number, double share, double count) {
  const double deviation = std::sqrt(count * share * (1 - share));
  CHECK(std::abs(static_cast<double>(number) - count * share) <= 5 * deviation);
}

}  // namespace

TEST_CASE("a path without faults gives each datagram at once, in order and unchanged") {
  FaultyPath way({}, 1);
  CHECK(!way.give(start).has_value());
  const auto arrivals = drive(way, 100);
  REQUIRE(arrivals.size() == 100);
  for (std::uint32_t i = 0; i < 100; ++i) CHECK(arrivals[i] == Arrival{start + i * 10 * ms, numbered(i)});
}

TEST_CASE("delays are within their bounds, and nothing is given before its time") {
  FaultyPath way({.delay = 50 * ms, .jitter = 20 * ms}, 2);
  way.take(numbered(0), start);
  CHECK(!way.give(start + 30 * ms - Duration(1)).has_value());
  CHECK(way.give(start + 70 * ms).has_value());
  const auto arrivals = drive(way, 1000);
  REQUIRE(arrivals.size() == 1000);
  bool overtaken = false;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const Duration delay = arrivals[i].at - (start + number_of(arrivals[i]) * 10 * ms);
    CHECK(delay >= 30 * ms);
    CHECK(delay <= 70 * ms);
    overtaken = overtaken || (i > 0 && number_of(arrivals[i]) < number_of(arrivals[i - 1]));
  }
  CHECK(overtaken);
}

TEST_CASE("each fault happens as often as asked for") {
  constexpr std::uint32_t count = 20000;
  FaultyPath way({.loss = 0.2, .duplicate = 0.1, .corrupt = 0.05, .reorder = 0.02}, 3);
  const auto arrivals = drive(way, count);
  const auto& counters = way.counters();
  check_share(counters.lost, 0.2, count);
  check_share(counters.doubled, 0.1, count * 0.8);
  CHECK(arrivals.size() == count - counters.lost + counters.doubled);
  check_share(counters.corrupted, 0.05, static_cast<double>(arrivals.size()));
  check_share(counters.held_back, 0.02, static_cast<double>(arrivals.size()));
}

TEST_CASE("corrupted datagrams differ, and all others are unchanged") {
  FaultyPath way({.corrupt = 1}, 4);
  for (const Arrival& arrival : drive(way, 1000)) {
    const auto original = numbered(static_cast<std::uint32_t>((arrival.at - start) / (10 * ms)));
    CHECK(arrival.bytes != original);
  }
}

TEST_CASE("a seed says what happens") {
  const PathFaults faults{
      .loss = 0.3, .duplicate = 0.2, .corrupt = 0.2, .reorder = 0.1, .delay = 50 * ms, .jitter = 20 * ms};
  FaultyPath first(faults, 5), again(faults, 5), other(faults, 6);
  const auto arrivals = drive(first, 500);
  CHECK(arrivals == drive(again, 500));
  CHECK(arrivals != drive(other, 500));
}
