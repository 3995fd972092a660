// Tests long J1939 messages and address claims against the kernel's J1939 and j1939acd of can-utils, in both
// directions.
#include <linux/can/j1939.h>
#include <poll.h>

#include <functional>
#include <numeric>

#include "socket_can/rig.hpp"
#include "takt/can/j1939_address.hpp"
#include "takt/can/j1939_sender.hpp"

using namespace takt;
using namespace takt::test;
using namespace std::chrono_literals;
namespace j1939 = takt::can::j1939;

namespace {

constexpr std::uint8_t us = 0x10;
constexpr std::uint8_t kernels = 0x20;
constexpr std::uint32_t group = 0xFECA;
using Bytes = std::vector<std::uint8_t>;

Bytes counted(std::size_t length) {
  Bytes bytes(length);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{3});
  return bytes;
}

/// A J1939 socket of the kernel with a fixed address.
class KernelSocket {
 public:
  KernelSocket() : descriptor_(::socket(PF_CAN, SOCK_DGRAM, CAN_J1939)) {
    REQUIRE(descriptor_ >= 0);
    const int yes = 1;
    REQUIRE(::setsockopt(descriptor_, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes) == 0);
    const sockaddr_can own = address(kernels, J1939_NO_PGN);
    REQUIRE(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
  }
  KernelSocket(const KernelSocket&) = delete;
  KernelSocket& operator=(const KernelSocket&) = delete;
  ~KernelSocket() { ::close(descriptor_); }

  void send(std::uint8_t destination, const Bytes& data) const {
    const sockaddr_can to = address(destination, group);
    REQUIRE(::sendto(descriptor_, data.data(), data.size(), MSG_DONTWAIT,
                     reinterpret_cast<const sockaddr*>(&to), sizeof to) == static_cast<ssize_t>(data.size()));
  }
  /// Returns the received message; empty without one.
  [[nodiscard]] Bytes receive() const {
    Bytes data(2000);
    const ssize_t got = ::recv(descriptor_, data.data(), data.size(), MSG_DONTWAIT);
    data.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return data;
  }

 private:
  static sockaddr_can address(std::uint8_t device, std::uint32_t pgn) {
    sockaddr_can made{};
    made.can_family = AF_CAN;
    made.can_ifindex = static_cast<int>(::if_nametoindex("vcan0"));
    made.can_addr.j1939.name = J1939_NO_NAME;
    made.can_addr.j1939.addr = device;
    made.can_addr.j1939.pgn = pgn;
    return made;
  }
  int descriptor_;
};

/// Our device on the bus.
struct Device {
  /// Runs frames and time until `done`; returns whether that happened.
  bool run(const std::function<bool()>& done) {
    const platform::SteadyClock clock;
    const Time deadline = clock.now() + 20s;
    while (!done()) {
      const Time now = clock.now();
      if (now > deadline) return false;
      step(now);
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }
  void step(Time now) {
    std::array<can::Frame, 32> frames;
    for (const can::Frame& frame : std::span(frames).first(bus.receive(frames))) {
      if (const auto event = receiver.receive(frame, now); event && !event->aborted)
        message.assign(event->message.begin(), event->message.end());
      sender.receive(frame, now);
    }
    while (receiver.poll(now)) {
    }
    sender.poll(now);
    while (const auto frame = receiver.next_frame()) CHECK(bus.send({&*frame, 1}) == 1);
    while (const auto frame = sender.next_frame(now)) CHECK(bus.send({&*frame, 1}) == 1);
  }

  platform::SocketCanBus bus = open_can("vcan0");
  j1939::TransportReceiver<4> receiver{us};
  j1939::TransportSender sender{us};
  Bytes message{};
};

}  // namespace

TEST_CASE("messages of the kernel reach us, to us and to everybody" NEEDS_CAN) {
  const KernelSocket kernel;
  for (const std::size_t length : {9U, 100U, 1785U}) {
    Device device;
    kernel.send(us, counted(length));
    CHECK(device.run([&] { return !device.message.empty(); }));
    CHECK(device.message == counted(length));
  }
  Device device;
  kernel.send(j1939::broadcast_address, counted(60));
  CHECK(device.run([&] { return !device.message.empty(); }));
  CHECK(device.message == counted(60));
  CHECK(device.receiver.counters() == j1939::TransportReceiver<4>::Counters{.messages = 1});
}

TEST_CASE("messages of ours reach the kernel, to it and to everybody" NEEDS_CAN) {
  for (const std::size_t length : {9U, 100U, 1785U}) {
    const KernelSocket kernel;
    Device device;
    Bytes got;
    REQUIRE(device.sender.start(group, kernels, counted(length), platform::SteadyClock().now()).has_value());
    CHECK(device.run([&] { return !(got = kernel.receive()).empty(); }));
    CHECK(got == counted(length));
    CHECK(device.run([&] { return !device.sender.is_busy(); }));
    CHECK(device.sender.state() == j1939::TransportSender::State::done);
  }
  const KernelSocket kernel;
  Device device;
  Bytes got;
  REQUIRE(device.sender.start(group, j1939::broadcast_address, counted(60), platform::SteadyClock().now())
              .has_value());
  CHECK(device.run([&] { return !(got = kernel.receive()).empty(); }));
  CHECK(got == counted(60));
}

TEST_CASE("j1939acd of can-utils gives way to a lower NAME and takes another address" NEEDS_CAN) {
  constexpr std::uint64_t their_name = 0x8000'0000'0000'0100;
  platform::SocketCanBus bus = open_can("vcan0");
  auto claim = *j1939::AddressClaim::create({.identity = 1, .arbitrary_address = true}, 128);
  run("j1939acd -r 128,129 -c /tmp/their.jacd 8000000000000100 vcan0 & echo $! > /tmp/their.pid");
  const platform::SteadyClock clock;
  const Time deadline = clock.now() + 20s;
  std::vector<std::uint8_t> theirs;
  bool started = false;
  while (clock.now() < deadline && (theirs.empty() || theirs.back() != 129 || !claim.address())) {
    const Time now = clock.now();
    std::array<can::Frame, 16> frames;
    for (const can::Frame& frame : std::span(frames).first(bus.receive(frames))) {
      claim.receive(frame, now);
      const j1939::Id id = j1939::decode_id(frame.id);
      if (id.pgn == j1939::pgn_address_claimed && can::load_little<8>(frame.data.data()) == their_name)
        theirs.push_back(id.source);
    }
    if (!started && !theirs.empty() && theirs.back() == 128) {
      claim.start(now);
      started = true;
    }
    while (const auto frame = claim.next_frame(now)) CHECK(bus.send({&*frame, 1}) == 1);
    std::this_thread::sleep_for(1ms);
  }
  CHECK(claim.address() == 128);
  REQUIRE(!theirs.empty());
  CHECK(theirs.back() == 129);
  run("kill $(cat /tmp/their.pid)");
}
