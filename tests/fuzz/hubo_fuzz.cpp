// Fuzzes frames of Hubo boards with any bytes. Decoders reject them, or re-encode them to the same. A master
// keeps finite feedback and sends only frames of the protocol.
#include <span>

#include "support/fuzz_frames.hpp"
#include "takt/can/bits.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/hubo/hubo_settings.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using takt::test::require;
namespace hubo = takt::can::hubo;

namespace {

/// A decoded message must encode and decode to the same.
template <class Message, class... Options>
void decode_as(const can::Frame& frame, Options... options) {
  Message message{};
  if (!decode_into(message, frame, options...)) return;
  can::Frame sent;
  Message again{};
  require(encode_into(sent, message, options...).has_value());
  require(decode_into(again, sent, options...) && again == message);
}

/// Currents and parameters: the frame is decoded as the answer to each request.
void decode_answers(const can::Frame& frame) {
  for (const auto kind : {hubo::BoardKind::two_channel, hubo::BoardKind::hybrid, hubo::BoardKind::hand}) {
    decode_as<hubo::CurrentReply>(frame, kind);
    decode_as<hubo::ShortStatusReply>(frame, kind);
    decode_as<hubo::FingerDuty>(frame, kind);
  }
  hubo::MotorParameters motor;
  hubo::BoardParameters board;
  for (int i = 0; i <= static_cast<int>(hubo::ParameterPage::i); ++i) {
    const auto page = static_cast<hubo::ParameterPage>(i);
    const bool understood = is_motor_page(page) ? decode_into(motor, frame, page).has_value()
                                                : decode_into(board, frame, page).has_value();
    if (!understood) continue;
    const auto number = static_cast<std::uint8_t>(frame.id - hubo::current_base);
    require(is_motor_page(page) ? encode(motor, number, page).has_value()
                                : encode(board, number, page).has_value());
  }
}

void decode_settings(const can::Frame& frame) {
  decode_as<hubo::DutyStop>(frame);
  decode_as<hubo::DutyCommand>(frame);
  decode_as<hubo::Gains>(frame);
  decode_as<hubo::DeadZone>(frame);
  decode_as<hubo::HomeSearch>(frame);
  decode_as<hubo::EncoderResolution>(frame);
  decode_as<hubo::MotionLimits>(frame);
  decode_as<hubo::PositionLimit>(frame);
  decode_as<hubo::HomeMotion>(frame);
  decode_as<hubo::GainOverride>(frame);
  decode_as<hubo::JamLimits>(frame);
  decode_as<hubo::ErrorBounds>(frame);
  hubo::Renumber renumber;
  if (decode_into(renumber, frame)) require(encode(renumber, hubo::PermanentChange{}).has_value());
}

void decode_sensors(const can::Frame& frame) {
  decode_as<hubo::SensorCommand>(frame);
  decode_as<hubo::ForceTorque>(frame);
  decode_as<hubo::PowerReply>(frame);
  // Angles return within a rounding, not bit for bit.
  hubo::Tilt tilt;
  hubo::Inertial inertial;
  if (decode_into(tilt, frame)) require(encode(tilt).has_value());
  if (decode_into(inertial, frame)) require(encode(inertial).has_value());
  for (const hubo::Dialect dialect : {hubo::Dialect::ach, hubo::Dialect::podo}) {
    decode_as<hubo::SensorRequest>(frame, dialect);
    decode_as<hubo::InertialRequest>(frame, dialect);
  }
}

void decode_everything(const can::Frame& frame) {
  require(can::frame_bits(frame).total() >= 47);
  if (const auto command = hubo::decode_command(frame)) {
    require(*hubo::decode_command(*encode(*command)) == *command);
  }
  decode_as<hubo::Reference>(frame);
  decode_as<hubo::HybridReference>(frame);
  decode_as<hubo::NeckReference>(frame);
  decode_as<hubo::EncoderReply>(frame);
  decode_as<hubo::HybridEncoders>(frame);
  decode_as<hubo::NeckEncoders>(frame);
  decode_as<hubo::HandEncoders>(frame);
  for (const hubo::Dialect dialect : {hubo::Dialect::ach, hubo::Dialect::podo})
    decode_as<hubo::StatusReply>(frame, dialect);
  decode_answers(frame);
  decode_settings(frame);
  decode_sensors(frame);
}

/// Two boards of joints, and one board of each other kind with all its motors.
robot::RobotDescription all_kinds() {
  robot::RobotDescription description;
  description.buses.resize(1);
  description.buses[0].protocol = drives::find("hubo");
  description.joints.resize(3);
  description.joints[0].board = 14;
  description.joints[1].board = 15;
  description.joints[2].board = 15;
  description.joints[2].channel = 1;
  description.joints[2].counts_per_radian = -1000;
  for (const auto kind : {hubo::BoardKind::hybrid, hubo::BoardKind::neck, hubo::BoardKind::hand}) {
    for (std::uint8_t channel = 0; channel < hubo::channels_of(kind); ++channel) {
      robot::JointDescription& joint = description.joints.emplace_back();
      drives::set_hubo_board_kind(joint, kind);
      joint.board = static_cast<std::uint8_t>(hubo::neck_board - 2 + static_cast<int>(kind));
      joint.channel = channel;
      joint.rated_effort = 1;
    }
  }
  return description;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const robot::RobotDescription description = all_kinds();
  const std::span<const std::uint8_t> bytes(data, std::min<std::size_t>(size, 4096));
  test::fuzz_hardware<drives::HuboHardware<test::ScriptedBus>>(
      description, bytes, decode_everything, [](const can::Frame& sent) {
        return hubo::decode_command(sent).has_value() || hubo::decode_reference(sent).has_value() ||
               hubo::decode<hubo::HybridReference>(sent).has_value() ||
               hubo::decode<hubo::FingerDuty>(sent, hubo::BoardKind::hand).has_value();
      });
  return 0;
}
