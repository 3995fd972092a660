// The end of a session's sequence numbers, 2^64 - 1 frames in one direction. Then sending fails with
// sequence_end, and the next session works.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "secure/secure_pair.hpp"

using namespace takt;
using namespace takt::secure;
using std::chrono::milliseconds;
using test::Bytes;
using test::payload_of;
using test::SecurePair;

namespace {

Error sealing_error(auto& channel, Urgency urgency, Time now) {
  Bytes out(100);
  const auto size = channel.seal(Bytes{1}, urgency, now, out);
  return size ? Error() : size.error();
}

std::uint64_t number_of(const Bytes& datagram) { return parse_envelope(datagram)->sequence; }

}  // namespace

TEST_CASE("attack: wear a session out, to the last number of the commander's") {
  SecurePair pair;
  pair.connect();
  const Bytes early = pair.command({1});
  const Bytes early_stop = pair.stop({1});
  pair.commander.skip_to(UINT64_MAX - 3);
  const Bytes stop = pair.stop({2});
  const Bytes before = pair.command({3});
  const Bytes last = pair.command({4});
  CHECK(number_of(last) == UINT64_MAX);
  for (const Urgency urgency : {Urgency::ordinary, Urgency::stop, Urgency::ordinary})
    CHECK(sealing_error(pair.commander, urgency, pair.now) == Errc::sequence_end);

  CHECK(payload_of(pair.to_vehicle(last)) == Bytes{4});
  CHECK(pair.to_vehicle(last).error() == Errc::replayed);
  CHECK(pair.to_vehicle(before).error() == Errc::overtaken);
  CHECK(pair.to_vehicle(stop)->urgency == Urgency::stop);
  CHECK(pair.to_vehicle(stop).error() == Errc::replayed);
  CHECK(pair.to_vehicle(early).error() == Errc::replayed);  // no number is valid after the last, not even 1
  CHECK(pair.to_vehicle(early_stop).error() == Errc::replayed);
  CHECK(pair.to_commander(pair.telemetry({5})));  // the other direction has its own numbers

  pair.connect();  // the usual renewal
  const Bytes next = pair.command({6});
  CHECK(number_of(next) == 1);
  CHECK(payload_of(pair.to_vehicle(next)) == Bytes{6});
  CHECK(pair.to_vehicle(last).error() == Errc::unknown_session);
  CHECK(pair.to_vehicle(stop).error() == Errc::unknown_session);
}

TEST_CASE("attack: wear a session out, to the last number of the vehicle's") {
  SecurePair pair;
  pair.connect();
  const Bytes early = pair.telemetry({1});
  pair.vehicle.skip_to(UINT64_MAX - 2);
  const Bytes before = pair.telemetry({2});
  const Bytes last = pair.telemetry({3});
  CHECK(number_of(last) == UINT64_MAX);
  for (int i = 0; i < 3; ++i)
    CHECK(sealing_error(pair.vehicle, Urgency::ordinary, pair.vehicle_now()) == Errc::sequence_end);

  CHECK(payload_of(pair.to_commander(last)) == Bytes{3});
  CHECK(payload_of(pair.to_commander(before)) == Bytes{2});
  for (const Bytes& again : {last, before, early}) CHECK(pair.to_commander(again).error() == Errc::replayed);

  pair.now += SecurePair::limits.silence;  // the commander hears nothing and starts a handshake
  CHECK(pair.commander.next_handshake() <= pair.now);
  pair.connect();
  CHECK(payload_of(pair.to_commander(pair.telemetry({4}))) == Bytes{4});
  CHECK(pair.to_commander(last).error() == Errc::unknown_session);
}

TEST_CASE("numbers that were used are not used again by leaving some out") {
  SecurePair pair;
  pair.commander.skip_to(100);  // without a session it has no effect
  pair.connect();
  CHECK(number_of(pair.command({1})) == 1);
  pair.commander.skip_to(10);
  pair.commander.skip_to(5);
  CHECK(number_of(pair.command({1})) == 11);
}
