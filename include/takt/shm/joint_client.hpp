// A motion process's end of the joints of a robot in shared memory (joint_image.hpp): it asks for joints, moves those that it
// was given, and reads the whole robot.
//
//     JointClient client(BroadcastValue<JointImage>::Reader(memory.image), {&memory.seats[2], 2}, session);
//     client.want(arm);
//     for (;;) {                                    // once per cycle of the process
//       (void)client.update();
//       client.granted().for_each([&](auto joint) { begin_at(joint, client.reference(joint)); });
//       client.owned().for_each([&](auto joint) { (void)client.set(joint, next_reference(joint)); });
//       client.publish(clock.now());
//       clock.sleep_until(...);
//     }
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/shm/joint_image.hpp"

namespace takt::shm {

/// One process in one seat. One thread at a time; everything is real-time safe.
class JointClient {
 public:
  /// `session` is any number but 0 that tells this start of the process from the one before it in the same seat: from a clock, or
  /// random.
  JointClient(const BroadcastValue<JointImage>::Reader& image, const JointSeat& seat,
              std::uint32_t session) noexcept
      : reader_(image), writer_(*seat.memory), number_(seat.number) {
    command_.session = session == 0 ? 1 : session;
  }

  /// Reads the newest image. Joints that were granted since the last call begin with the reference that is applied to them.
  Freshness update() noexcept {
    granted_ = {};
    const Freshness freshness = reader_.read_new(image_);
    if (freshness != Freshness::new_data) return freshness;
    owned_ = {};
    if (heard()) find_owned();
    command_.seen = image_.cycle;
    return freshness;
  }

  /// The robot as the last update() found it.
  [[nodiscard]] const JointImage& image() const noexcept { return image_; }

  /// The joints that this process owns, by the last update().
  [[nodiscard]] JointSet owned() const noexcept { return owned_; }

  /// Those of them that the last update() found granted anew: also joints that were lost and came back, which have stood still or
  /// moved towards their safe position meanwhile. Whatever moved them before has to start afresh from reference().
  [[nodiscard]] JointSet granted() const noexcept { return granted_; }

  /// What the hub has said to this process: not to one that had the seat before.
  [[nodiscard]] SeatAnswer answer() const noexcept {
    return heard() ? image_.answer[number_] : SeatAnswer::none;
  }

  /// The joints to own from the next publish() on: all of those that are new, or none (joint_image.hpp). Joints that are left out
  /// are let go of.
  void want(JointSet joints) noexcept { command_.wanted = joints; }

  /// What the joint is asked to do by the next publish().
  [[nodiscard]] JointReference reference(std::size_t joint) const noexcept {
    return joint < max_joints ? command_.reference(joint) : JointReference();
  }

  /// Changes it. Errors: not_owner; unknown_mode; bad_reference. Then the reference before stands.
  [[nodiscard]] Status set(std::size_t joint, const JointReference& reference) noexcept {
    if (!owned_.contains(joint)) return fail(Errc::not_owner);
    if (const Status good = check(reference); !good) return good;
    command_.set(joint, reference);
    return {};
  }

  /// Says all of it to the hub, as one. To be called once per cycle: it is also the sign of life.
  void publish(Time now) noexcept {
    ++command_.heartbeat;
    command_.stamp = to_nanoseconds(now);
    writer_.write(command_);
  }

 private:
  [[nodiscard]] bool heard() const noexcept {
    return number_ < max_joint_seats && image_.session[number_] == command_.session;
  }
  void find_owned() noexcept {
    for (std::size_t joint = 0; joint < std::min<std::size_t>(image_.joints, max_joints); ++joint) {
      if (image_.owner[joint] != number_) continue;
      owned_.insert(joint);
      if (image_.granted[joint] == begun_[joint]) continue;
      begun_[joint] = image_.granted[joint];
      command_.set(joint, image_.reference(joint));
      granted_.insert(joint);
    }
  }

  BroadcastValue<JointImage>::Reader reader_;
  LatestWriter<JointCommand> writer_;
  std::uint8_t number_;
  JointSet owned_;
  JointSet granted_;
  std::array<std::uint64_t, max_joints> begun_{};  // the grant that each joint's reference began with
  JointCommand command_;
  JointImage image_;
};

}  // namespace takt::shm
