// Round trips of datagrams over the loopback interface between two cores, beside hand-written system calls.
// Also the cost of taking waiting datagrams. The wake-up time of a sleeping core changes with the machine's
// load. Therefore the implementations take turns of a few milliseconds, and the result is the median ratio of
// neighbouring turns.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "takt/core/siphash.hpp"
#include "takt/platform/udp_socket.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"
#include "takt/vehicle/client.hpp"
#include "two_cores.hpp"

namespace {

using takt::Duration;
using takt::bench::median;
using takt::platform::Datagram;
using takt::platform::UdpSocket;

using Message = std::array<std::uint8_t, 64>;

template <class T>
T must(bool worked, T value) {
  if (!worked) std::abort();
  return value;
}

/// The hand-written form: a connected socket, send() and recv().
template <bool busy_poll>
class Raw {
 public:
  void send(const Message& message) {
    if (::send(socket_, message.data(), message.size(), 0) < 0) std::abort();
  }
  void receive(Message& message) {
    while (::recv(socket_, message.data(), message.size(), busy_poll ? MSG_DONTWAIT : 0) < 0) {
      if (!busy_poll) std::abort();
    }
  }
  void take(Message& message) { receive(message); }
  ~Raw() { close(socket_); }

  static void connect(Raw& one, Raw& other) {
    one.connect_to(other.port());
    other.connect_to(one.port());
  }

 private:
  static sockaddr_in loopback(in_port_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = port;
    return address;
  }
  static int bound() {
    const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
    const sockaddr_in address = loopback(0);
    const int result = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return must(result == 0, socket);
  }
  [[nodiscard]] in_port_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    const int result = ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    return must(result == 0, address.sin_port);
  }
  void connect_to(in_port_t port) const {
    const sockaddr_in address = loopback(port);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::abort();
  }

  int socket_ = bound();
};

template <bool busy_poll>
class Takt {
 public:
  void send(std::span<const std::uint8_t> message) {
    if (!socket_->send(message)) std::abort();
  }
  void receive(Message& message) {
    if (!socket_->receive(message, std::chrono::seconds(10))) std::abort();
  }
  void take(Message& message) {
    if (!socket_->receive(message, Duration(0))) std::abort();
  }
  std::size_t receive_batch(std::span<Datagram> batch) { return socket_->receive(batch, Duration(0)); }

  /// Two ports that were free a moment ago; if one is taken, it tries again.
  static void connect(Takt& one, Takt& other) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const std::uint16_t here = UdpSocket::open({})->local_port();
      const std::uint16_t there = UdpSocket::open({})->local_port();
      one.socket_ =
          UdpSocket::open({.local = {.port = here}, .peer = {.port = there}, .busy_poll = busy_poll});
      other.socket_ =
          UdpSocket::open({.local = {.port = there}, .peer = {.port = here}, .busy_poll = busy_poll});
      if (one.socket_ && other.socket_) return;
    }
    std::abort();
  }

 private:
  takt::SetupResult<UdpSocket> socket_ = takt::fail(takt::platform::Errc::udp_failed, "");
};

/// The median round trip in ns.
template <class End>
double round_trip() {
  constexpr int warm_up = 20;
  constexpr int trips = 200;
  End near;
  End far;
  End::connect(near, far);
  const takt::bench::Beside echo(false, [&far] {
    Message message{};
    for (int i = 0; i < warm_up + trips; ++i) {
      far.receive(message);
      far.send(message);
    }
  });
  Message message{};
  std::vector<double> times;
  for (int i = 0; i < warm_up + trips; ++i) {
    const auto start = std::chrono::steady_clock::now();
    near.send(message);
    near.receive(message);
    if (i >= warm_up) times.push_back(takt::bench::nanoseconds_since(start));
  }
  return median(times);
}

/// Reports the time of the first; a counter holds its ratio to each other one.
template <class Ours, class... Others>
void compare(benchmark::State& state, std::array<const char*, sizeof...(Others)> names) {
  takt::bench::pin(1);
  constexpr int turns = 15;
  for ([[maybe_unused]] auto _ : state) {
    std::vector<double> times;
    std::array<std::vector<double>, sizeof...(Others)> ratios;
    for (int turn = 0; turn < turns; ++turn) {
      const double ours = round_trip<Ours>();
      const std::array others = {round_trip<Others>()...};
      times.push_back(ours);
      for (std::size_t i = 0; i < others.size(); ++i) ratios[i].push_back(ours / others[i]);
    }
    for (std::size_t i = 0; i < ratios.size(); ++i) state.counters[names[i]] = median(ratios[i]);
    state.SetIterationTime(median(times) * 1e-9);
  }
}

void sleeping(benchmark::State& state) { compare<Takt<false>, Raw<false>>(state, {"times_raw"}); }
BENCHMARK(sleeping)->Name("udp/round_trip_64B/takt")->UseManualTime()->Iterations(1);

void busy(benchmark::State& state) {
  compare<Takt<true>, Raw<true>, Raw<false>>(state, {"times_raw_busy", "times_raw"});
}
BENCHMARK(busy)->Name("udp/round_trip_busy_poll_64B/takt")->UseManualTime()->Iterations(1);

// ---------------------------------------------------------------------------------------------- taking those
// that wait

constexpr std::size_t waiting = UdpSocket::batch;

template <class End, class Take>
void take_waiting(benchmark::State& state, Take&& take) {
  takt::bench::pin(1);
  End near;
  End far;
  End::connect(near, far);
  const Message message{};
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t i = 0; i < waiting; ++i) near.send(message);
    const auto start = std::chrono::steady_clock::now();
    take(far);
    state.SetIterationTime(takt::bench::nanoseconds_since(start) * 1e-9);
  }
}

template <class End>
void one_by_one(benchmark::State& state) {
  take_waiting<End>(state, [](End& far) {
    Message message{};
    for (std::size_t i = 0; i < waiting; ++i) far.take(message);
  });
}

void in_a_batch(benchmark::State& state) {
  std::array<Message, waiting> memory{};
  std::array<Datagram, waiting> batch{};
  for (std::size_t i = 0; i < waiting; ++i) batch[i].buffer = memory[i];
  take_waiting<Takt<false>>(state, [&](Takt<false>& far) {
    if (far.receive_batch(batch) != waiting) std::abort();
  });
}
BENCHMARK(in_a_batch)->Name("udp/take_32_waiting/takt")->UseManualTime();
BENCHMARK(one_by_one<Takt<false>>)->Name("udp/take_32_waiting/one_by_one")->UseManualTime();
BENCHMARK(one_by_one<Raw<false>>)->Name("udp/take_32_waiting/raw")->UseManualTime();

// --------------------------------------------------------------------------------------------------- garbage

/// The vehicle's cost for a batch of garbage from the peer's address: reading and rejecting each datagram. A
/// flood delays a loop by at most this time, if the loop checks its deadlines between batches, as
/// tools/vehicle_link.hpp does.
template <std::size_t size, class Client, class Fill>
void refuse_garbage(benchmark::State& state, Client& client, Fill&& fill) {
  Takt<false> near;
  Takt<false> far;
  Takt<false>::connect(near, far);
  using Garbage = std::array<std::uint8_t, size>;
  std::array<Garbage, waiting> memory{};
  std::array<Datagram, waiting> batch{};
  for (std::size_t i = 0; i < waiting; ++i) batch[i].buffer = memory[i];
  Garbage garbage{};
  std::uint64_t refused = 0;
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t i = 0; i < waiting; ++i) {
      fill(garbage);
      near.send(garbage);
    }
    const auto start = std::chrono::steady_clock::now();
    const std::size_t came = far.receive_batch(batch);
    for (const Datagram& datagram : std::span(batch).first(came))
      refused += client.receive(datagram.bytes(), takt::Time{}) ? 0u : 1u;
    state.SetIterationTime(takt::bench::nanoseconds_since(start) * 1e-9);
  }
  if (refused != static_cast<std::uint64_t>(state.iterations()) * waiting)
    state.SkipWithError("garbage was taken");
}

template <class Channel>
auto client_over(Channel channel) {
  takt::vehicle::ClientConfiguration c;
  c.units = takt::vehicle::provisional_units;
  c.payload = takt::vehicle::ByteOrder::big;
  return *takt::vehicle::VehicleClient<Channel>::make(c, std::move(channel));
}

using Commander = takt::secure::ClientChannel<takt::SipHash128>;
using Vehicle = takt::secure::ServerChannel<takt::SipHash128>;
constexpr takt::secure::SharedKey<takt::SipHash128> key{1, {7}};

auto random_bytes() {
  return [random = std::mt19937_64(1)](Message& garbage) mutable {
    for (std::uint8_t& byte : garbage) byte = static_cast<std::uint8_t>(random());
  };
}

void refuse_random_secure(benchmark::State& state) {
  auto client = client_over(*Commander::make(key, {1, 2, 3}));
  refuse_garbage<sizeof(Message)>(state, client, random_bytes());
}
BENCHMARK(refuse_random_secure)->Name("udp/refuse_32_of_garbage/takt")->UseManualTime();

void refuse_random_plain(benchmark::State& state) {
  auto client = client_over(takt::secure::PlainChannel{});
  refuse_garbage<sizeof(Message)>(state, client, random_bytes());
}
BENCHMARK(refuse_random_plain)->Name("udp/refuse_32_of_garbage/plain")->UseManualTime();

/// Garbage of an eavesdropper: the header is right, so that each tag must be computed.
template <std::size_t size>
void refuse_forged(benchmark::State& state) {
  const takt::Time now{};
  auto client = client_over(*Commander::make(key, {1, 2, 3}));
  Vehicle vehicle = *Vehicle::make(std::span(&key, 1), {4, 5, 6});
  std::array<std::uint8_t, Vehicle::max_handshake> handshake{};
  for (int turn = 0; turn < 2; ++turn) {  // hello and challenge, confirmation and welcome
    const std::size_t asked = client.poll(now, handshake).value();
    if (!vehicle.open(std::span(handshake).first(asked), now)) std::abort();
    const std::size_t answered = vehicle.poll_handshake(now, handshake).value();
    if (!client.receive(std::span(handshake).first(answered), now)) std::abort();
  }
  constexpr std::array<std::uint8_t, size - Vehicle::overhead> payload{};
  std::array<std::uint8_t, size> datagram{};
  if (!vehicle.seal(payload, takt::secure::Urgency::ordinary, now, datagram)) std::abort();
  datagram.back() ^= 1;
  refuse_garbage<size>(state, client, [&](auto& garbage) { garbage = datagram; });
  if (client.channel().refused()(takt::secure::Errc::bad_tag) != client.counters().refused)
    state.SkipWithError("something else than the tag was wrong");
}
BENCHMARK(refuse_forged<64>)->Name("udp/refuse_32_of_forged_64B/takt")->UseManualTime();
BENCHMARK(refuse_forged<1024>)->Name("udp/refuse_32_of_forged_1024B/takt")->UseManualTime();

}  // namespace
