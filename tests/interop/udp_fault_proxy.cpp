// Stands between two programs that talk in datagrams over the loopback interface, and does to these what faulty_way.hpp of
// tests/support says, each way with a seed of its own. Runs until it is ended, then says what became of the datagrams.
//   takt_udp_fault_proxy NEAR_LOCAL NEAR_PEER FAR_LOCAL FAR_PEER [NAME=VALUE]...
// The first four are ports: where the near program sends to, where it is, and the same of the far one. Names: loss, duplicate,
// corrupt, reorder (shares from 0 to 1), delay, jitter (ms), seed.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "support/faulty_way.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/udp_socket.hpp"
#include "tools/signals.hpp"

using namespace takt;
using platform::UdpSocket;

namespace {

struct Arguments {
  test::WayFaults faults;
  std::uint64_t seed = 1;
};

bool read(const std::string& text, Arguments& arguments) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = text.substr(0, equals);
  const double value = std::strtod(text.c_str() + equals + 1, nullptr);
  test::WayFaults& faults = arguments.faults;
  if (name == "loss") return faults.loss = value, true;
  if (name == "duplicate") return faults.duplicate = value, true;
  if (name == "corrupt") return faults.corrupt = value, true;
  if (name == "reorder") return faults.reorder = value, true;
  if (name == "delay") return faults.delay = from_seconds(value * 1e-3), true;
  if (name == "jitter") return faults.jitter = from_seconds(value * 1e-3), true;
  if (name == "seed") return arguments.seed = static_cast<std::uint64_t>(value), true;
  return false;
}

UdpSocket open(const char* local, const char* peer) {
  const auto port = [](const char* text) { return static_cast<std::uint16_t>(std::atoi(text)); };
  auto socket = UdpSocket::open({.local = {.port = port(local)}, .peer = {.port = port(peer)}});
  if (socket) return std::move(*socket);
  fmt::print(stderr, "{}\n", socket.error().message);
  std::exit(1);
}

/// From one socket to the other.
void carry(UdpSocket& from, test::FaultyWay& way, UdpSocket& to, Time now) {
  std::array<std::uint8_t, 65536> buffer;
  while (const auto size = from.receive(buffer, Duration(0))) way.take(std::span(buffer).first(*size), now);
  while (const auto datagram = way.give(now)) to.send(*datagram);
}

void wait(const UdpSocket& near, const UdpSocket& far, Duration left) {
  std::array<pollfd, 2> entries{pollfd{near.descriptor(), POLLIN, 0}, pollfd{far.descriptor(), POLLIN, 0}};
  const Duration limit = std::clamp(left, Duration(0), Duration(std::chrono::milliseconds(20)));
  const timespec until{0, static_cast<long>(limit.count())};
  static_cast<void>(::ppoll(entries.data(), entries.size(), &until, nullptr));
}

void say(const char* way, const test::WayCounters& counters) {
  fmt::print("{}: {} taken, {} lost, {} doubled, {} corrupted, {} held back\n", way, counters.taken,
             counters.lost, counters.doubled, counters.corrupted, counters.held_back);
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  bool understood = count >= 5;
  for (int i = 5; i < count; ++i) understood = read(words[i], arguments) && understood;
  if (!understood) {
    fmt::print(stderr, "usage: {} NEAR_LOCAL NEAR_PEER FAR_LOCAL FAR_PEER [NAME=VALUE]...\n", words[0]);
    return 2;
  }
  const sigset_t signals = tools::block_ending_signals();
  UdpSocket near = open(words[1], words[2]);
  UdpSocket far = open(words[3], words[4]);
  test::FaultyWay there(arguments.faults, arguments.seed);
  test::FaultyWay back(arguments.faults, arguments.seed + 1);
  const platform::SteadyClock clock;
  constexpr timespec at_once{};
  while (sigtimedwait(&signals, nullptr, &at_once) <= 0) {
    const Time now = clock.now();
    carry(near, there, far, now);
    carry(far, back, near, now);
    const Time next = std::min({there.next(), back.next(), now + std::chrono::milliseconds(20)});
    wait(near, far, next - now);
  }
  say("there", there.counters());
  say("back", back.counters());
}
