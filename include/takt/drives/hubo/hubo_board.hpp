// A simulated board of the Hubo family, of any kind: its motors behind one CAN node that answers requests and
// follows references, as can/hubo.hpp describes the frames. Fingers are pushed by as much of their joint's largest torque as is
// ordered of the most, those of a hybrid board only in its hybrid mode. Between the references, which come every
// few milliseconds, it moves its servos' reference linearly at 1 kHz; when no more come, it holds the last
// one.
//
// Start-up, as the real boards': power on leaves driver and control off; `driver` on, then `control_on`, and
// the board holds the present position until the first reference. `initialise` switches off and forgets
// faults. A board comes up with its encoders at their zero and says that it is at home, or else with them at zero wherever its
// joints stand; `home` leads a joint to its real zero, for as long as the options say, heeding no references, and
// its limit switch closes there. Everything is real-time safe after construction.
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

struct HuboBoardOptions {
  can::hubo::BoardKind kind = can::hubo::BoardKind::two_channel;
  Duration reply_delay{150'000};  ///< from the end of a request to the reply's entry into the transmit queue
  Duration reference_period{5'000'000};  ///< the time over which a new reference is approached
  can::hubo::Dialect dialect = can::hubo::Dialect::podo;
  bool at_home = true;                ///< when it comes up
  Duration home_time{2'000'000'000};  ///< that a search takes
};

/// What is broken about a whole board; of its joints see JointFault.
struct HuboBoardFaults {
  Duration late{};            ///< so much later than usual come its replies
  std::uint8_t cut = 0;       ///< bytes missing at the end of its replies
  bool limit_switch = false;  ///< all its limit switches are closed, wherever the joints are
  bool never_home = false;    ///< it searches, and finds nothing
};

class HuboBoard {
 public:
  HuboBoard(std::uint8_t number, const HuboBoardOptions& options, Time start) noexcept;

  /// Fits a motor; set-up only. False when the channel does not exist or has one, or the joint is described as of another kind
  /// of board.
  [[nodiscard]] bool fit(std::uint8_t channel, const robot::JointDescription& joint) noexcept;

  /// Whether the node takes notice of the frame.
  [[nodiscard]] bool accepts(const can::Frame& frame) const noexcept {
    if (frame.id == can::hubo::command_id) return frame.data[0] == number_;
    return frame.id == can::hubo::reference_base + number_;
  }
  /// Takes a frame that ended on the bus at its stamp.
  void receive(const can::Frame& frame) noexcept;
  /// When the next frame is to be sent; Time::max() when none is.
  [[nodiscard]] Time next_send() const noexcept { return pending_ > 0 ? replies_[first_].due : Time::max(); }
  /// That frame, at that time.
  [[nodiscard]] can::Frame take_frame() noexcept;
  /// Lets the motors run up to a time.
  void advance(Time to) noexcept;

  /// What is broken about the board from now on; nothing with a default one.
  void set_faults(const HuboBoardFaults& faults) noexcept { faults_ = faults; }
  /// What happened to this channel's joint, at the present time. Requires a fitted channel.
  void inject(std::uint8_t channel, sim::JointFault fault) noexcept;
  void set_load(std::uint8_t channel, double torque) noexcept { motors_[channel]->axis.set_load(torque); }
  /// Where the joint really is, rad, and how fast it moves, rad/s. Requires a fitted channel.
  [[nodiscard]] double position(std::uint8_t channel) const noexcept {
    return motors_[channel]->axis.plant().position(ticks_.since(now_));
  }
  [[nodiscard]] double velocity(std::uint8_t channel) const noexcept {
    return motors_[channel]->axis.plant().velocity();
  }

  /// Frames that addressed this board and made no sense, requests that came too fast to be answered.
  [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }

 private:
  struct Motor {
    explicit Motor(const robot::JointDescription& joint) noexcept
        : axis(joint), torque_limit(joint.plant.torque_limit), reference(axis.measured()) {}
    sim::ServoAxis axis;
    double torque_limit;           // N m
    double reference;              // rad: where the servo is led now
    double increment = 0;          // rad in each servo period until the target is reached
    double target = 0;             // rad
    std::int32_t steps_left = 0;   // servo periods until then
    double push = 0;               // N m, of a finger
    std::int32_t search_left = 0;  // servo periods until it is at home
    std::uint8_t home = 0;         // the flag
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
  std::uint8_t first_ = 0;    // of the replies that wait
  std::uint8_t pending_ = 0;  // how many
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
