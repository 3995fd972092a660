// The vehicle client on a simulated line: states, stops, timeouts, telemetry and handshakes.
#include "takt/vehicle/client.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "vehicle/status_frames.hpp"

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;
using test::encoded;
using test::status_frame;

namespace {

using Client = VehicleClient<secure::PlainChannel>;

Time at(std::int64_t ms) { return time_from_nanoseconds(ms * 1'000'000); }

Client::Configuration configuration() {
  Client::Configuration c;
  c.units = provisional_units;
  c.payload = ByteOrder::big;
  return c;
}

Client made() { return Client::make(configuration(), secure::PlainChannel{}).value(); }

/// A client on a line without delay, with its last frame.
struct Line {
  Client client = made();
  std::int64_t ms = 1000;
  std::int32_t wheels = 0;  ///< raw counts
  SystemState vehicle = SystemState::running;
  bool cut = false;                      ///< status frames are lost
  std::optional<DriveCommand> wanted{};  ///< commanded every 20 ms
  std::vector<ControlFrame> sent{};

  /// Both ends send every 10 ms.
  void run(std::int64_t duration) {
    for (const std::int64_t end = ms + duration; ms < end; ms += 10) {
      auto frame = status_frame(static_cast<std::uint32_t>(ms), wheels, vehicle);
      (void)frame.set(System::traction, "speed", wheels);
      if (!cut) (void)client.receive(encoded(frame), at(ms));
      if (wanted && ms % 20 == 0) (void)client.drive(*wanted, at(ms));
      poll();
    }
  }

  void poll() {
    std::array<std::uint8_t, Client::max_datagram> out;
    while (const std::size_t size = client.poll(at(ms), out).value())
      sent.push_back(decode_control(std::span(out).first(size), ByteOrder::big).value());
  }

  [[nodiscard]] DriveCommand last() const { return client.units().command(sent.back()); }
};

Line driving() {
  Line line;
  line.run(50);
  line.wanted = {0.1, 0.5, 0};
  line.wheels = 200;
  line.run(500);
  REQUIRE(line.client.state() == SupervisorState::driving);
  return line;
}

}  // namespace

TEST_CASE(
    "from the first call on, control frames go out at a fixed rate, and hold a vehicle without telemetry") {
  auto client = made();
  std::array<std::uint8_t, Client::max_datagram> out;
  CHECK(client.next_send() == Time::min());
  for (int ms = 100; ms < 1100; ++ms) {
    const bool due = ms % 10 == 0;
    CHECK(client.next_send() <= at(ms - ms % 10 + (due ? 0 : 10)));
    const std::size_t size = client.poll(at(ms), out).value();
    CHECK(size == (due ? control_frame_bytes : 0));
    CHECK(client.poll(at(ms), out).value() == 0);
    if (due)
      CHECK(decode_control(out, ByteOrder::big).value() ==
            ControlFrame{static_cast<std::uint32_t>(ms), 0, 0, 100});
  }
  CHECK(client.state() == SupervisorState::starting);
  CHECK(client.reason().cause == StopCause::telemetry_silent);
  CHECK(client.drive({0, 0.1, 0}, at(1100)).error() == Errc::not_ready);
  CHECK(client.counters() == ClientCounters{.sent = 100});
}

TEST_CASE("what was missed is counted and not made up for, and the rate keeps its phase") {
  auto client = made();
  std::array<std::uint8_t, Client::max_datagram> out;
  (void)client.poll(at(100), out);
  CHECK(client.next_send() == at(110));
  CHECK(client.poll(at(113), out).value() > 0);
  CHECK(client.next_send() == at(120));
  CHECK(client.poll(at(155), out).value() > 0);
  CHECK(client.poll(at(155), out).value() == 0);
  CHECK(client.next_send() == at(160));
  CHECK(client.counters() == ClientCounters{.sent = 3, .missed = 3});
}

TEST_CASE("the vehicle is driven once all of its systems run and commands arrive") {
  Line line;
  line.wanted = {0.1, 0.5, 0};
  for (const auto state : {SystemState::cold, SystemState::init}) {
    line.vehicle = state;
    line.run(100);
    CHECK(line.client.state() == SupervisorState::starting);
    CHECK(line.client.reason() == StopReason{StopCause::system_not_running, System::communication});
    CHECK(line.last() == DriveCommand{0, 0, 1});
  }
  line.vehicle = SystemState::running;
  line.wanted.reset();
  line.run(100);
  CHECK(line.client.state() == SupervisorState::ready);
  CHECK(line.last() == DriveCommand{0, 0, 1});
  line.wanted = {0.1, -0.5, 0};
  line.run(1000);
  CHECK(line.client.state() == SupervisorState::driving);
  CHECK(line.sent.back() == ControlFrame{static_cast<std::uint32_t>(line.ms - 10), 100, -50, 0});
  CHECK(line.client.reason() == StopReason{});
}

TEST_CASE("without commands the vehicle is stopped and held, and continues only after a recovery") {
  auto line = driving();
  line.wanted.reset();
  line.run(190);
  CHECK(line.client.state() == SupervisorState::driving);
  line.run(30);
  CHECK(line.client.state() == SupervisorState::stopping);
  CHECK(line.client.reason() == StopReason{StopCause::command_timeout, {}});
  CHECK(line.last().throttle == 0);
  line.run(600);
  CHECK(line.last() == DriveCommand{0.1, 0, 0.5});
  CHECK(line.client.recover(at(line.ms)).error() == Errc::not_standing);
  line.wheels = 0;
  line.wanted = {0.1, 0.5, 0};
  line.run(2000);
  CHECK(line.client.state() == SupervisorState::stopped);
  CHECK(line.last() == DriveCommand{0.1, 0, 1});
  CHECK(line.client.recover(at(line.ms)));
  CHECK(line.client.state() == SupervisorState::ready);
  line.run(100);
  CHECK(line.client.state() == SupervisorState::driving);
  CHECK(line.last() == DriveCommand{0.1, 0.5, 0});
  CHECK(line.client.drive_counters().command_timeouts == 1);
}

TEST_CASE("a silent vehicle is stopped by the frames that still go out, and not before its timeout") {
  auto line = driving();
  line.cut = true;
  line.run(100);
  CHECK(line.client.state() == SupervisorState::driving);
  line.run(10);
  CHECK(line.client.state() == SupervisorState::stopping);
  CHECK(line.client.reason().cause == StopCause::telemetry_silent);
  CHECK(line.client.telemetry().age(at(line.ms)) == 120ms);
  line.run(5000);
  CHECK(line.client.state() == SupervisorState::stopping);  // whether it stands is unknown
  CHECK(line.last() == DriveCommand{0.1, 0, 1});
  CHECK(line.client.recover(at(line.ms)).error() == Errc::cause_remains);
  line.cut = false;
  line.wheels = 0;
  line.run(1000);
  CHECK(line.client.state() == SupervisorState::stopped);
  CHECK(line.last().brake == 1);
  CHECK(line.client.recover(at(line.ms)));
}

TEST_CASE("a system that halts stops the vehicle, and it stays stopped when the system runs again") {
  auto line = driving();
  line.vehicle = SystemState::halted;
  line.run(10);
  CHECK(line.client.reason() == StopReason{StopCause::system_not_running, System::communication});
  CHECK(line.client.category() == StopCategory::category_1);
  line.vehicle = SystemState::running;
  line.wheels = 0;
  line.run(5000);
  CHECK(line.client.state() == SupervisorState::stopped);
  CHECK(line.client.reason() == StopReason{StopCause::system_not_running, System::communication});
}

TEST_CASE("an emergency stop is sent at once, in any state of the vehicle") {
  for (const bool cut : {false, true}) {
    auto line = driving();
    line.cut = cut;
    line.ms -= 7;  // 3 ms after the last one
    const std::size_t before = line.sent.size();
    line.poll();
    CHECK(line.sent.size() == before);
    line.client.stop(StopCategory::category_0, at(line.ms));
    CHECK(line.client.next_send() == at(line.ms));
    line.poll();
    CHECK(line.sent.size() == before + 1);
    CHECK(line.last() == DriveCommand{0.1, 0, 1});
    line.run(1000);
    CHECK(line.last() == DriveCommand{0.1, 0, 1});
    CHECK(line.client.drive({0, 0.1, 0}, at(line.ms)).error() == Errc::stopped);
  }
}

TEST_CASE("a command that comes too late does not make up for it") {
  auto line = driving();
  line.ms += 300;
  CHECK(line.client.drive({0.1, 0.5, 0}, at(line.ms)).error() == Errc::stopped);
  CHECK(line.client.state() == SupervisorState::stopping);
}

TEST_CASE("malformed and refused datagrams are counted and change nothing else") {
  auto line = driving();
  const auto before = line.client.telemetry().last();
  const Time now = at(line.ms);
  CHECK(line.client.receive({}, now));
  std::vector<std::uint8_t> large(65'507, 0x41);
  CHECK(line.client.receive(large, now).error() == Errc::too_long);
  auto bytes = encoded(status_frame(static_cast<std::uint32_t>(line.ms)));
  bytes[8] = 3;
  CHECK(line.client.receive(bytes, now).error() == Errc::count_mismatch);
  CHECK(line.client.telemetry().last() == before);
  CHECK(line.client.telemetry().counters().malformed == 2);
  CHECK(line.client.state() == SupervisorState::driving);
}

TEST_CASE("a clock that goes back makes nothing younger") {
  auto line = driving();
  line.wanted.reset();
  (void)line.client.drive({0, 0.3, 0}, at(line.ms));
  std::array<std::uint8_t, Client::max_datagram> out;
  (void)line.client.poll(at(line.ms + 150), out);
  (void)line.client.poll(at(line.ms - 500), out);
  CHECK(line.client.drive({0, 0.4, 0}, at(0)).error() == Errc::stopped);  // silent for 160 ms
  CHECK(line.client.reason().cause == StopCause::telemetry_silent);
}

TEST_CASE(
    "the control payload stands in the byte order that was asked for, stamped in Unix time where its zero is "
    "known") {
  auto c = configuration();
  c.payload = std::nullopt;
  CHECK(Client::make(c, secure::PlainChannel{}).error() == Errc::no_byte_order);
  c.payload = ByteOrder::little;
  c.clock_epoch = stamp_epoch + 1h;
  auto client = Client::make(c, secure::PlainChannel{}).value();
  std::array<std::uint8_t, Client::max_datagram> out;
  CHECK(client.poll(at(7), out).value() == control_frame_bytes);
  CHECK(decode_control(out, ByteOrder::little).value() == ControlFrame{3'600'007, 0, 0, 100});
}

TEST_CASE("a configuration that cannot be kept is refused") {
  const auto error = [](auto change) {
    auto c = configuration();
    change(c);
    return Client::make(c, secure::PlainChannel{}).error();
  };
  CHECK(error([](auto& c) { c.send_period = 0ns; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.send_period = c.drive.command_timeout; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.telemetry.freshness = 0ns; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.drive.limits.throttle = 2; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.units = {}; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.units.steer = 1e-12; }) == Errc::out_of_range);
}

namespace {

/// A channel that needs a handshake of two datagrams before it carries frames. The test can end its session.
struct HandshakeChannel {
  static constexpr std::size_t overhead = 1;
  static constexpr std::size_t max_handshake = 40;

  Result<secure::Opened> open(std::span<const std::uint8_t> datagram, Time) noexcept {
    if (datagram.empty()) return fail(Errc::too_short);
    if (datagram[0] != 'h') return secure::Opened{datagram.subspan(1), secure::Urgency::ordinary};
    session = true;
    return secure::Opened{};
  }
  Result<std::size_t> seal(std::span<const std::uint8_t> payload, secure::Urgency urgency, Time,
                           std::span<std::uint8_t> out) noexcept {
    if (!session) return fail(secure::Errc::not_established);
    if (out.size() < payload.size() + 1) return fail(Errc::no_room);
    out[0] = urgency == secure::Urgency::stop ? 's' : 'o';
    std::copy(payload.begin(), payload.end(), out.begin() + 1);
    return payload.size() + 1;
  }
  [[nodiscard]] bool established(Time) const noexcept { return session; }
  [[nodiscard]] Time next_handshake() const noexcept { return session ? Time::max() : due; }
  Result<std::size_t> poll_handshake(Time now, std::span<std::uint8_t> out) noexcept {
    if (session || now < due) return std::size_t{0};
    due = now + 25ms;
    std::fill(out.begin(), out.end(), std::uint8_t{'h'});
    return max_handshake;
  }

  bool session = false;
  Time due = Time::min();
};
static_assert(secure::Channel<HandshakeChannel>);

}  // namespace

TEST_CASE("over a channel with sessions nothing is sent without one, and the vehicle stops when it is lost") {
  using Secured = VehicleClient<HandshakeChannel>;
  static_assert(Secured::max_datagram == 40);
  auto client = Secured::make(configuration(), {}).value();
  std::array<std::uint8_t, Secured::max_datagram> out;
  for (int ms = 0; ms < 100; ++ms) CHECK(client.poll(at(ms), out).value() == (ms % 25 == 0 ? 40 : 0));
  CHECK(client.reason().cause == StopCause::disconnected);
  CHECK(client.counters() == ClientCounters{.handshakes = 4});
  CHECK(client.receive(std::array<std::uint8_t, 1>{'h'}, at(100)));
  CHECK(client.receive({}, at(100)).error() == Errc::too_short);
  const auto hear = [&](int ms) {
    auto bytes = encoded(status_frame(static_cast<std::uint32_t>(ms)));
    bytes.insert(bytes.begin(), 'd');
    CHECK(client.receive(bytes, at(ms)));
  };
  hear(100);
  CHECK(client.state() == SupervisorState::ready);
  CHECK(client.drive({0, 0.2, 0}, at(100)));
  CHECK(client.poll(at(105), out).value() == 21);
  CHECK(out[0] == 'o');
  hear(110);
  client.stop(StopCategory::category_0, at(111));
  CHECK(client.poll(at(111), out).value() == 21);
  CHECK(out[0] == 's');
  for (int ms = 112; ms < 800; ms += 10) hear(ms);
  CHECK(client.recover(at(800)));
  client.channel().session = false;
  (void)client.poll(at(801), out);
  CHECK(client.reason().cause == StopCause::disconnected);
  CHECK(client.state() == SupervisorState::stopping);
  CHECK(client.recover(at(801)).error() == Errc::cause_remains);
  CHECK(client.counters().refused == 1);
}

TEST_CASE("a loop that drives a vehicle keeps the rules of the loop") {
  auto line = driving();
  std::vector<std::vector<std::uint8_t>> frames;
  for (int i = 0; i < 100; ++i)
    frames.push_back(encoded(status_frame(static_cast<std::uint32_t>(line.ms + 10 * i))));
  std::array<std::uint8_t, Client::max_datagram> out;
  std::size_t sent = 0;

  test::RtGuard guard;
  for (int i = 0; i < 100; ++i) {
    const Time now = at(line.ms + 10 * i);
    (void)line.client.receive(frames[static_cast<std::size_t>(i)], now);
    if (i == 60) line.client.stop(StopCategory::category_1, now);
    if (i < 60) (void)line.client.drive({0.1, 0.2, 0}, now);
    if (i == 90) (void)line.client.recover(now);
    sent += line.client.poll(now, out).value_or(0);
  }
  CHECK(guard.report() == "");
  CHECK(sent == 100 * control_frame_bytes);
}

TEST_CASE(
    "however far a clock goes back, no control frame is missing for as long as a vehicle would notice") {
  for (const std::int64_t back : {1, 9, 11, 190, 1000, 3'600'000}) {
    CAPTURE(back);
    Line line = driving();
    std::int64_t last = 0, longest = 0;
    for (std::int64_t real = 0; real < 3000; ++real) {  // ms; the clock catches up meanwhile
      line.ms += real == 500 ? -back : 1;
      const std::size_t before = line.sent.size();
      if (real % 10 == 0)
        (void)line.client.receive(encoded(status_frame(static_cast<std::uint32_t>(real), 0)), at(line.ms));
      if (real % 20 == 0) (void)line.client.drive({0, 0.5, 0}, at(line.ms));
      line.poll();
      if (line.sent.size() == before) continue;
      longest = std::max(longest, real - last);
      last = real;
    }
    CHECK(longest <= 20);
    CHECK(line.sent.size() <= 3550 / 10 + 5);
  }
}

TEST_CASE("a stop in the millisecond of another frame has a stamp of its own") {
  Line line = driving();
  line.poll();
  const std::uint32_t before = line.sent.back().stamp;
  line.client.stop(StopCategory::category_0, at(line.ms - 10));
  line.ms -= 10;
  line.poll();
  CHECK(newer(line.sent.back().stamp, before));
  CHECK(line.last().brake == 1);
}

TEST_CASE("a clock that is wrong once, ahead, stops the vehicle wholly, and does not silence the client") {
  Line line = driving();
  line.client.stop(StopCategory::category_2, at(line.ms + 3'600'000));
  line.sent.clear();
  line.run(1000);
  CHECK(line.sent.size() >= 100);
  CHECK(line.last().brake == 1);
  CHECK(line.last().throttle == 0);
  CHECK(line.client.category() == StopCategory::category_0);
  line.sent.clear();
  for (const std::int64_t end = line.ms + 1000; line.ms < end;
       ++line.ms) {  // at its rate, however often it receives and is polled
    const auto frame = status_frame(static_cast<std::uint32_t>(line.ms), line.wheels, SystemState::running);
    (void)line.client.receive(encoded(frame), at(line.ms));
    line.poll();
  }
  CHECK(line.sent.size() >= 99);
  CHECK(line.sent.size() <= 101);
  line.wheels = 0;
  line.run(1000);
  CHECK(line.client.recover(at(line.ms)).error() == Errc::cause_remains);
  line.ms += 3'600'000;
  line.run(1000);
  CHECK(line.client.recover(at(line.ms)));
}

TEST_CASE("a vehicle that reports a standstill while its wheels turn does not count as standing") {
  Line line = driving();
  line.client.stop(StopCategory::category_1, at(line.ms));
  const auto run = [&](std::int16_t wheels) {
    for (const std::int64_t end = line.ms + 1000; line.ms < end; line.ms += 10) {
      auto frame = status_frame(static_cast<std::uint32_t>(line.ms), wheels, SystemState::running);
      (void)frame.set(System::traction, "speed", 0);
      (void)line.client.receive(encoded(frame), at(line.ms));
      line.poll();
    }
  };
  run(100);
  CHECK(line.client.recover(at(line.ms)).error() == Errc::not_standing);
  run(0);
  CHECK(line.client.recover(at(line.ms)));
}

TEST_CASE("a vehicle whose clock was set is heard again once it was forgotten") {
  Line line = driving();
  line.wheels = 0;
  const auto run = [&] {
    for (const std::int64_t end = line.ms + 2000; line.ms < end; line.ms += 10) {
      const auto frame = status_frame(static_cast<std::uint32_t>(line.ms - 1000), 0, SystemState::running);
      (void)line.client.receive(encoded(frame), at(line.ms));
      line.poll();
    }
  };
  run();
  CHECK(line.client.reason().cause == StopCause::telemetry_silent);
  CHECK(line.client.recover(at(line.ms)).error() == Errc::cause_remains);
  line.client.forget_telemetry(at(line.ms));
  CHECK(line.client.category().has_value());
  run();
  CHECK(line.client.recover(at(line.ms)));
}

TEST_CASE("a brake of no count, and a speed that would pass for standing, are refused") {
  const auto refused = [](auto&& change) {
    auto c = configuration();
    change(c);
    const auto client = Client::make(c, secure::PlainChannel{});
    return !client && client.error() == Errc::out_of_range;
  };
  CHECK_FALSE(refused([](auto&) {}));
  CHECK(refused([](auto& c) { c.units.full_brake = 1, c.drive.stop.service_brake = 0.4; }));
  CHECK(refused([](auto& c) { c.units.speed = 1; }));
  CHECK(refused([](auto& c) { c.send_period = 999us; }));
}

TEST_CASE("either rear wheel alone shows motion, by more than a count") {
  struct Case {
    std::int32_t left, right;
    bool stands;
  };
  for (const Case& one : {Case{2, 0, false}, Case{0, -2, false}, Case{1, -1, true}}) {
    Line line = driving();
    line.client.stop(StopCategory::category_1, at(line.ms));
    for (const std::int64_t end = line.ms + 1000; line.ms < end; line.ms += 10) {
      auto frame = status_frame(static_cast<std::uint32_t>(line.ms));
      (void)frame.set(System::traction, "left_speed", one.left);
      (void)frame.set(System::traction, "right_speed", one.right);
      (void)line.client.receive(encoded(frame), at(line.ms));
      line.poll();
    }
    CHECK(line.client.recover(at(line.ms)).has_value() == one.stands);
  }
}

TEST_CASE(
    "a vehicle that stands does not go on while the clock is back, and is stopped at once when it is "
    "forgotten") {
  Line line = driving();
  line.client.stop(StopCategory::category_0, at(line.ms));
  line.wanted.reset();
  line.wheels = 0;
  line.run(1000);
  CHECK(line.client.state() == SupervisorState::stopped);
  CHECK(line.client.recover(at(line.ms - 500)).error() == Errc::cause_remains);
  CHECK(line.client.recover(at(line.ms)));

  Line other = driving();
  other.client.forget_telemetry(at(other.ms));
  CHECK(other.client.state() == SupervisorState::stopping);
  CHECK(other.client.reason().cause == StopCause::telemetry_silent);
}

TEST_CASE("a frame is marked as a stop when it is the full brake of one, and no other") {
  using Secured = VehicleClient<HandshakeChannel>;
  auto client = Secured::make(configuration(), {.session = true}).value();
  std::array<std::uint8_t, Secured::max_datagram> out;
  const auto mark = [&](int ms) {
    auto bytes = encoded(status_frame(static_cast<std::uint32_t>(ms)));
    bytes.insert(bytes.begin(), 'd');
    (void)client.receive(bytes, at(ms));
    CHECK(client.poll(at(ms), out).value() == 21);
    return out[0];
  };
  CHECK(mark(10) == 'o');  // the full brake holds it, but it is no stop
  CHECK(client.drive({0, 0, 1}, at(15)));
  CHECK(mark(20) == 'o');
  CHECK(client.drive({0, 0.2, 0}, at(25)));
  CHECK(mark(30) == 'o');
  client.stop(StopCategory::category_1, at(35));
  CHECK(mark(40) == 'o');  // must not be accepted late: the brake is gradual
  for (int ms = 50; ms < 1000; ms += 10) (void)mark(ms);
  CHECK(mark(1000) == 's');
}
