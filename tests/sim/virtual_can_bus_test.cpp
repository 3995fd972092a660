#include "takt/sim/virtual_can_bus.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "support/random.hpp"
#include "takt/can/bits.hpp"

using namespace takt;
using namespace std::chrono_literals;
using can::Frame;
using sim::VirtualCanBus;

namespace {

constexpr Duration gap = 3us;  // between frames, at 1 Mbit/s

Frame data_frame(std::uint32_t id, std::size_t length = 8, bool extended = false) {
  const std::array<std::uint8_t, 8> data{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
  return can::make_frame(id, std::span(data).first(length), extended).value();
}

Frame random_frame(std::mt19937_64& random) {
  Frame frame;
  frame.extended = test::uniform_int(random, 0, 1) != 0;
  frame.id = static_cast<std::uint32_t>(test::uniform_int(random, 0, frame.extended ? 0x1fffffff : 0x7ff));
  frame.fd = test::uniform_int(random, 0, 1) != 0;
  frame.bit_rate_switch = frame.fd && test::uniform_int(random, 0, 1) != 0;
  frame.remote = !frame.fd && test::uniform_int(random, 0, 9) == 0;
  frame.length = can::fd_lengths[static_cast<std::size_t>(test::uniform_int(random, 0, frame.fd ? 15 : 8))];
  // Long runs of equal bits, as real positions have them, cause stuff bits.
  const bool dull = test::uniform_int(random, 0, 1) != 0;
  for (std::size_t i = 0; i < frame.length && !frame.remote; ++i) {
    frame.data[i] = dull ? 0 : static_cast<std::uint8_t>(test::uniform_int(random, 0, 255));
  }
  return frame;
}

std::vector<Frame> received(VirtualCanBus::Port& port) {
  std::vector<Frame> all;
  std::array<Frame, 3> some;
  while (const std::size_t count = port.receive(some))
    all.insert(all.end(), some.begin(), some.begin() + count);
  return all;
}

std::vector<std::uint32_t> ids(const std::vector<Frame>& frames) {
  std::vector<std::uint32_t> all;
  for (const Frame& frame : frames) all.push_back(frame.id);
  return all;
}

std::size_t send(VirtualCanBus::Port& port, const Frame& frame) { return port.send({&frame, 1}); }

}  // namespace

TEST_CASE("a frame reaches every other node at its last bit, and not before") {
  VirtualCanBus bus;
  auto sender = bus.connect();
  auto one = bus.connect();
  auto other = bus.connect();
  const Frame frame = data_frame(0x123);
  REQUIRE(send(sender, frame) == 1);
  const Duration duration = bus.duration_of(frame);
  CHECK(duration == Duration(1000 * can::frame_bits(frame).total()));  // 1 Mbit/s: 1000 ns a bit

  bus.advance(Time(duration - gap - 1ns));
  CHECK(received(one).empty());
  bus.advance(Time(duration - gap));
  const auto seen = received(one);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].stamp == Time(duration - gap));
  CHECK(seen[0].payload()[7] == 0x88);
  CHECK(received(other) == seen);
  CHECK(received(sender).empty());
  CHECK(bus.frames_with_id(0x123) == 1);
}

TEST_CASE("the bus is busy for exactly the sum of the frames' bit times, for any senders") {
  auto random = test::generator();
  for (std::size_t i = 0; i < test::count(100); ++i) {
    VirtualCanBus bus({.nominal = 500'000, .data = 4'000'000});
    std::array<VirtualCanBus::Port, 3> nodes{bus.connect(), bus.connect(), bus.connect()};
    auto listener = bus.connect();
    Duration sum{0};
    for (int j = 0; j < 60; ++j) {
      const Frame frame = random_frame(random);
      REQUIRE(send(nodes[static_cast<std::size_t>(test::uniform_int(random, 0, 2))], frame) == 1);
      sum += can::transmission_time(frame, 500'000, 4'000'000);
    }
    bus.advance(Time(sum));
    CHECK(bus.statistics().frames == 60);
    CHECK(bus.statistics().busy == sum);
    CHECK(bus.statistics().load() == 1);
    CHECK(received(listener).back().stamp == Time(sum - 6us));  // the gap's three bits at 500 kbit/s
    bus.advance(Time(2 * sum));
    CHECK(bus.statistics().load() == doctest::Approx(0.5));
  }
}

TEST_CASE("the time between two readings is accounted for to the nanosecond, also in mid-frame") {
  VirtualCanBus bus;
  auto sender = bus.connect();
  auto other = bus.connect();
  const Frame frame = data_frame(1);
  send(sender, frame);
  bus.advance(Time(50us));
  CHECK(bus.statistics().busy == 50us);
  bus.advance(Time(1ms));
  CHECK(bus.statistics().busy == bus.duration_of(frame));
  CHECK(received(other).size() == 1);
}

TEST_CASE("of frames that wait, the lowest identifier wins; within a node the oldest goes first") {
  VirtualCanBus bus;
  auto one = bus.connect();
  auto two = bus.connect();
  auto three = bus.connect();
  auto listener = bus.connect();
  for (const std::uint32_t id : {0x300U, 0x001U}) send(one, data_frame(id));
  for (const std::uint32_t id : {0x200U, 0x400U}) send(two, data_frame(id));
  send(three, data_frame(0x250));
  bus.advance(Time(10ms));
  CHECK(ids(received(listener)) == std::vector<std::uint32_t>{0x200, 0x250, 0x300, 0x001, 0x400});
}

TEST_CASE("a frame on the wire is not interrupted by a more important one") {
  VirtualCanBus bus;
  auto one = bus.connect();
  auto two = bus.connect();
  auto listener = bus.connect();
  send(one, data_frame(0x700));
  bus.advance(Time(1us));
  send(two, data_frame(0x001));
  bus.advance(Time(1ms));
  CHECK(ids(received(listener)) == std::vector<std::uint32_t>{0x700, 0x001});
}

TEST_CASE("base frames beat extended ones with the same first bits, and data beats its remote request") {
  const std::uint32_t base = 0x123;
  Frame remote = data_frame(base, 0);
  remote.remote = true;
  Frame extended_remote = data_frame(base << 18 | 5, 0, true);
  extended_remote.remote = true;
  const std::vector<Frame> order{data_frame(base - 1),
                                 data_frame(base),
                                 remote,
                                 data_frame(base << 18 | 5, 8, true),
                                 extended_remote,
                                 data_frame(0x1fffffff, 8, true)};
  VirtualCanBus bus;
  std::vector<VirtualCanBus::Port> nodes;
  for (std::size_t i = 0; i < order.size(); ++i) nodes.push_back(bus.connect());
  auto listener = bus.connect();
  for (std::size_t i = order.size(); i-- > 0;) send(nodes[i], order[i]);
  bus.advance(Time(10ms));
  auto seen = received(listener);
  REQUIRE(seen.size() == order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    CHECK(seen[i].stamp_source == can::StampSource::bus);
    seen[i].stamp = Time{};
    seen[i].stamp_source = can::StampSource::none;
    CHECK(seen[i] == order[i]);
  }
}

TEST_CASE("the highest identifier that exists is sent as well") {
  VirtualCanBus bus;
  auto first = bus.connect();
  auto sender = bus.connect();
  auto listener = bus.connect();
  Frame frame = data_frame(0x1fffffff, 0, true);
  frame.remote = true;
  send(sender, frame);
  send(first, data_frame(1));
  bus.advance(Time(10ms));
  CHECK(ids(received(listener)) == std::vector<std::uint32_t>{1, 0x1fffffff});
}

TEST_CASE("a frame without space is refused and counted; a full receiver loses it alone") {
  VirtualCanBus bus;
  auto sender = bus.connect({.transmit = 5, .receive = 0});
  auto small = bus.connect({.transmit = 1, .receive = 3});
  auto large = bus.connect();
  std::array<Frame, 8> frames;
  for (std::uint32_t i = 0; i < frames.size(); ++i) frames[i] = data_frame(i);
  CHECK(sender.send(frames) == 5);
  CHECK(bus.statistics().refused == 3);
  bus.advance(Time(10ms));
  CHECK(bus.statistics().overflows == 2);
  CHECK(ids(received(small)) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(received(large).size() == 5);
  CHECK(sender.send(frames) == 5);  // the queue is free again
}

TEST_CASE("a frame that cannot exist on a bus is dropped and blocks nothing") {
  VirtualCanBus bus;
  auto sender = bus.connect();
  auto listener = bus.connect();
  std::vector<Frame> bad(7, data_frame(1));
  bad[0].id = 0x800;
  bad[1].length = 9;
  bad[2].fd = true, bad[2].length = 63;
  bad[3].fd = bad[3].remote = true;
  bad[4].bit_rate_switch = true;
  bad[5].extended = true, bad[5].id = 0x20000000;
  bad[6].error = true;
  bad.push_back(data_frame(2));
  CHECK(sender.send(bad) == 8);
  CHECK(bus.statistics().invalid == 7);
  bus.advance(Time(10ms));
  CHECK(ids(received(listener)) == std::vector<std::uint32_t>{2});
}

TEST_CASE("a lost frame takes its time, reaches no node, and is counted") {
  VirtualCanBus bus;
  auto sender = bus.connect();
  auto listener = bus.connect();
  bus.lose_next(1);
  send(sender, data_frame(1));
  send(sender, data_frame(2));
  bus.advance(Time(10ms));
  CHECK(ids(received(listener)) == std::vector<std::uint32_t>{2});
  CHECK(bus.statistics().lost == 1);
  CHECK(bus.statistics().busy == bus.duration_of(data_frame(1)) + bus.duration_of(data_frame(2)));
}

TEST_CASE("a corrupted frame is sent again after an error frame") {
  VirtualCanBus bus;
  auto sender = bus.connect();
  auto listener = bus.connect();
  bus.corrupt_next(2);
  const Frame frame = data_frame(1);
  send(sender, frame);
  bus.advance(Time(10ms));
  REQUIRE(ids(received(listener)) == std::vector<std::uint32_t>{1});
  CHECK(bus.statistics().corrupted == 2);
  CHECK(bus.statistics().frames == 1);
  CHECK(bus.statistics().busy == 3 * bus.duration_of(frame) + 2 * 20us);
}

TEST_CASE("a node whose plug is out neither sends nor receives") {
  VirtualCanBus bus;
  auto node = bus.connect();
  auto other = bus.connect();
  node.set_connected(false);
  send(node, data_frame(1));
  send(other, data_frame(2));
  bus.advance(Time(10ms));
  CHECK(received(node).empty());
  CHECK(received(other).empty());
  node.set_connected(true);
  bus.advance(Time(20ms));
  CHECK(ids(received(other)) == std::vector<std::uint32_t>{1});
}

TEST_CASE("a bus has room for so many nodes, and a port without a bus takes nothing") {
  VirtualCanBus bus;
  for (std::size_t i = 0; i < VirtualCanBus::max_nodes; ++i) {
    auto port = bus.connect();
    CHECK(send(port, data_frame(static_cast<std::uint32_t>(i))) == 1);
  }
  auto none = bus.connect();
  CHECK(send(none, data_frame(1)) == 0);
  bus.advance(Time(10ms));
  CHECK(bus.statistics().frames == VirtualCanBus::max_nodes);
  CHECK(received(none).empty());
}

TEST_CASE("time does not go back") {
  VirtualCanBus bus({}, Time(5ms));
  bus.advance(Time(1ms));
  CHECK(bus.now() == Time(5ms));
  CHECK(bus.statistics().load() == 0);
}

TEST_CASE("advancing in one go or in small steps gives the same bus") {
  const auto run = [](Duration step) {
    auto random = test::generator(7);
    VirtualCanBus bus;
    std::array<VirtualCanBus::Port, 4> nodes{bus.connect(), bus.connect(), bus.connect(), bus.connect()};
    std::vector<Frame> log;
    for (int cycle = 1; cycle <= 20; ++cycle) {
      for (auto& node : nodes) send(node, random_frame(random));
      for (Time to = bus.now() + step; to < Time(cycle * 1ms); to += step) bus.advance(to);
      bus.advance(Time(cycle * 1ms));
      const auto seen = received(nodes[3]);
      log.insert(log.end(), seen.begin(), seen.end());
    }
    return std::pair(log, bus.statistics());
  };
  CHECK(run(1ms) == run(777ns));
}
