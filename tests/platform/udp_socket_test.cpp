// A UDP socket over the loopback interface. Datagrams arrive whole or not at all, those of strangers are
// dropped, and faults of the other side are counted and survived.
#include "takt/platform/udp_socket.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "support/rt_guard.hpp"
#include "support/udp_pair.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using namespace takt::platform;

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t longest_datagram = 65507;
constexpr Duration no_time{0};
constexpr Duration long_time = std::chrono::seconds(10);

Bytes numbered(std::size_t size, std::uint8_t first = 0) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

/// The next datagram; waits for it.
Bytes receive(UdpSocket& socket) {
  Bytes buffer(longest_datagram);
  const auto size = socket.receive(buffer, long_time);
  REQUIRE(size.has_value());
  buffer.resize(*size);
  return buffer;
}

}  // namespace

TEST_CASE("datagrams of every size cross both ways unchanged, also one of no bytes") {
  for (const bool busy_poll : {false, true}) {
    auto pair = test::udp_pair(busy_poll);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{132}, longest_datagram}) {
      CAPTURE(size);
      CHECK(pair.near.send(numbered(size, 3)));
      CHECK(receive(pair.far) == numbered(size, 3));
      CHECK(pair.far.send(numbered(size, 7)));
      CHECK(receive(pair.near) == numbered(size, 7));
    }
    CHECK(pair.near.counters().sent == 4);
    CHECK(pair.near.counters().received == 4);
  }
}

TEST_CASE("where nothing came, receive says so, not before its time is over") {
  for (const bool busy_poll : {false, true}) {
    auto pair = test::udp_pair(busy_poll);
    std::array<std::uint8_t, 8> buffer{};
    CHECK(!pair.near.receive(buffer, no_time).has_value());
    CHECK(!pair.near.receive(buffer, Duration::min()).has_value());
    const SteadyClock clock;
    for (const Duration timeout : {std::chrono::milliseconds(3), std::chrono::milliseconds(100)}) {
      const Time begin = clock.now();
      CHECK(!pair.near.receive(buffer, timeout).has_value());
      CHECK(clock.now() - begin >= timeout);
    }
  }
}

TEST_CASE("a batch takes what is there, oldest first, and no more than there is room for") {
  auto pair = test::udp_pair();
  for (std::uint8_t i = 0; i < 10; ++i) CHECK(pair.near.send(Bytes{i}));
  std::array<std::array<std::uint8_t, 4>, 8> memory{};
  std::array<Datagram, 8> batch{};
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].buffer = memory[i];
  CHECK(pair.far.receive(batch, long_time) == 8);
  for (std::uint8_t i = 0; i < 8; ++i) {
    REQUIRE(batch[i].size == 1);
    CHECK(batch[i].bytes()[0] == i);
  }
  CHECK(pair.far.receive(batch, no_time) == 2);
  CHECK(batch[0].bytes()[0] == 8);
  CHECK(batch[1].bytes()[0] == 9);
  CHECK(pair.far.receive(batch, no_time) == 0);
  CHECK(pair.far.receive(std::span<Datagram>(), long_time) == 0);
}

TEST_CASE(
    "a datagram that does not fit is not given in part, is counted, and does not hide those behind it") {
  auto pair = test::udp_pair();
  const auto send = [&](std::size_t size, std::uint8_t first) {
    CHECK(pair.near.send(numbered(size, first)));
  };
  send(longest_datagram, 0);
  send(5, 1);
  send(4, 2);
  std::array<std::uint8_t, 4> buffer{};
  CHECK(pair.far.receive(buffer, no_time) == 4);
  CHECK(buffer[0] == 2);
  CHECK(pair.far.counters().too_long == 2);
  CHECK(pair.far.counters().received == 1);

  std::array<std::array<std::uint8_t, 4>, 4> memory{};
  std::array<Datagram, 4> batch{};
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].buffer = memory[i];
  send(1, 10);
  send(6, 20);
  send(2, 30);
  CHECK(pair.far.receive(batch, no_time) == 2);
  CHECK(batch[0].bytes()[0] == 10);
  CHECK(batch[1].bytes()[0] == 30);
  CHECK(batch[1].size == 2);
  CHECK(pair.far.counters().too_long == 3);
}

TEST_CASE("a flood of datagrams that do not fit does not hold the receiver") {
  auto pair = test::udp_pair();
  for (std::size_t i = 0; i < UdpSocket::batch + 1; ++i) CHECK(pair.near.send(Bytes(5)));
  CHECK(pair.near.send(Bytes(1)));
  std::array<std::uint8_t, 4> buffer{};
  CHECK(!pair.far.receive(buffer, no_time).has_value());
  CHECK(pair.far.counters().too_long == UdpSocket::batch);
  CHECK(pair.far.receive(buffer, no_time) == 1);
}

TEST_CASE("only the peer's datagrams are received") {
  auto pair = test::udp_pair();
  auto stranger = UdpSocket::open({.peer = {.port = pair.far.local_port()}});
  REQUIRE(stranger.has_value());
  stranger->send(Bytes{66});
  CHECK(pair.near.send(Bytes{1}));
  CHECK(receive(pair.far) == Bytes{1});
  std::array<std::uint8_t, 8> buffer{};
  CHECK(!pair.far.receive(buffer, no_time).has_value());
}

TEST_CASE("with a peer whose port is not said, all of its ports are heard") {
  auto ear = UdpSocket::open({});
  REQUIRE(ear.has_value());
  for (std::uint8_t i = 0; i < 3; ++i) {
    auto mouth = UdpSocket::open({.peer = {.port = ear->local_port()}});
    REQUIRE(mouth.has_value());
    CHECK(mouth->send(Bytes{i}));
    CHECK(receive(*ear) == Bytes{i});
  }
}

TEST_CASE("a peer of any port is answered where it sends from, and then no other port of it is heard") {
  auto ear = UdpSocket::open({});
  REQUIRE(ear.has_value());
  CHECK(ear->is_open_to_any_port());
  CHECK(!ear->send(Bytes{1}));  // no destination yet
  const UdpEndpoint there{.port = ear->local_port()};
  auto first = UdpSocket::open({.peer = there});
  auto second = UdpSocket::open({.peer = there});
  REQUIRE((first && second));
  std::array<std::array<std::uint8_t, 4>, 4> memory{};
  std::array<Datagram, 4> batch{};
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].buffer = memory[i];
  CHECK(first->send(Bytes{1}));
  CHECK(second->send(Bytes{2}));
  REQUIRE(ear->receive(batch, long_time) == 2);
  CHECK(batch[0].port == first->local_port());
  CHECK(batch[1].port == second->local_port());
  CHECK(ear->sender_port() == second->local_port());
  ear->answer(first->local_port());
  CHECK(ear->send(Bytes{11}));
  CHECK(receive(*first) == Bytes{11});
  ear->answer(second->local_port());
  CHECK(ear->send(Bytes{12}));
  CHECK(receive(*second) == Bytes{12});

  CHECK(first->send(Bytes{3}));  // waits in the queue
  CHECK(ear->settle(second->local_port()));
  CHECK(!ear->is_open_to_any_port());
  CHECK(ear->settled_port() == second->local_port());
  CHECK(!ear->settle(first->local_port()));
  CHECK(first->send(Bytes{4}));
  CHECK(second->send(Bytes{5}));
  CHECK(receive(*ear) == Bytes{5});
  CHECK(!ear->receive(memory[0], no_time).has_value());
  CHECK(ear->counters().foreign == 1);
  ear->answer(first->local_port());  // too late
  CHECK(ear->send(Bytes{6}));
  CHECK(receive(*second) == Bytes{6});
}

TEST_CASE("with any port of the peer, other hosts are not received") {
  auto ear = UdpSocket::open({});
  REQUIRE(ear.has_value());
  auto stranger = UdpSocket::open({.local = {"127.0.0.2"}, .peer = {.port = ear->local_port()}});
  auto peer = UdpSocket::open({.peer = {.port = ear->local_port()}});
  REQUIRE((stranger && peer));
  stranger->send(Bytes{66});
  CHECK(peer->send(Bytes{1}));
  CHECK(receive(*ear) == Bytes{1});
  std::array<std::uint8_t, 8> buffer{};
  CHECK(!ear->receive(buffer, no_time).has_value());
}

TEST_CASE("a socket can send elsewhere than to where it hears from") {
  auto ear = UdpSocket::open({});
  REQUIRE(ear.has_value());
  auto mouth =
      UdpSocket::open({.peer = {"127.0.0.1", 9}, .destination = UdpEndpoint{.port = ear->local_port()}});
  REQUIRE(mouth.has_value());
  CHECK(mouth->send(Bytes{1}));
  CHECK(receive(*ear) == Bytes{1});
  const auto mixed = UdpSocket::open({.destination = UdpEndpoint{"::1", 9}});
  CHECK(mixed.error().error == Errc::bad_address);
}

TEST_CASE("datagrams of strangers are counted on request, are not received, and the port is exclusive") {
  const UdpEndpoint peer_place{.port = test::free_udp_port()};
  auto ear = UdpSocket::open({.peer = peer_place, .watch_strangers = true});
  REQUIRE(ear.has_value());
  CHECK(ear->strangers().datagrams == 0);
  CHECK(ear->strangers().last.port == 0);
  const UdpEndpoint there{.port = ear->local_port()};
  auto stranger = UdpSocket::open({.local = {"127.0.0.2"}, .peer = there});
  auto peer = UdpSocket::open({.local = peer_place, .peer = there});
  REQUIRE((stranger && peer));
  for (int i = 0; i < 200; ++i) CHECK(stranger->send(Bytes(100)));
  CHECK(peer->send(Bytes{1}));
  CHECK(receive(*ear) == Bytes{1});
  std::array<std::uint8_t, 8> buffer{};
  CHECK(!ear->receive(buffer, no_time).has_value());
  const UdpStrangers strangers = ear->strangers();
  CHECK(strangers.datagrams == 200);
  CHECK(strangers.last.address == "127.0.0.2");
  CHECK(strangers.last.port == stranger->local_port());
  CHECK(UdpSocket::open({.local = there}).error().error == Errc::udp_failed);
  CHECK(UdpSocket::open({.local = there, .watch_strangers = true}).error().error == Errc::udp_failed);
}

TEST_CASE("a peer that is not there is counted, and reached as soon as it is") {
  auto pair = test::udp_pair();
  const UdpEndpoint there{.port = pair.far.local_port()};
  const UdpEndpoint here{.port = pair.near.local_port()};
  { const UdpSocket gone = std::move(pair.far); }
  for (int i = 0; i < 5; ++i) pair.near.send(Bytes{1});
  std::array<std::uint8_t, 8> buffer{};
  CHECK(!pair.near.receive(buffer, no_time).has_value());
  CHECK(pair.near.counters().unreachable > 0);
  CHECK(pair.near.counters().sent + pair.near.counters().refused == 5);
  auto back = UdpSocket::open({.local = there, .peer = here});
  REQUIRE(back.has_value());
  CHECK(pair.near.send(Bytes{2}));
  CHECK(receive(*back) == Bytes{2});
}

TEST_CASE("datagrams that the kernel dropped are counted") {
  auto pair = test::udp_pair();
  constexpr std::uint64_t flood = 3000;
  for (std::uint64_t i = 0; i < flood; ++i) pair.near.send(Bytes(1000));
  std::array<std::uint8_t, 1000> buffer{};
  while (pair.far.receive(buffer, no_time)) {
  }
  const UdpCounters counters = pair.far.counters();
  CHECK(counters.dropped > 0);
  CHECK(counters.received + counters.dropped == pair.near.counters().sent);
}

TEST_CASE("a datagram that is too long for UDP is refused, and the next one is sent") {
  auto pair = test::udp_pair();
  CHECK(!pair.near.send(Bytes(longest_datagram + 1)));
  CHECK(pair.near.counters().refused == 1);
  CHECK(pair.near.send(Bytes{1}));
  CHECK(receive(pair.far) == Bytes{1});
}

TEST_CASE("over IPv6 it is the same") {
  auto ear = UdpSocket::open({.local = {"::1"}, .peer = {"::1"}});
  if (!ear) return;  // not every machine has IPv6
  auto mouth = UdpSocket::open({.local = {"::1"}, .peer = {"::1", ear->local_port()}});
  REQUIRE(mouth.has_value());
  CHECK(mouth->send(Bytes{6}));
  CHECK(receive(*ear) == Bytes{6});
}

TEST_CASE("a socket that cannot be opened is refused with the reason") {
  const auto named = UdpSocket::open({.local = {"localhost"}});
  REQUIRE(!named.has_value());
  CHECK(named.error().error == Errc::bad_address);
  CHECK(named.error().message.find("localhost") != std::string::npos);
  CHECK(UdpSocket::open({.peer = {"10.0.0.256"}}).error().error == Errc::bad_address);
  CHECK(UdpSocket::open({.peer = {""}}).error().error == Errc::bad_address);
  const auto mixed = UdpSocket::open({.local = {"127.0.0.1"}, .peer = {"::1", 1}});
  REQUIRE(!mixed.has_value());
  CHECK(mixed.error().error == Errc::udp_failed);
  const auto pair = test::udp_pair();
  const auto second = UdpSocket::open({.local = {.port = pair.near.local_port()}});
  REQUIRE(!second.has_value());
  CHECK(second.error().error == Errc::udp_failed);
  CHECK(second.error().message.find("in use") != std::string::npos);
  const auto far = UdpSocket::open({.local = {}, .peer = {"192.0.2.1", 18004}});
  REQUIRE(!far.has_value());
  CHECK(far.error().message.find("a loopback address reaches no other machine") != std::string::npos);
}

TEST_CASE("a socket that was moved from is closed once, and is not inherited by other programs") {
  auto pair = test::udp_pair();
  CHECK((::fcntl(pair.near.descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
  UdpSocket moved = std::move(pair.near);
  CHECK(moved.send(Bytes{1}));
  CHECK(receive(pair.far) == Bytes{1});
  moved = std::move(pair.far);
  CHECK(moved.counters().received == 1);
}

TEST_CASE("sending and receiving keep the rules of the loop") {
  auto pair = test::udp_pair();
  std::array<std::uint8_t, 132> bytes{};
  std::array<std::array<std::uint8_t, 132>, 4> memory{};
  std::array<Datagram, 4> batch{};
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].buffer = memory[i];
  bool ok = true;
  test::RtGuard guard({.allow = {SYS_sendto, SYS_recvfrom, SYS_recvmmsg, SYS_ppoll, SYS_setsockopt}});
  for (int i = 0; i < 100; ++i) {
    ok = pair.near.send(bytes) && ok;
    ok = pair.far.receive(bytes, long_time).has_value() && ok;
    ok = pair.near.send(bytes) && pair.near.send(bytes) && ok;
    ok = pair.far.receive(batch, no_time) == 2 && ok;
    ok = !pair.far.receive(bytes, std::chrono::microseconds(10)).has_value() && ok;
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}
