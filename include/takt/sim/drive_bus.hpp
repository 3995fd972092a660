// A simulated CAN bus with its drives, for any protocol. RobotSimulation runs one for each bus of a
// description. DrivesOnBus implements it for any drive class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/error.hpp"
#include "takt/sim/joint_fault.hpp"
#include "takt/sim/joint_physics.hpp"
#include "takt/sim/virtual_can_bus.hpp"

namespace takt::sim {

/// One simulated bus with drives. One thread. Joints have their numbers in the description, and must have
/// been added. Real-time safe after set-up.
class DriveBus {
 public:
  virtual ~DriveBus() = default;
  DriveBus(const DriveBus&) = delete;
  DriveBus& operator=(const DriveBus&) = delete;

  /// Adds a joint of the description to the bus, at rest and without power. Allocates. Errors: bad_place,
  /// too_many_nodes.
  [[nodiscard]] virtual SetupResult<void> add(std::size_t joint,
                                              const robot::JointDescription& description) = 0;
  /// Lets time pass, with all events in their exact order.
  virtual void advance(Time to) noexcept = 0;
  /// The bus itself.
  [[nodiscard]] virtual VirtualCanBus& bus() noexcept = 0;
  /// The master's port.
  [[nodiscard]] virtual VirtualCanBus::Port host() const noexcept = 0;

  /// The joint's true position, rad or m.
  [[nodiscard]] virtual double position(std::size_t joint) const noexcept = 0;
  /// The joint's true velocity, rad/s or m/s.
  [[nodiscard]] virtual double velocity(std::size_t joint) const noexcept = 0;
  /// Injects a fault, or ends it with JointFault::none.
  virtual void inject(std::size_t joint, JointFault fault) noexcept = 0;
  /// From now on, physics move the joint.
  virtual void attach(std::size_t joint, PhysicsJoint& physics) noexcept = 0;
  /// Sets a constant torque against the joint's motor, N m or N.
  virtual void set_load(std::size_t joint, double torque) noexcept = 0;

 protected:
  DriveBus() = default;
};

/// The place of an error: "joint elbow, board 3, channel 0".
[[nodiscard]] inline std::string place_of(const robot::JointDescription& joint) {
  return "joint " + joint.name + ", board " + std::to_string(joint.board) + ", channel " +
         std::to_string(joint.channel);
}

/// Drives that interact only by the bus. A Drive has:
///
///     bool accepts(const can::Frame&);
///     void receive(const can::Frame&);   // a frame of another node that ended on the bus at its stamp
///     Time next_send();                  // Time::max(): nothing to send
///     can::Frame take_frame();
///     void advance(Time);                // runs its motors up to then
///
/// Its motors depend only on its frames. Hence each drive runs when a frame arrives or leaves, and at the end
/// of the span.
template <class Drive>
class DrivesOnBus : public DriveBus {
 public:
  /// An empty bus with the description's bit rates. Allocates.
  DrivesOnBus(const robot::BusDescription& description, Time start)
      : start_(start),
        bus_({.nominal = description.bit_rate, .data = description.data_bit_rate}, start),
        host_(bus_.connect(host_capacity)) {
    drives_.reserve(VirtualCanBus::max_nodes);
    ports_.reserve(VirtualCanBus::max_nodes);
  }

  void advance(Time to) noexcept override {
    for (;;) {
      Time due = Time::max();
      std::size_t sender = 0;
      for (std::size_t i = 0; i < drives_.size(); ++i) {
        if (drives_[i].next_send() >= due) continue;
        due = drives_[i].next_send();
        sender = i;
      }
      if (const can::Frame* frame = bus_.step(std::min(to, due))) {
        for (std::size_t i = 0; i < drives_.size(); ++i) {
          if (!ports_[i].sent_last() && drives_[i].accepts(*frame)) drives_[i].receive(*frame);
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
  [[nodiscard]] VirtualCanBus& bus() noexcept override { return bus_; }
  [[nodiscard]] VirtualCanBus::Port host() const noexcept override { return host_; }

 protected:
  [[nodiscard]] Time start() const noexcept { return start_; }

  /// The drive with this number; a new one is made of `arguments`. Null if the bus is full.
  template <class... Arguments>
  Drive* drive_of(std::uint8_t number, Arguments&&... arguments) {
    if (const auto known = std::find(numbers_.begin(), numbers_.end(), number); known != numbers_.end())
      return &drives_[static_cast<std::size_t>(known - numbers_.begin())];
    if (drives_.size() + 1 == VirtualCanBus::max_nodes) return nullptr;
    ports_.push_back(bus_.connect(drive_capacity));
    numbers_.push_back(number);
    return &drives_.emplace_back(std::forward<Arguments>(arguments)...);
  }
  [[nodiscard]] bool has_drive(std::uint8_t number) const noexcept {
    return std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end();
  }

 private:
  // The queues of a drive's CAN controller, and those of a socket for the host.
  static constexpr NodeCapacity drive_capacity{.transmit = 4, .receive = 0};
  static constexpr NodeCapacity host_capacity{.transmit = 128, .receive = 512};

  Time start_;
  VirtualCanBus bus_;
  VirtualCanBus::Port host_;
  std::vector<Drive> drives_;
  std::vector<VirtualCanBus::Port> ports_;
  std::vector<std::uint8_t> numbers_;
};

/// Drives that are separate nodes with one joint each. A Drive also has a constructor (node, options, start,
/// joint), position(), velocity(), inject(fault), attach(physics) and set_load(torque).
template <class Drive, class Options>
class OneJointDrives final : public DrivesOnBus<Drive> {
 public:
  /// All drives of the bus have the same options; `last_node` is the highest allowed node number.
  OneJointDrives(const robot::BusDescription& description, Time start, const Options& options,
                 std::uint8_t last_node)
      : DrivesOnBus<Drive>(description, start), options_(options), last_node_(last_node) {}

  [[nodiscard]] SetupResult<void> add(std::size_t joint,
                                      const robot::JointDescription& description) override {
    const std::string place = place_of(description);
    if (description.board < 1 || description.board > last_node_ || description.channel != 0) {
      return fail(Errc::bad_place, place + ": these drives have node numbers 1 to " +
                                       std::to_string(last_node_) + " and only channel 0");
    }
    if (this->has_drive(description.board)) return fail(Errc::bad_place, place + ": the node is taken");
    Drive* const drive =
        this->drive_of(description.board, description.board, options_, this->start(), description);
    if (drive == nullptr) return fail(Errc::too_many_nodes, place + ": the bus is full");
    if (of_joint_.size() <= joint) of_joint_.resize(joint + 1);
    of_joint_[joint] = drive;
    return {};
  }
  [[nodiscard]] double position(std::size_t joint) const noexcept override {
    return of_joint_[joint]->position();
  }
  [[nodiscard]] double velocity(std::size_t joint) const noexcept override {
    return of_joint_[joint]->velocity();
  }
  void inject(std::size_t joint, JointFault fault) noexcept override { of_joint_[joint]->inject(fault); }
  void attach(std::size_t joint, PhysicsJoint& physics) noexcept override {
    of_joint_[joint]->attach(physics);
  }
  void set_load(std::size_t joint, double torque) noexcept override { of_joint_[joint]->set_load(torque); }

 private:
  Options options_;
  std::uint8_t last_node_;
  std::vector<Drive*> of_joint_;
};

}  // namespace takt::sim
