// Fuzzes request records of a hostile server with any bytes. Each record begins with its length in two bytes.
// A request that the reader accepts keeps the robot's limits.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "takt/motion/request_message.hpp"
#include "takt/trajectory/limits.hpp"

using namespace takt;
using namespace takt::motion;

namespace {

/// Two joints, so that records are short.
robot::RobotDescription robot_of_two() {
  robot::RobotDescription robot;
  robot.joints.resize(2);
  for (robot::JointDescription& joint : robot.joints) joint.limits = {-1, 1, 2, 10, 200, 50};
  return robot;
}

void check(const Request& request, const robot::RobotDescription& robot) {
  if (request.kind > RequestKind::accept_positions || !is_complete(request)) std::abort();
  std::vector<JointLimits> limits;
  request.joints.for_each([&](std::size_t joint) { limits.push_back(robot.joints.at(joint).limits); });
  if (request.kind != RequestKind::trajectory) return;
  // The first part may return from a start beyond the limits; only the rest must keep them.
  const trajectory::Trajectory& motion = request.trajectory;
  for (std::size_t k = request.first_waypoint; k < motion.segments(); ++k) {
    for (std::size_t j = 0; j < motion.joints(); ++j) {
      const MotionState state = motion.knot(k, j);
      const bool keeps = state.position <= 1.001 && state.position >= -1.001 && state.velocity <= 2.001 &&
                         state.velocity >= -2.001;
      if (!keeps) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const robot::RobotDescription robot = robot_of_two();
  RequestReader reader(robot, 64);
  reader.see(Snapshot{});
  std::span<const std::uint8_t> rest(data, size);
  while (rest.size() >= 2) {
    const std::size_t wanted = rest[0] | static_cast<std::size_t>(rest[1]) << 8;
    rest = rest.subspan(2);
    const std::size_t length = std::min(wanted, rest.size());
    const auto taken = reader.take(rest.first(length));
    rest = rest.subspan(length);
    if (!taken) {
      if (taken.error() != Errc::malformed) std::abort();
    } else if (taken->note) {
      if (!is_valid(*taken->note)) std::abort();
    } else if (taken->request && !taken->refusal) {
      check(*taken->request, robot);
    }
  }
  return 0;
}
