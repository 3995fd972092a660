// A simulated CAN bus with the drives on it, whatever their protocol. RobotSimulation runs one of these for each bus of a
// description; DrivesOnBus makes one of any drive class.
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
#include "takt/sim/virtual_can_bus.hpp"

namespace takt::sim {

/// For one thread. Joints are told by their numbers in the description; those that were added must exist. After set-up
/// everything is real-time safe.
class DriveBus {
 public:
  virtual ~DriveBus() = default;
  DriveBus(const DriveBus&) = delete;
  DriveBus& operator=(const DriveBus&) = delete;

  /// Puts a joint of the description on the bus, at rest and without power. Allocates. Errors: bad_place, too_many_nodes.
  [[nodiscard]] virtual SetupResult<void> add(std::size_t joint,
                                              const robot::JointDescription& description) = 0;
  /// Lets time pass, in the exact order of events.
  virtual void advance(Time to) noexcept = 0;
  [[nodiscard]] virtual VirtualCanBus& bus() noexcept = 0;
  /// The master's end.
  [[nodiscard]] virtual VirtualCanBus::Port host() const noexcept = 0;

  /// Where the joint really is, rad or m, and how fast it moves.
  [[nodiscard]] virtual double position(std::size_t joint) const noexcept = 0;
  [[nodiscard]] virtual double velocity(std::size_t joint) const noexcept = 0;
  virtual void inject(std::size_t joint, JointFault fault) noexcept = 0;
  virtual void set_load(std::size_t joint, double torque) noexcept = 0;

 protected:
  DriveBus() = default;
};

/// "joint elbow, board 3, channel 0": where an error is.
[[nodiscard]] inline std::string place_of(const robot::JointDescription& joint) {
  return "joint " + joint.name + ", board " + std::to_string(joint.board) + ", channel " +
         std::to_string(joint.channel);
}

/// Drives that meet nowhere but on their bus. A Drive has:
///
///     bool accepts(const can::Frame&);  void receive(const can::Frame&);      a frame that ended on the bus at its stamp
///     Time next_send();  can::Frame take_frame();                             Time::max(): nothing to send
///     void advance(Time);                                                     its motors run up to then
///
/// Its motors depend on nothing but its frames, so each runs when a frame comes or goes, and at the end of the span.
template <class Drive>
class DrivesOnBus : public DriveBus {
 public:
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
  [[nodiscard]] VirtualCanBus& bus() noexcept override { return bus_; }
  [[nodiscard]] VirtualCanBus::Port host() const noexcept override { return host_; }

 protected:
  [[nodiscard]] Time start() const noexcept { return start_; }

  /// The drive with this number, made of `arguments` where it is new; null when the bus is full.
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
  // The transmit buffers of a drive's CAN controller. The host's are those of a socket.
  static constexpr NodeCapacity drive_capacity{.transmit = 4, .receive = 0};
  static constexpr NodeCapacity host_capacity{.transmit = 128, .receive = 512};

  Time start_;
  VirtualCanBus bus_;
  VirtualCanBus::Port host_;
  std::vector<Drive> drives_;
  std::vector<VirtualCanBus::Port> ports_;
  std::vector<std::uint8_t> numbers_;
};

/// Drives that are nodes of their own, each with one joint. A Drive has besides: a constructor (node, options, start, joint),
/// position(), velocity(), inject(fault) and set_load(torque).
template <class Drive, class Options>
class OneJointDrives final : public DrivesOnBus<Drive> {
 public:
  /// All drives of the bus have these options; `last_node` is the highest number that one may have.
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
  void set_load(std::size_t joint, double torque) noexcept override { of_joint_[joint]->set_load(torque); }

 private:
  Options options_;
  std::uint8_t last_node_;
  std::vector<Drive*> of_joint_;
};

}  // namespace takt::sim
