// Fuzzes a vehicle's client with any datagrams, times and commands in any order. It releases the brake or
// applies the throttle only with a fresh command, for a healthy vehicle, and never in a stop
// (vehicle/client_watch.hpp).
//
// The input is a list of events, each with an opcode and its arguments: see World::happen().
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "support/require.hpp"
#include "takt/core/bytes.hpp"
#include "takt/vehicle/client.hpp"
#include "vehicle/client_watch.hpp"
#include "vehicle/status_frames.hpp"

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;
using takt::test::require;

namespace {

using Client = VehicleClient<secure::PlainChannel>;

ClientConfiguration configuration() {
  ClientConfiguration c;
  c.units = provisional_units;
  c.payload = ByteOrder::big;
  c.drive.limits = {.steering = 0.4, .throttle = 0.8, .reverse = 0.3};
  c.drive.stop.settling = 50ms;
  return c;
}

class World {
 public:
  explicit World(std::span<const std::uint8_t> script) : script_(script) {}

  void run() {
    pass(Duration(0));
    poll();
    while (script_.ok() && script_.remaining() > 0) happen();
  }

 private:
  void happen() {
    switch (script_.little<std::uint8_t>() % 8) {
      case 0:
        pass(script_.little<std::uint16_t>() * 10us);
        break;
      case 1:
        pass(script_.little<std::int32_t>() * 1us);
        break;
      case 2:
        receive(script_.bytes(std::min<std::size_t>(script_.little<std::uint8_t>(), script_.remaining())));
        break;
      case 3:
        hear();
        break;
      case 4:
        drive({number() * 1e-4, number() * 1e-4, number() * 1e-4});
        break;
      case 5:
        drive({script_.little<double>(), script_.little<double>(), 0});
        break;
      case 6:
        stop_or_recover(script_.little<std::uint8_t>());
        break;
      case 7:
        cruise(script_.little<std::uint8_t>() % 16);
        break;
    }
    poll();
  }

  [[nodiscard]] double number() { return script_.little<std::int16_t>(); }

  void pass(Duration duration) {
    now_ = std::max(now_ + duration, Time{});
    watch_.time(now_);
  }

  void receive(std::span<const std::uint8_t> bytes) {
    if (client_.receive(bytes, now_) && !bytes.empty()) watch_.heard(decode_status(bytes).value());
  }

  /// A healthy frame except one system, sent a while ago.
  void hear(std::int8_t ago, std::uint8_t system, std::uint8_t state, std::int16_t speed) {
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(now_.time_since_epoch()).count();
    auto frame = test::status_frame(static_cast<std::uint32_t>(ms - ago));
    (void)frame.set(static_cast<System>(system), static_cast<SystemState>(state));
    (void)frame.set(System::traction, "speed", speed);
    const std::int16_t wheels = speed % 2 == 0 ? 0 : speed;  // turning or not, independent of the speed
    (void)frame.set(System::traction, "left_speed", wheels);
    (void)frame.set(System::traction, "right_speed", wheels);
    receive(test::encoded(frame));
  }
  void hear() {
    const auto ago = script_.little<std::int8_t>();
    const auto system = script_.little<std::uint8_t>();
    const auto state = script_.little<std::uint8_t>();
    hear(ago, system, state, script_.little<std::int16_t>());
  }

  void drive(const DriveCommand& command) {
    if (client_.drive(command, now_)) watch_.commanded(command);
    last_ = command;
  }

  void stop_or_recover(std::uint8_t what) {
    if (what % 4 < 3) {
      watch_.stopped(static_cast<StopCategory>(what % 4));
      client_.stop(static_cast<StopCategory>(what % 4), now_);
    } else if (client_.category() && client_.recover(now_)) {
      watch_.recovered();
    }
  }

  /// Runs this many periods without faults.
  void cruise(int periods) {
    for (int i = 0; i < periods; ++i) {
      pass(10ms);
      hear(0, 255, 0, 0);
      drive(last_);
      poll();
    }
  }

  void poll() {
    std::array<std::uint8_t, Client::max_datagram> out;
    for (int i = 0;; ++i) {
      const auto size = client_.poll(now_, out);
      if (client_.category()) watch_.stopped(*client_.category());
      require(size.has_value() && i < 4);
      if (*size == 0) break;
      watch_.sent(std::span(out).first(*size));
    }
    require(client_.next_send() > now_ || now_ < latest_);
    latest_ = std::max(latest_, now_);
    require(watch_.violated().empty());
  }

  ByteReader script_;
  Time now_ = time_from_nanoseconds(1'000'000'000);
  Time latest_{};
  DriveCommand last_{0, 0.2, 0};
  Client client_ = Client::make(configuration(), secure::PlainChannel{}).value();
  test::ClientWatch watch_{configuration()};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  World(std::span<const std::uint8_t>(data, std::min<std::size_t>(size, 512))).run();
  return 0;
}
