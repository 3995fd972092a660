// Fuzzes frames from and to ODrives with any bytes. A decoded message is re-encoded to the same. A master
// keeps finite feedback and sends only frames of the protocol. A simulated drive keeps a valid state.
#include <cmath>
#include <span>

#include "drives/odrive/drive.hpp"
#include "drives/odrive/hardware.hpp"
#include "support/fuzz_frames.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using namespace takt::drives;
using takt::test::require;

namespace {

void decode_everything(const can::Frame& frame) {
  const auto encode_again = [&](const auto& message) noexcept {
    using Message = std::remove_cvref_t<decltype(message)>;
    const auto again = odrive_frame::of_node(0, message);
    if (!again) return;  // NaN or infinity
    require(can::decode<Message>(*again).value() == message);
  };
  static_cast<void>(odrive::visit(odrive_frame::of_node_0(frame), encode_again));
}

robot::RobotDescription two_drives() {
  robot::RobotDescription description;
  description.buses.resize(1);
  description.buses[0].protocol = find("odrive");
  description.joints.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    robot::JointDescription& joint = description.joints[i];
    joint.board = i == 0 ? 1 : 62;
    joint.drive.set("gear", i == 0 ? 8.0 : -0.5);
    joint.drive.set("current_limit", 20.0);
    joint.drive.set("velocity_limit", 10.0);
    joint.drive.set("watchdog", 0.05);
  }
  return description;
}

/// The master's requests and commands: a drive must accept each.
bool is_known(const can::Frame& sent) {
  const bool is_of_a_drive = odrive_frame::node_of(sent) == 1 || odrive_frame::node_of(sent) == 62;
  if (sent.remote || !is_of_a_drive) return is_of_a_drive;
  return odrive::visit(odrive_frame::of_node_0(sent), [](const auto&) noexcept {}).has_value();
}

void tell_a_drive(const robot::RobotDescription& robot, std::span<const std::uint8_t> bytes) {
  OdriveDrive drive(1, {}, Time{}, robot.joints[0]);
  Time now{};
  while (!bytes.empty()) {
    can::Frame frame = test::next_frame(bytes);
    now += Duration(700'000);
    frame.stamp = now;
    if (drive.accepts(frame)) drive.receive(frame);
    while (drive.next_send() <= now) {
      const can::Frame said = drive.take_frame();
      require(odrive_frame::node_of(said) == 1 && !said.remote);
      require(odrive::visit(odrive_frame::of_node_0(said), [](const auto&) noexcept {}).has_value());
    }
    drive.advance(now);
    require(std::isfinite(drive.position()) && std::isfinite(drive.velocity()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const robot::RobotDescription description = two_drives();
  const std::span<const std::uint8_t> bytes(data, std::min<std::size_t>(size, 4096));
  test::fuzz_hardware<OdriveHardware<test::ScriptedBus>>(description, bytes, decode_everything, is_known);
  tell_a_drive(description, bytes);
  return 0;
}
