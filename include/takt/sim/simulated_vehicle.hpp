// A simulated vehicle at the other end of the datagrams. It receives control frames, and sends status frames
// of all its systems, a hundred a second. Its controller (sim/vehicle_controller.hpp) starts it up, obeys the
// frames, and stops and halts it when they end. A halted vehicle drives again only after recover(). This file
// has the datagrams and their faults.
//
//     auto vehicle = sim::SimulatedVehicle<secure::PlainChannel>::make(
//         {.plant = {.wheelbase = 1.6}}, {.payload = vehicle::ByteOrder::little},
//         secure::PlainChannel{}, now);
//     vehicle->receive(datagram, now);                                     // for each datagram
//     if (vehicle->next_send() <= now) size = *vehicle->poll(now, out);    // send it; repeat until 0
//
// Sans-I/O: a test, a simulation in virtual time and the program `takt vehicle-sim` run the same vehicle. Its
// behaviour depends only on the datagrams, their times, and the seed of its faults. Real-time safe after
// construction.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/secure/channel.hpp"
#include "takt/sim/vehicle_controller.hpp"
#include "takt/vehicle/control_frame.hpp"
#include "takt/vehicle/status_frame.hpp"
#include "takt/vehicle/systems.hpp"
#include "takt/vehicle/timestamp.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

namespace takt::sim {

/// The faults of a vehicle; a default one has none. Shares are 0..1 of the status frames.
struct VehicleFaults {
  bool silent = false;  ///< sends nothing, but receives and drives
  Duration late{};      ///< delay of its datagrams beyond the usual one; at most SimulatedVehicle::latest
  double lost = 0;      ///< share that is never sent
  double corrupt = 0;   ///< share with one inverted bit
  double lying = 0;     ///< share with a wrong length of a block
  vehicle::SystemSet halted{};  ///< failed systems: see VehicleController::set_halted()
};

/// The wire format of a simulated vehicle.
struct VehicleLink {
  std::optional<vehicle::ByteOrder> payload{};            ///< of the control frames; required
  vehicle::UnixTime unix_at_zero = vehicle::stamp_epoch;  ///< Unix time at Time{}, for its stamps
  std::uint64_t seed = 1;                                 ///< of its faults
};

/// Counters of datagrams, from the start on.
struct VehicleLinkCounters {
  std::uint64_t sent = 0;       ///< status frames that were sent
  std::uint64_t lost = 0;       ///< by VehicleFaults::lost, by a full queue, or when the clock was set back
  std::uint64_t refused = 0;    ///< datagrams that the channel rejected
  std::uint64_t malformed = 0;  ///< payloads that are not a control frame
};

/// Options for the vehicle that a drive is configured for. Its command timeout is the drive's.
[[nodiscard]] inline VehicleOptions options_of(const vehicle::VehicleDriveConfiguration& drive) noexcept {
  VehicleOptions options;
  options.plant.wheelbase = drive.law.wheelbase;
  options.plant.track = drive.track;
  options.plant.wheel_radius = drive.wheel_radius;
  options.plant.max_steering = drive.law.max_steering;
  options.plant.steering_rate = drive.law.steering_rate;
  options.units = drive.client.units;
  options.layouts = drive.client.telemetry.layouts;
  options.command_timeout = drive.client.drive.command_timeout;
  return options;
}

/// C is the channel, which decides whose datagrams are accepted: secure::PlainChannel, or the vehicle's end
/// of a secure one.
template <secure::Channel C>
class SimulatedVehicle {
 public:
  static constexpr Duration latest{500'000'000};  ///< the longest VehicleFaults::late
  /// The size of the largest datagram that it sends.
  static constexpr std::size_t max_datagram =
      std::max(vehicle::max_status_bytes + C::overhead, std::size_t{C::max_handshake});

  /// Creates a vehicle that starts up at `start`. Errors: vehicle's no_byte_order; those of
  /// VehicleController::make().
  [[nodiscard]] static Result<SimulatedVehicle> make(const VehicleOptions& options, const VehicleLink& link,
                                                     C channel, Time start) noexcept {
    if (!link.payload) return fail(vehicle::Errc::no_byte_order);
    const auto controller = VehicleController::make(options, start);
    if (!controller) return fail(controller.error());
    return SimulatedVehicle(*controller, link, std::move(channel), start);
  }

  /// Handles a received datagram. Errors: those of the channel and of decode_control(). A rejected datagram
  /// is counted, and changes nothing else.
  Status receive(std::span<const std::uint8_t> datagram, Time now) noexcept {
    controller_.advance(now);
    const auto opened = channel_.open(datagram, now);
    if (!opened) {
      ++counters_.refused;
      return fail(opened.error());
    }
    if (opened->payload.empty()) return {};
    const auto frame = vehicle::decode_control(opened->payload, *link_.payload);
    if (!frame) {
      ++counters_.malformed;
      return fail(frame.error());
    }
    controller_.obey(*frame, opened->urgency, now);
    return {};
  }

  /// When poll() has something to send; Time::max() for never.
  [[nodiscard]] Time next_send() const noexcept {
    const Time leaving = waiting_ > 0 ? queue_[first_].due : Time::max();
    return std::min({leaving, next_status_, faults_.silent ? Time::max() : channel_.next_handshake()});
  }

  /// Writes the datagram that is due to `out`. Returns its size, or 0 if none is due. Of several overdue
  /// status frames it makes only the last. If the clock may be set, call it in each period, so that the
  /// channel sees the change. Error: no_room (max_datagram bytes are enough); nothing is written.
  [[nodiscard]] Result<std::size_t> poll(Time now, std::span<std::uint8_t> out) noexcept {
    if (out.size() < max_datagram) return fail(vehicle::Errc::no_room);
    now = within_reach(now);
    if (next_status_ > now + status_period) begin_again(now);
    if (next_status_ <= now) make_status(now);
    controller_.advance(now);
    if (!faults_.silent && channel_.next_handshake() <= now) {
      const auto size = channel_.poll_handshake(now, out);
      if (!size || *size > 0) return size;
    }
    if (waiting_ == 0 || queue_[first_].due > now) return std::size_t{0};
    const Datagram& datagram = queue_[first_];
    std::memcpy(out.data(), datagram.bytes.data(), datagram.size);
    first_ = (first_ + 1) % queue_.size();
    --waiting_;
    ++counters_.sent;
    return datagram.size;
  }

  /// Sets the faults from now on. Datagrams that are already delayed are not changed.
  void set_faults(const VehicleFaults& faults) noexcept {
    faults_ = faults;
    faults_.late = std::clamp(faults.late, Duration{}, latest);
    controller_.set_halted(faults.halted);
  }
  /// Lets a HALTED vehicle start again, as a person at the vehicle would.
  void recover() noexcept { controller_.recover(); }

  /// Whether the channel has a session with the commander; a plain one always has.
  [[nodiscard]] bool established(Time now) const noexcept { return channel_.established(now); }
  [[nodiscard]] const VehicleController& controller() const noexcept { return controller_; }
  [[nodiscard]] const VehicleLinkCounters& counters() const noexcept { return counters_; }
  /// The channel itself, for its own functions: counters, keys.
  [[nodiscard]] const C& channel() const noexcept { return channel_; }
  [[nodiscard]] C& channel() noexcept { return channel_; }

 private:
  struct Datagram {
    Time due{};
    std::size_t size = 0;
    std::array<std::uint8_t, vehicle::max_status_bytes + C::overhead> bytes{};
  };

  SimulatedVehicle(const VehicleController& controller, const VehicleLink& link, C&& channel,
                   Time start) noexcept
      : controller_(controller),
        link_(link),
        channel_(std::move(channel)),
        next_status_(within_reach(start) + status_period),
        random_(link.seed) {}

  [[nodiscard]] bool happens(double share) noexcept {
    return static_cast<double>(random_() >> 11) * 0x1p-53 < share;
  }

  /// The clock was set back: drops the waiting datagrams, whose times are now far in the future.
  void begin_again(Time now) noexcept {
    next_status_ = now + status_period;
    counters_.lost += waiting_;
    waiting_ = 0;
  }

  /// Makes the status for the last time at which one was due.
  void make_status(Time now) noexcept {
    next_status_ += (now - next_status_) / status_period * status_period;
    controller_.advance(next_status_);
    post(next_status_, now);
    next_status_ += status_period;
  }

  /// Seals every frame, also one that is lost: the peer then sees the gap, and the channel sees the time.
  /// Sends nothing before the channel can seal.
  void post(Time at, Time now) noexcept {
    if (waiting_ == queue_.size()) {
      ++counters_.lost;
      return;
    }
    Datagram& datagram = queue_[(first_ + waiting_) % queue_.size()];
    const auto size = seal(at, now, datagram.bytes);
    if (!size || faults_.silent) return;
    datagram.size = *size;
    datagram.due = at + faults_.late;
    if (happens(faults_.corrupt))
      datagram.bytes[random_() % *size] ^= static_cast<std::uint8_t>(1u << random_() % 8);
    if (happens(faults_.lost)) {
      ++counters_.lost;
    } else {
      ++waiting_;
    }
  }

  [[nodiscard]] Result<std::size_t> seal(Time at, Time now, std::span<std::uint8_t> out) noexcept {
    auto status = controller_.status();
    const auto since_zero = std::chrono::floor<std::chrono::milliseconds>(at - Time{});
    status.stamp = vehicle::to_stamp(link_.unix_at_zero) + static_cast<std::uint32_t>(since_zero.count());
    std::array<std::uint8_t, vehicle::max_status_bytes> frame;
    const auto length = vehicle::encode_status(status, frame);
    if (!length) return length;
    if (happens(faults_.lying)) lie(std::span(frame).first(*length));
    return channel_.seal(std::span(frame).first(*length), secure::Urgency::ordinary, now, out);
  }

  /// Gives a random block a wrong length. There is a block: no table of layouts is empty.
  void lie(std::span<std::uint8_t> frame) noexcept {
    std::size_t at = vehicle::status_header_bytes;
    for (std::uint64_t skip = random_() % frame[8]; skip > 0; --skip) at += 2U + frame[at + 1];
    frame[at + 1] = static_cast<std::uint8_t>(frame[at + 1] + 1 + random_() % 255);
  }

  VehicleController controller_;
  VehicleLink link_;
  C channel_;
  Time next_status_;
  VehicleFaults faults_;
  std::mt19937_64 random_;
  std::array<Datagram, 64> queue_{};  // delayed, oldest first
  std::size_t first_ = 0;
  std::size_t waiting_ = 0;
  VehicleLinkCounters counters_;
};

}  // namespace takt::sim
