// The loop that carries datagrams between a socket and an end of the connection, with real sockets. The
// socket counts datagrams that are too long. They cost no frame behind them, and do not delay the loop.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "sim/vehicle_rig.hpp"
#include "support/udp_pair.hpp"
#include "takt/core/siphash.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/vehicle/client.hpp"
#include "tools/vehicle_link.hpp"
#include "vehicle/status_frames.hpp"

using namespace takt;
using namespace std::chrono_literals;
using test::encoded;
using test::status_frame;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Client = vehicle::VehicleClient<secure::PlainChannel>;

constexpr std::size_t longest_datagram = 65507;
constexpr std::size_t room = 1024;  // of exchange()

vehicle::ClientConfiguration configuration() {
  vehicle::ClientConfiguration c;
  c.units = vehicle::provisional_units;
  c.payload = vehicle::ByteOrder::big;
  return c;
}

Client client() { return Client::make(configuration(), secure::PlainChannel{}).value(); }

/// Waits until the end has received so many datagrams; the loopback interface delivers at once.
template <class End>
void exchange_until(platform::UdpSocket& socket, End& end, std::uint64_t received) {
  const platform::SteadyClock clock;
  const Time patience = clock.now() + 10s;
  while (socket.counters().received < received && clock.now() < patience)
    tools::exchange(socket, end, clock.now() + 1ms);
  REQUIRE(socket.counters().received == received);
}

}  // namespace

TEST_CASE(
    "datagrams of 64 KiB into a client's loop are counted by its socket, and no status frame behind them is "
    "lost") {
  auto pair = test::udp_pair();
  auto end = client();
  for (std::uint32_t i = 1; i <= 20; ++i) {
    Bytes large = encoded(status_frame(10 * i));
    large.resize(i % 2 == 0 ? longest_datagram : room + 1);
    CHECK(pair.far.send(large));
    CHECK(pair.far.send(Bytes(room, 'A')));  // the longest accepted one
    CHECK(pair.far.send(encoded(status_frame(10 * i))));
    exchange_until(pair.near, end, 2 * i);
  }
  CHECK(pair.near.counters().too_long == 20);
  CHECK(pair.near.counters().dropped == 0);
  CHECK(end.counters().received == 40);
  const auto& heard = end.telemetry().counters();
  CHECK(heard.malformed == 20);
  CHECK(heard.taken + heard.late + heard.impossible + heard.duplicated == 20);
  CHECK(end.counters().sent == pair.near.counters().sent);
}

TEST_CASE(
    "datagrams of 64 KiB into a vehicle's loop are counted by its socket, and no control frame behind them "
    "is lost") {
  auto pair = test::udp_pair();
  auto end = test::Vehicle::make(test::furbot(), {.payload = vehicle::ByteOrder::big}, {},
                                 platform::SteadyClock().now())
                 .value();
  std::array<std::uint8_t, vehicle::control_frame_bytes> frame{};
  for (std::uint32_t i = 1; i <= 20; ++i) {
    CHECK(pair.far.send(Bytes(longest_datagram, 'A')));
    CHECK(vehicle::encode_control({10 * i, 0, 0, 100}, frame, vehicle::ByteOrder::big));
    CHECK(pair.far.send(frame));
    exchange_until(pair.near, end, i);
  }
  CHECK(pair.near.counters().too_long == 20);
  CHECK(pair.near.counters().dropped == 0);
  CHECK(end.controller().counters().held == 20);
  CHECK(end.counters().malformed == 0);
}

TEST_CASE(
    "over the envelope, too, a too long datagram is dropped, and the longest accepted one is refused by "
    "name") {
  auto pair = test::udp_pair();
  const secure::SharedKey<SipHash128> key{1, {1, 2, 3}};
  using Channel = secure::ClientChannel<SipHash128>;
  auto end = vehicle::VehicleClient<Channel>::make(configuration(), Channel::make(key, {4}).value()).value();
  for (std::uint64_t i = 1; i <= 10; ++i) {
    Bytes bytes(longest_datagram);
    bytes[0] = 0x54, bytes[1] = 0x4b, bytes[2] = 1;
    CHECK(pair.far.send(bytes));
    bytes.resize(room);
    CHECK(pair.far.send(bytes));
    exchange_until(pair.near, end, i);
  }
  CHECK(pair.near.counters().too_long == 10);
  CHECK(end.counters().refused == 10);
  CHECK(end.channel().refused()(secure::Errc::wrong_version) == 10);  // a kind of 0
}

TEST_CASE("a loop that is late already sends what is due and takes what is there, but not for ever") {
  auto pair = test::udp_pair();
  auto end = client();
  constexpr std::uint64_t flood = 70, batch = platform::UdpSocket::batch;
  for (std::uint64_t i = 0; i < flood; ++i) CHECK(pair.far.send(Bytes(room + 1)));
  CHECK(pair.far.send(encoded(status_frame(10))));
  tools::exchange(pair.near, end, Time{});
  CHECK(end.counters().sent == 1);
  CHECK(pair.near.counters().sent == 1);
  CHECK(pair.near.counters().too_long == batch);
  tools::exchange(pair.near, end, Time{});
  CHECK(pair.near.counters().too_long == 2 * batch);
  CHECK(end.counters().received == 0);
  tools::exchange(pair.near, end, Time{});
  CHECK(pair.near.counters().too_long == flood);
  CHECK(end.telemetry().counters().taken == 1);
}
