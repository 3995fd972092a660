// Drives a vehicle over datagrams. Bytes and the time go in, bytes come out; the caller owns sockets and
// clocks.
//
//     using Client = VehicleClient<secure::PlainChannel>;  // or a secure::ClientChannel
//     Client client = *Client::make({.units = units, .payload = ByteOrder::little}, secure::PlainChannel{});
//     std::array<std::uint8_t, Client::max_datagram> out;
//
//     for (;;) {
//       if (const auto size = socket.receive(in, client.next_send() - clock.now()))
//         (void)client.receive(std::span(in).first(*size), clock.now());
//       while (const auto size = client.poll(clock.now(), out).value_or(0))
//         socket.send(std::span(out).first(size));
//
//       if (client.state() == SupervisorState::ready || client.state() == SupervisorState::driving)
//         (void)client.drive({.steering = 0.1, .throttle = 0.3}, clock.now());
//     }
//
// The client sends control frames at a fixed rate from the first call on, in every state. They are the
// keep-alive for the vehicle. The frames command the full brake until all required systems run, and again
// until the first command. A command is repeated until the next one, or until it is too old. A stop is sent
// at once. The stop conditions and the recovery are in supervisor.hpp and emergency_stop.hpp. The data of the
// vehicle, and its age, are in telemetry.hpp.
//
// At the end of a program, call stop(), then poll() until state() is stopped, if there is time. After that,
// only the vehicle's own supervision stops it when the frames end.
//
// Use a client from one thread. Every function except make() is real-time safe, and none allocates. The clock
// may start anywhere. A time before an earlier one counts as that earlier one, so a clock that goes back
// makes no data younger. If it goes back by more than the command timeout, the vehicle stops with the full
// brake. It cannot be driven before the clock has caught up. Over a secure channel, any step of a clock by
// more than some milliseconds ends the session, and so stops the vehicle.
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

/// Counters of the datagrams since the start. TelemetryCounters counts the status frames.
struct ClientCounters {
  std::uint64_t received = 0;    ///< datagrams of any content
  std::uint64_t refused = 0;     ///< datagrams that the channel refused
  std::uint64_t handshakes = 0;  ///< datagrams of the channel's own handshake that were sent
  std::uint64_t sent = 0;        ///< control frames that were sent
  std::uint64_t missed = 0;  ///< control frames that were not sent: poll() came late, or the channel failed

  friend constexpr bool operator==(const ClientCounters&, const ClientCounters&) = default;
};

/// The configuration of a client, for any channel.
struct ClientConfiguration {
  /// Required systems, freshness and layouts.
  Telemetry::Configuration telemetry{};
  /// Limits, command timeout and stops.
  DriveSupervisor::Configuration drive{};
  Units::Configuration units{};  ///< the vehicle's own; the defaults of most are invalid
  /// Period of the control frames. At least 1 ms, and shorter than the command timeout.
  Duration send_period = std::chrono::milliseconds(10);
  /// Byte order of the control frames. It has no default: a vehicle that reads the other order drives with
  /// full pedals.
  std::optional<ByteOrder> payload{};
  /// Unix time at the zero of the caller's clock. The default makes the stamps count from that zero. This is
  /// enough for a vehicle that compares only the order of stamps.
  UnixTime clock_epoch = stamp_epoch;
};

/// Drives one vehicle over a Channel C.
template <secure::Channel C>
class VehicleClient {
 public:
  /// The size of the largest datagram that poll() writes, in bytes.
  static constexpr std::size_t max_datagram =
      std::max(control_frame_bytes + std::size_t{C::overhead}, std::size_t{C::max_handshake});

  using Configuration = ClientConfiguration;

  /// Checks the configuration. Errors: those of make() of Telemetry, DriveSupervisor and Units, and
  /// - no_byte_order: `payload` is missing;
  /// - out_of_range: send_period is below a millisecond or not below the command timeout;
  /// - out_of_range: the steering limits are beyond the frame's range;
  /// - out_of_range: the service brake is less than one count, or one count of speed is above `standstill`.
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

  /// Takes a datagram from the vehicle. Argument `now`: read the clock after the datagram's arrival. Errors:
  /// those of the channel and of Telemetry::receive(). A refused datagram changes only a counter. Exception:
  /// over a secure channel it may reveal that a clock was set, which ends the session.
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

  /// When poll() has the next datagram to send. Time::min(): at once. Ask again after a call of any other
  /// function.
  [[nodiscard]] Time next_send() const noexcept {
    return std::min(due_.value_or(Time::min()), channel_.next_handshake());
  }

  /// Writes the datagram that is due and returns its size in bytes, or 0 if none is due. Call it until it
  /// returns 0. Errors: those of the channel; the frame is then missed. A buffer of max_datagram bytes is
  /// always large enough.
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

  /// Stops the vehicle if any data has become too old by `now`. Every function with a `now` calls it first.
  void update(Time now) noexcept {
    clock_ = within_reach(now);
    // A clock that went back does not stop the keep-alive.
    if (due_) due_ = std::min(*due_, clock_ + c_.send_period);
    clock_went_back_ = now_ - clock_ > c_.drive.command_timeout;
    now_ = std::max(now_, clock_);
    const auto before = supervisor_.category();
    // The brake cannot increase gradually while the time stands still.
    if (clock_went_back_) supervisor_.stop(StopCategory::category_0, now_, StopCause::clock_went_back);
    supervisor_.update(wrong(), speed(), now_);
    // Without a session the channel sends only the full brake.
    if (supervisor_.category() && !channel_.established(now_))
      supervisor_.stop(StopCategory::category_0, now_, StopCause::disconnected);
    hurry_if_changed(before);
  }

  /// Drives with this command from now on. Errors: those of DriveSupervisor::drive(); the last command then
  /// stays, and its age grows.
  Status drive(const DriveCommand& command, Time now) noexcept {
    update(now);
    return supervisor_.drive(command, now_);
  }

  /// Stops the vehicle, in any state. The next poll() sends the stop.
  void stop(StopCategory category, Time now, StopCause cause = StopCause::requested) noexcept {
    update(now);
    const auto before = supervisor_.category();
    supervisor_.stop(category, now_, cause);
    hurry_if_changed(before);
  }

  /// Ends a stop. Errors: cause_remains, not_standing; the stop then continues.
  Status recover(Time now) noexcept {
    update(now);
    return supervisor_.recover(wrong());
  }

  /// Deletes the telemetry, and stops the vehicle if it was ready or driving. Use it after a lasting change
  /// of either clock: otherwise new frames may count as too old.
  void forget_telemetry(Time now) noexcept {
    telemetry_.forget();
    update(now);
  }

  /// The latest time of any call.
  [[nodiscard]] Time now() const noexcept { return now_; }
  /// The state of the supervisor (supervisor.hpp).
  [[nodiscard]] SupervisorState state() const noexcept { return supervisor_.state(); }
  /// Why the vehicle is stopping or stopped. Without a stop: why it cannot be driven yet.
  [[nodiscard]] StopReason reason() const noexcept {
    return supervisor_.category() ? supervisor_.reason() : wrong();
  }
  /// The category of the active stop; nothing without a stop.
  [[nodiscard]] std::optional<StopCategory> category() const noexcept { return supervisor_.category(); }
  /// The command that the frames carry now.
  [[nodiscard]] const DriveCommand& command() const noexcept { return supervisor_.command(); }

  /// The vehicle's data and their age.
  [[nodiscard]] const Telemetry& telemetry() const noexcept { return telemetry_; }
  /// The conversions between counts and SI units.
  [[nodiscard]] const Units& units() const noexcept { return units_; }
  /// Whether the channel has a session with the vehicle. Always true for a plain channel.
  [[nodiscard]] bool established(Time now) const noexcept { return channel_.established(now); }
  /// The channel, for its own counters and keys.
  [[nodiscard]] const C& channel() const noexcept { return channel_; }
  [[nodiscard]] C& channel() noexcept { return channel_; }
  /// The counters of datagrams.
  [[nodiscard]] const ClientCounters& counters() const noexcept { return counters_; }
  /// The counters of commands and stops.
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

  /// A stop does not wait for the next send period.
  void hurry_if_changed(std::optional<StopCategory> before) noexcept {
    if (supervisor_.category() && supervisor_.category() != before && due_) due_ = std::min(*due_, clock_);
  }

  /// The speed in m/s; nothing if it is unknown. A speed of zero with turning wheels is unknown too.
  [[nodiscard]] std::optional<double> speed() const noexcept {
    const auto traction = telemetry_.fresh_traction(now_);
    if (!traction) return std::nullopt;
    const double speed = units_.speed(*traction);
    const bool wheels_turn =
        std::abs(int{traction->left_speed}) > 1 || std::abs(int{traction->right_speed}) > 1;
    if (wheels_turn && std::abs(speed) < c_.drive.stop.standstill) return std::nullopt;
    return speed;
  }

  /// When the next frame is due. Missed frames are not sent later.
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
    // Two frames in one millisecond still get different stamps.
    stamp_ = !stamp_ || newer(stamp, *stamp_) ? stamp : *stamp_ + 1;
    const Result<ControlFrame> frame = units_.control(command, *stamp_);
    if (!frame) return fail(frame.error());
    std::array<std::uint8_t, control_frame_bytes> bytes;
    if (const auto encoded = encode_control(*frame, bytes, *c_.payload); !encoded) return encoded;
    // A late stop is safe: its full brake stops the vehicle whatever frames came between.
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
  Time now_{-time_reach};               ///< the latest time of any call
  Time clock_ = now_;                   ///< the time of the last call
  std::optional<Time> due_;             ///< the next control frame, by clock_
  std::optional<std::uint32_t> stamp_;  ///< of the last control frame
  bool clock_went_back_ = false;
  ClientCounters counters_;
};

}  // namespace takt::vehicle
