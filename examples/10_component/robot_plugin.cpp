// The plug-in of robot.json and swinging_joint.json.
#include "takt/component/plugin.hpp"

#include "arm.hpp"
#include "swing.hpp"
#include "vehicle.hpp"

TAKT_PLUGIN(arm_example::Arm, arm_example::ArmController, arm_example::FollowingGuard, swing_example::Swing,
            vehicle_example::Vehicle, vehicle_example::VehicleClient, vehicle_example::LapDriver)
