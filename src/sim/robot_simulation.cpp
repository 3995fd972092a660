#include "takt/sim/robot_simulation.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "takt/robot/actuator_space.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/sim/drive_bus.hpp"

namespace takt::sim {
namespace {

/// Limits wide enough for every machine, and narrow enough that sums and products stay in the range of
/// double.
bool can_be_simulated(const robot::JointDescription& joint) noexcept {
  constexpr double largest = 1e9;
  const auto positive = [](double value) { return value >= 1 / largest && value <= largest; };
  const auto not_negative = [](double value) { return value >= 0 && value <= largest; };
  const robot::PlantDescription& plant = joint.plant;
  return positive(plant.inertia) && not_negative(plant.viscous_friction) &&
         not_negative(plant.coulomb_friction) && positive(plant.torque_limit) && positive(plant.bandwidth) &&
         not_negative(std::abs(plant.start)) && positive(std::abs(joint.counts_per_radian)) &&
         positive(joint.following_error);
}

}  // namespace

class RobotSimulation::World {
 public:
  World(robot::RobotDescription actuators, Time start, JointPhysics* physics)
      : robot_(std::move(actuators)), now_(start), physics_(physics) {}

  SetupResult<void> build() {
    if (physics_ != nullptr) {
      if (auto taken = start_where_physics_stand(); !taken) return taken;
    }
    for (std::size_t i = 0; i < robot_.buses.size(); ++i) {
      const robot::BusDescription& bus = robot_.buses[i];
      if (bus.protocol == nullptr) return fail(Errc::bad_place, "bus " + bus.name + " has no protocol");
      buses_.push_back(bus.protocol->simulate(robot_, i, now_));
    }
    for (const robot::JointDescription& joint : robot_.joints) {
      if (auto added = add(joint); !added) return added;
    }
    if (physics_ != nullptr) attach();
    return {};
  }

  void advance(Time to) noexcept {
    if (to <= now_) return;
    for (; physics_ != nullptr && next_step_ <= to; next_step_ += physics_->step_time()) {
      advance_drives(next_step_);
      physics_->step();
    }
    advance_drives(to);
    now_ = to;
  }

  [[nodiscard]] Time now() const noexcept { return now_; }
  [[nodiscard]] std::size_t bus_count() const noexcept { return buses_.size(); }
  [[nodiscard]] DriveBus& bus(std::size_t index) const noexcept { return *buses_[index]; }
  [[nodiscard]] DriveBus& bus_of(std::size_t joint) const noexcept { return *buses_[bus_of_joint_[joint]]; }

 private:
  void advance_drives(Time to) noexcept {
    for (const auto& bus : buses_) bus->advance(to);
  }

  /// Physics know where their joints start. There begin the drives, whatever the description says.
  SetupResult<void> start_where_physics_stand() {
    if (!robot_.transmissions.empty()) {
      return fail(Errc::bad_physics, "physics move joints, but the drives of " +
                                         robot_.transmissions.front().name +
                                         " move the actuators of a transmission");
    }
    const std::span<const PhysicsJoint> joints = physics_->joints();
    if (joints.size() != robot_.joints.size() || physics_->step_time() <= Duration{}) {
      return fail(Errc::bad_physics, "the physics have " + std::to_string(joints.size()) +
                                         " joints, the robot has " + std::to_string(robot_.joints.size()));
    }
    for (std::size_t i = 0; i < joints.size(); ++i) {
      if (!std::isfinite(joints[i].position))
        return fail(Errc::bad_physics, place_of(robot_.joints[i]) + ": the physics give no finite position");
      robot_.joints[i].plant.start = joints[i].position;
    }
    return {};
  }

  void attach() noexcept {
    const std::span<PhysicsJoint> joints = physics_->joints();
    for (std::size_t i = 0; i < joints.size(); ++i) {
      joints[i].braked = true;
      bus_of(i).attach(i, joints[i]);
    }
    next_step_ = now_ + physics_->step_time();
  }

  SetupResult<void> add(const robot::JointDescription& joint) {
    if (!can_be_simulated(joint)) {
      return fail(Errc::bad_plant,
                  place_of(joint) +
                      ": inertia, torque limit, bandwidth and following error must be positive, "
                      "friction not negative, counts per radian not zero, all of them below 1e9");
    }
    if (joint.bus >= buses_.size())
      return fail(Errc::bad_place, place_of(joint) + ": there is no bus " + std::to_string(joint.bus));
    if (auto added = buses_[joint.bus]->add(bus_of_joint_.size(), joint); !added) return added;
    bus_of_joint_.push_back(joint.bus);
    return {};
  }

  robot::RobotDescription robot_;  ///< as its drives see it
  Time now_;
  JointPhysics* physics_;
  Time next_step_{};  ///< of the physics
  std::vector<std::unique_ptr<DriveBus>> buses_;
  std::vector<std::size_t> bus_of_joint_;
};

SetupResult<RobotSimulation> RobotSimulation::create(const robot::RobotDescription& description, Time start,
                                                     JointPhysics* physics) {
  const auto space = robot::ActuatorSpace::create(description);
  if (!space) return tl::unexpected<SetupError>(space.error());
  auto world = std::make_unique<World>(robot::at_actuators(description, *space), start, physics);
  if (auto built = world->build(); !built) return tl::unexpected(std::move(built.error()));
  return RobotSimulation(std::move(world));
}

RobotSimulation::RobotSimulation(std::unique_ptr<World> world) noexcept : world_(std::move(world)) {}
RobotSimulation::RobotSimulation(RobotSimulation&&) noexcept = default;
RobotSimulation& RobotSimulation::operator=(RobotSimulation&&) noexcept = default;
RobotSimulation::~RobotSimulation() = default;

void RobotSimulation::advance(Time to) noexcept { world_->advance(to); }
Time RobotSimulation::now() const noexcept { return world_->now(); }
std::size_t RobotSimulation::bus_count() const noexcept { return world_->bus_count(); }
VirtualCanBus::Port RobotSimulation::host(std::size_t bus) const noexcept { return world_->bus(bus).host(); }
VirtualCanBus& RobotSimulation::bus(std::size_t bus) noexcept { return world_->bus(bus).bus(); }
const VirtualCanBus& RobotSimulation::bus(std::size_t bus) const noexcept { return world_->bus(bus).bus(); }

double RobotSimulation::position(std::size_t joint) const noexcept {
  return world_->bus_of(joint).position(joint);
}
double RobotSimulation::velocity(std::size_t joint) const noexcept {
  return world_->bus_of(joint).velocity(joint);
}
void RobotSimulation::inject(std::size_t joint, JointFault fault) noexcept {
  world_->bus_of(joint).inject(joint, fault);
}
void RobotSimulation::set_load(std::size_t joint, double torque) noexcept {
  world_->bus_of(joint).set_load(joint, torque);
}

}  // namespace takt::sim
