#include "takt/sim/robot_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "takt/can/canopen/object.hpp"
#include "takt/sim/cia402_drive.hpp"
#include "takt/sim/hubo_board.hpp"
#include "takt/sim/servo_drive.hpp"

namespace takt::sim {
namespace {

// The transmit buffers of a drive's CAN controller. The host's are those of a socket.
constexpr NodeCapacity drive_capacity{.transmit = 4, .receive = 0};
constexpr NodeCapacity host_capacity{.transmit = 128, .receive = 512};

/// One bus with its drives. They meet only here, so each bus runs through a span of time by itself. The
/// motors of a drive depend on nothing but its frames: they are run when a frame comes or goes, and at the
/// end of the span.
template <class Drive>
class BusWithDrives {
 public:
  BusWithDrives(const robot::BusDescription& description, Time start)
      : bus({.nominal = description.bit_rate, .data = description.data_bit_rate}, start),
        host(bus.connect(host_capacity)) {
    drives_.reserve(VirtualCanBus::max_nodes);
    ports_.reserve(VirtualCanBus::max_nodes);
  }

  /// nullptr when the bus is full.
  template <class... Arguments>
  Drive* add(Arguments&&... arguments) {
    if (drives_.size() + 1 == VirtualCanBus::max_nodes) return nullptr;
    ports_.push_back(bus.connect(drive_capacity));
    return &drives_.emplace_back(std::forward<Arguments>(arguments)...);
  }

  void advance(Time to) noexcept {
    for (;;) {
      Time due = Time::max();
      std::size_t sender = 0;
      for (std::size_t i = 0; i < drives_.size(); ++i) {
        if (drives_[i].next_send() >= due) continue;
        due = drives_[i].next_send();
        sender = i;
      }
      if (const can::Frame* frame = bus.step(std::min(to, due))) {
        for (Drive& drive : drives_) {
          if (drive.accepts(*frame)) drive.receive(*frame);
        }
      } else if (due <= to) {
        const can::Frame frame_to_send = drives_[sender].take_frame();
        ports_[sender].send({&frame_to_send, 1});
      } else {
        break;
      }
    }
    for (Drive& drive : drives_) drive.advance(to);
  }

  VirtualCanBus bus;
  VirtualCanBus::Port host;

 private:
  std::vector<Drive> drives_;
  std::vector<VirtualCanBus::Port> ports_;
};

/// Wide enough for anything that moves, narrow enough that no sum or product of these numbers leaves the range of double.
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

std::string at(const robot::JointDescription& joint) {
  return "joint " + joint.name + ", board " + std::to_string(joint.board) + ", channel " +
         std::to_string(joint.channel);
}

}  // namespace

class RobotSimulation::World {
  using HuboBus = BusWithDrives<HuboBoard>;
  using ServoBus = BusWithDrives<ServoDrive>;
  using Cia402Bus = BusWithDrives<Cia402Drive>;
  /// A bus, in the order of the description.
  struct Bus {
    VirtualCanBus* bus = nullptr;
    VirtualCanBus::Port host;
    HuboBus* hubo = nullptr;  // one of the three
    ServoBus* servo = nullptr;
    Cia402Bus* cia402 = nullptr;
  };
  /// A joint, in the order of the description.
  struct Joint {
    std::size_t bus;
    std::uint8_t number;
    std::uint8_t channel;
    HuboBoard* board = nullptr;  // one of the three
    ServoDrive* servo = nullptr;
    Cia402Drive* cia402 = nullptr;
  };

 public:
  World(const robot::RobotDescription& description, Time start)
      : period_(description.period), start_(start), now_(start) {
    for (const robot::BusDescription& bus : description.buses) {
      buses_.emplace_back();
      switch (bus.protocol) {
        case robot::Protocol::hubo:
          buses_.back().hubo = open(hubo_buses_, bus);
          break;
        case robot::Protocol::servo:
          buses_.back().servo = open(servo_buses_, bus);
          break;
        case robot::Protocol::cia402:
          buses_.back().cia402 = open(cia402_buses_, bus);
          break;
      }
    }
    joints_.reserve(description.joints.size());
  }

  SetupResult<void> add(const robot::JointDescription& joint) {
    if (!can_be_simulated(joint)) {
      return fail(Errc::bad_plant,
                  at(joint) +
                      ": inertia, torque limit, bandwidth and following error must be positive, "
                      "friction not negative, counts per radian not zero, all of them below 1e9");
    }
    if (joint.bus >= buses_.size())
      return fail(Errc::bad_place, at(joint) + ": there is no bus " + std::to_string(joint.bus));
    const Bus& bus = buses_[joint.bus];
    if (bus.hubo != nullptr) return add_to(*bus.hubo, joint);
    return bus.servo != nullptr ? add_to(*bus.servo, joint) : add_to(*bus.cia402, joint);
  }

  void advance(Time to) noexcept {
    if (to <= now_) return;
    for (const auto& bus : hubo_buses_) bus->advance(to);
    for (const auto& bus : servo_buses_) bus->advance(to);
    for (const auto& bus : cia402_buses_) bus->advance(to);
    now_ = to;
  }

  [[nodiscard]] Time now() const noexcept { return now_; }
  [[nodiscard]] std::size_t bus_count() const noexcept { return buses_.size(); }
  [[nodiscard]] VirtualCanBus& bus(std::size_t index) const noexcept { return *buses_[index].bus; }
  [[nodiscard]] VirtualCanBus::Port host(std::size_t index) const noexcept { return buses_[index].host; }

  /// Calls with_board(HuboBoard&, channel) or with_drive(ServoDrive& or Cia402Drive&), whichever moves the joint.
  template <class WithBoard, class WithDrive>
  auto visit(std::size_t index, WithBoard with_board, WithDrive with_drive) const noexcept {
    const Joint& joint = joints_[index];
    if (joint.board != nullptr) return with_board(*joint.board, joint.channel);
    return joint.servo != nullptr ? with_drive(*joint.servo) : with_drive(*joint.cia402);
  }

 private:
  /// One more bus of its protocol, the last of buses_.
  template <class BusOfProtocol>
  BusOfProtocol* open(std::vector<std::unique_ptr<BusOfProtocol>>& buses, const robot::BusDescription& bus) {
    buses.push_back(std::make_unique<BusOfProtocol>(bus, start_));
    buses_.back().bus = &buses.back()->bus;
    buses_.back().host = buses.back()->host;
    return buses.back().get();
  }

  SetupResult<void> add_to(HuboBus& bus, const robot::JointDescription& joint) {
    if (joint.board > can::hubo::max_board)
      return fail(Errc::bad_place, at(joint) + ": no joint board has this number");
    HuboBoard* board = nullptr;
    for (const Joint& other : joints_) {
      if (other.bus == joint.bus && other.number == joint.board) board = other.board;
    }
    if (board == nullptr) {
      const HuboBoardOptions options{.kind = joint.board_kind, .reference_period = period_};
      board = bus.add(joint.board, options, start_);
    }
    if (board == nullptr) return fail(Errc::too_many_nodes, at(joint) + ": the bus is full");
    if (!board->fit(joint.channel, joint)) {
      return fail(
          Errc::bad_place,
          at(joint) + ": the channel does not exist, has a joint already, or is of another kind of board");
    }
    joints_.push_back({joint.bus, joint.board, joint.channel, board});
    return {};
  }

  SetupResult<void> add_to(ServoBus& bus, const robot::JointDescription& joint) {
    if (!can::servo::is_node(joint.board) || joint.channel != 0) {
      return fail(Errc::bad_place, at(joint) + ": servo drives have node numbers 1 to 48 and only channel 0");
    }
    auto drive = add_drive(bus, joint, ServoDriveOptions{.command_period = period_});
    if (!drive) return tl::unexpected(drive.error());
    joints_.push_back({.bus = joint.bus, .number = joint.board, .channel = 0, .servo = *drive});
    return {};
  }

  SetupResult<void> add_to(Cia402Bus& bus, const robot::JointDescription& joint) {
    if (!can::canopen::is_node(joint.board) || joint.channel != 0) {
      return fail(Errc::bad_place,
                  at(joint) + ": CiA 402 drives have node numbers 1 to 127 and only channel 0");
    }
    auto drive = add_drive(bus, joint, Cia402DriveOptions{});
    if (!drive) return tl::unexpected(drive.error());
    joints_.push_back({.bus = joint.bus, .number = joint.board, .channel = 0, .cia402 = *drive});
    return {};
  }

  /// A drive that is a node of its own.
  template <class Drive, class Options>
  SetupResult<Drive*> add_drive(BusWithDrives<Drive>& bus, const robot::JointDescription& joint,
                                const Options& options) {
    for (const Joint& other : joints_) {
      if (other.bus == joint.bus && other.number == joint.board)
        return fail(Errc::bad_place, at(joint) + ": the node is taken");
    }
    Drive* const drive = bus.add(joint.board, options, start_, joint);
    if (drive == nullptr) return fail(Errc::too_many_nodes, at(joint) + ": the bus is full");
    return drive;
  }

  Duration period_;
  Time start_;
  Time now_;
  std::vector<std::unique_ptr<HuboBus>> hubo_buses_;
  std::vector<std::unique_ptr<ServoBus>> servo_buses_;
  std::vector<std::unique_ptr<Cia402Bus>> cia402_buses_;
  std::vector<Bus> buses_;
  std::vector<Joint> joints_;
};

SetupResult<RobotSimulation> RobotSimulation::create(const robot::RobotDescription& description, Time start) {
  auto world = std::make_unique<World>(description, start);
  for (const robot::JointDescription& joint : description.joints) {
    if (auto added = world->add(joint); !added) return tl::unexpected(std::move(added.error()));
  }
  return RobotSimulation(std::move(world));
}

RobotSimulation::RobotSimulation(std::unique_ptr<World> world) noexcept : world_(std::move(world)) {}
RobotSimulation::RobotSimulation(RobotSimulation&&) noexcept = default;
RobotSimulation& RobotSimulation::operator=(RobotSimulation&&) noexcept = default;
RobotSimulation::~RobotSimulation() = default;

void RobotSimulation::advance(Time to) noexcept { world_->advance(to); }
Time RobotSimulation::now() const noexcept { return world_->now(); }
std::size_t RobotSimulation::bus_count() const noexcept { return world_->bus_count(); }
VirtualCanBus::Port RobotSimulation::host(std::size_t bus) const noexcept { return world_->host(bus); }
VirtualCanBus& RobotSimulation::bus(std::size_t bus) noexcept { return world_->bus(bus); }
const VirtualCanBus& RobotSimulation::bus(std::size_t bus) const noexcept { return world_->bus(bus); }

double RobotSimulation::position(std::size_t joint) const noexcept {
  return world_->visit(
      joint, [](const HuboBoard& board, std::uint8_t channel) { return board.position(channel); },
      [](const auto& drive) { return drive.position(); });
}

double RobotSimulation::velocity(std::size_t joint) const noexcept {
  return world_->visit(
      joint, [](const HuboBoard& board, std::uint8_t channel) { return board.velocity(channel); },
      [](const auto& drive) { return drive.velocity(); });
}

void RobotSimulation::inject(std::size_t joint, JointFault fault) noexcept {
  world_->visit(
      joint, [fault](HuboBoard& board, std::uint8_t channel) { board.inject(channel, fault); },
      [fault](auto& drive) { drive.inject(fault); });
}

void RobotSimulation::set_load(std::size_t joint, double torque) noexcept {
  world_->visit(
      joint, [torque](HuboBoard& board, std::uint8_t channel) { board.set_load(channel, torque); },
      [torque](auto& drive) { drive.set_load(torque); });
}

}  // namespace takt::sim
