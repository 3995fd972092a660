// Tests CyclicCan against the kernel's broadcast manager. It checks periods by counting frames, because a
// virtual machine's clock is not reliable.
#include <doctest/doctest.h>
#include <linux/can/raw.h>
#include <sys/syscall.h>

#include "socket_can/rig.hpp"
#include "support/rt_guard.hpp"
#include "takt/platform/cyclic_can.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::test;
using namespace std::chrono_literals;
using can::Frame;

namespace {

Frame frame_of(std::uint32_t id, std::uint8_t value, bool fd = false) {
  const std::array data = {value};
  return fd ? can::make_fd_frame(id, data).value() : can::make_frame(id, data).value();
}

CyclicCan open_cyclic(const std::string& interface, bool fd = false) {
  auto cyclic = CyclicCan::open(interface, fd);
  if (!cyclic) FAIL(cyclic.error().message);
  return std::move(*cyclic);
}

std::vector<int> values(const std::vector<Frame>& frames) {
  std::vector<int> found;
  for (const Frame& frame : frames) found.push_back(frame.data[0]);
  return found;
}

/// Returns the next event; a default one if none comes.
CyclicEvent next_event(CyclicCan& cyclic) {
  std::array<CyclicEvent, 1> event{};
  static_cast<void>(eventually([&] { return cyclic.receive(event) > 0; }));
  return event[0];
}

}  // namespace

TEST_CASE("a cycle needs a kernel with CAN" * doctest::skip(kernel_has_can())) {
  const auto cyclic = CyclicCan::open("can0");
  REQUIRE_FALSE(cyclic.has_value());
  CHECK(cyclic.error().error == Errc::no_can);
  CHECK(cyclic.error().message.starts_with("can0: no CAN socket"));
}

TEST_CASE("the kernel repeats a message until it is stopped" NEEDS_CAN) {
  SocketCanBus bus = open_can("vcan0");
  CyclicCan cyclic = open_cyclic("vcan0");
  REQUIRE(cyclic.start(std::array{frame_of(0x701, 5)}, 10ms));
  CHECK(values(receive_frames(bus, 5)) == std::vector{5, 5, 5, 5, 5});
  REQUIRE(cyclic.stop({.id = 0x701}));
  drain(bus);
  std::this_thread::sleep_for(100ms);
  CHECK(drain(bus) == 0);
  CHECK(cyclic.stop({.id = 0x701}).error() == Errc::no_such_cycle);
}

TEST_CASE("several frames take turns, of CAN FD as well" NEEDS_CAN) {
  SocketCanBus bus = open_can("vcan0", {.fd = true});
  CyclicCan cyclic = open_cyclic("vcan0", true);
  REQUIRE(cyclic.start(std::array{frame_of(0x10, 1, true), frame_of(0x11, 2, true), frame_of(0x12, 3, true)},
                       5ms));
  const auto frames = receive_frames(bus, 6);
  REQUIRE(frames.size() == 6);
  CHECK(values(frames) == std::vector{1, 2, 3, 1, 2, 3});
  CHECK(without_stamp(frames[2]) == frame_of(0x12, 3, true));
}

TEST_CASE("new data go out with the next beat, and the beat goes on" NEEDS_CAN) {
  SocketCanBus bus = open_can("vcan0");
  CyclicCan cyclic = open_cyclic("vcan0");
  REQUIRE(cyclic.start(std::array{frame_of(0x80, 1)}, 24h));
  for (std::uint8_t value = 2; value < 30; ++value) REQUIRE(cyclic.update(std::array{frame_of(0x80, value)}));
  CHECK(drain(bus) == 1);  // a restarted cycle would have sent each value
  REQUIRE(cyclic.start(std::array{frame_of(0x80, 1)}, 20ms));
  REQUIRE(cyclic.update(std::array{frame_of(0x80, 30)}));
  while (receive_frames(bus, 1).at(0).data[0] != 30) continue;
  CHECK(values(receive_frames(bus, 2)) == std::vector{30, 30});
  CHECK(cyclic.update(std::array{frame_of(0x81, 1)}).error() == Errc::no_such_cycle);
  CHECK(cyclic.update(std::array{frame_of(0x80, 1), frame_of(0x80, 2)}).error() == Errc::bad_cycle);
}

TEST_CASE("a restarted cycle takes the new period and number of frames" NEEDS_CAN) {
  SocketCanBus bus = open_can("vcan0");
  CyclicCan cyclic = open_cyclic("vcan0");
  REQUIRE(cyclic.start(std::array{frame_of(0x80, 1)}, 24h));
  REQUIRE(cyclic.start(std::array{frame_of(0x80, 2), frame_of(0x80, 3)}, 5ms));
  CHECK(values(receive_frames(bus, 4)) == std::vector{1, 2, 3, 2});
}

TEST_CASE("cycles that the kernel cannot repeat are refused" NEEDS_CAN) {
  CyclicCan cyclic = open_cyclic("vcan0");
  const std::vector many(257, frame_of(1, 1));
  CHECK(cyclic.start({}, 1ms).error() == Errc::bad_cycle);
  CHECK(cyclic.start(many, 1ms).error() == Errc::bad_cycle);
  CHECK(cyclic.start(std::span(many).first(256), 24h));
  CHECK(cyclic.start(std::array{frame_of(1, 1, true)}, 1ms).error() ==
        Errc::bad_cycle);  // opened for classic frames only
  for (const Duration period :
       {Duration(0), Duration(-1ms), Duration(999), Duration(1500), Duration(401 * 24h), Duration::max()}) {
    CHECK(cyclic.start(std::array{frame_of(2, 1)}, period).error() == Errc::bad_cycle);
    CHECK(cyclic.watch({.id = 2}, period).error() == Errc::bad_cycle);
  }
  CHECK(cyclic.watch({.id = 0x800}, 1ms).error() == Errc::bad_cycle);
  CHECK(cyclic.unwatch({.id = 2}).error() == Errc::no_such_cycle);
  CHECK(CyclicCan::open("vcan2", true).error().error == Errc::no_can_fd);
}

TEST_CASE("a message that falls silent is reported once, and once when it is heard again" NEEDS_CAN) {
  CyclicCan cyclic = open_cyclic("vcan0");
  SocketCanBus node = open_can("vcan0");
  REQUIRE(cyclic.watch({.id = 0x701}, 100ms));
  CyclicEvent event = next_event(cyclic);  // it was never received
  CHECK(event.message == CyclicMessage{.id = 0x701});
  CHECK(event.is_silent);
  REQUIRE(node.send(std::array{frame_of(0x702, 0), frame_of(0x701, 0)}) == 2);
  event = next_event(cyclic);
  CHECK(event.message == CyclicMessage{.id = 0x701});
  CHECK_FALSE(event.is_silent);
  CHECK(next_event(cyclic).is_silent);
  std::array<CyclicEvent, 4> events;
  CHECK(cyclic.receive(events) == 0);
  REQUIRE(cyclic.unwatch({.id = 0x701}));
  REQUIRE(node.send(std::array{frame_of(0x701, 0)}) == 1);
  std::this_thread::sleep_for(50ms);
  CHECK(cyclic.receive(events) == 0);

  REQUIRE(cyclic.watch({.id = 0x703}, 24h));
  for (std::uint8_t i = 0; i < 5; ++i) REQUIRE(node.send(std::array{frame_of(0x703, i)}) == 1);
  CHECK(next_event(cyclic).message.id == 0x703);
  std::this_thread::sleep_for(50ms);
  CHECK(cyclic.receive(events) == 0);  // further frames are not new, whatever they contain
}

TEST_CASE("cycles and watches outlive an interface that was down" NEEDS_CAN) {
  CyclicCan sender = open_cyclic("vcan1");
  CyclicCan watcher = open_cyclic("vcan1");
  REQUIRE(sender.start(std::array{frame_of(0x701, 7)}, 10ms));
  REQUIRE(watcher.watch({.id = 0x701}, 2s));
  CHECK_FALSE(next_event(watcher).is_silent);
  switch_interface("vcan1", false);
  CHECK(next_event(watcher).is_silent);
  switch_interface("vcan1", true);
  CHECK_FALSE(next_event(watcher).is_silent);
}

TEST_CASE("updates and events are for the real-time thread" NEEDS_CAN) {
  CyclicCan cyclic = open_cyclic("vcan0");
  REQUIRE(cyclic.start(std::array{frame_of(0x80, 1)}, 1s));
  std::array<CyclicEvent, 4> events;
  RtGuard guard({.allow = {SYS_sendto, SYS_recvfrom}});
  for (std::uint8_t i = 0; i < 10; ++i) {
    static_cast<void>(cyclic.update(std::array{frame_of(0x80, i)}));
    cyclic.receive(events);
  }
  guard.disarm();
  CHECK(guard.report() == "");
}
