#include "takt/app/shared_joints.hpp"

#include <array>

#include "takt/controllers/error.hpp"

namespace takt::app {
namespace {

constexpr const char* image_name = "joints";
constexpr const char* slots_name = "joint_slots";

/// The mode of a joint in the image that is this command mode.
shm::JointMode joint_mode(CommandMode mode) noexcept {
  switch (mode) {
    case CommandMode::position:
      return shm::JointMode::position;
    case CommandMode::velocity:
      return shm::JointMode::velocity;
    case CommandMode::effort:
      return shm::JointMode::effort;
  }
  return shm::JointMode::off;
}

}  // namespace

SetupResult<void> SharedJointsController::on_configure(robot::Resources& resources) {
  auto claimed = controllers::claim_joints(*this, joints, resources, *mode);
  if (!claimed) return tl::unexpected<SetupError>(std::move(claimed.error()));
  claimed_ = std::move(*claimed);
  measured_.resize(claimed_.size());
  if (auto opened = open(resources.robot()); !opened) return opened;
  return resources.output("rejected", {}, rejected_);
}

SetupResult<void> SharedJointsController::on_check() {
  return controllers::check_fixed(*this, joints, segment, mode, processes, silent_cycles);
}

SetupResult<void> SharedJointsController::open(const robot::RobotDescription& robot) {
  const auto complain = [](SetupError error) { return tl::unexpected<SetupError>(std::move(error)); };
  const std::string place = segment->view().empty() ? name() : std::string(segment->view());
  const std::array wanted{
      shm::declare<Image>(image_name),
      shm::declare<shm::JointSlots>(slots_name, 1, static_cast<std::uint32_t>(*processes))};
  auto memory = platform::Segment::open_or_create(place, wanted);
  if (!memory) return complain(std::move(memory.error()));
  auto image = memory->producer<Image>(image_name);
  if (!image) return complain(std::move(image.error()));
  auto slots = memory->consumer<shm::JointSlots>(slots_name);
  if (!slots) return complain(std::move(slots.error()));

  std::vector<shm::JointSafety> safety;
  for (const robot::Joint* joint : claimed_) safety.push_back({robot.joints[joint->index()].safe});
  const auto hub = shm::JointHub::make(
      *image->end, slots->end, safety,
      {.period = robot.period, .silent_cycles = static_cast<std::uint32_t>(*silent_cycles)});
  if (!hub) return fail(hub.error(), name() + ": " + std::string(describe(shm::Errc{hub.error().code})));
  memory_.emplace(std::move(*memory));
  image_.emplace(std::move(*image));
  slots_.emplace(std::move(*slots));
  hub_.emplace(*hub);
  return {};
}

Status SharedJointsController::on_activate(const component::CycleTime&) noexcept {
  measure();
  hub_->restart(measured_);
  return {};
}

Status SharedJointsController::on_execute(const component::CycleTime&) noexcept {
  const std::span<const shm::JointReference> references = hub_->take();
  for (std::size_t i = 0; i < claimed_.size(); ++i) command(*claimed_[i], references[i]);
  return {};
}

Status SharedJointsController::on_state_update(const component::CycleTime& cycle) noexcept {
  measure();
  hub_->publish(cycle.time, measured_);
  return {};
}

void SharedJointsController::measure() noexcept {
  for (std::size_t i = 0; i < claimed_.size(); ++i) {
    const robot::JointFeedback& feedback = claimed_[i]->feedback();
    measured_[i] = {feedback.position, feedback.velocity, feedback.effort};
  }
}

void SharedJointsController::command(robot::Joint& joint, const shm::JointReference& reference) noexcept {
  if (reference.mode != joint_mode(*mode)) {
    if (reference.mode != shm::JointMode::off) ++rejected_;
    return joint.release();
  }
  switch (*mode) {
    case CommandMode::position:
      return joint.follow(reference.motion);
    case CommandMode::velocity:
      return joint.set_velocity(reference.motion.velocity);
    case CommandMode::effort:
      return joint.set_effort(reference.effort);
  }
}

}  // namespace takt::app
