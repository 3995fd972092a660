// Fuzzes frames from and to servo drives with any bytes. Decoders reject them, or re-encode them to the same.
// A master keeps finite feedback and sends only frames of the protocol.
#include <span>

#include "support/fuzz_frames.hpp"
#include "takt/can/bits.hpp"
#include "takt/drives/registry.hpp"
#include "takt/drives/servo/servo_hardware.hpp"

using namespace takt;
using takt::test::require;
namespace servo = takt::can::servo;

namespace {

void decode_everything(const can::Frame& frame) {
  require(can::frame_bits(frame).total() >= 47);
  if (const auto command = servo::decode_group(frame)) {
    require(*servo::decode_group(*encode(*command)) == *command);
    for (std::uint8_t slot = 0; slot < servo::slots_per_group; ++slot) {
      const auto node = static_cast<std::uint8_t>(command->group * servo::slots_per_group + slot + 1U);
      require(servo::decode_for_node(frame, node)->command == command->slots[slot]);
    }
  }
  if (const auto reply = servo::decode_reply(frame)) require(*servo::decode_reply(*encode(*reply)) == *reply);
}

robot::RobotDescription three_drives() {
  robot::RobotDescription description;
  description.buses.resize(1);
  description.buses[0].protocol = drives::find("servo");
  description.joints.resize(3);
  description.joints[0].board = 1;
  description.joints[1].board = 6;
  description.joints[2].board = 7;
  description.joints[2].counts_per_radian = -1000;
  return description;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const robot::RobotDescription description = three_drives();
  const std::span<const std::uint8_t> bytes(data, std::min<std::size_t>(size, 4096));
  test::fuzz_hardware<drives::ServoHardware<test::ScriptedBus>>(
      description, bytes, decode_everything,
      [](const can::Frame& sent) { return servo::decode_group(sent).has_value(); });
  return 0;
}
