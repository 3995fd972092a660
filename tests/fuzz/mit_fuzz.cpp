// Fuzzes frames from and to MIT-mode drives with any bytes. Decoders reject them, or re-encode them to the
// same. A master keeps finite feedback and sends only frames of the protocol, and so do drives.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "drives/mit/drive.hpp"
#include "drives/mit/hardware.hpp"
#include "support/fuzz_frames.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using takt::test::require;
namespace mit = takt::drives::mit;
using mit::Vendor;

namespace {

constexpr std::array<Vendor, 3> vendors{Vendor::cheetah, Vendor::cubemars, Vendor::damiao};
constexpr mit::Ranges ranges{12.5, 30, 18};

robot::RobotDescription three_drives() {
  robot::RobotDescription description;
  description.buses.resize(1);
  description.buses[0].protocol = drives::find("mit");
  for (std::size_t i = 0; i < vendors.size(); ++i) {
    robot::JointDescription joint;
    joint.board = static_cast<std::uint8_t>(i + 1);
    joint.counts_per_radian = i == 1 ? -1 : 1;
    joint.drive.set("vendor", std::string(mit::vendor_names[i]));
    joint.drive.set("position_range", ranges.position);
    joint.drive.set("velocity_range", ranges.velocity);
    joint.drive.set("torque_range", ranges.torque);
    joint.drive.set("kp", 80.0);
    joint.drive.set("kd", 2.0);
    description.joints.push_back(joint);
  }
  return description;
}

bool is_from_master(const can::Frame& frame) {
  return mit::decode_command(frame, frame.id, ranges) || mit::decode_special(frame) ||
         mit::decode_register(frame, mit::register_id);
}

void decode_everything(const can::Frame& frame) {
  if (const auto command = mit::decode_command(frame, frame.id, ranges);
      command && frame.id < mit::register_id) {
    const can::Frame again = *encode(*command, frame.id, ranges);
    require(std::equal(again.data.begin(), again.data.begin() + 8, frame.data.begin()));
  }
  if (const auto special = mit::decode_special(frame); special && special->id < mit::register_id)
    require(mit::decode_special(*encode(*special))->special == special->special);
  for (const Vendor vendor : vendors) {
    const auto reply = mit::decode_reply(frame, frame.id, vendor, ranges);
    if (!reply || frame.id >= mit::register_id) continue;
    const can::Frame again = *encode(*reply, frame.id, vendor, ranges);
    require(mit::decode_reply(again, frame.id, vendor, ranges)->count == reply->count);
    require(mit::decode_reply(again, frame.id, vendor, ranges)->status == reply->status);
  }
  if (const auto message = mit::decode_register(frame, frame.id); message && frame.id <= mit::register_id)
    require(*mit::decode_register(*encode(*message), frame.id) == *message);
}

/// The same frames to the drives, one in each millisecond.
void feed_drives(const robot::RobotDescription& description, std::span<const std::uint8_t> bytes) {
  for (const robot::JointDescription& joint : description.joints) {
    mit::Drive drive(joint.board, {}, Time{}, joint);
    std::span<const std::uint8_t> rest = bytes;
    for (Time now{}; !rest.empty(); now += Duration(1'000'000)) {
      can::Frame frame = test::next_frame(rest);
      frame.stamp = now;
      if (drive.accepts(frame)) drive.receive(frame);
      drive.advance(now);
      require(can::is_finite(drive.position()) && can::is_finite(drive.velocity()));
      if (drive.next_send() == Time::max()) continue;
      const can::Frame reply = drive.take_frame();
      require(reply.length >= 6 && reply.length <= 8 && reply.is_data());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const robot::RobotDescription description = three_drives();
  const std::span<const std::uint8_t> bytes(data, std::min<std::size_t>(size, 4096));
  test::fuzz_hardware<mit::Hardware<test::ScriptedBus>>(description, bytes, decode_everything,
                                                        is_from_master);
  feed_drives(description, bytes);
  return 0;
}
