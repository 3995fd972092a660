// A commander and a vehicle with the secure channel between them. Each has its own clock. A test can keep,
// change, delay and repeat their datagrams.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "takt/core/siphash.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"

namespace takt::test {

using Bytes = std::vector<std::uint8_t>;
using Commander = secure::ClientChannel<SipHash128>;
using Vehicle = secure::ServerChannel<SipHash128>;
using SharedKey = secure::SharedKey<SipHash128>;
using KeyBytes = std::array<std::uint8_t, SipHash128::key_size>;
using std::chrono::milliseconds;

inline KeyBytes bytes_from(std::uint8_t first) {
  KeyBytes bytes{};
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}
inline SharedKey key_of(std::uint8_t id) { return {id, bytes_from(static_cast<std::uint8_t>(16 * id))}; }

struct SecurePair {
  static constexpr secure::SecurityLimits limits{};

  explicit SecurePair(std::uint8_t boot = 1)
      : commander(new_commander(boot)), vehicle(new_vehicle(static_cast<std::uint8_t>(boot + 100))) {}

  static Commander new_commander(std::uint8_t boot, const SharedKey& key = key_of(1)) {
    return *Commander::make(key, bytes_from(boot), limits);
  }
  static Vehicle new_vehicle(std::uint8_t boot, std::vector<SharedKey> keys = {key_of(1)}) {
    return *Vehicle::make(keys, bytes_from(boot), limits);
  }

  [[nodiscard]] Time vehicle_now() const { return now + vehicle_clock; }

  /// The handshake datagram that the commander sends now; empty if there is none.
  Bytes commander_handshake() { return handshake_of(commander, now); }
  Bytes vehicle_handshake() { return handshake_of(vehicle, vehicle_now()); }

  Bytes command(const Bytes& payload, secure::Urgency urgency = secure::Urgency::ordinary) {
    return sealed_by(commander, payload, urgency, now);
  }
  Bytes stop(const Bytes& payload) { return command(payload, secure::Urgency::stop); }
  Bytes telemetry(const Bytes& payload) {
    return sealed_by(vehicle, payload, secure::Urgency::ordinary, vehicle_now());
  }

  Result<secure::Opened> to_vehicle(const Bytes& datagram) { return vehicle.open(datagram, vehicle_now()); }
  Result<secure::Opened> to_commander(const Bytes& datagram) { return commander.open(datagram, now); }

  /// Advances the time. Both ends get it as often as in real use; nothing is sent.
  void pass(Duration duration) {
    for (const Time end = now + duration; now < end;) {
      now = std::min(now + milliseconds(10), end);
      (void)commander.seal({}, secure::Urgency::ordinary, now, {});
      (void)vehicle.seal({}, secure::Urgency::ordinary, vehicle_now(), {});
    }
  }

  /// One handshake without loss, with `delay` for each datagram. Waits until the commander begins it.
  void connect(Duration delay = milliseconds(1)) {
    if (commander.next_handshake() > now) now = commander.next_handshake();
    const Bytes hello = commander_handshake();
    now += delay;
    REQUIRE(to_vehicle(hello));
    const Bytes challenge = vehicle_handshake();
    now += delay;
    REQUIRE(to_commander(challenge));
    const Bytes confirm = commander_handshake();
    now += delay;
    REQUIRE(to_vehicle(confirm));
    const Bytes welcome = vehicle_handshake();
    now += delay;
    REQUIRE(to_commander(welcome));
    REQUIRE(commander.established(now));
    REQUIRE(vehicle.established(vehicle_now()));
  }

  Time now = time_from_nanoseconds(5'000'000'000);
  Duration vehicle_clock = std::chrono::hours(-7);  ///< vehicle's clock minus commander's
  Commander commander;
  Vehicle vehicle;

 private:
  template <class Channel>
  static Bytes handshake_of(Channel& channel, Time at) {
    Bytes out(Channel::max_handshake);
    const auto size = channel.poll_handshake(at, out);
    REQUIRE(size);
    out.resize(*size);
    return out;
  }
  template <class Channel>
  static Bytes sealed_by(Channel& channel, const Bytes& payload, secure::Urgency urgency, Time at) {
    Bytes out(payload.size() + Channel::overhead);
    const auto size = channel.seal(payload, urgency, at, out);
    REQUIRE(size == out.size());
    return out;
  }
};

/// The payload of an opened datagram; nothing if it was refused.
inline std::optional<Bytes> payload_of(const Result<secure::Opened>& opened) {
  if (!opened) return std::nullopt;
  return Bytes(opened->payload.begin(), opened->payload.end());
}

}  // namespace takt::test
