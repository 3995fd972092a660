// CAN interfaces of the kernel for tests, with can-utils as the peer. They exist in the virtual machine that
// tests/interop/qemu_can.sh starts, which sets TAKT_CAN_TESTS. With it, a missing interface is a failure;
// without it, the tests are skipped, and the program reports that.
#pragma once

#include <doctest/doctest.h>
#include <linux/can.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.hpp"
#include "takt/platform/socket_can_bus.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::test {

/// For `doctest::skip(!can_is_here)`: evaluated at program start, before any test.
inline const bool can_is_here = std::getenv("TAKT_CAN_TESTS") != nullptr;

/// Returns whether the kernel supports the address family.
inline bool kernel_has_can() {
  const int descriptor = ::socket(PF_CAN, SOCK_RAW, CAN_RAW);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
}

inline platform::SocketCanBus open_can(const std::string& interface,
                                       const platform::SocketCanOptions& options = {}) {
  auto bus = platform::SocketCanBus::open(interface, options);
  if (!bus) FAIL(bus.error().message);
  return std::move(*bus);
}

/// Receives until there are `count` frames, or none arrives for a while.
inline std::vector<can::Frame> receive_frames(platform::SocketCanBus& bus, std::size_t count) {
  std::vector<can::Frame> frames(count);
  std::size_t got = 0;
  const Time deadline = platform::SteadyClock().now() + std::chrono::seconds(30);
  const platform::SocketCanBus* const waited[] = {&bus};
  while (got < count && platform::SteadyClock().now() < deadline) {
    if (platform::wait_any(waited, deadline) == 0) break;
    got += bus.receive(std::span(frames).subspan(got));
  }
  frames.resize(got);
  return frames;
}

/// Reads until the bus is quiet; for tests that count frames.
inline std::size_t drain(platform::SocketCanBus& bus) {
  std::array<can::Frame, 64> frames;
  std::size_t total = 0;
  for (int quiet = 0; quiet < 20;) {
    const std::size_t got = bus.receive(frames);
    total += got;
    quiet = got == 0 ? quiet + 1 : 0;
    if (got == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return total;
}

/// For TEST_CASE("..." NEEDS_CAN).
#define NEEDS_CAN *doctest::skip(!takt::test::can_is_here)

inline can::Frame without_stamp(can::Frame frame) {
  frame.stamp = Time{};
  frame.stamp_source = can::StampSource::none;
  return frame;
}

/// Switches an interface on or off, as `ip link set` does.
inline void switch_interface(const std::string& name, bool on) {
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM, 0);
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), sizeof request.ifr_name - 1);
  REQUIRE(::ioctl(descriptor, SIOCGIFFLAGS, &request) == 0);
  request.ifr_flags = static_cast<short>(on ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  REQUIRE(::ioctl(descriptor, SIOCSIFFLAGS, &request) == 0);
  ::close(descriptor);
}

inline void run(const std::string& command) {
  const int status = std::system(command.c_str());
  REQUIRE_MESSAGE(status == 0, command);
}

/// The number of sockets, or of their filters, in the kernel.
inline int listeners() {
  std::ifstream statistics("/proc/net/can/stats");
  int count = 0;
  for (std::string line; std::getline(statistics, line);) {
    if (line.find("current receive list entries") != std::string::npos) count = std::atoi(line.c_str());
  }
  return count;
}

/// A program whose output is read, such as candump.
class Listener {
 public:
  /// Returns when the program listens.
  explicit Listener(const std::string& command) {
    const int before = listeners();
    pipe_ = ::popen(command.c_str(), "r");
    REQUIRE(eventually([&] { return listeners() != before; }));
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    if (pipe_ != nullptr) ::pclose(pipe_);
  }
  /// Returns the next line without its end; empty when the program has ended.
  std::string line() {
    std::array<char, 512> text{};
    if (std::fgets(text.data(), text.size(), pipe_) == nullptr) return {};
    std::string line = text.data();
    line.erase(line.find_last_not_of("\r\n") + 1);
    return line;
  }

 private:
  FILE* pipe_ = nullptr;
};

/// Sends a raw frame through its own socket: error frames, for states that no emulated controller has.
inline void inject(const std::string& interface, const can_frame& frame) {
  const int descriptor = ::socket(PF_CAN, SOCK_RAW, CAN_RAW);
  sockaddr_can address{};
  address.can_family = AF_CAN;
  address.can_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  REQUIRE(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::write(descriptor, &frame, sizeof frame) == sizeof frame);
  ::close(descriptor);
}

}  // namespace takt::test
