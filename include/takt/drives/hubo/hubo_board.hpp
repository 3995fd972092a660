// A simulated board of the Hubo family, of any kind: motors behind one CAN node that answers requests and
// follows references (can/hubo.hpp). A finger's command is a share of the largest; its torque is the same
// share of the joint's torque limit. A hybrid board moves its fingers only in hybrid mode. References come
// every few milliseconds; in between, the board moves its servos' reference linearly at 1 kHz. Without new
// references it holds the last one.
//
// It starts as the real boards do. Power-on leaves driver and control off. After `driver` on and `control_on`
// the board holds its present position until the first reference. `initialise` switches off and clears
// faults.
//
// By option, a board powers up with correct encoders and its home flags set, or with encoders at zero
// wherever its joints are. Then `home` moves a joint to its real zero, where its limit switch closes. The
// options set how long this takes; references are ignored meanwhile. Real-time safe after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/can/frame.hpp"
#include "takt/can/hubo.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/servo_axis.hpp"

namespace takt::drives {

/// Options of a simulated board.
struct HuboBoardOptions {
  can::hubo::BoardKind kind = can::hubo::BoardKind::two_channel;
  Duration reply_delay{150'000};  ///< from the end of a request to the reply's entry into the transmit queue
  Duration reference_period{5'000'000};  ///< time of the motion to a new reference
  can::hubo::Dialect dialect = can::hubo::Dialect::podo;
  bool at_home = true;                ///< at power-up
  Duration home_time{2'000'000'000};  ///< duration of a search
};

/// Faults of a whole board; JointFault has those of its joints.
struct HuboBoardFaults {
  Duration late{};            ///< delay of its replies
  std::uint8_t cut = 0;       ///< bytes missing at the end of its replies
  bool limit_switch = false;  ///< all its limit switches are closed, at any position
  bool never_home = false;    ///< a search does not find the home
};

/// A simulated board.
class HuboBoard {
 public:
  /// Powers up at `start`, without motors.
  HuboBoard(std::uint8_t number, const HuboBoardOptions& options, Time start) noexcept;

  /// Adds a motor; for set-up. Returns false if the channel does not exist or is taken, or the joint is
  /// described for another kind of board.
  [[nodiscard]] bool fit(std::uint8_t channel, const robot::JointDescription& joint) noexcept;

  /// Whether the node uses this frame.
  [[nodiscard]] bool accepts(const can::Frame& frame) const noexcept {
    if (frame.id == can::hubo::command_id) return frame.data[0] == number_;
    return frame.id == can::hubo::reference_base + number_;
  }
  /// Handles a frame that ended on the bus at its stamp.
  void receive(const can::Frame& frame) noexcept;
  /// Time of the next frame to send; Time::max() for none.
  [[nodiscard]] Time next_send() const noexcept { return pending_ > 0 ? replies_[first_].due : Time::max(); }
  /// That frame. Call it at that time.
  [[nodiscard]] can::Frame take_frame() noexcept;
  /// Runs the motors up to a time.
  void advance(Time to) noexcept;

  /// Sets the faults of the board from now on; a default one has none.
  void set_faults(const HuboBoardFaults& faults) noexcept { faults_ = faults; }
  /// Injects a fault into this channel's joint at the present time. Requires a fitted channel.
  void inject(std::uint8_t channel, sim::JointFault fault) noexcept;
  /// Sets a constant torque against a channel's motor, N m. Requires a fitted channel.
  void set_load(std::uint8_t channel, double torque) noexcept { motors_[channel]->axis.set_load(torque); }
  /// From now on, physics move the joint.
  void attach(std::uint8_t channel, sim::PhysicsJoint& physics) noexcept {
    motors_[channel]->axis.attach(physics);
  }
  /// The joint's true position, rad, and velocity, rad/s. Requires a fitted channel.
  [[nodiscard]] double position(std::uint8_t channel) const noexcept {
    return motors_[channel]->axis.plant().position(ticks_.since(now_));
  }
  /// Returns the velocity of a motor, rad/s.
  [[nodiscard]] double velocity(std::uint8_t channel) const noexcept {
    return motors_[channel]->axis.plant().velocity();
  }

  /// Number of frames to this board that it could not use, and of requests that came too fast.
  [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }

 private:
  struct Motor {
    explicit Motor(const robot::JointDescription& joint) noexcept
        : axis(joint), torque_limit(joint.plant.torque_limit), reference(axis.measured()) {}
    sim::ServoAxis axis;
    double torque_limit;           // N m
    double reference;              // rad: present reference of the servo
    double increment = 0;          // rad in each servo period until the target is reached
    double target = 0;             // rad
    std::int32_t steps_left = 0;   // remaining servo periods to the target
    double push = 0;               // N m, of a finger
    std::int32_t search_left = 0;  // remaining servo periods of the search
    std::uint8_t home = 0;         // home flag
    std::uint32_t faults = 0;      // can::hubo::fault, latched
    bool driver_on = false;
    bool control_on = false;
  };
  struct Reply {
    Time due{};
    can::hubo::Command request{};
  };

  [[nodiscard]] std::span<std::optional<Motor>> motors() noexcept {
    return std::span(motors_).first(can::hubo::channels_of(options_.kind));
  }
  [[nodiscard]] std::span<const std::optional<Motor>> motors() const noexcept {
    return std::span(motors_).first(can::hubo::channels_of(options_.kind));
  }
  [[nodiscard]] bool is_finger(std::size_t channel) const noexcept;
  [[nodiscard]] bool take_reference(const can::Frame& frame) noexcept;
  void lead(std::size_t channel, std::int32_t counts) noexcept;
  void push(std::size_t channel, double part) noexcept;
  void obey(const can::hubo::Command& command) noexcept;
  void answer_later(const can::hubo::Command& request) noexcept;
  void begin_search(Motor& motor) noexcept;
  void end_search(Motor& motor) noexcept;
  void run(Motor& motor) noexcept;
  static void hold(Motor& motor) noexcept;
  static void power(Motor& motor) noexcept;
  static void notice_faults(Motor& motor) noexcept;
  [[nodiscard]] std::int32_t count(std::size_t channel) const noexcept;
  [[nodiscard]] can::hubo::MotorStatus status(const Motor& motor) const noexcept;
  [[nodiscard]] can::Frame answer_to(const can::hubo::Command& request) const noexcept;
  [[nodiscard]] can::Frame encoder_frame(std::uint8_t half) const noexcept;
  [[nodiscard]] can::Frame status_frame() const noexcept;

  std::uint8_t number_;
  bool silent_ = false;
  std::uint8_t first_ = 0;    // index of the oldest waiting reply
  std::uint8_t pending_ = 0;  // number of waiting replies
  std::array<Reply, 4> replies_{};
  sim::ServoTicks ticks_;
  Time now_;
  HuboBoardOptions options_;
  HuboBoardFaults faults_{};
  std::int32_t reference_steps_;
  std::array<std::optional<Motor>, can::hubo::max_channels> motors_{};
  bool is_hybrid_ = false;  // in hybrid mode
  std::uint64_t ignored_ = 0;
};

}  // namespace takt::drives
