// Buses from texts: valid addresses, messages about buses that cannot be opened, and ports over slcan
// adapters that are unplugged and plugged in again. SocketCAN interfaces are in
// tests/socket_can/port_test.cpp.
#include "takt/app/bus.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "app/slcan_adapter.hpp"
#include "support/eventually.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/platform/error.hpp"
#include "takt/platform/serial_line.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test;
using namespace std::chrono_literals;
using robot::BusLink;

namespace {

using Kind = BusAddress::Kind;

std::unique_ptr<robot::CanPort> open_slcan(const SlcanAdapter& adapter, const BusRequest& request = {},
                                           bool silent = false) {
  auto port = open_bus({.kind = Kind::slcan, .place = adapter.path, .silent = silent}, request);
  if (!port) FAIL(port.error().message);
  return std::move(*port);
}

std::string refusal(Error error, const BusAddress& address, const BusRequest& request = {}) {
  const auto port = open_bus(address, request);
  REQUIRE_FALSE(port.has_value());
  CHECK(port.error().error == error);
  return port.error().message;
}

can::Frame frame_of(std::uint32_t id, std::uint8_t value = 0) {
  return can::make_frame(id, std::array<std::uint8_t, 2>{value, 0xAA}).value();
}

/// Whether a sent frame comes back within a while.
bool passes(robot::CanPort& port) {
  std::array<can::Frame, 8> frames;
  return eventually([&] {
    port.send(std::array{frame_of(0x123)});
    return port.receive(frames) > 0;
  });
}

}  // namespace

// ---- Addresses

TEST_CASE("texts of each kind of bus are read, and written as they were") {
  const auto check = [](std::string_view text, const BusAddress& address) {
    CAPTURE(text);
    const auto got = parse_bus_address(text);
    REQUIRE(got.has_value());
    CHECK(*got == address);
    CHECK(parse_bus_address(to_string(*got)) == address);
  };
  check("can0", {Kind::socket_can, "can0"});
  check("slcan0", {Kind::socket_can, "slcan0"});
  check("arm_left-1.fd", {Kind::socket_can, "arm_left-1.fd"});
  check("virtual", {Kind::virtual_bus});
  check("slcan:/dev/ttyACM0", {Kind::slcan, "/dev/ttyACM0"});
  check("slcan:/dev/ttyUSB0@115200", {Kind::slcan, "/dev/ttyUSB0", 115'200});
  check("slcan:/dev/ttyUSB0@3000000", {Kind::slcan, "/dev/ttyUSB0", 3'000'000});
  check("slcan:/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0",
        {Kind::slcan, "/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0"});
  check("slcan:/dev/a@b@9600", {Kind::slcan, "/dev/a@b", 9600});
  check("slcan-silent:/dev/ttyACM0", {Kind::slcan, "/dev/ttyACM0", 115'200, true});
  check("slcan-silent:/dev/ttyUSB0@9600", {Kind::slcan, "/dev/ttyUSB0", 9600, true});
}

TEST_CASE("a text that is no address is refused with what is allowed") {
  for (const std::string_view text :
       {std::string_view(""), std::string_view("can 0"), std::string_view("can0/"),
        std::string_view("sixteen_letters_"), std::string_view("Slcan:/dev/ttyACM0"),
        std::string_view("slcan:"), std::string_view("slcan:ttyACM0"),
        std::string_view("slcan:/dev/ttyACM0@"), std::string_view("slcan:/dev/ttyACM0@fast"),
        std::string_view("slcan:/dev/ttyACM0@-1"), std::string_view("slcan:/dev/ttyACM0@0"),
        std::string_view("slcan:/dev/ttyACM0@99999999999"), std::string_view("slcan:/dev/tty\0ACM0", 19),
        std::string_view("slcan:/dev/"), std::string_view("udp:1.2.3.4"), std::string_view("can\x01", 4),
        std::string_view("\xFF\xFE")}) {
    CAPTURE(text);
    const auto got = parse_bus_address(text);
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error().error == Errc::bad_bus_address);
    CHECK(got.error().message.find(R"(allowed are a CAN interface such as "can0", "slcan:/dev/ttyACM0")") !=
          std::string::npos);
    CHECK(std::ranges::all_of(got.error().message, [](char c) { return c >= ' ' && c <= '~'; }));
  }
  CHECK(parse_bus_address(std::string(1'000'000, 'x')).error().message.size() < 300);
}

TEST_CASE("any bytes as a text do no harm") {
  std::mt19937_64 random = generator();
  const std::string letters = "slcan:/dev/tty@0129virtua.\xFF ";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = uniform_int(random, 0, 1) == 0 ? "slcan:/" : "";
    for (auto more = uniform_int(random, 0, 20); more > 0; --more) {
      const bool any = uniform_int(random, 0, 3) == 0;
      text += any ? static_cast<char>(random())
                  : letters[static_cast<std::size_t>(uniform_int(random, 0, std::ssize(letters) - 1))];
    }
    if (const auto got = parse_bus_address(text)) CHECK(parse_bus_address(to_string(*got)) == *got);
  }
}

// ---- Refusals

TEST_CASE("a bus that cannot be opened is named, with what is wrong") {
  CHECK(refusal(Errc::not_a_real_bus, {}).find("simulation") != std::string::npos);
  CHECK(refusal(platform::Errc::no_such_serial_line, {Kind::slcan, "/dev/no_such_line"}, {.name = "left arm"})
            .starts_with("bus \"left arm\": /dev/no_such_line: No such file"));
  CHECK(refusal(platform::Errc::connect_failed, {Kind::slcan, "/dev/null"}).find("not a serial line") !=
        std::string::npos);
  CHECK(refusal(Errc::bad_bit_rate, {Kind::slcan, "/dev/null"}, {.bit_rate = 400'000})
            .ends_with("800000, 1000000"));
  CHECK(refusal(Errc::no_fd_adapter, {Kind::slcan, "/dev/null"}, {.fd = true}).find("classic frames only") !=
        std::string::npos);
}

TEST_CASE("a line that another program has, and one at an unknown rate, are refused") {
  const SlcanAdapter adapter;
  const auto other = platform::SerialLine::open(adapter.path, 115'200);
  REQUIRE(other.has_value());
  CHECK(refusal(platform::Errc::serial_line_busy, {Kind::slcan, adapter.path}).find("fuser -v") !=
        std::string::npos);
  CHECK(refusal(platform::Errc::connect_failed, {Kind::slcan, adapter.path, 12'345}).find("12345") !=
        std::string::npos);
}

TEST_CASE("a line without an adapter is refused, also one that talks of other things") {
  const SlcanAdapter silent({.is_silent = true});
  const std::string why = refusal(Errc::no_adapter, {Kind::slcan, silent.path});
  CHECK(why.find("115200 bit/s") != std::string::npos);
  CHECK(why.ends_with(": slcan-silent:" + silent.path));  // the way on, if it is an adapter
  SlcanAdapter chatterbox({.is_silent = true});
  const std::jthread chat([&](const std::stop_token& over) {
    while (!over.stop_requested()) {
      chatterbox.send("temperature 23.5\r\nhumidity 40\r\n");
      std::this_thread::sleep_for(1ms);
    }
  });
  refusal(Errc::no_adapter, {Kind::slcan, chatterbox.path});
}

TEST_CASE("an adapter that refuses its bit rate or its channel is refused") {
  const SlcanAdapter no_rate({.refuses = "S"});
  CHECK(
      refusal(Errc::adapter_refuses, {Kind::slcan, no_rate.path}, {.bit_rate = 500'000}).find("command S6") !=
      std::string::npos);
  const SlcanAdapter no_channel({.refuses = "O"});
  CHECK(refusal(Errc::adapter_refuses, {Kind::slcan, no_channel.path}).find("command O") !=
        std::string::npos);
}

TEST_CASE("an adapter that confirms commands is waited for, and so is its late refusal") {
  const SlcanAdapter late({.refuses = "S", .pause = 700ms});
  refusal(Errc::adapter_refuses, {Kind::slcan, late.path});
  const SlcanAdapter mute({.refuses = "O", .pause = 4s});
  CHECK(refusal(Errc::no_adapter, {Kind::slcan, mute.path}).find("stopped answering") != std::string::npos);
}

// ---- Ports

TEST_CASE("an adapter of any firmware is set up, carries frames, and is closed in the end") {
  for (const Firmware& firmware :
       {Firmware{}, Firmware{.version = ""}, Firmware{.confirms = false},
        Firmware{.confirms = false, .version = "0.3-12-gab12cd https://example.com/canable", .repeats = true},
        Firmware{.confirms = false, .version = "+Board: Other\tMCU: STM32G431"},
        Firmware{.version = "Vlong and full of words", .noise = "t1230\rz\r"},
        Firmware{.is_silent = true, .repeats = true}}) {
    SlcanAdapter adapter(firmware);
    {
      const auto port = open_slcan(adapter, {.bit_rate = 500'000}, firmware.is_silent);
      CHECK(eventually([&] { return adapter.commands() == "C C V S6 O "; }));
      CHECK(port->link() == BusLink::up);
      CHECK(passes(*port));
    }
    CHECK(eventually([&] { return adapter.commands() == "C C V S6 O C "; }));
  }
}

TEST_CASE("an adapter that a killed program left open and in the middle of a line is set up") {
  SlcanAdapter adapter;
  {
    auto line = platform::SerialLine::open(adapter.path, 115'200);
    REQUIRE(line.has_value());
    constexpr std::string_view rest = "S6\rO\rt1234AA";
    CHECK(line->write({reinterpret_cast<const std::uint8_t*>(rest.data()), rest.size()}) == rest.size());
    CHECK(eventually([&] { return adapter.commands() == "S6 O "; }));
  }
  const auto port = open_slcan(adapter, {.bit_rate = 500'000});
  CHECK(passes(*port));
}

TEST_CASE("frames that the adapter refuses, because nobody acknowledges them, are counted") {
  SlcanAdapter adapter({.is_alone = true});
  const auto port = open_slcan(adapter);
  CHECK(port->traffic().unacknowledged == 0);
  CHECK(port->send(std::array{frame_of(1), frame_of(2)}) == 2);
  std::array<can::Frame, 4> frames;
  CHECK(eventually([&] {
    CHECK(port->receive(frames) == 0);
    return port->traffic().unacknowledged == 2;
  }));
}

TEST_CASE("only frames that pass the filters arrive, whole and in order") {
  SlcanAdapter adapter;
  const auto port =
      open_slcan(adapter, {.filters = {{.id = 0x100, .mask = 0x700}, {.id = 0x12345, .extended = true}}});
  std::vector<can::Frame> frames;
  for (std::uint32_t id = 0; id < 20; ++id) frames.push_back(frame_of(id * 0x40));
  frames.push_back(can::make_frame(0x12345, {}, true).value());
  frames.push_back(can::make_frame(0x345, {}, true).value());
  REQUIRE(port->send(frames) == frames.size());
  std::array<can::Frame, 32> got;
  std::size_t count = 0;
  CHECK(eventually([&] {
    count += port->receive(std::span(got).subspan(count));
    return count == 5;
  }));
  std::this_thread::sleep_for(20ms);
  CHECK(port->receive(got) == 0);
  CHECK(got[0].id == 0x100);
  CHECK(got[1].id == 0x140);
  CHECK(got[3].id == 0x1C0);
  CHECK(got[4].id == 0x12345);
}

TEST_CASE("traffic counts frames, the time that they take on the wire, and those that found no room") {
  SlcanAdapter adapter;
  const auto port = open_slcan(adapter, {.bit_rate = 1'000'000});
  const can::Frame frame =
      can::make_frame(0x123, std::array<std::uint8_t, 8>{1, 2, 3, 4, 5, 6, 7, 8}).value();
  CHECK(port->send(std::array{frame, frame}) == 2);
  std::array<can::Frame, 8> frames;
  std::size_t got = 0;
  CHECK(eventually([&] { return (got += port->receive(frames)) == 2; }));
  const robot::BusTraffic traffic = port->traffic();
  CHECK(traffic.frames == 4);
  CHECK(traffic.refused == 0);
  CHECK(traffic.busy > 4 * 111us);
  CHECK(traffic.busy < 4 * 135us);

  // The adapter reads meanwhile, on a busy machine as fast as this thread sends.
  const std::vector<can::Frame> flood(20'000, frame);
  std::size_t refused = 0;
  CHECK(eventually([&] { return (refused += flood.size() - port->send(flood)) > 0; }));
  CHECK(port->traffic().refused == refused);
  CHECK(port->link() == BusLink::up);
}

TEST_CASE("an adapter that is unplugged is missed in the same cycle, and used again when it is back") {
  SlcanAdapter adapter;
  const auto port = open_slcan(adapter);
  CHECK(passes(*port));
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    adapter.unplug();
    const robot::BusTraffic before = port->traffic();
    std::array<can::Frame, 8> frames;
    if (round % 2 == 0) {
      port->send(std::array{frame_of(1)});
    } else {
      port->receive(frames);  // frames on their way come first
      port->receive(frames);
    }
    CHECK(port->link() == BusLink::down);
    CHECK(port->send(std::array{frame_of(1)}) == 0);
    CHECK(port->receive(frames) == 0);
    CHECK(port->traffic().refused == before.refused);
    std::this_thread::sleep_for(2 * reopen_interval);
    CHECK(port->link() == BusLink::down);
    adapter.plug_in();
    CHECK(eventually([&] { return port->link() == BusLink::up; }));
    CHECK(passes(*port));
    CHECK(port->link() == BusLink::up);
  }
}

TEST_CASE("a line of an adapter that is not a frame is ignored, and the next line is read") {
  SlcanAdapter adapter;
  const auto port = open_slcan(adapter);
  std::mt19937_64 random = generator();
  std::array<can::Frame, 8> frames;
  for (int round = 0; round < 200; ++round) {
    std::string noise;
    for (int i = 0; i < 200; ++i) noise += static_cast<char>(random());
    adapter.send(noise);
    port->receive(frames);
  }
  adapter.send("\r");
  CHECK(passes(*port));
  CHECK(port->link() == BusLink::up);
}

TEST_CASE(
    "a cycle with, without and again with an adapter allocates nothing, and enters the kernel for bytes "
    "only") {
  SlcanAdapter adapter;
  const auto port = open_slcan(adapter, {.filters = {{.mask = 0}}});
  std::array<can::Frame, 8> frames;
  RtGuard guard({.allow = {SYS_read, SYS_write}});
  guard.disarm();
  const auto cycles = [&] {
    guard.arm();
    for (int i = 0; i < 20; ++i) {
      port->send(std::array{frame_of(1), frame_of(2)});
      port->receive(frames);
      static_cast<void>(port->link());
      static_cast<void>(port->traffic());
    }
    guard.disarm();
  };
  cycles();
  adapter.unplug();
  cycles();
  CHECK(port->link() == BusLink::down);
  adapter.plug_in();
  REQUIRE(eventually([&] { return port->link() == BusLink::up; }));
  cycles();
  CHECK(port->link() == BusLink::up);
  CHECK(guard.report() == "");
}
