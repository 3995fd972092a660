// Any bytes as frames from Hubo boards: decoders refuse or understand, what they understand is encoded to the
// same again, and a master that is fed with them keeps finite feedback and sends only frames that the
// protocol knows.
#include <span>

#include "support/fuzz_frames.hpp"
#include "takt/can/bits.hpp"
#include "takt/robot/hubo_hardware.hpp"

using namespace takt;
using takt::test::require;
namespace hubo = takt::can::hubo;

namespace {

void decode_everything(const can::Frame& frame) {
  require(can::frame_bits(frame).total() >= 47);
  if (const auto reference = hubo::decode_reference(frame)) {
    require(*hubo::decode_reference(*encode(*reference)) == *reference);
  }
  if (const auto command = hubo::decode_command(frame)) {
    require(*hubo::decode_command(*encode(*command)) == *command);
  }
  if (const auto reply = hubo::decode_encoder(frame)) {
    require(encode(*reply)->payload()[7] == frame.data[7]);
    require(*hubo::decode_encoder(*encode(*reply)) == *reply);
  }
  for (const hubo::Dialect dialect : {hubo::Dialect::ach, hubo::Dialect::podo}) {
    if (const auto reply = hubo::decode_status(frame, dialect)) {
      require(*hubo::decode_status(*encode(*reply, dialect), dialect) == *reply);
    }
  }
}

robot::RobotDescription two_boards() {
  robot::RobotDescription description;
  description.buses.resize(1);
  description.joints.resize(3);
  description.joints[0].board = 14;
  description.joints[1].board = 15;
  description.joints[2].board = 15;
  description.joints[2].channel = 1;
  description.joints[2].counts_per_radian = -1000;
  return description;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const robot::RobotDescription description = two_boards();
  const std::span<const std::uint8_t> bytes(data, std::min<std::size_t>(size, 4096));
  test::fuzz_hardware<robot::HuboHardware<test::ScriptedBus>>(
      description, bytes, decode_everything, [](const can::Frame& sent) {
        return hubo::decode_command(sent).has_value() || hubo::decode_reference(sent).has_value();
      });
  return 0;
}
