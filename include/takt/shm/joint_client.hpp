// A motion process's end of the shared-memory joints of a robot (joint_image.hpp). It requests joints, moves
// those that it owns, and reads the state of the whole robot.
//
//     JointClient client(BroadcastValue<JointImage>::Reader(memory.image), {&memory.owner_slots[2], 2},
//                        session);
//     client.want(arm);
//     for (Time next = clock.now();; next += 1ms) {  // once per cycle of the process
//       (void)client.update();
//       client.granted().for_each([&](auto joint) { begin_at(joint, client.reference(joint)); });
//       client.owned().for_each([&](auto joint) { (void)client.set(joint, next_reference(joint)); });
//       client.publish(clock.now());
//       clock.sleep_until(next);
//     }
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/shm/joint_image.hpp"

namespace takt::shm {

/// One process at one owner slot. One thread at a time may use it. Everything is real-time safe.
class JointClient {
 public:
  /// `owner_slot` is the owner slot. `session` is any number except 0 that differs from the previous session
  /// at this owner slot. Use a clock reading or a random number. The client replaces 0 by 1.
  JointClient(const BroadcastValue<JointImage>::Reader& image, const JointSlot& owner_slot,
              std::uint32_t session) noexcept
      : reader_(image), writer_(*owner_slot.memory), number_(owner_slot.number) {
    command_.session = session == 0 ? 1 : session;
  }

  /// Reads the newest image. The reference of a joint granted since the last call becomes the reference that
  /// the hub applies to it. Returns `new_data` if the image is new; otherwise nothing changes except
  /// granted(), which becomes empty.
  Freshness update() noexcept {
    granted_ = {};
    const Freshness freshness = reader_.read_new(image_);
    if (freshness != Freshness::new_data) return freshness;
    owned_ = {};
    if (heard()) find_owned();
    command_.seen = image_.cycle;
    return freshness;
  }

  /// The image of the robot that the last update() read.
  [[nodiscard]] const JointImage& image() const noexcept { return image_; }

  /// The joints that this process owns, by the last update().
  [[nodiscard]] JointSet owned() const noexcept { return owned_; }

  /// The joints that the last update() found newly granted. They include joints that were lost and granted
  /// again; those have stopped or moved to their safe position in between. Restart their motion from
  /// reference().
  [[nodiscard]] JointSet granted() const noexcept { return granted_; }

  /// The hub's answer to this session. Answers to an earlier session at the same owner slot are not returned.
  [[nodiscard]] OwnerSlotAnswer answer() const noexcept {
    return heard() ? image_.answer[number_] : OwnerSlotAnswer::none;
  }

  /// Sets the joints to own, from the next publish() on. The hub grants all newly wanted joints together, or
  /// none (joint_image.hpp). Owned joints that are not in `joints` are released.
  void want(JointSet joints) noexcept { command_.wanted = joints; }

  /// The reference that the next publish() sends for the joint. A default reference if `joint` is out of
  /// range.
  [[nodiscard]] JointReference reference(std::size_t joint) const noexcept {
    return joint < max_joints ? command_.reference(joint) : JointReference();
  }

  /// Sets the reference of an owned joint for the next publish(). Errors: not_owner; unknown_mode;
  /// bad_reference. After an error the previous reference stays.
  [[nodiscard]] Status set(std::size_t joint, const JointReference& reference) noexcept {
    if (!owned_.contains(joint)) return fail(Errc::not_owner);
    if (const Status good = check(reference); !good) return good;
    command_.set(joint, reference);
    return {};
  }

  /// Sends the wanted joints and all references to the hub as one command. `now` is the process's clock. Call
  /// it once per cycle, because it is also the heartbeat.
  void publish(Time now) noexcept {
    ++command_.heartbeat;
    command_.stamp = to_nanoseconds(now);
    writer_.write(command_);
  }

 private:
  [[nodiscard]] bool heard() const noexcept {
    return number_ < max_joint_slots && image_.session[number_] == command_.session;
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
  LatestWriter<OwnerCommand> writer_;
  std::uint8_t number_;
  JointSet owned_;
  JointSet granted_;
  std::array<std::uint64_t, max_joints> begun_{};  // cycle of the grant from which each reference started
  OwnerCommand command_;
  JointImage image_;
};

}  // namespace takt::shm
