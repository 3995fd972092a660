// Attacks by somebody who hears, changes, delays, repeats and makes datagrams, but does not have the key. One
// test per attack. A refused datagram changes nothing, so every test ends with the authentic one, which is
// accepted.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "secure/secure_pair.hpp"
#include "support/random.hpp"
#include "takt/core/bytes.hpp"

using namespace takt;
using namespace takt::secure;
using std::chrono::milliseconds;
using test::Bytes;
using test::payload_of;
using test::SecurePair;

namespace {

Bytes flipped(Bytes bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ 1U << bit % 8);
  return bytes;
}

/// Tries every flipped bit and every truncation of a datagram on its receiver, then the datagram itself.
template <class Receive>
void check_every_change(const Bytes& genuine, Receive&& receive) {
  for (std::size_t bit = 0; bit < 8 * genuine.size(); ++bit) {
    CAPTURE(bit);
    REQUIRE_FALSE(receive(flipped(genuine, bit)));
  }
  for (std::size_t size = 0; size < genuine.size(); ++size) {
    CAPTURE(size);
    REQUIRE_FALSE(receive(Bytes(genuine.begin(), genuine.begin() + static_cast<std::ptrdiff_t>(size))));
  }
  Bytes longer = genuine;
  longer.push_back(0);
  REQUIRE_FALSE(receive(longer));
  REQUIRE(receive(genuine));
}

/// A datagram of any kind, session and number, with a tag by a guessed key.
Bytes forged(EnvelopeKind kind, std::uint64_t session, std::uint64_t sequence, Time sent,
             const Bytes& payload) {
  Bytes out(payload.size() + envelope_overhead);
  const SipHash128 guess(test::bytes_from(200));
  REQUIRE(write_envelope(guess, {kind, 1, session, sequence, sent, payload}, out));
  return out;
}

std::uint64_t session_of(const Bytes& datagram) { return parse_envelope(datagram)->session; }

}  // namespace

TEST_CASE("attack: change or cut any datagram") {
  SecurePair pair;
  const auto to_vehicle = [&](const Bytes& datagram) { return pair.to_vehicle(datagram); };
  const auto to_commander = [&](const Bytes& datagram) { return pair.to_commander(datagram); };
  check_every_change(pair.commander_handshake(), to_vehicle);  // hello
  pair.now += milliseconds(1);
  check_every_change(pair.vehicle_handshake(), to_commander);  // challenge
  check_every_change(pair.commander_handshake(), to_vehicle);  // confirm
  check_every_change(pair.vehicle_handshake(), to_commander);  // welcome
  check_every_change(pair.command({1, 2, 3}), to_vehicle);
  check_every_change(pair.stop({1, 2, 3}), to_vehicle);
  check_every_change(pair.telemetry(Bytes(132, 7)), to_commander);
}

TEST_CASE("attack: make datagrams with a wrong key") {
  SecurePair pair;
  pair.connect();
  const std::uint64_t session = session_of(pair.command({1}));
  for (const auto kind : {EnvelopeKind::command, EnvelopeKind::stop}) {
    CHECK(pair.to_vehicle(forged(kind, session, 100, pair.now, {1})).error() == Errc::bad_tag);
  }
  CHECK(pair.to_commander(forged(EnvelopeKind::report, session, 100, pair.now, {1})).error() ==
        Errc::bad_tag);
  CHECK(pair.to_vehicle(forged(EnvelopeKind::hello, session, 0, pair.now, Bytes(32))).error() ==
        Errc::bad_tag);

  SecurePair other;
  other.commander = *test::Commander::make({1, test::bytes_from(99)}, test::bytes_from(3));
  CHECK(other.to_vehicle(other.commander_handshake()).error() == Errc::bad_tag);
  CHECK(payload_of(pair.to_vehicle(pair.command({5}))) == Bytes{5});
}

TEST_CASE("attack: send a datagram back to its sender") {
  SecurePair pair;
  pair.connect();
  CHECK(pair.to_commander(pair.command({1})).error() == Errc::unexpected_kind);
  CHECK(pair.to_vehicle(pair.telemetry({1})).error() == Errc::unexpected_kind);
  // The kind cannot be changed to one of the sender's own either, because each direction has its own key.
  Bytes command = pair.command({1});
  command[3] = static_cast<std::uint8_t>(EnvelopeKind::report);
  CHECK(pair.to_commander(command).error() == Errc::bad_tag);
  Bytes telemetry = pair.telemetry({1});
  telemetry[3] = static_cast<std::uint8_t>(EnvelopeKind::command);
  CHECK(pair.to_vehicle(telemetry).error() == Errc::bad_tag);
  pair.now = pair.commander.next_handshake();
  CHECK(pair.to_commander(pair.commander_handshake()).error() == Errc::unexpected_kind);
}

TEST_CASE("attack: have an end make the very frame that it would take") {
  const SipHash128 key(test::bytes_from(1));
  for (const End end : {End::client, End::server}) {
    Session<SipHash128, 64> session(key, 1, {{1}, {2}}, end, {});
    Bytes datagram(envelope_overhead + 1);
    for (const auto kind : {EnvelopeKind::command, EnvelopeKind::report, EnvelopeKind::stop}) {
      REQUIRE(session.seal(kind, Bytes{1}, Time{}, datagram));
      CHECK(session.open(*parse_envelope(datagram), datagram, Time{}, {}).error() == Errc::bad_tag);
    }
  }
}

TEST_CASE("attack: send datagrams of another session") {
  SecurePair pair;
  pair.connect();
  const Bytes old_command = pair.command({1});
  const Bytes old_stop = pair.stop({1});
  const Bytes old_telemetry = pair.telemetry({1});
  pair.connect();  // renews the session
  REQUIRE(pair.to_vehicle(pair.command({2})));
  CHECK(pair.to_vehicle(old_command).error() == Errc::unknown_session);
  CHECK(pair.to_vehicle(old_stop).error() == Errc::unknown_session);
  CHECK(pair.to_commander(old_telemetry).error() == Errc::unknown_session);
  // If the present session's id is written over it, the tag is wrong.
  const Bytes present = pair.command({3});
  Bytes patched = old_command;
  std::copy(present.begin() + 8, present.begin() + 16, patched.begin() + 8);
  CHECK(pair.to_vehicle(patched).error() == Errc::bad_tag);
  CHECK(pair.to_vehicle(present));
}

TEST_CASE("attack: send a setpoint again, after any number of others") {
  SecurePair pair;
  pair.connect();
  const Bytes recorded = pair.command({1});
  const Bytes recorded_stop = pair.stop({1});
  REQUIRE(pair.to_vehicle(recorded));
  REQUIRE(pair.to_vehicle(recorded_stop));
  std::size_t later = 0;
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 10'000U}) {
    for (; later < count; ++later) REQUIRE(pair.to_vehicle(pair.command({2})));
    CAPTURE(count);
    CHECK(pair.to_vehicle(recorded).error() == Errc::replayed);
    CHECK(pair.to_vehicle(recorded_stop).error() == Errc::replayed);
  }
  CHECK(pair.to_vehicle(pair.command({3})));
}

TEST_CASE("attack: send telemetry again, after any number of others") {
  SecurePair pair;
  pair.connect();
  const Bytes recorded = pair.telemetry({1});
  REQUIRE(pair.to_commander(recorded));
  std::size_t later = 0;
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 255U, 256U, 257U, 10'000U}) {
    for (; later < count; ++later) REQUIRE(pair.to_commander(pair.telemetry({2})));
    CAPTURE(count);
    CHECK(pair.to_commander(recorded).error() == Errc::replayed);
  }
}

TEST_CASE("attack: change the order of datagrams") {
  SecurePair pair;
  pair.connect();
  std::vector<Bytes> telemetry;
  for (std::uint8_t k = 0; k < 255; ++k) telemetry.push_back(pair.telemetry({k}));
  for (std::size_t k = telemetry.size(); k > 0; --k)
    CHECK(pair.to_commander(telemetry[k - 1]));  // all within the window
  const Bytes beyond = pair.telemetry({1});
  for (int k = 0; k < 256; ++k) REQUIRE(pair.to_commander(pair.telemetry({2})));
  CHECK(pair.to_commander(beyond).error() == Errc::replayed);

  const Bytes first = pair.command({1});
  const Bytes stop = pair.stop({2});
  const Bytes second = pair.command({3});
  REQUIRE(pair.to_vehicle(second));
  CHECK(pair.to_vehicle(first).error() == Errc::overtaken);
  CHECK(pair.to_vehicle(stop)->urgency == Urgency::stop);  // an overtaken stop is accepted
  CHECK(pair.to_vehicle(stop).error() == Errc::replayed);
  const Bytes overtaken = pair.command({4});
  REQUIRE(pair.to_vehicle(pair.stop({5})));
  CHECK(pair.to_vehicle(overtaken).error() == Errc::overtaken);  // no setpoint from before a stop is accepted
}

TEST_CASE("attack: push the window ahead by a huge number with a bad tag") {
  SecurePair pair;
  pair.connect();
  const Bytes command = pair.command({1});
  const Bytes telemetry = pair.telemetry({1});
  const std::uint64_t session = session_of(command);
  for (const std::uint64_t huge : {std::uint64_t{1} << 32, UINT64_MAX - 1, UINT64_MAX}) {
    CHECK(pair.to_vehicle(forged(EnvelopeKind::command, session, huge, pair.now, {1})).error() ==
          Errc::bad_tag);
    CHECK(pair.to_vehicle(forged(EnvelopeKind::stop, session, huge, pair.now, {1})).error() == Errc::bad_tag);
    CHECK(pair.to_commander(forged(EnvelopeKind::report, session, huge, pair.now, {1})).error() ==
          Errc::bad_tag);
  }
  CHECK(pair.to_vehicle(command));
  CHECK(pair.to_commander(telemetry));
}

TEST_CASE("attack: record a session and play it to a vehicle that was restarted") {
  SecurePair pair;
  const Bytes hello = pair.commander_handshake();
  REQUIRE(pair.to_vehicle(hello));
  REQUIRE(pair.to_commander(pair.vehicle_handshake()));
  const Bytes confirm = pair.commander_handshake();
  REQUIRE(pair.to_vehicle(confirm));
  REQUIRE(pair.to_commander(pair.vehicle_handshake()));
  const Bytes command = pair.command({1});
  REQUIRE(pair.to_vehicle(command));

  pair.vehicle = SecurePair::new_vehicle(55);
  REQUIRE(pair.to_vehicle(hello));  // any hello gets a challenge, which an attacker cannot answer
  CHECK_FALSE(pair.vehicle_handshake().empty());
  CHECK(pair.to_vehicle(confirm).error() == Errc::stale_handshake);
  CHECK(pair.to_vehicle(command).error() == Errc::unknown_session);
  CHECK_FALSE(pair.vehicle.established(pair.vehicle_now()));
}

TEST_CASE("attack: play a vehicle's recorded answers to a commander that was restarted") {
  SecurePair pair;
  const Bytes hello = pair.commander_handshake();
  REQUIRE(pair.to_vehicle(hello));
  const Bytes challenge = pair.vehicle_handshake();
  REQUIRE(pair.to_commander(challenge));
  REQUIRE(pair.to_vehicle(pair.commander_handshake()));
  const Bytes welcome = pair.vehicle_handshake();
  REQUIRE(pair.to_commander(welcome));

  pair.commander = SecurePair::new_commander(56);
  CHECK(pair.to_commander(challenge).error() == Errc::stale_handshake);  // the commander has not asked yet
  CHECK_FALSE(pair.commander_handshake().empty());
  CHECK(pair.to_commander(challenge).error() == Errc::stale_handshake);
  CHECK(pair.to_commander(welcome).error() == Errc::unknown_session);
  CHECK_FALSE(pair.commander.established(pair.now));
}

TEST_CASE("attack: play a handshake again while its session lives, or after it was silent") {
  SecurePair pair;
  pair.connect();
  pair.now = pair.commander.next_handshake();
  const Bytes hello = pair.commander_handshake();
  REQUIRE(pair.to_vehicle(hello));
  REQUIRE(pair.to_commander(pair.vehicle_handshake()));
  const Bytes confirm = pair.commander_handshake();
  REQUIRE(pair.to_vehicle(confirm));
  REQUIRE(pair.to_commander(pair.vehicle_handshake()));
  CHECK(pair.to_vehicle(confirm).error() == Errc::stale_handshake);
  const Bytes command = pair.command({1});
  CHECK(pair.to_vehicle(hello));  // of this session: answered without effect
  CHECK(pair.to_commander(pair.vehicle_handshake()).error() == Errc::stale_handshake);
  CHECK(pair.to_vehicle(command));
  CHECK(pair.to_vehicle(hello).error() == Errc::busy);  // its session is over
  pair.pass(SecurePair::limits.silence + milliseconds(1));
  CHECK(pair.to_vehicle(confirm).error() == Errc::stale_handshake);
  CHECK(pair.to_vehicle(pair.command({2})));
}

TEST_CASE("attack: flood the vehicle with recorded hellos while a commander wants a session") {
  SecurePair pair;
  const Bytes recorded = pair.commander_handshake();
  pair.now = pair.commander.next_handshake();
  const Bytes hello = pair.commander_handshake();
  const auto flood = [&] {
    for (int k = 0; k < 1000; ++k) {
      REQUIRE(pair.to_vehicle(recorded));
      REQUIRE_FALSE(pair.vehicle_handshake().empty());
    }
  };
  flood();
  REQUIRE(pair.to_vehicle(hello));
  const Bytes challenge = pair.vehicle_handshake();
  flood();
  REQUIRE(pair.to_commander(challenge));
  const Bytes confirm = pair.commander_handshake();
  flood();
  REQUIRE(pair.to_vehicle(confirm));
  CHECK(pair.to_vehicle(recorded).error() == Errc::busy);
  REQUIRE(pair.to_commander(pair.vehicle_handshake()));
  CHECK(pair.to_vehicle(pair.command({1})));
}

TEST_CASE("attack: let the vehicle send more to a victim than it was sent") {
  SecurePair pair;
  const Bytes hello = pair.commander_handshake();
  REQUIRE(pair.to_vehicle(hello));
  const Bytes challenge = pair.vehicle_handshake();
  CHECK(challenge.size() <= hello.size());
  CHECK(pair.vehicle_handshake().empty());  // one answer, not several
  REQUIRE(pair.to_commander(challenge));
  const Bytes confirm = pair.commander_handshake();
  REQUIRE(pair.to_vehicle(confirm));
  CHECK(pair.vehicle_handshake().size() <= confirm.size());
  CHECK(pair.vehicle_handshake().empty());
  REQUIRE_FALSE(pair.to_vehicle(flipped(hello, 300)));
  CHECK(pair.vehicle_handshake().empty());  // a refused hello gets no answer
}

TEST_CASE("attack: delay a setpoint") {
  SecurePair pair;
  pair.connect();
  const Bytes command = pair.command({1});
  const Bytes telemetry = pair.telemetry({1});
  const Bytes stop = pair.stop({2});
  pair.now += SecurePair::limits.age + milliseconds(1);
  CHECK(pair.to_vehicle(command).error() == Errc::too_old);
  CHECK(pair.to_commander(telemetry).error() == Errc::too_old);
  CHECK(pair.to_vehicle(stop)->urgency == Urgency::stop);  // late stops are accepted
  CHECK(pair.to_vehicle(command).error() == Errc::overtaken);
  CHECK(pair.to_vehicle(pair.command({3})));
}

TEST_CASE("attack: delay all datagrams by more and more") {
  SecurePair pair;
  pair.connect();
  Duration delay(0);
  for (; delay < std::chrono::seconds(2); delay += milliseconds(1)) {
    const Bytes command = pair.command({1});
    pair.now += delay;
    const bool believed = pair.to_vehicle(command).has_value();
    CHECK(believed == (delay <= SecurePair::limits.age - milliseconds(1)));
    if (!believed) break;
    if (pair.commander.next_handshake() <= pair.now) pair.connect();
  }
  CHECK(delay == SecurePair::limits.age);
}

TEST_CASE("attack: delay the handshake, so that later frames seem young") {
  for (int held = 0; held < 2; ++held) {
    SecurePair pair;
    const Duration most = SecurePair::limits.answer();
    const Bytes hello = pair.commander_handshake();
    REQUIRE(pair.to_vehicle(hello));
    const Bytes challenge = pair.vehicle_handshake();
    if (held == 0) pair.now += most;
    REQUIRE(pair.to_commander(challenge));
    const Bytes confirm = pair.commander_handshake();
    if (held == 1) pair.now += most;
    if (held == 0) {  // the commander's answer is still valid, but the vehicle's challenge is as old
      pair.now += milliseconds(1);
      CHECK(pair.to_vehicle(confirm).error() == Errc::stale_handshake);
      continue;
    }
    REQUIRE(pair.to_vehicle(confirm));
    REQUIRE(pair.to_commander(pair.vehicle_handshake()));
    const Bytes command = pair.command({1});
    pair.now += SecurePair::limits.age + milliseconds(1);
    CHECK(pair.to_vehicle(command).error() == Errc::too_old);
  }
  SecurePair pair;
  REQUIRE(pair.to_vehicle(pair.commander_handshake()));
  const Bytes challenge = pair.vehicle_handshake();
  pair.now += SecurePair::limits.answer() + milliseconds(1);
  CHECK(pair.to_commander(challenge).error() == Errc::stale_handshake);
  pair.connect();
}

TEST_CASE("attack: drive the vehicle while its commander does") {
  SecurePair pair;
  pair.connect();
  test::Commander other = SecurePair::new_commander(9);
  Bytes hello(test::Commander::max_handshake);
  for (int k = 0; k < 100; ++k, pair.now += milliseconds(20)) {
    REQUIRE(pair.to_vehicle(pair.command({1})));
    const auto size = other.poll_handshake(pair.now, hello);
    REQUIRE(size);
    if (*size == 0) continue;
    CHECK(pair.vehicle.open(std::span(hello).first(*size), pair.vehicle_now()).error() == Errc::busy);
    CHECK(pair.vehicle_handshake().empty());
  }
}

TEST_CASE("attack: hold back what a commander says whose clock was set ahead, until it seems young") {
  SecurePair pair;
  pair.connect();
  REQUIRE(pair.to_vehicle(pair.command({1})));
  const Duration ahead = std::chrono::seconds(50);
  pair.now += ahead;
  pair.vehicle_clock -= ahead;
  CHECK_FALSE(pair.commander.established(pair.now));
  Bytes out(100);
  CHECK(pair.commander.seal(Bytes{2}, Urgency::ordinary, pair.now, out).error() == Errc::not_established);
  CHECK(pair.to_commander(pair.telemetry({3})).error() == Errc::clock_jumped);
  CHECK(pair.commander.refused()(Errc::clock_jumped) == 1);
  pair.connect();
  CHECK(pair.to_vehicle(pair.command({4})));
  CHECK(pair.to_commander(pair.telemetry({5})));
}

TEST_CASE("attack: hold datagrams back and play them when a clock was set back") {
  for (const Duration back : {Duration(milliseconds(50)), Duration(milliseconds(900)),
                              Duration(std::chrono::seconds(50)), Duration(std::chrono::hours(10))}) {
    CAPTURE(back.count());
    SecurePair pair;
    pair.now += std::chrono::hours(20);
    pair.connect();
    const Bytes command = pair.command({1});
    const Bytes stop = pair.stop({2});
    const Bytes telemetry = pair.telemetry({3});
    pair.pass(milliseconds(10));
    const auto both_refuse = [&] {
      CHECK(pair.to_vehicle(command).error() == Errc::clock_jumped);
      CHECK(pair.to_commander(telemetry).error() == Errc::clock_jumped);
    };
    pair.now -= back;  // both clocks go back
    both_refuse();
    CHECK_FALSE(pair.commander.established(pair.now));
    CHECK_FALSE(pair.vehicle.established(pair.vehicle_now()));
    pair.pass(milliseconds(20));  // the clocks have caught up, or nearly so, or will not for hours
    both_refuse();
    pair.pass(std::chrono::seconds(49));
    both_refuse();
    CHECK(pair.vehicle.refused()(Errc::clock_jumped) == 3);
    CHECK(pair.to_vehicle(stop)->urgency == Urgency::stop);  // authentic, whatever the clock shows

    pair.connect();
    CHECK(pair.to_vehicle(pair.command({4})));
    CHECK(pair.to_commander(pair.telemetry({5})));
    CHECK(pair.to_vehicle(command).error() == Errc::unknown_session);
  }
}

TEST_CASE("attack: hold a confirmation back until a clock that was set back shows its time again") {
  for (const bool used : {false, true}) {
    SecurePair pair;
    const Bytes hello = pair.commander_handshake();
    REQUIRE(pair.to_vehicle(hello));
    REQUIRE(pair.to_commander(pair.vehicle_handshake()));
    const Bytes confirm = pair.commander_handshake();
    const Time then = pair.vehicle_now();
    if (used) REQUIRE(pair.to_vehicle(confirm));
    pair.pass(milliseconds(10));
    pair.vehicle_clock -= std::chrono::seconds(1);
    while (pair.vehicle_now() < then) pair.pass(milliseconds(10));
    CHECK(pair.to_vehicle(confirm).error() == Errc::stale_handshake);
    REQUIRE(pair.to_vehicle(hello));  // in the same nanosecond: still another challenge
    CHECK(pair.to_vehicle(confirm).error() == Errc::stale_handshake);
    CHECK(pair.to_commander(pair.vehicle_handshake()).error() == Errc::stale_handshake);
    pair.connect();
    CHECK(pair.to_vehicle(pair.command({1})));
  }
}

TEST_CASE("attack: hold stops back, so that a commander that is gone seems to be there") {
  SecurePair pair;
  pair.connect();
  std::vector<Bytes> held;
  for (int k = 0; k < 20; ++k) held.push_back(pair.stop({1}));
  pair.now += milliseconds(400);
  for (const Bytes& stop : held) {  // accepted, because stops may be late
    pair.now += milliseconds(20);
    CHECK(pair.to_vehicle(stop));
  }
  pair.commander = SecurePair::new_commander(9);
  pair.connect();
}

TEST_CASE("attack: garbage of any size") {
  SecurePair pair;
  pair.connect();
  auto random = test::generator(7);
  const std::uint64_t session = session_of(pair.command({1}));
  const std::size_t count = test::count(20'000);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Bytes bytes(static_cast<std::size_t>(test::uniform_int(random, 0, i % 100 == 0 ? 65'507 : 300)));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    if (i % 2 == 0 && bytes.size() >= envelope_overhead) {  // valid header, random rest
      const auto kind = static_cast<EnvelopeKind>(test::uniform_int(random, 1, 6));
      const Bytes head =
          forged(kind, session, random(), pair.vehicle_now(), Bytes(bytes.size() - envelope_overhead));
      std::copy(head.begin(), head.begin() + envelope_header, bytes.begin());
    }
    refused += (pair.to_vehicle(bytes) ? 0U : 1U) + (pair.to_commander(bytes) ? 0U : 1U);
  }
  CHECK(refused == 2 * count);
  CHECK(pair.vehicle.refused().total() + pair.commander.refused().total() == 2 * count);
  CHECK(pair.vehicle.next_handshake() == Time::max());
  CHECK(pair.to_vehicle(pair.command({1})));
}
