#include "takt/robot/fingerprint.hpp"

#include <bit>
#include <concepts>
#include <string>
#include <string_view>
#include <variant>

#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {
namespace {

class Hash {
 public:
  void add(std::integral auto number) {
    auto rest = static_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i, rest >>= 8) add_byte(static_cast<std::uint8_t>(rest));
  }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(Duration duration) { add(duration.count()); }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

std::uint64_t fingerprint(const RobotDescription& robot) {
  Hash hash;
  const auto add_all = [&hash](const auto&... values) { (hash.add(values), ...); };
  add_all(robot.name, robot.period, static_cast<int>(robot.overrun), robot.overrun_limit,
          robot.feedback_timeout, robot.goal_time, robot.buses.size(), robot.joints.size(),
          robot.groups.size());
  for (const BusDescription& bus : robot.buses)
    add_all(bus.name, bus.protocol != nullptr ? bus.protocol->name() : "", bus.bit_rate, bus.data_bit_rate);
  for (const JointDescription& joint : robot.joints) {
    const JointLimits& limits = joint.limits;
    add_all(joint.name, static_cast<int>(joint.kind), limits.position_min, limits.position_max,
            limits.velocity, limits.acceleration, limits.jerk, limits.effort, static_cast<int>(joint.safe),
            joint.counts_per_radian, joint.rated_effort, joint.bus, joint.board, joint.channel,
            joint.following_error, joint.goal_tolerance, joint.drive.list().size());
    for (const auto& [key, value] : joint.drive.list()) {
      hash.add(std::string_view(key));
      std::visit([&hash](const auto& setting) { hash.add(setting); }, value);
    }
  }
  for (const GroupDescription& group : robot.groups) {
    add_all(group.name, group.joints.size());
    for (const std::size_t joint : group.joints) hash.add(joint);
  }
  return hash.value();
}

}  // namespace takt::robot
