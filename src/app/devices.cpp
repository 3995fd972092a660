#include "takt/app/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "takt/app/error.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/robot_hardware.hpp"
#include "takt/robot/transmission_hardware.hpp"
#include "takt/sim/virtual_can_port.hpp"

namespace takt::app {
namespace {

constexpr std::string_view own_port = "own";

/// Opens the bus of a description at a real interface.
SetupResult<std::unique_ptr<robot::CanPort>> open(const robot::RobotDescription& robot, std::size_t bus,
                                                  const BusAddress& address, bool all_frames) {
  const robot::BusDescription& description = robot.buses[bus];
  robot::BusPlan plan = robot::plan_bus(robot, bus);
  if (all_frames) plan.filters.clear();
  return open_bus(address, {.name = description.name,
                            .bit_rate = description.bit_rate,
                            .data_bit_rate = description.data_bit_rate,
                            .fd = description.protocol != nullptr && description.protocol->has_fd_frames(),
                            .filters = plan.filters,
                            .frames_per_cycle = plan.frames_per_cycle()});
}

}  // namespace

SetupResult<std::vector<std::string>> interfaces_of(const robot::RobotDescription& robot, bool simulate,
                                                    std::span<const BusOverride> overrides) {
  std::vector<std::string> interfaces;
  for (const robot::BusDescription& bus : robot.buses)
    interfaces.push_back(simulate ? "virtual" : bus.interface);
  for (const BusOverride& other : overrides) {
    const auto bus = std::ranges::find(robot.buses, other.bus, &robot::BusDescription::name);
    if (bus == robot.buses.end()) {
      std::string names;
      for (const robot::BusDescription& known : robot.buses)
        names += (names.empty() ? "" : ", ") + known.name;
      return fail(Errc::no_such_bus,
                  "robot " + robot.name + " has no bus " + other.bus + "; its buses are " + names);
    }
    interfaces[static_cast<std::size_t>(bus - robot.buses.begin())] = other.interface;
  }
  return interfaces;
}

std::string describe_unacknowledged(const robot::BusDescription& bus, std::uint64_t count) {
  return fmt::format(
      "bus {} ({}): nobody acknowledged {} frames: is a drive on it powered, is the bit rate {} bit/s at the "
      "drives, too, and is it terminated at both ends?",
      bus.name, bus.interface, count, bus.bit_rate);
}

SetupResult<std::unique_ptr<Devices>> Devices::create(const robot::RobotDescription& robot,
                                                      const DeviceOptions& options) {
  if (robot.devices == robot::DeviceVariant::recorded && !options.simulate) {
    return fail(Errc::bad_description, "the devices of robot " + robot.name + " are the recording " +
                                           robot.recording + ", which app::replay() and takt run play");
  }
  auto space = robot::ActuatorSpace::create(robot);
  if (!space) return tl::unexpected<SetupError>(std::move(space.error()));
  const bool is_simulated = options.simulate || robot.devices == robot::DeviceVariant::simulated;
  auto interfaces = interfaces_of(robot, is_simulated, options.buses);
  if (!interfaces) return tl::unexpected<SetupError>(std::move(interfaces.error()));
  for (std::size_t i = 0; i < std::min(interfaces->size(), options.ports.size()); ++i) {
    if (options.ports[i] != nullptr) (*interfaces)[i] = own_port;
  }
  std::unique_ptr<Devices> self(new Devices);
  self->interfaces_ = std::move(*interfaces);
  self->actuators_ = robot::at_actuators(robot, *space);
  for (std::size_t bus = 0; bus < robot.buses.size(); ++bus) {
    if (self->interfaces_[bus] == own_port && bus < options.ports.size() && options.ports[bus] != nullptr) {
      self->ports_.push_back(options.ports[bus]);
      continue;
    }
    const auto address = parse_bus_address(self->interfaces_[bus]);
    if (!address) {
      return fail(address.error().error, "bus " + robot.buses[bus].name + ": " + address.error().message);
    }
    if (address->kind != BusAddress::Kind::virtual_bus) {
      auto port = open(robot, bus, *address, options.all_frames);
      if (!port) return tl::unexpected<SetupError>(std::move(port.error()));
      self->owned_.push_back(std::move(*port));
    } else {
      if (!self->simulation_) {
        auto simulation = sim::RobotSimulation::create(robot, options.start, options.physics);
        if (!simulation) return tl::unexpected<SetupError>(std::move(simulation.error()));
        self->simulation_.emplace(std::move(*simulation));
      }
      const sim::RobotSimulation& world = *self->simulation_;
      self->owned_.push_back(std::make_unique<sim::VirtualCanPort>(world.bus(bus), world.host(bus)));
    }
    self->ports_.push_back(self->owned_.back().get());
  }
  auto drives = robot::RobotHardware::create(self->actuators_, self->ports_);
  if (!drives) return tl::unexpected<SetupError>(std::move(drives.error()));
  self->drives_ = std::move(*drives);
  self->hardware_ = self->drives_.get();
  if (!robot.transmissions.empty()) {
    self->transmissions_ =
        std::make_unique<robot::TransmissionHardware>(robot, std::move(*space), *self->drives_);
    self->hardware_ = self->transmissions_.get();
  }
  return self;
}

void Devices::read(Time now, std::span<robot::JointFeedback> feedback) noexcept {
  if (simulation_) simulation_->advance(now);
  hardware_->read(now, feedback);
}

void Devices::write(Time now, std::span<const JointCommand> commands) noexcept {
  hardware_->write(now, commands);
}

robot::HardwareCounters Devices::counters() const noexcept { return hardware_->counters(); }

std::uint64_t Devices::starved(std::size_t joint) const noexcept { return hardware_->starved(joint); }

void Devices::ask_identity() noexcept { hardware_->ask_identity(); }

std::string Devices::identity(std::size_t joint) const { return hardware_->identity(joint); }

}  // namespace takt::app
