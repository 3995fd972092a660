// Tests SocketCanBus against the kernel. Virtual interfaces: vcan0, vcan1 (FD), vcan2 (classic), and the pair
// vx0 and vx1 with a queue. Emulated controllers on one bus: can0, can1.
#include <doctest/doctest.h>
#include <linux/can/error.h>
#include <sys/syscall.h>

#include <algorithm>
#include <random>

#include "socket_can/rig.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::test;
using namespace std::chrono_literals;
using can::Frame;

namespace {

Frame numbered(std::uint32_t number) {
  const std::array<std::uint8_t, 4> data = {
      static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8U),
      static_cast<std::uint8_t>(number >> 16U), static_cast<std::uint8_t>(number >> 24U)};
  return can::make_frame(0x100 + number % 0x100, data).value();
}

Frame random_frame(std::mt19937_64& random, bool fd) {
  Frame frame;
  frame.fd = fd;
  frame.bit_rate_switch = fd && uniform_int(random, 0, 1) == 1;
  frame.error_state = fd && uniform_int(random, 0, 1) == 1;
  frame.extended = uniform_int(random, 0, 1) == 1;
  frame.remote = !fd && uniform_int(random, 0, 5) == 0;
  frame.id =
      static_cast<std::uint32_t>(random()) & (frame.extended ? can::max_extended_id : can::max_standard_id);
  frame.length = can::fd_lengths[static_cast<std::size_t>(uniform_int(random, 0, fd ? 15 : 8))];
  for (std::size_t i = 0; i < frame.length && !frame.remote; ++i)
    frame.data[i] = static_cast<std::uint8_t>(random());
  return frame;
}

std::string refusal(const std::string& interface, Errc code, const SocketCanOptions& options = {}) {
  const auto bus = SocketCanBus::open(interface, options);
  REQUIRE_FALSE(bus.has_value());
  CHECK(bus.error().error == code);
  CHECK(bus.error().message.starts_with(interface + ": "));
  return bus.error().message;
}

can_frame error_frame(canid_t classes, std::array<std::uint8_t, 8> data = {}) {
  can_frame frame{};
  frame.can_id = CAN_ERR_FLAG | classes;
  frame.len = CAN_ERR_DLC;
  std::ranges::copy(data, frame.data);
  return frame;
}

}  // namespace

TEST_CASE("a kernel without CAN is named as the reason" * doctest::skip(kernel_has_can())) {
  CHECK(refusal("can0", Errc::no_can).find("no CAN socket: Address family not supported") !=
        std::string::npos);
}

TEST_CASE("every problem of an interface is reported when it is opened" NEEDS_CAN) {
  refusal("can77", Errc::no_such_can_interface);
  refusal("", Errc::no_such_can_interface);
  refusal("a_name_that_is_too_long", Errc::no_such_can_interface);
  CHECK(refusal("lo", Errc::not_can).find("not a CAN interface") != std::string::npos);
  CHECK(refusal("can0", Errc::wrong_can_bit_rate, {.bit_rate = 500'000})
            .starts_with("can0: runs at 1000000 bit/s, not 500000; "));
  CHECK(open_can("can0", {.bit_rate = 1'000'000}).link() == LinkState::up);
  CHECK(open_can("vcan0", {.bit_rate = 500'000}).link() == LinkState::up);  // has no bit rate
  CHECK(refusal("vcan2", Errc::no_can_fd, {.fd = true}).find("mtu 16") != std::string::npos);
  switch_interface("vcan2", false);
  CHECK(refusal("vcan2", Errc::can_interface_down).find("ip link set vcan2 up") != std::string::npos);
  switch_interface("vcan2", true);
}

TEST_CASE("frames of every kind come through as they were, in order, with a stamp of our clock" NEEDS_CAN) {
  SocketCanBus sender = open_can("vcan0", {.fd = true});
  SocketCanBus receiver = open_can("vcan0", {.fd = true});
  std::mt19937_64 random = generator();
  for (int round = 0; round < 20; ++round) {
    std::vector<Frame> frames;
    for (int i = 0; i < 50; ++i) frames.push_back(random_frame(random, i % 2 == 0));
    const Time before = SteadyClock().now();
    REQUIRE(sender.send(frames) == frames.size());
    const std::vector<Frame> got = receive_frames(receiver, frames.size());
    const Time after = SteadyClock().now();
    REQUIRE(got.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      CHECK(without_stamp(got[i]) == frames[i]);
      CHECK(got[i].stamp_source == can::StampSource::software);
      CHECK(got[i].stamp >= before - 1ms);  // the two clocks were read at different times
      CHECK(got[i].stamp <= after);
    }
  }
  CHECK(sender.counters().sent == 1000);
  CHECK(receiver.counters().received == 1000);
  CHECK(drain(sender) == 0);  // a sender does not receive its own frames
}

TEST_CASE("can-utils understands what we send, and we what it sends" NEEDS_CAN) {
  SocketCanBus bus = open_can("vcan0", {.fd = true});
  Listener candump("timeout 60 candump -L -n 4 vcan0");
  const std::array<std::uint8_t, 4> data = {0xDE, 0xAD, 0xBE, 0xEF};
  Frame remote = can::make_frame(0x456, {}).value();
  remote.remote = true;
  const std::array frames = {can::make_frame(0x123, data).value(),
                             can::make_frame(0x12345678, data, true).value(), remote,
                             can::make_fd_frame(0x5A1, std::vector<std::uint8_t>(12, 0x11)).value()};
  REQUIRE(bus.send(frames) == 4);
  for (const char* text : {" vcan0 123#DEADBEEF", " vcan0 12345678#DEADBEEF", " vcan0 456#R",
                           " vcan0 5A1##5111111111111111111111111"}) {
    const std::string line = candump.line();
    CHECK_MESSAGE(line.ends_with(text), line);
  }
  run("cansend vcan0 123#DEADBEEF && cansend vcan0 12345678#DEADBEEF && cansend vcan0 456#R && "
      "cansend vcan0 5A1##1111111111111111111111111");
  const auto got = receive_frames(bus, 4);
  REQUIRE(got.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(without_stamp(got[i]) == frames[i]);
  run("cangen vcan0 -n 200 -g 0 -m -f");
  CHECK(drain(bus) == 200);
}

TEST_CASE("only what is wanted comes, and a bus without a wish gets all" NEEDS_CAN) {
  std::vector<can::Filter> many;  // more than the kernel takes, so they are merged
  for (std::uint32_t i = 0; i < 1000; ++i) many.push_back({.id = 0x10000 + i * 64, .extended = true});
  many.push_back({.id = 0x123});
  many.push_back({.id = 0x200, .mask = 0x7F0});
  SocketCanBus picky = open_can("vcan0", {.filters = many});
  SocketCanBus all = open_can("vcan0");
  SocketCanBus sender = open_can("vcan0");
  for (const std::uint32_t id : {0x123U, 0x124U, 0x200U, 0x20FU, 0x210U, 0x10000U}) {
    const std::array both = {can::make_frame(id & 0x7FF, {}).value(), can::make_frame(id, {}, true).value()};
    REQUIRE(sender.send(both) == 2);
  }
  std::vector<std::uint32_t> ids;
  for (const Frame& frame : receive_frames(picky, 4))
    ids.push_back(frame.id | (frame.extended ? 0x8000'0000 : 0));
  CHECK(ids == std::vector<std::uint32_t>{0x123, 0x200, 0x20F, 0x8001'0000});
  CHECK(drain(picky) == 0);
  CHECK(drain(all) == 12);
  REQUIRE(picky.set_filters(std::array{can::Filter{.id = 0x7FF}}));
  REQUIRE(sender.send(std::array{can::make_frame(0x7FF, {}).value(), can::make_frame(0x123, {}).value()}) ==
          2);
  CHECK(drain(picky) == 1);
}

TEST_CASE(
    "a controller's reports become the health of the bus: injected, no emulated controller fails" NEEDS_CAN) {
  SocketCanBus bus = open_can("vcan0", {.filters = std::array{can::Filter{.id = 1}}});
  SocketCanBus logger = open_can("vcan0", {.deliver_error_frames = true});
  std::array<Frame, 4> frames;
  const auto after = [&](const can_frame& frame) {
    inject("vcan0", frame);
    const auto seen = receive_frames(logger, 1);
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].error);
    CHECK(bus.receive(frames) == 0);
    CHECK(bus.health() == logger.health());
    return bus.health();
  };
  CHECK(bus.health() == can::BusHealth{});
  const can::BusHealth passive =
      after(error_frame(CAN_ERR_CRTL | CAN_ERR_CNT, {0, CAN_ERR_CRTL_TX_PASSIVE, 0, 0, 0, 0, 128, 4}));
  CHECK(passive.state == can::BusState::passive);
  CHECK(passive.counters == can::ErrorCounters{128, 4});
  CHECK(after(error_frame(CAN_ERR_ACK | CAN_ERR_PROT | CAN_ERR_BUSERROR)).missing_acknowledges == 1);
  CHECK(after(error_frame(CAN_ERR_BUSOFF)).state == can::BusState::bus_off);
  CHECK(after(error_frame(CAN_ERR_RESTARTED)).state == can::BusState::active);
  CHECK(bus.health().bus_offs == 1);
  CHECK(bus.health().restarts == 1);
}

TEST_CASE("a flood of reports does not hold the caller" NEEDS_CAN) {
  SocketCanBus bus = open_can("vcan0");
  SocketCanBus logger = open_can("vcan0", {.deliver_error_frames = true});
  for (int i = 0; i < 150; ++i) inject("vcan0", error_frame(CAN_ERR_BUSERROR));
  REQUIRE(receive_frames(logger, 150).size() == 150);
  std::array<Frame, 1> frame;
  CHECK(bus.receive(frame) == 0);
  CHECK(bus.health().reports == 33);
  while (bus.health().reports < 150) CHECK(bus.receive(frame) == 0);
}

TEST_CASE("frames that the kernel drops without a receiver are counted" NEEDS_CAN) {
  SocketCanBus slow = open_can("vcan0", {.receive_buffer = 4096});
  SocketCanBus sender = open_can("vcan0");
  std::uint64_t got = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) REQUIRE(sender.send(std::array{numbered(i)}) == 1);
  got += drain(slow);
  REQUIRE(sender.send(std::array{numbered(1000)}) == 1);  // reports the final count
  got += drain(slow);
  CHECK(got < 1000);
  CHECK(slow.counters().dropped == 1001 - got);
  CHECK(slow.counters().received == got);
}

TEST_CASE("sent frames are confirmed, and not received as those of others" NEEDS_CAN) {
  SocketCanBus sender = open_can("vcan0", {.confirm = true});
  SocketCanBus other = open_can("vcan0");
  std::vector<Frame> frames;
  for (std::uint32_t i = 0; i < 100; ++i) frames.push_back(numbered(i));
  REQUIRE(sender.send(frames) == 100);
  REQUIRE(other.send(std::array{numbered(7)}) == 1);
  CHECK(drain(sender) == 1);
  CHECK(sender.counters().confirmed == 100);
  CHECK(other.counters().confirmed == 0);
}

TEST_CASE(
    "a full queue is a result that is counted, and the next frames go out when there is room" NEEDS_CAN) {
  SocketCanBus sender = open_can("vx0");  // its queue holds 5 frames, each for one second
  std::vector<Frame> frames;
  for (std::uint32_t i = 0; i < 50; ++i) frames.push_back(numbered(i));
  const std::size_t taken = sender.send(frames);
  CHECK(taken < 50);
  CHECK(sender.counters().sent == taken);
  CHECK(sender.counters().full == 50 - taken);
  while (sender.send(std::array{numbered(99)}) == 0) std::this_thread::sleep_for(50ms);
  CHECK(sender.counters().sent == taken + 1);
}

TEST_CASE("a frame that cannot be sent is dropped, counted, and does not block" NEEDS_CAN) {
  SocketCanBus sender = open_can("vcan0");  // classic frames only
  SocketCanBus receiver = open_can("vcan0", {.fd = true});
  std::vector frames(6, numbered(1));
  frames[0].error = true;
  frames[1].length = 9;
  frames[3].id = 0x800;
  frames[4] = can::make_fd_frame(1, {}).value();
  CHECK(sender.send(frames) == 6);
  CHECK(sender.counters().unsendable == 4);
  CHECK(sender.counters().sent == 2);
  CHECK(receive_frames(receiver, 2).size() == 2);

  // An interface that was configured for classic frames after it was opened.
  SocketCanBus late = open_can("vcan1", {.fd = true});
  switch_interface("vcan1", false);
  run("ip link set vcan1 mtu 16");
  switch_interface("vcan1", true);
  const std::array mixed = {can::make_fd_frame(1, {}).value(), numbered(2)};
  CHECK(late.send(mixed) == 2);
  CHECK(late.counters().unsendable == 1);
  switch_interface("vcan1", false);
  run("ip link set vcan1 mtu 72");
  switch_interface("vcan1", true);
}

TEST_CASE("an interface that goes down and comes up again is used on" NEEDS_CAN) {
  for (const std::string name : {"vcan1", "can1"}) {
    CAPTURE(name);
    SocketCanBus bus = open_can(name);
    CHECK(bus.link() == LinkState::up);
    switch_interface(name, false);
    CHECK(bus.link() == LinkState::down);
    CHECK(bus.send(std::array{numbered(1), numbered(2)}) == 0);
    CHECK(bus.counters().no_link == 2);
    CHECK(bus.counters().link_losses > 0);
    std::array<Frame, 4> frames;
    CHECK(bus.receive(frames) == 0);
    switch_interface(name, true);
    CHECK(bus.link() == LinkState::up);
    CHECK(bus.send(std::array{numbered(3)}) == 1);
    run("cansend " + std::string(name == "can1" ? "can0" : name) + " 321#77");
    const auto got = receive_frames(bus, 1);
    REQUIRE(got.size() == 1);
    CHECK(got[0].id == 0x321);
  }
}

TEST_CASE("the error of an interface that was down and is up again costs no frame" NEEDS_CAN) {
  SocketCanBus sender = open_can("vcan1");
  SocketCanBus receiver = open_can("vcan1");
  switch_interface("vcan1", false);
  switch_interface("vcan1", true);
  SocketCanBus witness = open_can("vcan1");
  CHECK(sender.send(std::array{numbered(1)}) == 1);
  REQUIRE(receive_frames(witness, 1).size() == 1);
  std::array<Frame, 4> frames;
  CHECK(receiver.receive(frames) == 1);
  CHECK(sender.counters().no_link == 0);
  CHECK(sender.counters().link_losses == 1);
  CHECK(receiver.counters().link_losses == 1);
}

TEST_CASE("an interface that is removed is gone, and nothing crashes" NEEDS_CAN) {
  run("ip link add dev vgone type vcan && ip link set vgone up");
  SocketCanBus bus = open_can("vgone");
  run("ip link del vgone");
  CHECK(bus.link() == LinkState::gone);
  CHECK(bus.send(std::array{numbered(1)}) == 0);
  CHECK(bus.counters().no_link == 1);
  std::array<Frame, 4> frames;
  CHECK(bus.receive(frames) == 0);
}

TEST_CASE("several buses are waited for at once" NEEDS_CAN) {
  SocketCanBus zero = open_can("vcan0");
  SocketCanBus one = open_can("vcan1");
  const std::array<const SocketCanBus*, 2> buses = {&zero, &one};
  const Time start = SteadyClock().now();
  CHECK(wait_any(buses, start + 30ms) == 0);
  CHECK(SteadyClock().now() >= start + 30ms);
  CHECK(wait_any(buses, start) == 0);  // the deadline is in the past
  CHECK(wait_any(std::vector<const SocketCanBus*>(33, &zero), Time::max()) == 0);
  run("cansend vcan1 001#");
  CHECK(wait_any(buses, Time::max()) == 2);
  run("cansend vcan0 001#");
  CHECK(wait_any(buses, Time::max()) == 3);
  CHECK(drain(one) == 1);
  CHECK(wait_any(buses, SteadyClock().now() + 10ms) == 1);
}

TEST_CASE("two controllers on a bus exchange frames, each confirmed by the other's acknowledge" NEEDS_CAN) {
  SocketCanBus zero = open_can("can0", {.confirm = true});
  SocketCanBus one = open_can("can1", {.confirm = true});
  refusal("can0", Errc::no_can_fd, {.fd = true});
  std::mt19937_64 random = generator();
  std::uint64_t sent = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<Frame> frames;
    for (int i = 0; i < 4; ++i) {  // the capacity of an SJA1000
      frames.push_back(random_frame(random, false));
      if (frames.back().remote) frames.back().length = 0;  // the emulated controller fails on other lengths
    }
    REQUIRE(zero.send(frames) == frames.size());
    const auto got = receive_frames(one, frames.size());
    REQUIRE(got.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) CHECK(without_stamp(got[i]) == frames[i]);
    REQUIRE(one.send(std::array{numbered(1)}) == 1);
    CHECK(receive_frames(zero, 1).size() == 1);
    sent += frames.size();
  }
  CHECK(drain(zero) == 0);
  CHECK(drain(one) == 0);
  CHECK(zero.counters().confirmed == sent);
  CHECK(one.counters().confirmed == 20);
  CHECK(zero.health().state == can::BusState::active);
}

TEST_CASE("a cycle allocates nothing, and enters the kernel for frames only" NEEDS_CAN) {
  SocketCanBus zero = open_can("vcan0");
  SocketCanBus one = open_can("vcan0");
  std::vector<Frame> frames(40, numbered(1));
  const std::array<const SocketCanBus*, 1> buses = {&one};
  RtGuard guard({.allow = {SYS_sendmmsg, SYS_recvmmsg, SYS_ppoll, SYS_clock_gettime}});
  for (int i = 0; i < 10; ++i) {
    zero.send(frames);
    static_cast<void>(wait_any(buses, SteadyClock().now() + 1s));
    one.receive(frames);
  }
  guard.disarm();
  CHECK(guard.report() == "");
  drain(one);
  CHECK(one.counters().received == 400);
}
