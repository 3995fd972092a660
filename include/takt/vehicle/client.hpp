// Drives a vehicle over datagrams. Bytes and the time go in, bytes come out: sockets and clocks are the caller's.
//
//     using Client = VehicleClient<secure::PlainChannel>;                   // or a ClientChannel: who is believed is said by name
//     Client client = *Client::make({.telemetry = {.required = ...}, .payload = ByteOrder::little}, secure::PlainChannel{});
//     std::array<std::uint8_t, Client::max_datagram> out;
//     for (;;) {
//       if (a datagram came before client.next_send()) (void)client.receive(datagram, clock.now());
//       while (const auto size = client.poll(clock.now(), out).value_or(0)) socket.send(std::span(out).first(size));
//       if (client.state() == DriveState::ready || ...driving) (void)client.drive({.steering = 0.1, .throttle = 0.3}, clock.now());
//     }
//
// Control frames go out at a fixed rate from the first call on, whatever happens: they are the keep-alive by which the vehicle
// knows that somebody drives it. Until all required systems run, and again until the first command, they hold it with the full
// brake; a command is repeated until the next one, or until it is too old. What stops the vehicle, and how it may go on, is in
// supervisor.hpp and emergency_stop.hpp; what is known of it, and how old that is, in telemetry.hpp. A stop is sent at once.
//
// At the end of a program: stop(), poll(), and go on until state() says stopped, as far as one has the time. After that silence
// alone stops the vehicle, if it looks after itself.
//
// One thread. Every function but make() is real-time safe; none allocates. The clock may begin anywhere, with the first time that
// is told. A time before one that was told already is taken as that one: a clock that goes back makes nothing younger. By more than
// a command may be old, and the vehicle is stopped with the full brake, and not driven before the clock has caught up. Over a
// secure channel any clock that is set, but for some milliseconds, ends the session, and so stops the vehicle.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/secure/channel.hpp"
#include "takt/vehicle/control_frame.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/supervisor.hpp"
#include "takt/vehicle/telemetry.hpp"
#include "takt/vehicle/timestamp.hpp"
#include "takt/vehicle/units.hpp"

namespace takt::vehicle {

/// What went over the wire, since the start. What became of the status frames is in TelemetryCounters.
struct ClientCounters {
  std::uint64_t received = 0;    ///< datagrams, whatever was in them
  std::uint64_t refused = 0;     ///< by the channel
  std::uint64_t handshakes = 0;  ///< datagrams of the channel's own that were sent
  std::uint64_t sent = 0;        ///< control frames
  std::uint64_t missed = 0;  ///< control frames: nobody called poll() in time, or the channel had an error

  friend constexpr bool operator==(const ClientCounters&, const ClientCounters&) = default;
};

/// The same over any channel.
struct ClientConfiguration {
  Telemetry::Configuration telemetry{};
  DriveSupervisor::Configuration drive{};
  Units::Configuration units{};  ///< none has a default that could be true of any vehicle
  Duration send_period = std::chrono::milliseconds(10);
  /// Byte order of the control frames. It has no default: a vehicle that reads them in the other order drives with full pedals.
  std::optional<ByteOrder> payload{};
  /// Unix time where the clock is zero. Without it the stamps of control frames count from there, which a vehicle that looks at
  /// nothing but their order does not mind.
  UnixTime clock_epoch = stamp_epoch;
};

template <secure::Channel C>
class VehicleClient {
 public:
  /// Room for whatever poll() writes.
  static constexpr std::size_t max_datagram =
      std::max(control_frame_bytes + std::size_t{C::overhead}, std::size_t{C::max_handshake});

  using Configuration = ClientConfiguration;

  /// Errors: no_byte_order; out_of_range (send_period below a millisecond or not below the command timeout; steering limits that the
  /// frame cannot hold; a service brake of less than one count; a count of speed above `standstill`); those of
  /// Telemetry::make(), DriveSupervisor::make() and Units::make().
  [[nodiscard]] static Result<VehicleClient> make(const Configuration& c, C channel) noexcept {
    if (!c.payload) return fail(Errc::no_byte_order);
    if (c.send_period < std::chrono::milliseconds(1) || c.send_period >= c.drive.command_timeout)
      return fail(Errc::out_of_range);
    const auto telemetry = Telemetry::make(c.telemetry);
    if (!telemetry) return fail(telemetry.error());
    const auto supervisor = DriveSupervisor::make(c.drive);
    if (!supervisor) return fail(supervisor.error());
    const auto units = Units::make(c.units);
    if (!units) return fail(units.error());
    if (!units->control({c.drive.limits.steering, 1, 0}, 0)) return fail(Errc::out_of_range);
    const auto service_brake = units->control({0, 0, c.drive.stop.service_brake}, 0);
    if (!service_brake || service_brake->brake == 0 || c.units.speed > c.drive.stop.standstill)
      return fail(Errc::out_of_range);
    return VehicleClient(c, *telemetry, *supervisor, *units, std::move(channel));
  }

  /// A datagram that came from the vehicle, by a clock that is read after it. Errors: those of the channel and of
  /// Telemetry::receive(); nothing but a counter changes then, or, over a secure channel, a session ends of which a clock was set.
  Status receive(std::span<const std::uint8_t> datagram, Time now) noexcept {
    update(now);
    ++counters_.received;
    const Result<secure::Opened> opened = channel_.open(datagram, now_);
    if (!opened) {
      ++counters_.refused;
      return fail(opened.error());
    }
    if (opened->payload.empty()) return {};
    const Status taken = telemetry_.receive(opened->payload, now_);
    update(now);
    return taken;
  }

  /// When poll() has something to send next; Time::min(): at once. Ask again after a call of any other function.
  [[nodiscard]] Time next_send() const noexcept {
    return std::min(due_.value_or(Time::min()), channel_.next_handshake());
  }

  /// Writes the datagram that is due and returns its size; 0: none is. Call it until it says so. Errors: those of the channel, but
  /// never for want of room in max_datagram bytes; the frame is missed then.
  Result<std::size_t> poll(Time now, std::span<std::uint8_t> out) noexcept {
    update(now);
    if (channel_.next_handshake() <= now_) {
      const Result<std::size_t> written = channel_.poll_handshake(now_, out);
      if (written && *written > 0) ++counters_.handshakes;
      if (!written || *written > 0) return written;
    }
    if (due_ && clock_ < *due_) return std::size_t{0};
    schedule();
    const Result<std::size_t> sealed = seal(out);
    if (!sealed && sealed.error() == secure::Errc::not_established) return std::size_t{0};
    ++(sealed ? counters_.sent : counters_.missed);
    return sealed;
  }

  /// What has become too old by now stops the vehicle. All functions that are told the time begin with it.
  void update(Time now) noexcept {
    clock_ = within_reach(now);
    // A clock that went back does not stop the keep-alive.
    if (due_) due_ = std::min(*due_, clock_ + c_.send_period);
    clock_went_back_ = now_ - clock_ > c_.drive.command_timeout;
    now_ = std::max(now_, clock_);
    const auto before = supervisor_.category();
    // No brake is pressed gradually in a time that stands still.
    if (clock_went_back_) supervisor_.stop(StopCategory::category_0, now_, StopCause::clock_went_back);
    supervisor_.update(wrong(), speed(), now_);
    // A channel without a session takes nothing but the full brake.
    if (supervisor_.category() && !channel_.established(now_))
      supervisor_.stop(StopCategory::category_0, now_, StopCause::disconnected);
    hurry_if_changed(before);
  }

  /// Drives so from now on. Errors: those of DriveSupervisor::drive(): the last command holds, and grows older.
  Status drive(const DriveCommand& command, Time now) noexcept {
    update(now);
    return supervisor_.drive(command, now_);
  }

  /// Stops the vehicle, in any state. The next poll() sends it.
  void stop(StopCategory category, Time now, StopCause cause = StopCause::told) noexcept {
    update(now);
    const auto before = supervisor_.category();
    supervisor_.stop(category, now_, cause);
    hurry_if_changed(before);
  }

  /// Ends a stop. Errors: cause_remains, not_standing: it goes on.
  Status recover(Time now) noexcept {
    update(now);
    return supervisor_.recover(wrong());
  }

  /// Forgets what the vehicle said, and stops it if it was ready or driven. For when its clock or ours was set, and shows another
  /// time for good: what it says may be too old until then.
  void forget_telemetry(Time now) noexcept {
    telemetry_.forget();
    update(now);
  }

  /// The latest time that was told.
  [[nodiscard]] Time now() const noexcept { return now_; }
  [[nodiscard]] DriveState state() const noexcept { return supervisor_.state(); }
  /// Why the vehicle is stopped, or is being stopped; else why it may not be driven yet.
  [[nodiscard]] StopReason reason() const noexcept {
    return supervisor_.category() ? supervisor_.reason() : wrong();
  }
  [[nodiscard]] std::optional<StopCategory> category() const noexcept { return supervisor_.category(); }
  /// What the vehicle is told to do now.
  [[nodiscard]] const DriveCommand& command() const noexcept { return supervisor_.command(); }

  /// What is known of the vehicle.
  [[nodiscard]] const Telemetry& telemetry() const noexcept { return telemetry_; }
  [[nodiscard]] const Units& units() const noexcept { return units_; }
  /// Whether the channel has a session with the vehicle; a plain one always has.
  [[nodiscard]] bool established(Time now) const noexcept { return channel_.established(now); }
  /// For what it alone can tell and do: counters, keys.
  [[nodiscard]] const C& channel() const noexcept { return channel_; }
  [[nodiscard]] C& channel() noexcept { return channel_; }
  [[nodiscard]] const ClientCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] const DriveCounters& drive_counters() const noexcept { return supervisor_.counters(); }

 private:
  VehicleClient(const Configuration& c, const Telemetry& telemetry, const DriveSupervisor& supervisor,
                const Units& units, C channel) noexcept
      : c_(c), units_(units), telemetry_(telemetry), supervisor_(supervisor), channel_(std::move(channel)) {}

  [[nodiscard]] StopReason wrong() const noexcept {
    if (clock_went_back_) return {StopCause::clock_went_back, {}};
    if (!channel_.established(now_)) return {StopCause::disconnected, {}};
    return telemetry_.check(now_);
  }

  /// A stop does not wait for the next period.
  void hurry_if_changed(std::optional<StopCategory> before) noexcept {
    if (supervisor_.category() && supervisor_.category() != before && due_) due_ = std::min(*due_, clock_);
  }

  /// Nothing if nobody knows: neither does a vehicle that says it stands while its wheels turn.
  [[nodiscard]] std::optional<double> speed() const noexcept {
    const auto traction = telemetry_.fresh_traction(now_);
    if (!traction) return std::nullopt;
    const double speed = units_.speed(*traction);
    const bool wheels_turn =
        std::abs(int{traction->left_speed}) > 1 || std::abs(int{traction->right_speed}) > 1;
    if (wheels_turn && std::abs(speed) < c_.drive.stop.standstill) return std::nullopt;
    return speed;
  }

  /// When the next frame is due. What was missed is not made up for.
  void schedule() noexcept {
    if (!due_) due_ = clock_;
    const auto late = static_cast<std::uint64_t>((clock_ - *due_) / c_.send_period);
    counters_.missed += late;
    *due_ += static_cast<std::int64_t>(late + 1) * c_.send_period;
  }

  [[nodiscard]] Result<std::size_t> seal(std::span<std::uint8_t> out) noexcept {
    const DriveCommand& command = supervisor_.command();
    const auto clock = std::chrono::floor<std::chrono::milliseconds>(now_.time_since_epoch());
    const std::uint32_t stamp = to_stamp(c_.clock_epoch) + static_cast<std::uint32_t>(clock.count());
    // Two frames in one millisecond are two frames.
    stamp_ = !stamp_ || newer(stamp, *stamp_) ? stamp : *stamp_ + 1;
    const Result<ControlFrame> frame = units_.control(command, *stamp_);
    if (!frame) return fail(frame.error());
    std::array<std::uint8_t, control_frame_bytes> bytes;
    if (const auto encoded = encode_control(*frame, bytes, *c_.payload); !encoded) return encoded;
    // Whatever else may have been sent meanwhile, the full brake of a stop stops the vehicle: it may come late.
    const bool stops = supervisor_.category() && command.brake >= 1;
    const auto sealed =
        channel_.seal(bytes, stops ? secure::Urgency::stop : secure::Urgency::ordinary, now_, out);
    if (sealed) supervisor_.told();
    return sealed;
  }

  Configuration c_;
  Units units_;
  Telemetry telemetry_;
  DriveSupervisor supervisor_;
  C channel_;
  Time now_{-time_reach};               ///< the latest that was told
  Time clock_ = now_;                   ///< the last that was told
  std::optional<Time> due_;             ///< the next control frame, by clock_
  std::optional<std::uint32_t> stamp_;  ///< of the last control frame
  bool clock_went_back_ = false;
  ClientCounters counters_;
};

}  // namespace takt::vehicle
