// The plug-in of system.json: the types that `takt launch` makes by their names.
#include "takt/component/plugin.hpp"

#include "motor.hpp"

TAKT_PLUGIN(motor_example::Motor, motor_example::Controller, motor_example::Brake, motor_example::SpeedLog)
