// The real-time process's end of the shared-memory joints of a robot (joint_image.hpp). It receives the
// commands of the motion processes, decides which of them owns each joint, and returns the references to
// apply. The references still pass the loop's limiter. The hub itself rejects only NaN and infinite numbers,
// and moves joints without an owner to their safe state.
//
//     auto hub = JointHub::make(memory.image, memory.owner_slots, safety,
//                               {.period = 1ms, .silent_cycles = 20});
//     for (;;) {  // each cycle
//       const std::span<const JointReference> references = hub->take();
//       drives.exchange(references, measured);
//       hub->publish(clock.now(), measured);
//     }
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/shm/joint_image.hpp"

namespace takt::shm {

/// The safe behaviour of a joint after it has lost its owner. A joint that is off stays off.
///
/// - release: the hub sets mode `off`.
/// - hold with zero speed: the joint stops at its reference. In mode velocity the velocity becomes 0. In mode
///   position the position stays. After mode effort the joint holds the measured position.
/// - hold with a positive speed: the reference moves to `position` at that speed and stays there. It starts
///   at the current reference, or, after mode velocity or effort, at the measured position.
struct JointSafety {
  SafeBehaviour behaviour = SafeBehaviour::hold;  ///< release or hold
  double position = 0;                            ///< rad (m for linear joints); finite
  double speed = 0;                               ///< rad/s (m/s for linear joints); finite, not negative
};

/// Options of the hub.
struct JointHubOptions {
  Duration period{1'000'000};  ///< time between two take(); positive
  /// An owner may be without a valid command for this many take(). After one more it loses its joints.
  std::uint32_t silent_cycles = 20;
};

/// The hub. One thread at a time may use it, and one hub at a time may use the memory. Everything except
/// make() is real-time safe.
class JointHub {
 public:
  /// Creates a hub for as many joints as `safety` has entries. Over memory in use it continues with the
  /// references that were applied last. All owners lose their joints, because only commands that follow an
  /// image of this hub count. Without a previous image all joints are off until an owner commands them.
  ///
  /// Errors:
  /// - bad_extent: no joints or owner slots, or too many
  /// - out_of_domain: a position or speed is not finite, a speed is negative, or the period is not positive
  ///
  /// The hub trusts the previous image. So memory that other processes may write is only for processes of the
  /// same trust.
  [[nodiscard]] static Result<JointHub> make(BroadcastValue<JointImage>& image,
                                             std::span<LatestMemory<OwnerCommand>> owner_slots,
                                             std::span<const JointSafety> safety,
                                             const JointHubOptions& options = {}) noexcept {
    if (safety.empty() || safety.size() > max_joints || owner_slots.empty() ||
        owner_slots.size() > max_joint_slots)
      return fail(Errc::bad_extent);
    if (options.period <= Duration(0)) return fail(Errc::out_of_domain);
    for (const JointSafety& joint : safety) {
      if (!std::isfinite(joint.position) || !std::isfinite(joint.speed) || joint.speed < 0)
        return fail(Errc::out_of_domain);
    }
    return JointHub(image, owner_slots, safety, options);
  }

  /// Reads the command of every owner slot, updates the owners, and returns the references to apply now, one
  /// per joint. Call it once per cycle.
  [[nodiscard]] std::span<const JointReference> take() noexcept {
    ++image_.cycle;
    for (std::size_t owner_slot = 0; owner_slot < image_.slots; ++owner_slot) hear(owner_slot);
    // A second pass, because the first one releases joints that another owner slot may want.
    for (std::size_t owner_slot = 0; owner_slot < image_.slots; ++owner_slot) answer(owner_slot);
    for (std::size_t joint = 0; joint < image_.joints; ++joint) {
      if (image_.phase[joint] == JointPhase::returning) step_towards_safe_position(joint);
    }
    return {references_.data(), image_.joints};
  }

  /// Publishes the image of this cycle: the applied references, and the measurements taken at `now`. If a
  /// measurement is missing, NaN or infinite, the previous one stays.
  void publish(Time now, std::span<const JointMeasurement> measured) noexcept {
    for (std::size_t joint = 0; joint < std::min<std::size_t>(measured.size(), image_.joints); ++joint)
      measure(joint, measured[joint]);
    for (std::size_t joint = 0; joint < image_.joints; ++joint) show(joint);
    image_.stamp = to_nanoseconds(now);
    writer_.write(image_, pieces_);
  }

  /// Begins again where the joints are, for a robot that stood still meanwhile. All owners lose their joints.
  /// All joints are off until an owner commands them. Only commands that follow the next image count. A
  /// joint without a finite measurement keeps its previous one.
  void restart(std::span<const JointMeasurement> measured) noexcept {
    for (std::size_t owner_slot = 0; owner_slot < image_.slots; ++owner_slot)
      lose(owner_slot, owned_[owner_slot]);
    for (std::size_t joint = 0; joint < image_.joints; ++joint) {
      if (joint < measured.size()) measure(joint, measured[joint]);
      references_[joint] = {{image_.position[joint], 0, 0}, 0, JointMode::off};
      image_.phase[joint] = JointPhase::resting;
    }
    image_.started = image_.cycle + 1;
  }

  /// The image of the last publish(), with the owners and answers of the last take().
  [[nodiscard]] const JointImage& image() const noexcept { return image_; }

 private:
  JointHub(BroadcastValue<JointImage>& image, std::span<LatestMemory<OwnerCommand>> owner_slots,
           std::span<const JointSafety> safety, const JointHubOptions& options) noexcept
      : writer_(image), options_(options) {
    std::copy(safety.begin(), safety.end(), safety_.begin());
    image_.joints = static_cast<std::uint32_t>(safety.size());
    image_.slots = static_cast<std::uint32_t>(owner_slots.size());
    image_.owner.fill(no_owner);
    for (std::size_t owner_slot = 0; owner_slot < owner_slots.size(); ++owner_slot)
      owner_slots_[owner_slot].emplace(owner_slots[owner_slot]);
    for (std::size_t joint = 0; joint < safety.size(); ++joint) image_.safe[joint] = safety_[joint].position;
    JointImage last;
    if (BroadcastValue<JointImage>::Reader(image).read(last) != Freshness::none) take_over(last);
    image_.started = image_.cycle + 1;
    pieces_ = pieces_in_use(image_);
  }

  /// Continues after a previous hub.
  void take_over(const JointImage& last) noexcept {
    image_.cycle = last.cycle;
    if (last.joints != image_.joints) return;
    for (std::size_t joint = 0; joint < image_.joints; ++joint) {
      measure(joint, {last.position[joint], last.velocity[joint], last.effort[joint]});
      const JointReference reference = last.reference(joint);
      if (!check(reference)) continue;
      apply(joint, reference);
      if (last.phase[joint] != JointPhase::resting) leave(joint);
    }
  }

  // Commands.

  void hear(std::size_t owner_slot) noexcept {
    newly_wanted_[owner_slot] = {};
    if (has_good_news(owner_slot)) {
      silent_[owner_slot] = 0;
      follow(owner_slot);
    } else if (++silent_[owner_slot] == std::uint64_t{options_.silent_cycles} + 1 &&
               !owned_[owner_slot].empty()) {
      lose(owner_slot, owned_[owner_slot]);
      ++image_.lost[owner_slot];
      image_.answer[owner_slot] = OwnerSlotAnswer::silent;
    }
  }

  /// Copies the owner slot's newest command to `command_` and returns whether it is valid. The owner slot is
  /// read only once, because its process may write there at any time.
  [[nodiscard]] bool has_good_news(std::size_t owner_slot) noexcept {
    if (owner_slots_[owner_slot]->update() != Freshness::new_data) return false;
    copy_command(owner_slots_[owner_slot]->value());
    // A valid command follows an image of this hub, at the latest the one of the previous cycle.
    if (command_.session == 0 || command_.seen < image_.started || command_.seen >= image_.cycle)
      return false;
    if (command_.session == image_.session[owner_slot] && command_.heartbeat == image_.heartbeat[owner_slot])
      return false;
    return is_sound(owner_slot);
  }

  /// Copies only the rows of this robot's joints. The other rows are never read.
  void copy_command(const OwnerCommand& from) noexcept {
    Processor::copy<alignof(OwnerCommand)>(&command_, &from, offsetof(OwnerCommand, position));
    const auto copy_rows = [this](auto& to, const auto& rows) noexcept {
      Processor::copy<sizeof(to[0])>(to.data(), rows.data(), image_.joints * sizeof(to[0]));
    };
    copy_rows(command_.position, from.position);
    copy_rows(command_.velocity, from.velocity);
    copy_rows(command_.acceleration, from.acceleration);
    copy_rows(command_.effort, from.effort);
    copy_rows(command_.mode, from.mode);
  }

  [[nodiscard]] bool is_sound(std::size_t owner_slot) noexcept {
    Errc& error = image_.error[owner_slot];
    error = {};
    command_.wanted.for_each([&](std::size_t joint) {
      const Status good =
          joint < image_.joints ? check(command_.reference(joint)) : fail(Errc::unknown_joint);
      if (good || error != Errc{}) return;
      error = static_cast<Errc>(good.error().code);
      image_.error_joint[owner_slot] = static_cast<std::uint8_t>(joint);
    });
    if (error == Errc{}) return true;
    ++image_.rejected[owner_slot];
    return false;
  }

  /// Applies a valid command to the joints that the owner slot owns, and stores which other joints it wants.
  void follow(std::size_t owner_slot) noexcept {
    if (command_.session != image_.session[owner_slot]) lose(owner_slot, owned_[owner_slot]);
    image_.session[owner_slot] = command_.session;
    image_.heartbeat[owner_slot] = command_.heartbeat;
    image_.sent[owner_slot] = command_.stamp;
    lose(owner_slot, owned_[owner_slot] - command_.wanted);
    owned_[owner_slot].for_each([this](std::size_t joint) {
      if (command_.seen < image_.granted[joint])
        return;  // the owner has not seen the grant yet, so its reference has the wrong start
      image_.phase[joint] = JointPhase::driven;
      apply(joint, command_.reference(joint));
    });
    newly_wanted_[owner_slot] = command_.wanted - owned_[owner_slot];
    image_.answer[owner_slot] = command_.wanted.empty() ? OwnerSlotAnswer::none : OwnerSlotAnswer::granted;
  }

  // Owners.

  void answer(std::size_t owner_slot) noexcept {
    const JointSet wanted = newly_wanted_[owner_slot];
    const JointSet in_the_way = wanted & taken_;
    if (!in_the_way.empty()) {
      const auto joint = static_cast<std::size_t>(std::countr_zero(in_the_way.bits()));
      image_.answer[owner_slot] = OwnerSlotAnswer::refused;
      image_.refused_joint[owner_slot] = static_cast<std::uint8_t>(joint);
      return;
    }
    taken_ = taken_ | wanted;
    owned_[owner_slot] = owned_[owner_slot] | wanted;
    wanted.for_each([&](std::size_t joint) {
      image_.owner[joint] = static_cast<std::uint8_t>(owner_slot);
      image_.granted[joint] = image_.cycle;
      image_.phase[joint] = JointPhase::granted;
      stop(joint);
    });
  }

  void lose(std::size_t owner_slot, JointSet joints) noexcept {
    owned_[owner_slot] = owned_[owner_slot] - joints;
    taken_ = taken_ - joints;
    joints.for_each([this](std::size_t joint) { leave(joint); });
  }

  /// Removes the owner of the joint and starts its safe behaviour.
  void leave(std::size_t joint) noexcept {
    const JointSafety& safety = safety_[joint];
    image_.owner[joint] = no_owner;
    stop(joint);
    JointMode& mode = references_[joint].mode;
    if (safety.behaviour == SafeBehaviour::release) mode = JointMode::off;
    const bool moves = mode != JointMode::off && safety.speed > 0;
    if (moves) mode = JointMode::position;
    image_.phase[joint] = moves ? JointPhase::returning : JointPhase::resting;
  }

  // References. In modes other than position, their position is the measured one, where a later position mode
  // must start.

  void apply(std::size_t joint, const JointReference& reference) noexcept {
    references_[joint] = reference;
    if (reference.mode != JointMode::position) references_[joint].motion.position = image_.position[joint];
  }

  void stop(std::size_t joint) noexcept {
    JointReference& reference = references_[joint];
    if (reference.mode == JointMode::effort) reference.mode = JointMode::position;
    reference.motion.velocity = 0;
    reference.motion.acceleration = 0;
    reference.effort = 0;
  }

  void step_towards_safe_position(std::size_t joint) noexcept {
    const JointSafety& safety = safety_[joint];
    MotionState& motion = references_[joint].motion;
    const double step = safety.speed * to_seconds(options_.period);
    const double rest = safety.position - motion.position;
    if (std::abs(rest) <= step) {
      motion = {safety.position, 0, 0};
      image_.phase[joint] = JointPhase::resting;
    } else {
      motion = {motion.position + std::copysign(step, rest), std::copysign(safety.speed, rest), 0};
    }
  }

  void measure(std::size_t joint, const JointMeasurement& measured) noexcept {
    if (!std::isfinite(measured.position) || !std::isfinite(measured.velocity) ||
        !std::isfinite(measured.effort))
      return;
    image_.position[joint] = measured.position;
    image_.velocity[joint] = measured.velocity;
    image_.effort[joint] = measured.effort;
  }

  void show(std::size_t joint) noexcept {
    apply(joint, references_[joint]);
    const JointReference& reference = references_[joint];
    image_.ref_position[joint] = reference.motion.position;
    image_.ref_velocity[joint] = reference.motion.velocity;
    image_.ref_acceleration[joint] = reference.motion.acceleration;
    image_.ref_effort[joint] = reference.effort;
    image_.mode[joint] = reference.mode;
  }

  BroadcastValue<JointImage>::Writer writer_;
  std::array<std::optional<LatestReader<OwnerCommand>>, max_joint_slots> owner_slots_{};
  JointHubOptions options_;
  std::array<JointSafety, max_joints> safety_{};
  std::array<JointReference, max_joints> references_{};  // as applied
  JointSet taken_;                                       // joints with an owner
  std::array<JointSet, max_joint_slots> owned_{};
  std::array<JointSet, max_joint_slots> newly_wanted_{};  // by this cycle's commands
  std::array<std::uint64_t, max_joint_slots> silent_{};   // cycles since the last valid command
  OwnerCommand command_;                                  // the command under examination
  std::array<Piece, 22> pieces_{};                        // byte ranges of the image in use
  JointImage image_;
};

}  // namespace takt::shm
