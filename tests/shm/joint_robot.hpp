// A robot of six joints whose drives follow at once, with its hub, its shared memory and its clients. The
// tests of the joint image share it.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>

#include "takt/shm/joint_client.hpp"
#include "takt/shm/joint_hub.hpp"
#include "takt/shm/joint_image.hpp"

namespace takt::test::joint_robot {

using namespace takt::shm;

inline constexpr std::size_t joints = 6;
inline constexpr std::size_t owner_slot_count = 4;
inline constexpr Duration period{1'000'000};
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline JointSet set_of(std::initializer_list<std::size_t> members) {
  JointSet set;
  for (const std::size_t joint : members) set.insert(joint);
  return set;
}

inline JointReference position_reference(double position, double velocity = 0) {
  return {{position, velocity, 0}, 0, JointMode::position};
}

inline JointSet owned_by(const JointImage& image, std::size_t owner_slot) {
  JointSet set;
  for (std::size_t joint = 0; joint < image.joints; ++joint) {
    if (image.owner[joint] == owner_slot) set.insert(joint);
  }
  return set;
}

/// A robot whose drives follow at once, with its hub and the shared memory.
class Robot {
 public:
  explicit Robot(const std::array<JointSafety, joints>& safety = {}, std::uint32_t silent_cycles = 5)
      : safety_(safety), options_{period, silent_cycles} {
    for (std::size_t joint = 0; joint < joints; ++joint)
      measured_[joint].position = 0.1 * static_cast<double>(joint);
    start_hub();
  }

  void start_hub() {
    hub_.emplace(JointHub::make(memory_.image, memory_.owner_slots, safety_, options_).value());
  }
  void cycle() {
    take();
    publish();
  }
  void take() { references_ = hub_->take(); }
  void publish() {
    for (std::size_t joint = 0; joint < joints; ++joint) drive(measured_[joint], references_[joint]);
    now_ += period;
    hub_->publish(now_, measured_);
  }

  [[nodiscard]] JointClient client(std::uint8_t owner_slot, std::uint32_t session = 1) {
    return JointClient(BroadcastValue<JointImage>::Reader(memory_.image),
                       {&memory_.owner_slots[owner_slot], owner_slot}, session);
  }
  /// A client that owns the joints, has seen the grant, and holds them in position mode.
  [[nodiscard]] JointClient owner(std::uint8_t owner_slot, JointSet set, std::uint32_t session = 1) {
    JointClient client = this->client(owner_slot, session);
    client.want(set);
    for (int i = 0; i < 2; ++i) {
      REQUIRE(client.update() == Freshness::new_data);
      client.publish(now_);
      cycle();
    }
    REQUIRE(client.update() == Freshness::new_data);
    REQUIRE(client.owned() == set);
    set.for_each([&](std::size_t joint) {
      REQUIRE(client.set(joint, position_reference(client.reference(joint).motion.position)));
    });
    client.publish(now_);
    cycle();
    return client;
  }

  [[nodiscard]] const JointImage& image() const { return hub_->image(); }
  [[nodiscard]] JointSet owned(std::size_t owner_slot) const { return owned_by(image(), owner_slot); }
  [[nodiscard]] const JointReference& reference(std::size_t joint) const { return references_[joint]; }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] JointImageMemory<owner_slot_count>& memory() { return memory_; }
  std::array<JointMeasurement, joints>& measured() { return measured_; }

 private:
  static void drive(JointMeasurement& joint, const JointReference& reference) {
    joint.velocity = reference.mode == JointMode::off ? 0 : reference.motion.velocity;
    if (reference.mode == JointMode::position) joint.position = reference.motion.position;
    if (reference.mode == JointMode::velocity) joint.position += joint.velocity * to_seconds(period);
  }

  std::array<JointSafety, joints> safety_;
  JointHubOptions options_;
  JointImageMemory<owner_slot_count> memory_;
  std::optional<JointHub> hub_;
  std::array<JointMeasurement, joints> measured_{};
  std::span<const JointReference> references_;
  Time now_{};
};

/// An owner slot that can send any command.
class RawOwnerSlot {
 public:
  RawOwnerSlot(Robot& robot, std::uint8_t owner_slot)
      : robot_(&robot), writer_(robot.memory().owner_slots[owner_slot]) {
    command.session = 1;
  }
  void send() {
    ++command.heartbeat;
    send_again();
  }
  void send_again() {
    command.seen = robot_->image().cycle;
    writer_.write(command);
  }
  OwnerCommand command;

 private:
  Robot* robot_;
  LatestWriter<OwnerCommand> writer_;
};

/// Whether exactly the granted and driven joints have an owner.
inline bool is_coherent(const JointImage& image) {
  bool coherent = true;
  for (std::size_t joint = 0; joint < image.joints; ++joint) {
    const bool is_owned =
        image.phase[joint] == JointPhase::granted || image.phase[joint] == JointPhase::driven;
    coherent = coherent && (is_owned ? image.owner[joint] < image.slots : image.owner[joint] == no_owner);
  }
  return coherent;
}

}  // namespace takt::test::joint_robot
