// Nodes that fail on the virtual bus: error counters, missing acknowledges, error-passive and bus-off nodes
// and their recovery. Also their error frames, and nodes on a clock.
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/can/bits.hpp"
#include "takt/can/bus_state.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/sim/virtual_can_bus.hpp"

using namespace takt;
using namespace std::chrono_literals;
using can::BusState;
using can::ErrorCounters;
using can::Frame;
using sim::VirtualCanBus;

namespace {

Frame data_frame(std::uint32_t id, bool fd = false) {
  const std::array<std::uint8_t, 8> data{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
  return fd ? can::make_fd_frame(id, data).value() : can::make_frame(id, data).value();
}

std::vector<Frame> received(VirtualCanBus::Port& port) {
  std::vector<Frame> all;
  Frame frame;
  while (port.receive({&frame, 1}) == 1) all.push_back(frame);
  return all;
}

std::vector<can::BusReport> reports(VirtualCanBus::Port& port) {
  std::vector<can::BusReport> all;
  for (const Frame& frame : received(port)) {
    if (frame.error) all.push_back(can::decode_bus_report(frame).value());
  }
  return all;
}

std::size_t send(VirtualCanBus::Port& port, const Frame& frame) { return port.send({&frame, 1}); }

/// Makes the node fail until it is bus-off.
void drive_off(VirtualCanBus& bus, VirtualCanBus::Port& port) {
  port.corrupt_next(32);
  REQUIRE(send(port, data_frame(0x7F0)) == 1);
  bus.advance(bus.now() + 32 * 200us);
  REQUIRE(port.state() == BusState::bus_off);
}

constexpr Duration recovery = 128 * 11us;  // at 1 Mbit/s

}  // namespace

TEST_CASE("a frame that is destroyed counts eight against its sender and one against each receiver") {
  VirtualCanBus bus;
  auto sender = bus.connect();
  auto one = bus.connect();
  auto other = bus.connect({.transmit = 1, .receive = 0});
  bus.corrupt_next(3);
  send(sender, data_frame(1));
  bus.advance(Time(3 * (bus.duration_of(data_frame(1)) + 20us)));
  CHECK(sender.error_counters() == ErrorCounters{24, 0});
  CHECK(one.error_counters() == ErrorCounters{0, 3});
  CHECK(other.error_counters() == ErrorCounters{0, 3});
  bus.advance(Time(10ms));  // the fourth attempt succeeds
  CHECK(received(one).size() == 1);
  CHECK(sender.error_counters() == ErrorCounters{23, 0});
  CHECK(other.error_counters() == ErrorCounters{0, 2});
}

TEST_CASE("a lonely node gets no acknowledgement: it continues, becomes passive, and never bus-off") {
  VirtualCanBus bus;
  auto lonely = bus.connect();
  auto other = bus.connect();
  other.set_connected(false);
  lonely.set_error_frames(true);
  const Frame frame = data_frame(0x123);
  send(lonely, frame);
  // Cut off after the acknowledge slot: 8 bits of the frame's end less, 14 of the error frame more.
  const Duration attempt = bus.duration_of(frame) + 6us;
  bus.advance(Time(attempt - 3us));
  CHECK(lonely.error_counters() == ErrorCounters{8, 0});
  bus.advance(Time(attempt));
  CHECK(bus.statistics().busy == attempt);
  bus.advance(Time(16 * attempt - 3us));
  CHECK(lonely.error_counters() == ErrorCounters{128, 0});
  CHECK(lonely.state() == BusState::passive);
  bus.advance(Time(1s));
  CHECK(lonely.error_counters() == ErrorCounters{128, 0});
  CHECK(bus.statistics().unacknowledged > 6000);
  CHECK(bus.statistics().frames == 0);

  // It received each error that changed something, and is not flooded with others.
  const auto told = reports(lonely);
  REQUIRE(told.size() == 16);
  for (const can::BusReport& report : told) CHECK((report.no_acknowledge && report.bus_error));
  CHECK(told[11].state == BusState::warning);
  CHECK(told[15].state == BusState::passive);
  CHECK(told[15].counters == ErrorCounters{128, 0});

  other.set_connected(true);
  bus.advance(Time(1s + 1ms));
  CHECK(received(other).size() == 1);
  CHECK(lonely.error_counters() == ErrorCounters{127, 0});
  CHECK(lonely.state() == BusState::warning);
}

TEST_CASE("an error-passive sender leaves eight bits to the others, for any priority of its frames") {
  VirtualCanBus bus;
  auto passive = bus.connect();
  auto other = bus.connect();
  passive.corrupt_next(20);
  send(passive, data_frame(0x010));
  bus.advance(Time(10ms));
  REQUIRE(passive.state() == BusState::passive);
  received(other);

  const Frame frame = data_frame(0x010);
  const std::array both{frame, frame};
  const Time start = bus.now();
  passive.send(both);
  bus.advance(start + bus.duration_of(frame) - 1us);
  send(other, data_frame(0x700));  // waits when the first frame ends
  bus.advance(bus.now() + 10ms);
  const auto seen = received(other);
  REQUIRE(seen.size() == 2);
  CHECK(seen[1].stamp == start + bus.duration_of(data_frame(0x700)) + 2 * bus.duration_of(frame) - 3us);

  const Time later = bus.now();  // no other node sends, so the eight bits just pass
  passive.send(both);
  bus.advance(later + 10ms);
  CHECK(received(other)[1].stamp == later + 2 * bus.duration_of(frame) + 8us - 3us);
}

TEST_CASE("the FD frames of an error-passive node say so") {
  VirtualCanBus bus;
  auto sender = bus.connect();
  auto other = bus.connect();
  sender.corrupt_next(16);
  send(sender, data_frame(1, true));
  bus.advance(Time(10ms));
  const auto seen = received(other);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].error_state);
}

TEST_CASE("a node that fails 32 times goes bus-off, loses what it had queued, and takes part in nothing") {
  VirtualCanBus bus;
  auto broken = bus.connect();
  auto one = bus.connect();
  auto other = bus.connect();
  broken.set_error_frames(true);
  broken.corrupt_next(1000);
  for (std::uint32_t i = 0; i < 5; ++i) send(broken, data_frame(i));
  bus.advance(Time(100ms));
  CHECK(broken.state() == BusState::bus_off);
  CHECK(bus.statistics().corrupted == 32);
  CHECK(bus.statistics().discarded == 5);
  CHECK(one.error_counters() == ErrorCounters{0, 32});
  CHECK(send(broken, data_frame(1)) == 0);
  CHECK(bus.statistics().refused == 1);

  std::vector<BusState> states;
  for (const can::BusReport& report : reports(broken)) {
    if (report.state) states.push_back(*report.state);
  }
  CHECK(states == std::vector{BusState::warning, BusState::passive, BusState::bus_off});

  send(one, data_frame(7));  // the others go on without it
  bus.advance(Time(101ms));
  CHECK(received(other).size() == 1);
  CHECK(received(broken).empty());
  other.set_connected(false);
  send(one, data_frame(7));  // and it acknowledges nothing
  bus.advance(Time(102ms));
  CHECK(bus.statistics().unacknowledged > 0);
}

TEST_CASE("a node returns from bus-off on request, after 128 runs of 11 recessive bits") {
  VirtualCanBus bus;
  auto node = bus.connect();
  auto other = bus.connect();
  drive_off(bus, node);
  bus.advance(bus.now() + 1s);
  CHECK(node.state() == BusState::bus_off);  // no node told it

  node.set_error_frames(true);
  const Time asked = bus.now();
  node.recover();
  bus.advance(asked + recovery / 2);
  node.recover();  // its recovery runs already
  bus.advance(asked + recovery - 1ns);
  CHECK(node.state() == BusState::bus_off);
  bus.advance(asked + recovery);
  CHECK(node.state() == BusState::active);
  CHECK(node.error_counters() == ErrorCounters{});
  const auto seen = received(node);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].stamp == asked + recovery);
  const can::BusReport report = can::decode_bus_report(seen[0]).value();
  CHECK((report.restarted && report.state == BusState::active));

  received(other);
  CHECK(send(node, data_frame(1)) == 1);
  bus.advance(bus.now() + 1ms);
  CHECK(received(other).size() == 1);
  node.recover();  // no effect on a node that is on the bus
  CHECK(node.state() == BusState::active);
}

TEST_CASE("on a busy bus the end of each frame is a run, and recovery takes as many frames") {
  VirtualCanBus bus;
  auto node = bus.connect();
  auto one = bus.connect({.transmit = 256, .receive = 0});
  auto other = bus.connect();
  drive_off(bus, node);
  bus.advance(bus.now() + 1ms);
  const Frame frame = data_frame(0x100);
  for (int i = 0; i < 200; ++i) REQUIRE(send(one, frame) == 1);
  const Time asked = bus.now();
  node.recover();
  bus.advance(asked + 128 * bus.duration_of(frame) - 1ns);
  CHECK(node.state() == BusState::bus_off);
  bus.advance(asked + 128 * bus.duration_of(frame));
  CHECK(node.state() == BusState::active);
  bus.advance(asked + 1s);
  CHECK(received(node).size() == 200 - 128);

  // Half a run before a frame does not count.
  drive_off(bus, node);
  bus.advance(bus.now() + 1ms);
  const Time again = bus.now();
  node.recover();
  bus.advance(again + 10 * 11us + 5us);
  send(one, frame);
  const Time end = again + 10 * 11us + 5us + bus.duration_of(frame);
  bus.advance(end + (128 - 11) * 11us - 1ns);
  CHECK(node.state() == BusState::bus_off);
  bus.advance(end + (128 - 11) * 11us);
  CHECK(node.state() == BusState::active);
  CHECK(received(other).size() > 0);
}

TEST_CASE("a node that recovers by itself does so each time") {
  VirtualCanBus bus;
  auto node = bus.connect();
  auto other = bus.connect();
  node.set_automatic_recovery(true);
  node.set_error_frames(true);
  node.corrupt_next(3 * 32);
  can::BusHealth health;
  for (int i = 0; i < 20; ++i) {
    send(node, data_frame(1));
    bus.advance(bus.now() + 10ms);
    for (const can::BusReport& report : reports(node)) health.note(report);
  }
  CHECK(health.bus_offs == 3);
  CHECK(health.restarts == 3);
  CHECK(health.state == BusState::active);
  CHECK(received(other).size() == 17);

  auto late = bus.connect();  // enabled while it is off
  drive_off(bus, late);
  late.set_automatic_recovery(true);
  bus.advance(bus.now() + 10ms);
  CHECK(late.state() == BusState::active);
}

TEST_CASE(
    "a node that reads wrongly destroys good frames, and becomes passive before its neighbours suffer for "
    "long") {
  VirtualCanBus bus;
  auto sender = bus.connect();
  auto deaf = bus.connect();
  auto other = bus.connect();
  deaf.set_error_frames(true);
  deaf.misread_next(1'000'000);
  send(sender, data_frame(1));
  bus.advance(Time(bus.duration_of(data_frame(1)) + 20us));
  CHECK(sender.error_counters() == ErrorCounters{8, 0});
  CHECK(deaf.error_counters() == ErrorCounters{0, 9});
  CHECK(other.error_counters() == ErrorCounters{0, 1});
  REQUIRE(reports(deaf)[0].protocol_error == can::ProtocolError{.field = can::FrameField::checksum});

  bus.advance(Time(10ms));
  CHECK(deaf.state() == BusState::passive);
  CHECK(deaf.error_counters().receive ==
        15 * 9 + 1);  // passive after the fifteenth; then it misses a frame quietly
  CHECK(received(other).size() == 1);
  CHECK(sender.error_counters() == ErrorCounters{15 * 8 - 1, 0});
  for (int i = 0; i < 200; ++i) {
    send(sender, data_frame(1));
    bus.advance(bus.now() + 1ms);
  }
  CHECK(received(other).size() == 200);
  CHECK(sender.error_counters() == ErrorCounters{});
  for (const Frame& frame : received(deaf)) CHECK(frame.error);
}

TEST_CASE("a node reads its true counters, over any faults") {
  auto random = test::generator(3);
  for (std::size_t run = 0; run < test::count(50); ++run) {
    VirtualCanBus bus;
    std::vector<VirtualCanBus::Port> nodes;
    for (int i = 0; i < 4; ++i) {
      nodes.push_back(bus.connect({.transmit = 8, .receive = 4096}));
      nodes.back().set_error_frames(true);
      nodes.back().set_automatic_recovery(i % 2 == 0);
    }
    std::map<std::size_t, can::BusHealth> health;
    for (int step = 0; step < 300; ++step) {
      auto& node = nodes[static_cast<std::size_t>(test::uniform_int(random, 0, 3))];
      switch (test::uniform_int(random, 0, 7)) {
        case 0:
          node.corrupt_next(static_cast<std::uint32_t>(test::uniform_int(random, 0, 12)));
          break;
        case 1:
          node.misread_next(static_cast<std::uint32_t>(test::uniform_int(random, 0, 3)));
          break;
        case 2:
          bus.corrupt_next(1);
          break;
        case 3:
          node.recover();
          break;
        case 4:
          bus.lose_next(1);
          break;
        default:
          send(node, data_frame(static_cast<std::uint32_t>(test::uniform_int(random, 0, 0x7FF))));
      }
      const Time before = bus.now();
      bus.advance(before + Duration(test::uniform_int(random, 0, 400'000)));
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (const can::BusReport& report : reports(nodes[i])) {
          REQUIRE(report.counters.has_value());
          health[i].note(report);
        }
        REQUIRE(health[i].state == nodes[i].state());
        // Good frames count down without a report.
        REQUIRE(nodes[i].error_counters().transmit <= health[i].counters.transmit);
      }
    }
    const sim::BusStatistics statistics = bus.statistics();
    REQUIRE(statistics.busy <= statistics.elapsed);
    REQUIRE(statistics.overflows == 0);
  }
}

TEST_CASE("faults and recoveries come out the same in one go and in small steps") {
  const auto run = [](Duration step) {
    auto random = test::generator(9);
    VirtualCanBus bus;
    std::array<VirtualCanBus::Port, 3> nodes{bus.connect(), bus.connect(), bus.connect()};
    for (auto& node : nodes) {
      node.set_error_frames(true);
      node.set_automatic_recovery(true);
    }
    std::vector<Frame> log;
    for (int cycle = 1; cycle <= 200; ++cycle) {
      for (auto& node : nodes) send(node, data_frame(static_cast<std::uint32_t>(random() & 0x7FF)));
      nodes[static_cast<std::size_t>(cycle % 2)].corrupt_next(static_cast<std::uint32_t>(random() % 8));
      nodes[2].misread_next(static_cast<std::uint32_t>(random() % 2));
      for (Time to = bus.now() + step; to < Time(cycle * 2ms); to += step) bus.advance(to);
      bus.advance(Time(cycle * 2ms));
      for (auto& node : nodes) {
        const auto seen = received(node);
        log.insert(log.end(), seen.begin(), seen.end());
      }
    }
    return std::pair(log, bus.statistics());
  };
  const auto whole = run(2ms);
  CHECK(whole == run(777ns));
  CHECK(whole.second.discarded > 0);
}

TEST_CASE("faults keep the rules of the loop") {
  VirtualCanBus bus;
  std::array<VirtualCanBus::Port, 3> nodes{bus.connect(), bus.connect(), bus.connect()};
  for (auto& node : nodes) {
    node.set_error_frames(true);
    node.set_automatic_recovery(true);
  }
  const Frame frame = data_frame(1);
  test::RtGuard guard;
  for (int i = 0; i < 1000; ++i) {
    nodes[0].corrupt_next(2);
    nodes[1].misread_next(1);
    for (auto& node : nodes) send(node, frame);
    bus.advance(bus.now() + 1ms);
    std::array<Frame, 16> in{};
    for (auto& node : nodes) {
      while (node.receive(in) > 0) {
      }
    }
  }
  CHECK(guard.report() == "");
  CHECK(bus.statistics().corrupted > 1000);
}
