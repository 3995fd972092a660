// Tests ports on CAN interfaces of the kernel: errors for unusable ones, and interfaces that are
// switched off, removed or reconfigured while a robot moves.
#include <doctest/doctest.h>
#include <linux/can/error.h>
#include <sys/syscall.h>

#include "socket_can/rig.hpp"
#include "support/rt_guard.hpp"
#include "takt/app/bus.hpp"

using namespace takt;
using namespace takt::test;
using namespace std::chrono_literals;
using platform::Errc;
using robot::BusLink;

namespace {

app::BusAddress address_of(const std::string& interface) { return app::parse_bus_address(interface).value(); }

std::unique_ptr<robot::CanPort> open_port(const std::string& interface, const app::BusRequest& request = {}) {
  auto port = app::open_bus(address_of(interface), request);
  if (!port) FAIL(port.error().message);
  return std::move(*port);
}

std::string refusal(const std::string& interface, Errc code, const app::BusRequest& request = {}) {
  const auto port = app::open_bus(address_of(interface), request);
  REQUIRE_FALSE(port.has_value());
  CHECK(port.error().error == code);
  return port.error().message;
}

can::Frame frame_of(std::uint32_t id) {
  return can::make_frame(id, std::array<std::uint8_t, 2>{1, 2}).value();
}

/// Returns whether frames pass between the port and an interface, in both directions.
void check_passes(robot::CanPort& port, const std::string& other) {
  platform::SocketCanBus far = open_can(other);
  std::array<can::Frame, 8> frames;
  while (port.receive(frames) > 0) {
  }
  CHECK(port.send(std::array{frame_of(0x111)}) == 1);
  CHECK(receive_frames(far, 1).size() == 1);
  CHECK(far.send(std::array{frame_of(0x222)}) == 1);
  CHECK(eventually([&] { return port.receive(frames) == 1; }));
  CHECK(frames[0].id == 0x222);
  CHECK(port.link() == BusLink::up);
}

/// One cycle of a master that sends, then receives.
void cycle(robot::CanPort& port) {
  std::array<can::Frame, 8> frames;
  port.send(std::array{frame_of(1)});
  port.receive(frames);
}

void inject_error(const std::string& interface, canid_t classes) {
  can_frame frame{};
  frame.can_id = CAN_ERR_FLAG | classes;
  frame.len = CAN_ERR_DLC;
  inject(interface, frame);
}

}  // namespace

TEST_CASE("a port on a kernel without CAN is refused with the command that loads it" *
          doctest::skip(kernel_has_can())) {
  CHECK(refusal("can0", Errc::no_can, {.name = "left arm"}) ==
        "bus \"left arm\": can0: no CAN socket: Address family not supported by protocol; sudo modprobe -a "
        "can_raw can_bcm");
}

TEST_CASE("every problem of an interface is reported before a port opens it" NEEDS_CAN) {
  CHECK(refusal("vcan77", Errc::no_such_can_interface, {.name = "left arm"})
            .starts_with("bus \"left arm\": vcan77: there is no network interface of this name; "));
  refusal("lo", Errc::not_can);
  CHECK(refusal("can0", Errc::wrong_can_bit_rate, {.bit_rate = 500'000}).find("1000000 bit/s, not 500000") !=
        std::string::npos);
  CHECK(refusal("vcan2", Errc::no_can_fd, {.fd = true}).ends_with("ip link set vcan2 up mtu 72"));
  CHECK(refusal("vq0", Errc::can_queue_too_short, {.frames_per_cycle = 31})
            .ends_with("ip link set vq0 txqueuelen 31"));
  switch_interface("can1", false);
  CHECK(refusal("can1", Errc::can_interface_down).ends_with("ip link set can1 up type can bitrate 1000000"));
  switch_interface("can1", true);
}

TEST_CASE("frames pass a port, classic and FD, filtered and counted" NEEDS_CAN) {
  const auto port =
      open_port("vcan1", {.fd = true, .filters = {{.id = 0x100, .mask = 0x700}}, .frames_per_cycle = 50});
  platform::SocketCanBus far = open_can("vcan1", {.fd = true});
  const can::Frame fd = can::make_fd_frame(0x155, std::vector<std::uint8_t>(64)).value();
  CHECK(port->send(std::array{frame_of(0x700), fd}) == 2);
  CHECK(receive_frames(far, 2).size() == 2);
  CHECK(far.send(std::array{frame_of(0x200), fd}) == 2);
  std::array<can::Frame, 8> frames;
  CHECK(eventually([&] { return port->receive(frames) == 1; }));
  CHECK(without_stamp(frames[0]) == fd);
  CHECK(port->traffic().frames == 3);
  CHECK(port->traffic().busy > 300us);
  CHECK(port->traffic().busy < 500us);
}

TEST_CASE(
    "an interface that is taken down in motion is missed in the same cycle, and used when it is "
    "up" NEEDS_CAN) {
  for (const std::string name : {"vcan1", "can1"}) {
    CAPTURE(name);
    const auto port = open_port(name);
    for (const bool listens_only : {false, true}) {
      check_passes(*port, name == "can1" ? "can0" : name);
      switch_interface(name, false);
      std::array<can::Frame, 8> frames;
      if (listens_only) {
        while (port->receive(frames) > 0) {
        }
      } else {
        CHECK(port->send(std::array{frame_of(1)}) == 0);
      }
      CHECK(port->link() == BusLink::down);
      std::this_thread::sleep_for(2 * app::reopen_interval);
      cycle(*port);
      CHECK(port->link() == BusLink::down);
      CHECK(port->traffic().refused == 0);
      switch_interface(name, true);
      CHECK(eventually([&] { return port->link() == BusLink::up; }));
      check_passes(*port, name == "can1" ? "can0" : name);
    }
  }
}

TEST_CASE("an interface that is removed and added again is used again" NEEDS_CAN) {
  run("ip link add dev vgone type vcan && ip link set vgone up");
  const auto port = open_port("vgone");
  for (int round = 0; round < 3; ++round) {
    check_passes(*port, "vgone");
    run("ip link del vgone");
    cycle(*port);
    CHECK(port->link() == BusLink::down);
    run("ip link add dev vgone type vcan");  // down at first
    std::this_thread::sleep_for(2 * app::reopen_interval);
    CHECK(port->link() == BusLink::down);
    run("ip link set vgone up");
    CHECK(eventually([&] { return port->link() == BusLink::up; }));
  }
  check_passes(*port, "vgone");
  run("ip link del vgone");
}

TEST_CASE(
    "an interface that comes back at another bit rate stays unused until it has the right one" NEEDS_CAN) {
  const auto port = open_port("can1");
  switch_interface("can1", false);
  cycle(*port);
  run("ip.full link set can1 type can bitrate 500000");
  switch_interface("can1", true);
  std::this_thread::sleep_for(3 * app::reopen_interval);
  cycle(*port);
  CHECK(port->link() == BusLink::down);
  switch_interface("can1", false);
  run("ip.full link set can1 type can bitrate 1000000");
  switch_interface("can1", true);
  CHECK(eventually([&] { return port->link() == BusLink::up; }));
  check_passes(*port, "can0");
}

TEST_CASE("bus-off of the controller is reported with the frames, and its restart, too" NEEDS_CAN) {
  const auto port = open_port("vcan0");
  std::array<can::Frame, 8> frames;
  inject_error("vcan0", CAN_ERR_BUSOFF);
  CHECK(port->receive(frames) == 0);
  CHECK(port->link() == BusLink::off);
  inject_error("vcan0", CAN_ERR_RESTARTED);
  CHECK(port->receive(frames) == 0);
  CHECK(port->link() == BusLink::up);
  inject_error("vcan0", CAN_ERR_BUSOFF);
  port->receive(frames);
  CHECK(port->link() == BusLink::off);
  run("cansend vcan0 123#");  // the report of the restart got lost
  CHECK(port->receive(frames) == 1);
  CHECK(port->link() == BusLink::up);
}

TEST_CASE(
    "a port's cycle allocates nothing and enters the kernel for frames only, with and without a "
    "link" NEEDS_CAN) {
  const auto port = open_port("vcan1");
  RtGuard guard({.allow = {SYS_sendmmsg, SYS_recvmmsg, SYS_clock_gettime}});
  guard.disarm();
  const auto cycles = [&] {
    guard.arm();
    for (int i = 0; i < 10; ++i) {
      cycle(*port);
      static_cast<void>(port->link());
      static_cast<void>(port->traffic());
    }
    guard.disarm();
  };
  cycles();
  switch_interface("vcan1", false);
  cycles();
  CHECK(port->link() == BusLink::down);
  switch_interface("vcan1", true);
  CHECK(eventually([&] { return port->link() == BusLink::up; }));
  cycles();
  CHECK(port->link() == BusLink::up);
  CHECK(guard.report() == "");
}
