// A vehicle and its client over the worst network, in virtual time. Datagrams are lost (20 %), late (50 +- 20
// ms), reordered, doubled, and corrupted in detectable ways. The client's view of the vehicle is true, and a
// cut cable stops the vehicle in time.
#include <doctest/doctest.h>

#include <array>
#include <chrono>

#include "sim/client_rig.hpp"
#include "support/adversary.hpp"
#include "support/faulty_path.hpp"
#include "support/random.hpp"
#include "takt/core/siphash.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"

using namespace takt;
using namespace std::chrono_literals;
using secure::PlainChannel;
using vehicle::SupervisorState;
using vehicle::SystemState;

namespace {

constexpr Duration longest_way = 50ms + 20ms + 35ms;

test::PathFaults bad_network(double corrupt) {
  return {.loss = 0.2, .duplicate = 0.1, .corrupt = corrupt, .reorder = 0.05, .delay = 50ms, .jitter = 20ms};
}

/// A rig with such a network as its cable.
template <class Near, class Far>
struct BadRig : test::ClientRig<Near, Far> {
  using Rig = test::ClientRig<Near, Far>;
  using Rig::bytes, Rig::client, Rig::is_cut, Rig::machine, Rig::now;
  BadRig(Near near, Far far, double corrupt, std::uint64_t seed)
      : Rig(std::move(near), std::move(far)),
        there(bad_network(corrupt), seed),
        back(bad_network(corrupt), seed + 1) {}

  void tick() {
    now += 1ms;
    while (const std::size_t size = client.poll(now, bytes).value_or(0)) {
      if (!is_cut) there.take(std::span(bytes).first(size), now);
    }
    while (const std::size_t size = machine.poll(now, bytes).value_or(0)) {
      if (!is_cut) back.take(std::span(bytes).first(size), now);
    }
    while (const auto datagram = there.give(now)) (void)machine.receive(*datagram, now);
    while (const auto datagram = back.give(now)) (void)client.receive(*datagram, now);
    check_age();
  }

  /// The machine's stamps are its time. The client's estimate may differ only by the shortest network delay,
  /// which it cannot know.
  void check_age() {
    const auto& telemetry = client.telemetry();
    if (telemetry.counters().taken == 0) return;
    const Duration stamp = std::chrono::milliseconds(telemetry.last().stamp);
    const Duration age = telemetry.age(now);
    EXPECT(age <= now.time_since_epoch() - stamp);
    EXPECT(age >= now.time_since_epoch() - stamp - longest_way);
    const auto traction = telemetry.fresh_traction(now);
    EXPECT((!traction || age <= 100ms));
  }

  /// A driver wants to drive all the time.
  template <class Until>
  Duration drive_until(Duration limit, Until&& until) {
    const Time start = now;
    for (int i = 0; now - start < limit && !until(); ++i) {
      if (i % 20 == 0) (void)client.drive({0.1, 0.5, 0}, now);
      tick();
    }
    return now - start;
  }
  void drive(Duration duration) {
    drive_until(duration, [] { return false; });
  }

  test::FaultyPath there, back;
};

using Plain = BadRig<PlainChannel, PlainChannel>;
using Secure = BadRig<secure::ClientChannel<SipHash128>, secure::ServerChannel<SipHash128>>;

Secure secured(std::uint64_t seed) {
  const secure::SharedKey<SipHash128> key{1, {7, 1, 2}};
  return {secure::ClientChannel<SipHash128>::make(key, {1, 2, 3}).value(),
          secure::ServerChannel<SipHash128>::make(std::array{key}, {4, 5, 6}).value(), 0.1, seed};
}

/// Drives as far as the network allows; a stop on the way ends when both ends are told to recover.
template <class Rig>
void get_going(Rig& rig) {
  const auto goes = [&] { return rig.client.state() == SupervisorState::driving && rig.plant().speed() > 1; };
  constexpr int patience = 200;  // some networks stop it often: one in 2000 needs more than 20
  for (int attempt = 0; attempt < patience && !goes(); ++attempt) {
    rig.drive_until(10s, [&] { return goes() || rig.client.state() == SupervisorState::stopped; });
    rig.machine.recover();
    rig.drive(1s);
    (void)rig.client.recover(rig.now);
  }
  REQUIRE(goes());
}

template <class Rig>
void cut_and_recover(Rig& rig) {
  get_going(rig);
  rig.is_cut = true;
  // The last control frame may still be on its way when the cable is cut. The vehicle's timeout starts at its
  // arrival.
  const Duration halted =
      rig.drive_until(2s, [&] { return rig.machine.controller().state() == SystemState::halted; });
  CHECK(halted <= longest_way + test::furbot().command_timeout + 2ms);
  CHECK(rig.client.state() != SupervisorState::driving);
  rig.drive_until(5s, [&] { return rig.plant().speed() == 0; });
  CHECK(rig.plant().speed() == 0);

  const auto pose = rig.plant().pose();
  rig.is_cut = false;
  rig.drive(3s);
  CHECK(rig.plant().pose() == pose);  // neither end was told to recover
  rig.machine.recover();
  rig.drive(4s);
  CHECK(rig.plant().pose() == pose);  // only the vehicle was
  const auto recovers = [&] { return rig.client.recover(rig.now).has_value(); };
  rig.drive_until(5s, recovers);
  get_going(rig);
}

}  // namespace

TEST_CASE(
    "over the worst network the age of telemetry is true, a cut cable stops the vehicle, and only a recovery "
    "continues") {
  for (std::size_t i = 0; i < test::count(5); ++i) {
    const std::uint64_t seed = 100 * test::seed() + 2 * i;
    CAPTURE(seed);
    Plain plain({}, {}, 0, seed);
    cut_and_recover(plain);
    CHECK(plain.client.telemetry().counters().lost > 0);
    CHECK(plain.client.telemetry().counters().late > 0);
    CHECK(plain.client.telemetry().counters().duplicated > 0);
    Secure authenticated = secured(seed);
    cut_and_recover(authenticated);
    CHECK(authenticated.client.telemetry().counters().malformed == 0);
    CHECK(authenticated.client.counters().refused > 0);
  }
}
