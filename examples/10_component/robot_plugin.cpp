// The plug-in of robot.json and arm.json.
#include "takt/component/plugin.hpp"

#include "arm.hpp"
#include "lap_driver.hpp"
#include "swing.hpp"

TAKT_PLUGIN(arm_example::Arm, arm_example::ArmController, arm_example::FollowingGuard, swing_example::Swing,
            vehicle_example::LapDriver)
