#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {

void DriveProtocol::check(const RobotDescription& /*robot*/, const JointDescription& /*joint*/,
                          const Complain& /*complain*/) const {}

}  // namespace takt::robot
