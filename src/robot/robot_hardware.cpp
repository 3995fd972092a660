#include "takt/robot/robot_hardware.hpp"

#include <algorithm>
#include <utility>

#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/error.hpp"

namespace takt::robot {

SetupResult<std::unique_ptr<RobotHardware>> RobotHardware::create(const RobotDescription& robot,
                                                                  std::span<CanPort* const> ports) {
  if (robot.joints.size() > max_joints) return fail(Errc::too_many_joints, "at most 64 joints");
  if (std::find(ports.begin(), ports.end(), nullptr) != ports.end() || ports.size() != robot.buses.size())
    return fail(Errc::no_such_bus, "each bus of the robot needs a port");
  std::unique_ptr<RobotHardware> self(new RobotHardware);
  std::vector<const DriveProtocol*> spoken;
  for (const BusDescription& bus : robot.buses) {
    if (bus.protocol == nullptr) return fail(Errc::no_such_bus, "bus " + bus.name + " has no protocol");
    if (std::find(spoken.begin(), spoken.end(), bus.protocol) != spoken.end()) continue;
    spoken.push_back(bus.protocol);
    auto master = bus.protocol->connect(robot, ports);
    if (!master) return tl::unexpected<SetupError>(std::move(master.error()));
    self->masters_.push_back(std::move(*master));
  }
  constexpr Duration longest_wait{500'000'000};
  self->patience_ = static_cast<std::uint32_t>(longest_wait / std::max(robot.period, Duration(1'000)));
  for (CanPort* const port : ports) self->buses_.push_back({.port = port});
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    if (robot.joints[i].bus >= ports.size()) return fail(Errc::no_such_bus, robot.joints[i].name);
    self->buses_[robot.joints[i].bus].joints.insert(i);
  }
  return self;
}

void RobotHardware::read(Time now, std::span<JointFeedback> feedback) noexcept {
  for (const auto& master : masters_) master->read(now, feedback);
  for (Bus& bus : buses_) {
    if (bus.port->link() != BusLink::up) {
      bus.lost = now;
      bus.patience = patience_ + 1;
    }
    if (bus.patience == 0) continue;
    const bool waits = bus.patience > 1;
    bool all_said = true;
    bus.joints.for_each([&](std::size_t joint) noexcept {
      if (joint >= feedback.size()) return;
      JointFeedback& seen = feedback[joint];
      if (seen.stamp > bus.lost && seen.drive != DriveState::unknown) return;
      all_said = false;
      if (waits) seen.drive = DriveState::no_bus;
      // It may have restarted with its bus, so an old state is none.
      if (!waits && seen.drive == DriveState::ready) seen.drive = DriveState::unknown;
    });
    bus.patience = all_said ? 0 : std::max(bus.patience - 1, 1U);
  }
}

void RobotHardware::write(Time now, std::span<const JointCommand> commands) noexcept {
  for (const auto& master : masters_) master->write(now, commands);
}

HardwareCounters RobotHardware::counters() const noexcept {
  HardwareCounters sum;
  for (const auto& master : masters_) sum += master->counters();
  return sum;
}

std::uint64_t RobotHardware::starved(std::size_t joint) const noexcept {
  std::uint64_t sum = 0;
  for (const auto& master : masters_) sum += master->starved(joint);
  return sum;
}

void RobotHardware::ask_identity() noexcept {
  for (const auto& master : masters_) master->ask_identity();
}

std::string RobotHardware::identity(std::size_t joint) const {
  for (const auto& master : masters_) {
    if (std::string said = master->identity(joint); !said.empty()) return said;
  }
  return {};
}

}  // namespace takt::robot
