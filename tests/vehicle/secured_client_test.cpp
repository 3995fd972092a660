// A client over the secure channel, with clock steps, pauses of the program, and a slow network.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <utility>

#include "secure/secure_pair.hpp"
#include "support/random.hpp"
#include "takt/vehicle/client.hpp"
#include "takt/vehicle/control_frame.hpp"
#include "vehicle/status_frames.hpp"

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;
using test::Bytes;
using test::encoded;
using test::status_frame;

namespace {

ClientConfiguration furbot() {
  ClientConfiguration c;
  c.units = provisional_units;
  c.payload = ByteOrder::big;
  return c;
}

/// A client, and a vehicle that reports every 10 ms that it is well and drives at 1 m/s. The vehicle obeys
/// the frames that its channel accepts. The step is 1 ms.
class World {
 public:
  using Client = VehicleClient<test::Commander>;

  World() {
    pass(300ms);
    drives = true;
    pass(500ms);
    REQUIRE(client.state() == SupervisorState::driving);
    REQUIRE(setpoints > 40);
    setpoints = 0;
  }

  [[nodiscard]] Time client_time() const { return now_ + client_clock; }
  [[nodiscard]] Time vehicle_time() const { return now_ + vehicle_clock; }

  void pass(Duration duration) {
    for (const Time end = now_ + duration; now_ < end;) {
      now_ += 1ms;
      if (!vehicle_is_held_up) vehicle_lives();
      if (!is_held_up) client_lives();
    }
  }

  void send_what_is_due() {
    Bytes out(Client::max_datagram);
    while (const auto size = client.poll(client_time(), out).value_or(0))
      up_.push_back({now_ + delay(), Bytes(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size))});
  }

  Client client = Client::make(furbot(), test::SecurePair::new_commander(1)).value();
  test::Vehicle vehicle = test::SecurePair::new_vehicle(101);
  Duration client_clock{};  ///< how much it is ahead of the vehicle's
  Duration vehicle_clock{};
  bool drives = false;
  bool is_held_up = false;  ///< the client's program
  bool vehicle_is_held_up = false;
  bool hears = true;  ///< the client receives
  int to_lose = 0;    ///< number of the next datagrams to the client that are lost
  Duration least_delay = 1ms, most_delay = 1ms;
  std::uint64_t setpoints = 0;  ///< accepted by the vehicle
  std::uint64_t stops = 0;
  double brake = 0;  ///< last commanded to the vehicle

 private:
  using Way = std::deque<std::pair<Time, Bytes>>;

  Duration delay() {
    return least_delay + Duration(test::uniform_int(random_, 0, (most_delay - least_delay).count()));
  }

  static bool take(Way& way, Time now, Bytes& datagram) {
    if (way.empty() || way.front().first > now) return false;
    datagram = std::move(way.front().second);
    way.pop_front();
    return true;
  }

  void say(std::span<const std::uint8_t> datagram) {
    if (!hears || to_lose-- > 0) return;
    down_.push_back({now_ + delay(), Bytes(datagram.begin(), datagram.end())});
  }

  void vehicle_lives() {
    Bytes out(512);
    Bytes datagram;
    const auto ms = static_cast<std::uint32_t>(to_nanoseconds(now_) / 1'000'000);
    if (ms % 10 == 0) {
      auto frame = status_frame(ms, 32);
      (void)frame.set(System::traction, "speed", 100);
      if (const auto size = vehicle.seal(encoded(frame), secure::Urgency::ordinary, vehicle_time(), out))
        say(std::span(out).first(*size));
    }
    while (take(up_, now_, datagram)) {
      if (const auto opened = vehicle.open(datagram, vehicle_time()); opened && !opened->payload.empty()) {
        ++(opened->urgency == secure::Urgency::stop ? stops : setpoints);
        brake = decode_control(opened->payload, ByteOrder::big)->brake / 100.0;
      }
      if (const auto size = vehicle.poll_handshake(vehicle_time(), out).value_or(0))
        say(std::span(out).first(size));
    }
  }

  void client_lives() {
    Bytes datagram;
    while (take(down_, now_, datagram)) (void)client.receive(datagram, client_time());
    if (drives) (void)client.drive({0, 0.5, 0}, client_time());
    if (client.next_send() <= client_time()) send_what_is_due();
  }

  Time now_ = time_from_nanoseconds(100'000'000'000);
  Way up_, down_;
  std::mt19937_64 random_ = test::generator(41);
};

}  // namespace

TEST_CASE("a stop goes out when the program was suspended and no telemetry arrives") {
  World world;
  world.is_held_up = true;
  world.pass(600ms);
  world.is_held_up = world.drives = world.hears = false;
  world.client.stop(StopCategory::category_0, world.client_time());
  world.pass(10ms);
  CHECK(world.stops > 0);
  CHECK(world.brake == 1);
  world.pass(5s);
  CHECK(world.stops >= 500);
}

TEST_CASE(
    "a stop goes out though the clock was ahead once, for a moment, and the answer to a hello was lost") {
  for (const Duration ahead : {Duration(1s), Duration(5s), Duration(1h)}) {
    World world;
    world.drives = false;
    world.client_clock = ahead;
    world.client.stop(StopCategory::category_0, world.client_time());
    world.send_what_is_due();
    world.client_clock = {};
    world.to_lose = 1;
    world.pass(900ms);
    CHECK(world.stops >= 85);
    CHECK(world.brake == 1);
  }
}

TEST_CASE("without a session a stop of any category is the full brake") {
  for (const StopCategory category :
       {StopCategory::category_0, StopCategory::category_1, StopCategory::category_2}) {
    World world;
    world.is_held_up = true;
    world.pass(600ms);
    world.is_held_up = world.drives = world.hears = false;
    world.client.stop(category, world.client_time());
    world.pass(10ms);
    CHECK(world.stops > 0);
    CHECK(world.brake == 1);
  }
}

TEST_CASE("a frame received with an old time, after a pause of the program, costs only itself") {
  for (const bool of_the_vehicle : {false, true}) {
    World world;
    Duration& clock = of_the_vehicle ? world.vehicle_clock : world.client_clock;
    bool& is_held_up = of_the_vehicle ? world.vehicle_is_held_up : world.is_held_up;
    for (int i = 0; i < 5; ++i) {
      is_held_up = true;
      world.pass(40ms);
      is_held_up = false;
      clock = -40ms;  // as it was read before
      world.pass(1ms);
      clock = {};
      world.pass(1s);
    }
    CHECK(world.client.state() == SupervisorState::driving);
    CHECK(world.client.drive_counters().stops == 0);
  }
}

TEST_CASE("a clock that is set ahead slightly costs few frames, and a gradual stop still works") {
  for (const Duration ahead : {50ms, 200ms, 450ms}) {
    World world;
    world.client_clock = ahead;
    world.pass(50ms);
    world.drives = false;
    world.client.stop(StopCategory::category_1, world.client_time());
    world.pass(1200ms);
    CHECK(world.brake > 0.3);  // gradual, by accepted frames
    CHECK(world.vehicle.refused()(secure::Errc::clock_jumped) >= 1);
    CHECK(world.vehicle.refused()(secure::Errc::clock_jumped) < 70);
  }
}

TEST_CASE("sessions are renewed over a network as slow as is allowed, and the vehicle goes on") {
  World world;
  world.least_delay = 72ms;
  world.most_delay = 75ms;
  world.pass(5min);
  CHECK(world.client.state() == SupervisorState::driving);
  CHECK(world.client.drive_counters().stops == 0);
  CHECK(world.client.counters().handshakes <= 2 * 32);
}
