// Tests the small CANopen services against frames of the standard, byte by byte. Also tests frames that are
// too short, of another kind, or undefined in the standard.
#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

#include "support/random.hpp"
#include "takt/can/canopen/emergency.hpp"
#include "takt/can/canopen/nmt.hpp"
#include "takt/can/canopen/pdo.hpp"
#include "takt/can/canopen/sync.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::canopen;
using namespace std::chrono_literals;

namespace {

Frame frame_of(std::uint32_t id, std::initializer_list<std::uint8_t> bytes) {
  return *make_frame(id, std::vector<std::uint8_t>(bytes));
}

/// Checks that a decoder rejects frames whose format differs from a good frame.
template <class Decode>
void check_shapes(const Frame& good, Decode decode, bool any_shorter = false) {
  CHECK(decode(good).has_value());
  for (int i = 0; i < 4; ++i) {
    Frame frame = good;
    (i == 0 ? frame.extended : i == 1 ? frame.fd : i == 2 ? frame.remote : frame.error) = true;
    CHECK(decode(frame).error() == Errc::wrong_format);
  }
  for (int length = 0; length <= 255; ++length) {
    if (length == good.length || (any_shorter && length < good.length)) continue;
    Frame frame = good;
    frame.length = static_cast<std::uint8_t>(length);
    CHECK(decode(frame).error() == Errc::wrong_length);
  }
  Frame frame = good;
  frame.id = 0x7FF;
  CHECK(decode(frame).error() == Errc::unexpected_id);
}

}  // namespace

TEST_CASE("NMT commands are the bytes of the standard") {
  CHECK(*encode(NmtMessage{NmtCommand::start, 5}) == frame_of(0, {0x01, 5}));
  CHECK(*encode(NmtMessage{NmtCommand::reset_communication, all_nodes}) == frame_of(0, {0x82, 0}));
  CHECK(encode(NmtMessage{NmtCommand::stop, 128}).error() == Errc::unknown_node);
  CHECK(encode(NmtMessage{static_cast<NmtCommand>(3), 1}).error() == Errc::bad_value);
  check_shapes(frame_of(0, {0x80, 127}), decode_nmt);
  CHECK(*decode_nmt(frame_of(0, {0x80, 127})) == NmtMessage{NmtCommand::enter_pre_operational, 127});
  CHECK(decode_nmt(frame_of(0, {0x83, 1})).error() == Errc::bad_value);
  CHECK(decode_nmt(frame_of(0, {0x01, 128})).error() == Errc::unknown_node);
}

TEST_CASE("heartbeats carry four states; other values are rejected") {
  CHECK(*encode(Heartbeat{0x0A, NmtState::operational}) == frame_of(0x70A, {0x05}));
  check_shapes(frame_of(0x70A, {0x7F}), decode_heartbeat);
  int known = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const auto heartbeat = decode_heartbeat(frame_of(0x701, {static_cast<std::uint8_t>(byte)}));
    known += heartbeat.has_value() ? 1 : 0;
    if (heartbeat) CHECK(*decode_heartbeat(*encode(*heartbeat)) == *heartbeat);
  }
  CHECK(known == 4);
  CHECK(decode_heartbeat(frame_of(0x700, {0})).error() == Errc::unexpected_id);
  CHECK(encode(Heartbeat{0, NmtState::stopped}).error() == Errc::unknown_node);
}

TEST_CASE("a node is watched from its first message on, lost after its time-out, and found again") {
  NodeMonitor monitor(100ms);
  monitor.check(Time(10s));
  CHECK_FALSE(monitor.lost());
  CHECK_FALSE(monitor.state().has_value());
  monitor.heard(NmtState::boot_up, Time(10s));
  CHECK(monitor.state() == NmtState::pre_operational);
  CHECK(monitor.boot_ups() == 1);
  monitor.heard(NmtState::operational, Time(10s + 50ms));
  monitor.check(Time(10s + 150ms));
  CHECK(monitor.state() == NmtState::operational);
  monitor.check(Time(10s + 150ms + 1ns));
  CHECK(monitor.lost());
  CHECK_FALSE(monitor.state().has_value());
  monitor.heard(NmtState::boot_up, Time(11s));
  CHECK_FALSE(monitor.lost());
  CHECK(monitor.boot_ups() == 2);
}

TEST_CASE("a heartbeat is due at once, once per period, and not made up for after a pause") {
  HeartbeatTimer timer(10ms);
  int due = 0;
  for (Duration t{0}; t <= 100ms; t += 1ms) due += timer.due(Time(t)) ? 1 : 0;
  CHECK(due == 11);
  CHECK(timer.due(Time(1s)));
  CHECK(timer.next() == Time(1010ms));
  CHECK_FALSE(timer.due(Time(1s)));
  CHECK_FALSE(timer.due(Time(1009ms)));
  CHECK(timer.due(Time(1012ms)));  // a little late: the next one is on time
  CHECK(timer.next() == Time(1020ms));
  HeartbeatTimer never(0ms);
  CHECK_FALSE(never.due(Time(1s)));
}

TEST_CASE("SYNC has no data, or a counter from 1 to its overflow") {
  SyncProducer plain;
  CHECK(*encode(plain.next()) == frame_of(0x80, {}));
  SyncProducer counting(3);
  for (const std::uint8_t expected : std::initializer_list<std::uint8_t>{1, 2, 3, 1, 2}) {
    CHECK(*encode(counting.next()) == frame_of(0x80, {expected}));
  }
  counting.restart();
  CHECK(counting.next() == Sync{1});
  check_shapes(frame_of(0x80, {7}), decode_sync, true);
  CHECK(*decode_sync(frame_of(0x80, {})) == Sync{});
  CHECK(*decode_sync(frame_of(0x80, {240})) == Sync{240});
  CHECK(decode_sync(frame_of(0x80, {0})).error() == Errc::bad_value);
  CHECK(decode_sync(frame_of(0x80, {241})).error() == Errc::bad_value);
}

TEST_CASE("emergencies are decoded and put into words") {
  const Frame frame = frame_of(0x8A, {0x10, 0x23, 0x03, 1, 2, 3, 4, 5});
  check_shapes(frame, decode_emergency);
  const Emergency emergency = *decode_emergency(frame);
  CHECK(emergency ==
        Emergency{10, 0x2310, error_register::generic | error_register::current, {1, 2, 3, 4, 5}});
  CHECK(*encode(emergency) == frame);
  CHECK_FALSE(emergency.is_reset());
  CHECK(decode_emergency(frame_of(0x80, {0, 0, 0, 0, 0, 0, 0, 0})).error() == Errc::unexpected_id);

  CHECK(describe_emergency(0x0000) == "no error");
  CHECK(describe_emergency(0x2310) == "continuous over-current");
  CHECK(describe_emergency(0x2311) == "continuous over-current");
  CHECK(describe_emergency(0x3211) == "over-voltage of the power stage");
  CHECK(describe_emergency(0x8130) == "life guard or heartbeat lost");
  CHECK(describe_emergency(0x8611) == "following error");
  CHECK(describe_emergency(0x8612) == "position limit");
  CHECK(describe_emergency(0x8620) == "positioning");
  CHECK(describe_emergency(0xFFFF) == "device specific");
  const auto& names = canopen::detail::emergency_names;
  CHECK(std::is_sorted(std::begin(names), std::end(names),
                       [](const auto& a, const auto& b) { return a.first < b.first; }));
}

TEST_CASE("the history keeps the latest emergencies and counts all") {
  EmergencyHistory<4> history;
  CHECK(history.size() == 0);
  for (std::uint16_t i = 1; i <= 10; ++i) {
    history.add({1, i, 0, {}}, Time(Duration(i)));
    CHECK(history.size() == std::min<std::size_t>(i, 4));
    CHECK(history[history.size() - 1].emergency.code == i);
  }
  CHECK(history[0].emergency.code == 7);
  CHECK(history[3].time == Time(10ns));
  CHECK(history.total() == 10);
}

TEST_CASE("a PDO is set up in the order of the standard") {
  const std::vector<MappedObject> objects = {{{0x6041, 0}, 16}, {{0x6061, 0}, 8}, {{0x6064, 0}, 32}};
  const PdoPlan plan = *plan_pdo(PdoDirection::transmit, 1, 5, every_sync, objects);
  CHECK(plan.id == 0x185);
  CHECK(plan.length == 7);
  const std::vector<ObjectWrite> expected = {{{0x1800, 1}, 0xC000'0185, 4}, {{0x1A00, 0}, 0, 1},
                                             {{0x1A00, 1}, 0x6041'0010, 4}, {{0x1A00, 2}, 0x6061'0008, 4},
                                             {{0x1A00, 3}, 0x6064'0020, 4}, {{0x1A00, 0}, 3, 1},
                                             {{0x1800, 2}, 1, 1},           {{0x1800, 1}, 0x4000'0185, 4}};
  CHECK(std::equal(plan.writes().begin(), plan.writes().end(), expected.begin(), expected.end()));

  const PdoPlan other = *plan_pdo(PdoDirection::receive, 2, 127, event_driven, objects);
  CHECK(other.id == 0x37F);
  CHECK(other.writes().front() == ObjectWrite{{0x1401, 1}, 0x8000'037F, 4});
  CHECK(other.writes()[1] == ObjectWrite{{0x1601, 0}, 0, 1});
  CHECK(other.writes().back() == ObjectWrite{{0x1401, 1}, 0x0000'037F, 4});
}

TEST_CASE("a PDO that no node can have is refused") {
  const auto plan = [](std::uint8_t number, std::uint8_t node, std::uint8_t type,
                       const std::vector<MappedObject>& objects) {
    return plan_pdo(PdoDirection::transmit, number, node, type, objects);
  };
  const MappedObject word{{0x6041, 0}, 16};
  const MappedObject number{{0x6064, 0}, 32};
  CHECK(plan(1, 1, 1, {number, number}).has_value());
  CHECK(plan(1, 1, 1, {number, number, word}).error() == Errc::payload_too_long);
  CHECK(plan(1, 1, 1, {}).error() == Errc::wrong_count);
  CHECK(plan(1, 1, 1, {{{0x6041, 0}, 4}}).error() == Errc::bad_layout);
  CHECK(plan(1, 1, 1, {{{0x6041, 0}, 0}}).error() == Errc::bad_layout);
  CHECK(plan(0, 1, 1, {word}).error() == Errc::out_of_range);
  CHECK(plan(5, 1, 1, {word}).error() == Errc::out_of_range);
  CHECK(plan(1, 0, 1, {word}).error() == Errc::unknown_node);
  CHECK(plan(1, 128, 1, {word}).error() == Errc::unknown_node);
  CHECK(plan(1, 1, 241, {word}).error() == Errc::out_of_range);
  CHECK(plan(1, 1, 252, {word}).has_value());
  CHECK(plan(4, 1, 240, std::vector<MappedObject>(8, {{0x2000, 0}, 8})).value().writes().size() ==
        PdoPlan::capacity);
}
