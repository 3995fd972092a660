// A simulated CiA 402 drive on a CAN bus: one motor behind one CANopen node. The node has its own object
// dictionary, an SDO server, PDOs as mapped by the master, heartbeats in both directions, emergencies, and
// faults. Its motor is in cia402_motor.hpp, its dictionary in cia402_objects.hpp.
//
// Synchronous receive PDOs take effect at the next SYNC, which also samples the transmit PDOs. An enabled
// drive that loses its master brakes and faults, unless object 6007h is 0. It loses its master when the
// heartbeat of object 1016h is overdue, or when it leaves the state operational. An event of the motor
// between two frames is sent once time has passed for the whole bus. Everything is real-time safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/can/canopen/nmt.hpp"
#include "takt/can/canopen/sdo_server.hpp"
#include "takt/can/frame.hpp"
#include "takt/core/time.hpp"
#include "takt/drives/cia402/cia402_motor.hpp"
#include "takt/drives/cia402/cia402_objects.hpp"
#include "takt/robot/description.hpp"

namespace takt::drives {

/// The timing and numbers of a simulated drive.
struct Cia402DriveOptions {
  Duration reply_delay{50'000};    ///< from a frame or SYNC to the answer's entry into the transmit queue
  Duration boot_time{20'000'000};  ///< from power-on or reset to the boot-up message
};

/// Faults of the drive on the bus; JointFault has those of its motor.
struct Cia402Disturbance {
  Duration late{0};                                                 ///< delay of all its frames
  bool heartbeat_lost = false;                                      ///< it sends no heartbeat
  bool mode_refused = false;                                        ///< 6061h does not follow 6060h
  can::canopen::SdoAbort sdo_abort = can::canopen::SdoAbort::none;  ///< its answer to every SDO, unless none
};

/// A simulated drive. Real-time safe after construction.
class Cia402Drive {
 public:
  /// Powers up at `start`. `node` must be can::canopen::is_node().
  Cia402Drive(std::uint8_t node, const Cia402DriveOptions& options, Time start,
              const robot::JointDescription& joint) noexcept;

  /// Whether the node uses this frame.
  [[nodiscard]] bool accepts(const can::Frame& frame) const noexcept;
  /// Handles a frame that ended on the bus at its stamp.
  void receive(const can::Frame& frame) noexcept;
  /// Time of the next frame to send; Time::max() for none.
  [[nodiscard]] Time next_send() const noexcept;
  /// That frame. Call it at that time.
  [[nodiscard]] can::Frame take_frame() noexcept;
  /// Runs the motor up to a time.
  void advance(Time to) noexcept;

  /// Injects a fault at the present time, or ends it with JointFault::none. A silent drive has no power, and
  /// boots when the fault ends.
  void inject(sim::JointFault fault) noexcept;
  /// Sets the faults on the bus from now on; a default one has none.
  void disturb(const Cia402Disturbance& disturbance) noexcept;
  /// Sets a constant torque against the motor, N m.
  void attach(sim::PhysicsJoint& physics) noexcept { motor_.axis().attach(physics); }
  void set_load(double torque) noexcept { motor_.axis().set_load(torque); }
  /// The joint's true position, rad, and velocity, rad/s.
  [[nodiscard]] double position() const noexcept {
    return motor_.axis().plant().position(ticks_.since(now_));
  }
  /// Returns the velocity of the motor, rad/s.
  [[nodiscard]] double velocity() const noexcept { return motor_.axis().plant().velocity(); }

  /// Returns the state of the power stage.
  [[nodiscard]] can::cia402::State state() const noexcept { return motor_.state(); }
  /// Returns the state of the node on the network.
  [[nodiscard]] can::canopen::NmtState nmt_state() const noexcept { return nmt_; }
  /// Returns the node's object dictionary.
  [[nodiscard]] const Cia402Objects& objects() const noexcept { return objects_; }
  /// Number of frames to this node that it could not use, and of answers without room in its queue.
  [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }

 private:
  struct Pending {
    Time due{};
    can::Frame frame;
  };
  struct Received {
    std::array<std::uint8_t, 8> data{};
    std::uint8_t length = 0;
    bool fresh = false;
  };

  void boot() noexcept;
  void obey(const can::Frame& frame) noexcept;
  void set_nmt(can::canopen::NmtState state) noexcept;
  void answer_sdo(const can::Frame& request) noexcept;
  void start_heartbeat() noexcept;
  void take_pdo(const can::Frame& frame) noexcept;
  void take_over(std::size_t pdo) noexcept;
  void synchronise() noexcept;
  void run(Time tick) noexcept;
  void watch_master() noexcept;
  void say_what_changed() noexcept;
  void queue(const can::Frame& frame, Duration delay) noexcept;
  void queue_pdo(std::size_t pdo, Duration delay) noexcept;
  [[nodiscard]] std::uint8_t master() const noexcept {
    return static_cast<std::uint8_t>(objects_[Cia402Object::consumer_heartbeat] >> 16 & 0x7FU);
  }

  std::uint8_t node_;
  Cia402DriveOptions options_;
  Cia402Disturbance disturbance_{};
  sim::ServoTicks ticks_;
  Time now_;
  Time boot_due_;
  Time heartbeat_due_ = Time::max();
  Time master_due_ = Time::max();  ///< deadline of the master's next heartbeat
  Cia402Objects objects_;
  Cia402Motor motor_;
  can::canopen::SdoServer<64> server_;
  can::canopen::NmtState nmt_ = can::canopen::NmtState::boot_up;
  std::array<Received, Cia402Objects::pdos> received_{};
  std::array<std::uint8_t, Cia402Objects::pdos> syncs_{};  ///< SYNCs since each transmit PDO was last sent
  std::array<std::array<std::uint8_t, 8>, Cia402Objects::pdos> last_sent_{};
  std::array<Pending, 16> pending_{};
  std::size_t pending_count_ = 0;
  std::uint16_t error_said_ = 0;
  bool silent_ = false;
  std::uint64_t ignored_ = 0;
};

}  // namespace takt::drives
