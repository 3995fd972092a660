// The invariants of a vehicle client in every situation. They are judged from outside, by the client's inputs
// and its frames.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "takt/vehicle/client.hpp"

namespace takt::test {

/// Names the first violated invariant; "" if there is none.
class ClientWatch {
 public:
  explicit ClientWatch(const vehicle::ClientConfiguration& c)
      : c_(c), units_(vehicle::Units::make(c.units).value()) {}

  void time(Time now) { now_ = std::max(now_, now); }

  /// The client accepted this status frame.
  void heard(const vehicle::StatusFrame& frame) {
    heard_at_ = now_;
    for (std::uint8_t i = 0; i < vehicle::max_systems; ++i) {
      const auto system = static_cast<vehicle::System>(i);
      if (frame.has(system)) running_.erase(system);
      if (frame.state(system) == vehicle::SystemState::running) running_.insert(system);
    }
    const auto traction = frame.traction();
    if (!traction) return;
    const bool wheels_turn = std::abs(traction->left_speed) > 1 || std::abs(traction->right_speed) > 1;
    stands_ = !wheels_turn && std::abs(units_.speed(*traction)) < c_.drive.stop.standstill;
  }
  void commanded(const vehicle::DriveCommand& command) {
    if (!well()) fail("a command was taken while something was wrong");
    if (stopped_) fail("a command was taken while the vehicle was stopped");
    command_ = command;
    commanded_at_ = now_;
  }
  /// A stop is active from now on, or was already.
  void stopped(StopCategory category) {
    if (!stopped_) stopped_at_ = now_;
    category_ = stopped_ ? std::min(category_, category) : category;
    stopped_ = true;
  }
  void recovered() {
    if (!stopped_) return;
    if (!well()) fail("it went on while something was wrong");
    if (!stands_) fail("it went on while the vehicle was moving");
    stopped_ = false;
    command_.reset();
  }

  void sent(std::span<const std::uint8_t> datagram) {
    const auto frame = vehicle::decode_control(datagram, *c_.payload);
    if (!frame) return fail("what was sent is no control frame");
    const vehicle::DriveCommand now = units_.command(*frame);
    if (now.throttle != 0 && now.brake != 0) fail("throttle and brake at once");
    if (now.brake < 0 || now.brake > 1 || now.throttle > c_.drive.limits.throttle ||
        now.throttle < -c_.drive.limits.reverse ||
        std::abs(now.steering) > c_.drive.limits.steering + c_.units.steer)
      fail("beyond the limits");
    // A brake is commanded in whole counts.
    const bool let_go = now.throttle != 0 || now.brake < brake_;
    if (let_go && stopped_) fail("the brake was let go, or the throttle pressed, in a stop");
    if (let_go && !fresh_command())
      fail("the brake was let go, or the throttle pressed, without a fresh command");
    if (let_go && !well()) fail("the brake was let go, or the throttle pressed, while something was wrong");
    if (now.throttle * command_.value_or(vehicle::DriveCommand{}).throttle < 0)
      fail("the other way than was commanded");
    if (stopped_ && now.brake < least_brake() - 1 / c_.units.full_brake)
      fail("the brake was not pressed as the stop is to press it");
    if (command_ && !stopped_ && !fresh_command()) fail("nothing stopped it for want of a command");
    if (command_ && !stopped_ && !well()) fail("nothing stopped it while something was wrong");
    brake_ = now.brake;
    ++frames_;
  }

  [[nodiscard]] std::string_view violated() const { return violated_; }
  [[nodiscard]] std::size_t frames() const { return frames_; }

 private:
  /// The least brake of the stop by now, whether the vehicle stands or not.
  [[nodiscard]] double least_brake() const {
    const Duration since = now_ - stopped_at_;
    if (category_ == StopCategory::category_0) return 1;
    if (category_ == StopCategory::category_1 && since > c_.drive.stop.longest_braking) return 1;
    return std::min(c_.drive.stop.service_brake, c_.drive.stop.brake_rate * to_seconds(since));
  }
  [[nodiscard]] bool well() const {
    return heard_at_ && now_ - *heard_at_ <= c_.telemetry.freshness &&
           running_.contains(c_.telemetry.required);
  }
  [[nodiscard]] bool fresh_command() const {
    return command_ && now_ - commanded_at_ <= c_.drive.command_timeout;
  }
  void fail(std::string_view what) {
    if (violated_.empty()) violated_ = what;
  }

  vehicle::ClientConfiguration c_;
  vehicle::Units units_;
  Time now_{};
  std::optional<Time> heard_at_;
  vehicle::SystemSet running_;
  bool stands_ = false;
  std::optional<vehicle::DriveCommand> command_;
  Time commanded_at_{};
  bool stopped_ = false;
  Time stopped_at_{};
  StopCategory category_{};
  double brake_ = 1;
  std::size_t frames_ = 0;
  std::string_view violated_;
};

}  // namespace takt::test
