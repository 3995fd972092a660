// The secure channel between two honest ends: sessions begin, last, are renewed and taken over. The clocks
// are independent, and the network loses, delays, repeats and changes datagrams.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "secure/secure_pair.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::secure;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Bytes;
using test::payload_of;
using test::SecurePair;

static_assert(Channel<test::Commander>);
static_assert(Channel<test::Vehicle>);
static_assert(SecurityLimits{}.answer() == milliseconds(150));  // the most excess of a frame's computed age

TEST_CASE("after three datagrams both ends have a session, and frames pass both ways") {
  SecurePair pair;
  CHECK_FALSE(pair.commander.established(pair.now));
  CHECK_FALSE(pair.vehicle.established(pair.vehicle_now()));
  CHECK(pair.commander.next_handshake() == Time::min());
  CHECK(pair.vehicle.next_handshake() == Time::max());
  pair.connect();
  CHECK(payload_of(pair.to_vehicle(pair.command({1, 2, 3}))) == Bytes{1, 2, 3});
  CHECK(payload_of(pair.to_commander(pair.telemetry({4, 5}))) == Bytes{4, 5});
  CHECK(pair.to_vehicle(pair.command({1}))->urgency == Urgency::ordinary);
  CHECK(pair.to_vehicle(pair.stop({1}))->urgency == Urgency::stop);
  CHECK(pair.commander.refused().total() == 0);
  CHECK(pair.vehicle.refused().total() == 0);
  CHECK(pair.vehicle.next_handshake() == Time::max());
  CHECK(pair.vehicle_handshake().empty());
}

TEST_CASE("without a session nothing is sealed") {
  SecurePair pair;
  Bytes out(100);
  CHECK(pair.commander.seal(Bytes{1}, Urgency::ordinary, pair.now, out).error() == Errc::not_established);
  CHECK(pair.vehicle.seal(Bytes{1}, Urgency::ordinary, pair.vehicle_now(), out).error() ==
        Errc::not_established);
  pair.connect();
  out.resize(48);
  CHECK(pair.commander.seal(Bytes{1}, Urgency::ordinary, pair.now, out).error() == Errc::no_room);
  CHECK(payload_of(pair.to_vehicle(pair.command({7}))) == Bytes{7});
}

TEST_CASE("a handshake's datagram that is lost or finds no room is sent again") {
  SecurePair pair;
  CHECK(pair.commander.poll_handshake(pair.now, {}).error() == Errc::no_room);
  CHECK_FALSE(pair.commander_handshake().empty());  // lost
  CHECK(pair.commander_handshake().empty());
  CHECK(pair.commander.next_handshake() == pair.now + SecurePair::limits.answer());
  pair.now = pair.commander.next_handshake();
  REQUIRE(pair.to_vehicle(pair.commander_handshake()));
  CHECK(pair.vehicle.poll_handshake(pair.vehicle_now(), {}).error() == Errc::no_room);
  REQUIRE(pair.to_commander(pair.vehicle_handshake()));
  CHECK(pair.commander.poll_handshake(pair.now, {}).error() == Errc::no_room);
  CHECK_FALSE(pair.commander_handshake().empty());  // lost
  pair.connect();
}

TEST_CASE("a session is renewed while frames pass, none of which is refused") {
  SecurePair pair;
  pair.connect();
  const Time end = pair.now + seconds(35);
  int renewals = 0;
  for (; pair.now < end; pair.now += milliseconds(10)) {
    if (pair.commander.next_handshake() <= pair.now) {
      const Bytes hello = pair.commander_handshake();
      REQUIRE(pair.to_vehicle(hello));
      REQUIRE(pair.to_commander(pair.vehicle_handshake()));
      const Bytes confirm = pair.commander_handshake();
      const Bytes old_command = pair.command({1});
      const Bytes old_telemetry = pair.telemetry({2});
      REQUIRE(pair.to_vehicle(confirm));
      CHECK_FALSE(pair.vehicle_handshake().empty());  // the welcome is lost
      CHECK(pair.to_vehicle(old_command));
      CHECK(pair.to_commander(old_telemetry));
      const Bytes command = pair.command({3});
      CHECK(pair.to_commander(pair.telemetry({4})));  // in the new session
      CHECK(pair.to_vehicle(command));
      ++renewals;
    }
    CHECK(pair.to_vehicle(pair.command({1, 2})));
    CHECK(pair.to_commander(pair.telemetry({3})));
  }
  CHECK(renewals == 3);
  CHECK(pair.commander.refused().total() == 0);
  CHECK(pair.vehicle.refused().total() == 0);
}

TEST_CASE("while renewals are in vain, what its commander says in the session that it has is believed") {
  for (const bool welcomed : {false, true}) {
    SecurePair pair;
    pair.connect();
    if (welcomed) {  // by a renewal, after which no command arrived
      pair.pass(pair.commander.next_handshake() - pair.now);
      pair.connect();
    }
    for (int renewal = 0; renewal < 5; ++renewal) {
      pair.pass(pair.commander.next_handshake() - pair.now);
      REQUIRE(pair.to_vehicle(pair.commander_handshake()));
      REQUIRE(pair.to_commander(pair.vehicle_handshake()));
      REQUIRE(pair.to_vehicle(pair.commander_handshake()));
      CHECK_FALSE(pair.vehicle_handshake().empty());  // the welcome and telemetry are lost
      if (welcomed && renewal == 0) continue;
      CHECK(pair.to_vehicle(pair.command({1})));
      CHECK(pair.to_vehicle(pair.stop({2}))->urgency == Urgency::stop);
    }
    CHECK(pair.vehicle.refused().total() == 0);
  }
}

TEST_CASE("of two commanders answered at the same time, the first to confirm gets the session") {
  SecurePair pair;
  auto other = SecurePair::new_commander(50);
  Bytes hello(test::Commander::max_handshake), confirm = hello;
  REQUIRE(pair.to_vehicle(pair.commander_handshake()));
  REQUIRE(pair.to_commander(pair.vehicle_handshake()));
  pair.now += milliseconds(1);
  hello.resize(other.poll_handshake(pair.now, hello).value());
  REQUIRE(pair.to_vehicle(hello));
  REQUIRE(other.open(pair.vehicle_handshake(), pair.now));
  confirm.resize(other.poll_handshake(pair.now, confirm).value());

  REQUIRE(pair.to_vehicle(pair.commander_handshake()));
  CHECK(pair.to_vehicle(confirm).error() == Errc::busy);
  REQUIRE(pair.to_commander(pair.vehicle_handshake()));
  CHECK(pair.to_vehicle(pair.command({1})));
}

TEST_CASE("a session that is never renewed dies, at both ends") {
  SecurePair pair;
  pair.connect();
  const Bytes late_stop = pair.stop({1});
  const Bytes late_telemetry = pair.telemetry({1});
  pair.pass(SecurePair::limits.lifetime());
  CHECK_FALSE(pair.commander.established(pair.now));
  CHECK_FALSE(pair.vehicle.established(pair.vehicle_now()));
  CHECK(pair.to_vehicle(late_stop).error() == Errc::unknown_session);
  CHECK(pair.to_commander(late_telemetry).error() == Errc::unknown_session);
  pair.connect();
}

TEST_CASE("either end may restart at any time: the commander finds the vehicle again") {
  SecurePair pair;
  pair.connect();
  pair.vehicle = SecurePair::new_vehicle(77);
  CHECK(pair.to_vehicle(pair.command({1})).error() == Errc::unknown_session);
  pair.connect();
  CHECK(pair.commander.next_handshake() > pair.now);

  pair.commander = SecurePair::new_commander(78);
  CHECK(pair.to_vehicle(pair.commander_handshake()).error() == Errc::busy);
  pair.now += SecurePair::limits.silence;
  pair.connect();
  CHECK(pair.to_vehicle(pair.command({1})));

  pair.vehicle = SecurePair::new_vehicle(79);
  pair.commander = SecurePair::new_commander(80);
  pair.connect();
  CHECK(pair.to_vehicle(pair.command({1})));
}

TEST_CASE("a vehicle has two keys while they are being changed, and one that is taken away is of no use") {
  SecurePair pair;
  pair.vehicle = SecurePair::new_vehicle(5, {test::key_of(1), test::key_of(2)});
  pair.connect();
  pair.commander = SecurePair::new_commander(6, test::key_of(2));
  pair.now += SecurePair::limits.silence + milliseconds(10);
  pair.connect();
  CHECK(pair.to_vehicle(pair.command({1})));
  pair.commander = SecurePair::new_commander(7, test::key_of(3));
  CHECK(pair.to_vehicle(pair.commander_handshake()).error() == Errc::unknown_key);
}

TEST_CASE("the age of a frame is right although the clocks drift and have different epochs") {
  for (const double drift : {-4.9e-4, 0.0, 4.9e-4}) {
    SecurePair pair;
    const Duration ahead = pair.vehicle_clock;
    const Time begin = pair.now;
    const auto tick = [&](Duration step) {
      pair.now += step;
      pair.vehicle_clock = ahead + from_seconds(drift * to_seconds(pair.now - begin));
    };
    pair.connect(milliseconds(20));
    for (int k = 0; k < 3000; ++k) {
      tick(milliseconds(10));
      if (pair.commander.next_handshake() <= pair.now) pair.connect(milliseconds(20));
      const Bytes punctual = pair.command({1});
      const Bytes report = pair.telemetry({2});
      tick(milliseconds(100));
      REQUIRE(pair.to_vehicle(punctual));
      REQUIRE(pair.to_commander(report));
      const Bytes late = pair.command({3});
      const Bytes late_report = pair.telemetry({4});
      tick(SecurePair::limits.age + milliseconds(20));
      REQUIRE(pair.to_vehicle(late).error() == Errc::too_old);
      REQUIRE(pair.to_commander(late_report).error() == Errc::too_old);
    }
  }
}

TEST_CASE(
    "clocks that drift apart as far as clocks do cost no frame that is young enough, to the end of a "
    "session") {
  for (const double drift : {-4.9e-4, 4.9e-4}) {  // as NTP slews a clock
    SecurePair pair;
    pair.connect(Duration(1));
    const Duration elapsed = SecurePair::limits.lifetime() - seconds(1);
    for (const Time end = pair.now + elapsed; pair.now < end;) {
      pair.pass(seconds(1));
      pair.vehicle_clock += from_seconds(drift);
    }
    CHECK(pair.to_vehicle(pair.command({1})));  // at once: before its sending, by a slow clock
    CHECK(pair.to_commander(pair.telemetry({2})));
    const Bytes command = pair.command({3});
    const Bytes telemetry = pair.telemetry({4});
    pair.now += SecurePair::limits.age;
    CHECK(pair.to_vehicle(command));
    CHECK(pair.to_commander(telemetry));
  }
}

TEST_CASE("times that come in the wrong order, by a few milliseconds, cost nothing") {
  SecurePair pair;
  pair.connect();
  auto random = test::generator(3);
  for (Time now = pair.now; now < pair.now + seconds(9);) {
    now += milliseconds(1);
    const auto unordered = [&] { return now - Duration(test::uniform_int(random, 0, 18'000'000)); };
    Bytes out(envelope_overhead + 1);
    REQUIRE(pair.commander.seal(Bytes{1}, Urgency::ordinary, unordered(), out));
    REQUIRE(pair.vehicle.open(out, unordered() + pair.vehicle_clock));
    REQUIRE(pair.vehicle.seal(Bytes{1}, Urgency::ordinary, unordered() + pair.vehicle_clock, out));
    REQUIRE(pair.commander.open(out, unordered()));
  }
}

TEST_CASE("one time that is wrong costs either end a new handshake, at once, and no more") {
  for (const Duration wrong : {Duration(std::chrono::hours(1)), Duration(-std::chrono::hours(1))}) {
    for (const bool at_vehicle : {true, false}) {
      SecurePair pair;
      pair.connect();
      const Bytes stop = pair.stop({2});
      if (at_vehicle) {
        (void)pair.vehicle.open({}, pair.vehicle_now() + wrong);
      } else {
        (void)pair.commander.open({}, pair.now + wrong);
      }
      pair.pass(milliseconds(1));
      CHECK(pair.to_vehicle(stop));
      const Time before = pair.now;
      pair.connect();
      CHECK(pair.now - before <= SecurePair::limits.silence + milliseconds(10));
      CHECK(pair.to_vehicle(pair.command({1})));
      CHECK(pair.to_commander(pair.telemetry({1})));
    }
  }
}

TEST_CASE("an end that was not called for long begins a new session at its next call") {
  SecurePair pair;
  pair.connect();
  REQUIRE(pair.to_vehicle(pair.command({1})));
  pair.now += SecurePair::limits.silence + milliseconds(1);
  CHECK_FALSE(pair.commander.established(pair.now));
  CHECK_FALSE(pair.vehicle.established(pair.vehicle_now()));
  const Time before = pair.now;
  pair.connect();
  CHECK(pair.now - before == milliseconds(4));
  CHECK(pair.to_vehicle(pair.command({1})));
}

TEST_CASE("a channel is not made without a key, without randomness, or with limits that make no sense") {
  const auto key = test::key_of(1);
  const auto random = test::bytes_from(9);
  const std::vector<test::SharedKey> none;
  const std::vector<test::SharedKey> one{key};
  const std::vector<test::SharedKey> twins{key, key};
  const std::vector<test::SharedKey> zero{{1, {}}};
  const std::vector<test::SharedKey> three{key, test::key_of(2), test::key_of(3)};
  for (const auto& keys : {none, twins, zero, three})
    CHECK(test::Vehicle::make(keys, random).error() == Errc::no_key);
  CHECK(test::Commander::make({1, {}}, random).error() == Errc::no_key);
  CHECK(test::Vehicle::make(one, {}).error() == Errc::no_entropy);
  CHECK(test::Commander::make(key, {}).error() == Errc::no_entropy);
  for (const SecurityLimits& bad :
       {SecurityLimits{.age = Duration(0)}, SecurityLimits{.age = seconds(1)},
        SecurityLimits{.silence = seconds(11)}, SecurityLimits{.renewal = Duration::max()},
        SecurityLimits{.renewal = std::chrono::minutes(2)}}) {
    CHECK(test::Commander::make(key, random, bad).error() == Errc::out_of_range);
    CHECK(test::Vehicle::make(one, random, bad).error() == Errc::out_of_range);
  }
}

namespace {

/// Datagrams in one direction. Each is randomly lost, repeated, changed or delayed.
class Network {
 public:
  explicit Network(std::uint64_t salt) : random_(test::generator(salt)) {}

  void send(Bytes datagram, Time now) {
    if (datagram.empty() || chance(0.2)) return;
    if (chance(0.1)) deliver(datagram, now);
    if (chance(0.05)) {
      const auto bit = static_cast<std::size_t>(
          test::uniform_int(random_, 0, 8 * static_cast<std::int64_t>(datagram.size()) - 1));
      datagram[bit / 8] = static_cast<std::uint8_t>(datagram[bit / 8] ^ 1U << bit % 8);
    }
    deliver(std::move(datagram), now);
  }
  template <class Function>
  void receive(Time now, Function&& function) {
    while (!under_way_.empty() && under_way_.begin()->first <= now) {
      const Bytes datagram = under_way_.begin()->second;
      under_way_.erase(under_way_.begin());
      function(datagram);
    }
  }

 private:
  bool chance(double probability) { return test::uniform(random_, 0, 1) < probability; }
  void deliver(Bytes datagram, Time now) {
    under_way_.emplace(now + from_seconds(test::uniform(random_, 0.005, 0.045)), std::move(datagram));
  }

  std::mt19937_64 random_;
  std::multimap<Time, Bytes> under_way_;
};

Bytes numbered(std::uint32_t number, Time at) {
  Bytes payload(12);
  ByteWriter writer(payload);
  writer.big(number);
  writer.big(to_nanoseconds(at));
  return payload;
}

}  // namespace

TEST_CASE("over a bad network what is believed was sent, once, and lately; setpoints come in their order") {
  for (std::uint64_t run = 0; run < test::count(3); ++run) {
    SecurePair pair;
    Network there(100 + run);
    Network back(200 + run);
    std::uint32_t sent = 0;
    std::uint32_t last_setpoint = 0;
    std::set<std::uint32_t> reports;
    std::size_t setpoints = 0;
    const Time end = pair.now + seconds(60);
    for (; pair.now < end; pair.now += milliseconds(2)) {
      if (pair.commander.next_handshake() <= pair.now) there.send(pair.commander_handshake(), pair.now);
      if (pair.vehicle.next_handshake() <= pair.vehicle_now()) back.send(pair.vehicle_handshake(), pair.now);
      ++sent;
      if (sent % 5 == 0 && pair.commander.established(pair.now))
        there.send(pair.command(numbered(sent, pair.now)), pair.now);
      if (sent % 5 == 1 && pair.vehicle.established(pair.vehicle_now())) {
        back.send(pair.telemetry(numbered(sent, pair.now)), pair.now);
      }
      const auto check = [&](const Result<Opened>& opened, auto&& believed) {
        if (!opened || opened->payload.empty()) return;
        ByteReader reader(opened->payload);
        const auto number = reader.big<std::uint32_t>();
        const Time at = time_from_nanoseconds(reader.big<std::int64_t>());
        REQUIRE(number <= sent);
        REQUIRE(pair.now - at <= SecurePair::limits.age + milliseconds(2));
        believed(number);
      };
      there.receive(pair.now, [&](const Bytes& datagram) {
        check(pair.to_vehicle(datagram), [&](std::uint32_t number) {
          REQUIRE(number > last_setpoint);
          last_setpoint = number;
          ++setpoints;
        });
      });
      back.receive(pair.now, [&](const Bytes& datagram) {
        check(pair.to_commander(datagram),
              [&](std::uint32_t number) { REQUIRE(reports.insert(number).second); });
      });
    }
    CHECK(setpoints > 1500);  // of 6000: lost, changed and overtaken ones are missing
    CHECK(reports.size() > 4000);
    CHECK(pair.vehicle.refused()(Errc::replayed) > 0);
    CHECK(pair.vehicle.refused()(Errc::overtaken) > 0);
    CHECK(pair.vehicle.refused()(Errc::too_old) == 0);
    CHECK(pair.commander.refused()(Errc::bad_tag) > 0);
  }
}

TEST_CASE("both ends of a secure channel keep the rules of the loop") {
  SecurePair pair;
  pair.connect();
  std::array<std::uint8_t, 256> memory{};
  const std::array<std::uint8_t, 20> payload{1, 2, 3};
  bool ok = true;
  test::RtGuard guard;
  for (int k = 0; k < 2000; ++k) {
    pair.now += milliseconds(10);
    const auto pass = [&](const Result<std::size_t>& size, auto& receiver, Time at) {
      ok = ok && size && (*size == 0 || receiver.open(std::span(memory).first(*size), at));
    };
    for (int turn = 0; turn < 2; ++turn) {
      pass(pair.commander.poll_handshake(pair.now, memory), pair.vehicle, pair.vehicle_now());
      pass(pair.vehicle.poll_handshake(pair.vehicle_now(), memory), pair.commander, pair.now);
    }
    pass(pair.commander.seal(payload, Urgency::ordinary, pair.now, memory), pair.vehicle, pair.vehicle_now());
    ok = ok && !pair.vehicle.open(std::span(memory).first(68), pair.vehicle_now());
    pass(pair.vehicle.seal(payload, Urgency::ordinary, pair.vehicle_now(), memory), pair.commander, pair.now);
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}
