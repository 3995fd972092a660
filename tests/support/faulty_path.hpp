// A faulty path for datagrams in one direction. Some are lost, delayed, reordered, duplicated or changed, by
// a seed. Sans-I/O: a test puts it between two ends in virtual time, udp_fault_proxy between two sockets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "takt/core/time.hpp"

namespace takt::test {

/// Shares are of the datagrams, from 0 to 1.
struct PathFaults {
  double loss = 0;
  double duplicate = 0;  ///< arrive twice, each with its own delay
  double corrupt = 0;    ///< one bit is flipped, or the end is missing
  double reorder = 0;    ///< are delayed, so that later ones overtake them
  Duration delay{};
  Duration jitter{};  ///< the delay varies uniformly by this much; never below zero
  Duration held_back = std::chrono::milliseconds(35);
};

struct PathCounters {
  std::uint64_t taken = 0;
  std::uint64_t lost = 0;
  std::uint64_t doubled = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t held_back = 0;
};

class FaultyPath {
 public:
  using Bytes = std::vector<std::uint8_t>;

  FaultyPath(const PathFaults& faults, std::uint64_t seed) : faults_(faults), random_(seed) {}

  /// Applies to later datagrams only.
  void set_faults(const PathFaults& faults) { faults_ = faults; }

  void take(std::span<const std::uint8_t> datagram, Time now) {
    ++counters_.taken;
    if (happens(faults_.loss, counters_.lost)) return;
    send(Bytes(datagram.begin(), datagram.end()), now);
    if (happens(faults_.duplicate, counters_.doubled)) send(Bytes(datagram.begin(), datagram.end()), now);
  }

  /// The time of the next datagram of give().
  [[nodiscard]] Time next() const { return under_way_.empty() ? Time::max() : under_way_.begin()->first; }

  /// Returns the next datagram that has arrived by now.
  std::optional<Bytes> give(Time now) {
    if (next() > now) return std::nullopt;
    Bytes datagram = std::move(under_way_.begin()->second);
    under_way_.erase(under_way_.begin());
    return datagram;
  }

  [[nodiscard]] const PathCounters& counters() const { return counters_; }

 private:
  bool happens(double share, std::uint64_t& counter) {
    const bool it_does = uniform(random_, 0.0, 1.0) < share;
    counter += it_does ? 1 : 0;
    return it_does;
  }

  void send(Bytes datagram, Time now) {
    if (!datagram.empty() && happens(faults_.corrupt, counters_.corrupted)) corrupt(datagram);
    Duration delay =
        faults_.delay + Duration(uniform_int(random_, -faults_.jitter.count(), faults_.jitter.count()));
    if (happens(faults_.reorder, counters_.held_back)) delay += faults_.held_back;
    under_way_.emplace(now + std::max(delay, Duration(0)), std::move(datagram));
  }

  void corrupt(Bytes& datagram) {
    const auto any =
        static_cast<std::size_t>(uniform_int(random_, 0, static_cast<std::int64_t>(datagram.size()) - 1));
    if (uniform_int(random_, 0, 3) == 0) {
      datagram.resize(any);
    } else {
      datagram[any] ^= static_cast<std::uint8_t>(1u << uniform_int(random_, 0, 7));
    }
  }

  PathFaults faults_;
  std::mt19937_64 random_;
  std::multimap<Time, Bytes> under_way_;
  PathCounters counters_;
};

}  // namespace takt::test
