// Forwards datagrams between two programs over the loopback interface, with the faults of faulty_path.hpp of
// tests/support. Each direction has its own seed. It runs until it is ended, and then prints its counters.
//
//   takt_udp_fault_proxy NEAR_LOCAL NEAR_PEER FAR_LOCAL FAR_PEER [NAME=VALUE]...
//
// The first four are of the form ADDRESS:PORT: where the near program sends, the near program itself, and
// the same for the far one. Names: loss, duplicate, corrupt, reorder (shares from 0 to 1), delay, jitter
// (ms), seed, garbage, of_garbage. The near program gets `garbage` additional datagrams a second from its
// first own one on, `of_garbage` in all.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/faulty_path.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/udp_socket.hpp"
#include "takt/secure/envelope.hpp"
#include "tools/signals.hpp"

using namespace takt;
using platform::UdpSocket;

namespace {

struct Arguments {
  test::PathFaults faults;
  std::uint64_t seed = 1;
  double garbage = 0;
  double of_garbage = 0;
};

bool read(const std::string& text, Arguments& arguments) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = text.substr(0, equals);
  const double value = std::strtod(text.c_str() + equals + 1, nullptr);
  test::PathFaults& faults = arguments.faults;
  if (name == "loss") return faults.loss = value, true;
  if (name == "duplicate") return faults.duplicate = value, true;
  if (name == "corrupt") return faults.corrupt = value, true;
  if (name == "reorder") return faults.reorder = value, true;
  if (name == "delay") return faults.delay = from_seconds(value * 1e-3), true;
  if (name == "jitter") return faults.jitter = from_seconds(value * 1e-3), true;
  if (name == "garbage") return arguments.garbage = value, true;
  if (name == "of_garbage") return arguments.of_garbage = value, true;
  if (name == "seed") return arguments.seed = static_cast<std::uint64_t>(value), true;
  return false;
}

platform::UdpEndpoint endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {};
  return {text.substr(0, colon), static_cast<std::uint16_t>(std::atoi(text.c_str() + colon + 1))};
}

UdpSocket open(const char* local, const char* peer) {
  auto socket = UdpSocket::open({.local = endpoint(local), .peer = endpoint(peer)});
  if (socket) return std::move(*socket);
  fmt::print(stderr, "{}\n", socket.error().message);
  std::exit(1);
}

/// The received datagrams of one side.
struct Heard {
  std::vector<Time> times;
  std::vector<std::uint8_t> last;
};

/// Forwards from one socket to the other.
void carry(UdpSocket& from, test::FaultyPath& way, UdpSocket& to, Time now, Heard& heard) {
  std::array<std::uint8_t, 65536> buffer;
  while (const auto size = from.receive(buffer, Duration(0))) {
    heard.times.push_back(now);
    heard.last.assign(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*size));
    way.take(heard.last, now);
  }
  while (const auto datagram = way.give(now)) to.send(*datagram);
}

/// Sends random bytes at the requested rate; missed datagrams are made up for gradually. Half of them have
/// the length and header of the last genuine datagram, with the session, so that the tag must be checked. One
/// of fifty is longer than any frame.
class Garbage {
 public:
  Garbage(const Arguments& arguments, Time start)
      : rate_(arguments.garbage), all_(arguments.of_garbage), random_(arguments.seed + 2), start_(start) {}

  void send(UdpSocket& socket, Time now, std::span<const std::uint8_t> genuine) {
    const double due = std::min(all_, rate_ * to_seconds(now - start_));
    for (int i = 0; i < 500 && static_cast<double>(sent_) < due; ++i) {
      std::array<std::uint8_t, 1500> bytes;
      const bool forged = sent_ % 2 == 1 && genuine.size() > secure::envelope_overhead;
      const std::size_t size = forged ? genuine.size() : sent_ % 50 == 0 ? bytes.size() : 132;
      const auto datagram = std::span(bytes).first(std::min(size, bytes.size()));
      for (std::uint8_t& byte : datagram) byte = static_cast<std::uint8_t>(random_());
      if (forged) std::ranges::copy(genuine.first(secure::envelope_header), bytes.begin());
      sent_ += socket.send(datagram) ? 1U : 0U;
    }
    if (going_on() || said_) return;
    said_ = true;
    fmt::print("garbage: {} sent, {:.0f} a second\n", sent_,
               static_cast<double>(sent_) / to_seconds(now - start_));
    std::fflush(stdout);
  }
  [[nodiscard]] bool going_on() const { return static_cast<double>(sent_) < all_; }

 private:
  double rate_, all_;
  std::minstd_rand random_;
  Time start_;
  std::uint64_t sent_ = 0;
  bool said_ = false;
};

/// The regularity of arrivals.
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

void say(const char* name, const platform::UdpCounters& counters) {
  fmt::print("{}: {} sent, {} received, {} dropped by the system\n", name, counters.sent, counters.received,
             counters.dropped);
}

void say(const char* way, const test::PathCounters& counters) {
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
  test::FaultyPath there(arguments.faults, arguments.seed);
  test::FaultyPath back(arguments.faults, arguments.seed + 1);
  const platform::SteadyClock clock;
  std::optional<Garbage> garbage;
  Heard heard_there, heard_back;
  constexpr timespec at_once{};
  while (sigtimedwait(&signals, nullptr, &at_once) <= 0) {
    const Time now = clock.now();
    carry(near, there, far, now, heard_there);
    carry(far, back, near, now, heard_back);
    if (!garbage && arguments.garbage > 0 && !heard_there.times.empty()) garbage.emplace(arguments, now);
    if (garbage) garbage->send(near, now, heard_back.last);
    const auto patience = std::chrono::milliseconds(garbage && garbage->going_on() ? 1 : 20);
    const Time next = std::min({there.next(), back.next(), now + patience});
    wait(near, far, next - now);
  }
  say("there", there.counters());
  say("back", back.counters());
  say("near", near.counters());
  say("far", far.counters());
  say_intervals(heard_there.times);
}
