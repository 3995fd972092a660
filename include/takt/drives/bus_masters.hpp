// What the hardware of every drive protocol has in common: the buses of a robot, their frames, and the
// counters. A protocol adds the master of one bus: a class without bus and clock, through which frames go in
// and out.
//
//     class MydriveBusMaster {
//      public:
//       static constexpr std::string_view protocol = "mydrive";
//       using Options = takt::drives::NoOptions;
//
//       // Set-up, for bus number `bus` of the robot.
//       MydriveBusMaster(const robot::RobotDescription&, std::size_t bus, const Options&);
//       takt::Status add(const robot::RobotDescription&, std::size_t joint);  // a drive on this bus
//       takt::drives::BusDemand demand() const;
//       template <class Exchange> void open(Exchange&);                       // adds its slots
//
//       // In each cycle. The robot has more joints: it touches those of its drives.
//       takt::drives::Heard hear(const can::Frame&, takt::Time) noexcept;
//       void report(std::span<robot::JointFeedback>) noexcept;                // after the frames
//       template <class Exchange>
//       void command(Exchange&, takt::Time, std::span<const takt::JointCommand>) noexcept;
//       std::uint64_t rejected() const noexcept;                              // references so far
//
//       void ask_identity() noexcept;                                         // as robot::Hardware has them;
//       std::string identity(std::size_t joint) const;                        // these two may be missing
//     };
//
// `MydriveHardware` is then BusMasters<Bus, MydriveBusMaster>. drives/servo/servo_hardware.hpp is a whole
// one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/can/frame.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/bus_exchange.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// How a master took a frame.
enum class Heard : std::uint8_t {
  understood,
  malformed,   ///< wrong length or content
  unexpected,  ///< from no drive of the master, or of no use to it
};

/// The frames that a master exchanges.
struct BusDemand {
  std::size_t replies = 0;  ///< frames from the drives in a cycle
  std::size_t orders = 0;   ///< of the master that may wait for the bus, as for robot::BusExchange
};

/// The options of masters that have none.
struct NoOptions {};

/// The drives on one bus, found by their node. `Drive` has a member `joint`, the joint's number.
template <class Drive, std::uint32_t last_node>
class DrivesByNode {
 public:
  /// Adds a drive. Allocates. Errors: bad_address, duplicate_address.
  [[nodiscard]] Status add(std::uint32_t node, Drive drive) {
    if (node > last_node) return takt::fail(robot::Errc::bad_address);
    if (index_[node] != 0) return takt::fail(robot::Errc::duplicate_address);
    drives_.push_back(std::move(drive));
    index_[node] = static_cast<std::uint8_t>(drives_.size());
    return {};
  }
  /// The drive with this node; null if there is none. Real-time safe.
  [[nodiscard]] Drive* find(std::uint32_t node) noexcept {
    return node > last_node || index_[node] == 0 ? nullptr : &drives_[index_[node] - 1U];
  }
  /// The drive of a joint; null if there is none.
  [[nodiscard]] const Drive* of_joint(std::size_t joint) const noexcept {
    for (const Drive& drive : drives_) {
      if (drive.joint == joint) return &drive;
    }
    return nullptr;
  }
  /// Number of drives.
  [[nodiscard]] std::size_t size() const noexcept { return drives_.size(); }
  /// The drives, in the order of add().
  [[nodiscard]] Drive& operator[](std::size_t number) noexcept { return drives_[number]; }
  /// For range loops.
  [[nodiscard]] auto begin() noexcept { return drives_.begin(); }
  /// For range loops.
  [[nodiscard]] auto end() noexcept { return drives_.end(); }
  /// For range loops.
  [[nodiscard]] auto begin() const noexcept { return drives_.begin(); }
  /// For range loops.
  [[nodiscard]] auto end() const noexcept { return drives_.end(); }

 private:
  static_assert(last_node < 255, "positions are bytes");
  std::vector<Drive> drives_;
  std::array<std::uint8_t, last_node + 1> index_{};  ///< position in drives_ + 1; 0 = none
};

/// All drives of one protocol of a robot. It leaves the joints on buses of other protocols untouched, so that
/// several kinds of hardware can share one robot. One thread; real-time safe after create().
template <can::CanBus Bus, class Master>
class BusMasters final : public robot::Hardware {
 public:
  using Options = typename Master::Options;

  /// Creates the masters. `buses`: one for each entry of description.buses, in its order; those of another
  /// protocol may be null. The buses must outlive the hardware. Allocates. Errors: too_many_joints,
  /// no_such_bus, and those of the master: bad_address, duplicate_address, bad_scale, and those of its
  /// options.
  [[nodiscard]] static SetupResult<std::unique_ptr<BusMasters>> create(
      const robot::RobotDescription& description, std::span<Bus* const> buses, const Options& options = {}) {
    using robot::Errc;
    if (description.joints.size() > max_joints) return fail(Errc::too_many_joints, "at most 64 joints");
    if constexpr (requires { Master::check(description, options); }) {
      if (auto checked = Master::check(description, options); !checked)
        return tl::unexpected<SetupError>(std::move(checked.error()));
    }
    std::vector<Master> masters;
    for (std::size_t i = 0; i < description.buses.size(); ++i) masters.emplace_back(description, i, options);
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      const robot::JointDescription& joint = description.joints[i];
      if (joint.bus >= masters.size()) return fail(Errc::no_such_bus, joint.name);
      if (!robot::speaks(description.buses[joint.bus], Master::protocol)) continue;
      if (joint.bus >= buses.size() || buses[joint.bus] == nullptr)
        return fail(Errc::no_such_bus, joint.name);
      if (auto added = masters[joint.bus].add(description, i); !added) return fail(added.error(), joint.name);
    }
    std::unique_ptr<BusMasters> self(new BusMasters);
    for (std::size_t i = 0; i < masters.size(); ++i) {
      if (masters[i].demand().replies == 0) continue;
      if (i >= buses.size() || buses[i] == nullptr)
        return fail(Errc::no_such_bus, "bus " + description.buses[i].name);
      self->buses_.emplace_back(*buses[i], std::move(masters[i]), description);
    }
    return self;
  }

  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    for (MasteredBus& bus : buses_) {
      bus.exchange.receive(now, counters_, [&](const can::Frame& frame, Time time) noexcept {
        const Heard heard = bus.master.hear(frame, time);
        if (heard == Heard::malformed) ++counters_.frames_malformed;
        if (heard == Heard::unexpected) ++counters_.frames_unexpected;
      });
      bus.master.report(feedback);
    }
  }
  void write(Time now, std::span<const JointCommand> commands) noexcept override {
    for (MasteredBus& bus : buses_) {
      bus.master.command(bus.exchange, now, commands);
      bus.exchange.flush(now, counters_);
    }
  }

  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return counters_; }
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override {
    std::uint64_t sum = 0;
    for (const MasteredBus& bus : buses_) sum += bus.exchange.starved(joint);
    return sum;
  }
  void ask_identity() noexcept override {
    if constexpr (requires(Master & master) { master.ask_identity(); }) {
      for (MasteredBus& bus : buses_) bus.master.ask_identity();
    }
  }
  [[nodiscard]] std::string identity(std::size_t joint) const override {
    if constexpr (requires(const Master& master) { master.identity(joint); }) {
      for (const MasteredBus& bus : buses_) {
        if (std::string said = bus.master.identity(joint); !said.empty()) return said;
      }
    }
    return {};
  }
  /// Number of rejected references: NaN, infinity, or a mode that the drive does not have. They are never
  /// sent. Instead the last good position holds, and a velocity or an effort is 0.
  [[nodiscard]] std::uint64_t references_rejected() const noexcept {
    std::uint64_t sum = 0;
    for (const MasteredBus& bus : buses_) sum += bus.master.rejected();
    return sum;
  }
  /// The master of a bus. `number`: among the buses with drives of this protocol.
  [[nodiscard]] const Master& master(std::size_t number) const noexcept { return buses_[number].master; }

 private:
  struct MasteredBus {
    MasteredBus(Bus& bus, Master its_master, const robot::RobotDescription& description)
        : exchange(bus, its_master.demand().replies, its_master.demand().orders, description.period,
                   description.feedback_timeout),
          master(std::move(its_master)) {
      master.open(exchange);
    }
    robot::BusExchange<Bus> exchange;
    Master master;
  };

  BusMasters() = default;

  std::vector<MasteredBus> buses_;
  robot::HardwareCounters counters_;
};

}  // namespace takt::drives
