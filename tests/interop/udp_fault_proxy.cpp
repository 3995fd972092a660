// Stands between two programs that talk in datagrams over the loopback interface, and does to these what faulty_way.hpp of
// tests/support says, each way with a seed of its own. Runs until it is ended, then says what became of the datagrams.
//   takt_udp_fault_proxy NEAR_LOCAL NEAR_PEER FAR_LOCAL FAR_PEER [NAME=VALUE]...
// The first four are ports: where the near program sends to, where it is, and the same of the far one. Names: loss, duplicate,
// corrupt, reorder (shares from 0 to 1), delay, jitter (ms), seed; garbage (datagrams a second that the near program gets beside).
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

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
  double garbage = 0;
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
  if (name == "garbage") return arguments.garbage = value, true;
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
void carry(UdpSocket& from, test::FaultyWay& way, UdpSocket& to, Time now, std::vector<Time>& came) {
  std::array<std::uint8_t, 65536> buffer;
  while (const auto size = from.receive(buffer, Duration(0))) {
    came.push_back(now);
    way.take(std::span(buffer).first(*size), now);
  }
  while (const auto datagram = way.give(now)) to.send(*datagram);
}

/// Random bytes, as many a second as asked for; what was missed is made up for, a little at a time.
class Garbage {
 public:
  Garbage(double rate, std::uint64_t seed, Time start) : rate_(rate), random_(seed), start_(start) {}
  void send(UdpSocket& socket, Time now) {
    const double due = rate_ * to_seconds(now - start_);
    for (int i = 0; i < 500 && static_cast<double>(sent_) < due; ++i, ++sent_) {
      std::array<std::uint8_t, 132> bytes;
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
      socket.send(bytes);
    }
  }
  [[nodiscard]] bool any() const { return rate_ > 0; }
  [[nodiscard]] double rate(Time now) const { return static_cast<double>(sent_) / to_seconds(now - start_); }

 private:
  double rate_;
  std::minstd_rand random_;
  Time start_;
  std::uint64_t sent_ = 0;
};

/// How regularly they came.
void say_intervals(const std::vector<Time>& came) {
  std::vector<double> intervals;
  for (std::size_t i = 1; i < came.size(); ++i) intervals.push_back(to_seconds(came[i] - came[i - 1]) * 1e3);
  if (intervals.empty()) return;
  std::ranges::sort(intervals);
  const auto share = [&](double part) {
    return intervals[static_cast<std::size_t>(part * static_cast<double>(intervals.size() - 1))];
  };
  fmt::print("intervals there: p1 {:.2f} p50 {:.2f} p99 {:.2f} max {:.2f} ms\n", share(0.01), share(0.5),
             share(0.99), share(1));
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
  Garbage garbage(arguments.garbage, arguments.seed + 2, clock.now());
  std::vector<Time> came_there, came_back;
  constexpr timespec at_once{};
  while (sigtimedwait(&signals, nullptr, &at_once) <= 0) {
    const Time now = clock.now();
    carry(near, there, far, now, came_there);
    carry(far, back, near, now, came_back);
    garbage.send(near, now);
    const Time next =
        std::min({there.next(), back.next(), now + std::chrono::milliseconds(garbage.any() ? 1 : 20)});
    wait(near, far, next - now);
  }
  say("there", there.counters());
  say("back", back.counters());
  say_intervals(came_there);
  if (garbage.any()) fmt::print("garbage: {:.0f} a second\n", garbage.rate(clock.now()));
}
