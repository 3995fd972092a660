// The plug-in of robot.json.
#include "takt/component/plugin.hpp"

#include "arm.hpp"
#include "vehicle.hpp"

TAKT_PLUGIN(arm_example::Arm, arm_example::ArmController, arm_example::FollowingGuard,
            vehicle_example::Vehicle, vehicle_example::VehicleClient, vehicle_example::LapDriver)
