// A vehicle's description as a JSON file: the one place where a vehicle that is driven over datagrams is told to takt. Reading
// is as strict and patient as that of robots (description_json.hpp). What nobody can know but who measured it is required; all else
// may be left out, and has then the value that is shown here.
//
//   {
//     "name": "furbot",
//     "provisional": ["/wheelbase"],    JSON pointers to what was guessed and not measured: whoever drives is told
//
//     "wheelbase": 1.6,                 m, required
//     "track": 1.285,                   m between the rear wheels, required
//     "wheel_radius": 0.3,              m, of the rear wheels, required
//     "steering": {                     required, both
//       "limit": 0.5, "rate": 0.8       rad, of the bicycle's wheel, either way; rad/s
//     },
//     "units": {                        what a count on the wire means (vehicle/units.hpp)
//       "speed": 0.01,                  m/s, of the vehicle's speed, required; no more than "standstill"
//       "angle": 0.001,                 rad, of its steering's angles, required; below zero if it counts to the right
//       "odometer": 0.001,              m, required
//       "steer": 0.001,                 rad, of the commanded steering, required; below zero if it counts to the right
//       "full_throttle": 100,           counts, required
//       "full_brake": 100,              counts, required
//       "wheel_rate": 0.10471975511966,           rad/s: a revolution per minute
//       "speed_is_magnitude": false,              whether speed and wheels' speeds have no sign, which the reverse flag then tells
//       "charge": 0.005, "current": 0.1, "voltage": 0.1     of a full battery, A, V
//     },
//     "control": {                      required: the frames that drive it
//       "byte_order": "little_endian",  required: "network", or "little_endian" as the Furbot's original sender. Nothing on the
//                                       wire tells a wrong one: the vehicle drives with full pedals. Try it on blocks
//       "rate": 100,                    Hz, 1..1000
//       "timeout": 0.2,                 s: without a command for so long, the vehicle is stopped
//       "throttle": 1, "reverse": 1     0..1, of full throttle: what is given at most, forwards and backwards
//     },
//     "status": {                       the frames in which it tells of itself
//       "rate": 100,                    Hz, 1..1000
//       "timeout": 0.1,                 s: what is older is stale, and the vehicle is stopped
//       "required": ["traction"],       systems that must run, by name, traction among them; if not given, all
//       "systems": [{                   what stands in the frame (vehicle/system_layout.hpp), in the order in which it is sent;
//                                       if not given, what is known of the Furbot
//         "id": 3, "name": "traction",  0..31, as numbered on the wire. As the Furbot's: 1 is the battery, 3 traction, which must
//                                       be there, 4 the steering, and these have at least the fields that they
//                                       have there
//         "length": 17,                 bytes
//         "provisional": true,          optional: where its fields are is a guess
//         "fields": {"state": {"offset": 0, "type": "i8"}}          bytes; u8, u16, u32, i8, i16 or i32. A state has each system
//       }]
//     },
//     "limits": {                       of the twists that are asked for, all required
//       "forward": 2, "backward": 2, "rotation": 0.6,                                   m/s, m/s, rad/s
//       "acceleration": 1, "braking": 1, "rotational_acceleration": 2                   m/s^2, m/s^2, rad/s^2
//     },
//     "standstill": 0.05,               m/s: slower, the vehicle stands
//     "law": {                          required: from a twist to steering and pedals (vehicle/twist_law.hpp)
//       "throttle": {                   required: from m/s to 0..1 (control/pid.hpp)
//         "proportional": 0.4,          required
//         "integral": 0, "derivative": 0, "derivative_filter": 0, "dead_band": 0, "setpoint_weight": 1, "derivative_weight": 0
//       },
//       "brake": {"proportional": 0.2},                             required, above 0: from m/s too fast to 0..1
//       "command_threshold": 0.1, "measured_threshold": 0.5,        m/s
//       "hysteresis": 0.1,              m/s: too fast by this, it brakes
//       "holding_brake": 0.2            0..1
//     },
//     "stop": {                         how it is stopped (vehicle/emergency_stop.hpp)
//       "service_brake": 0.5,           0..1, above 0
//       "brake_rate": 1,                1/s of full braking
//       "settling": 0.5,                s: slow for so long, it stands
//       "longest_braking": 5,           s: if it does not stand by then, the full brake is pressed
//       "on_timeout": 1, "on_fault": 1  stop category, 0..2
//     },
//     "odometry": {                     required
//       "turn": "wheels",               what tells how it turns: the "wheels", or the "steering"
//       "way": "wheels",                what tells how far it goes: the "wheels", or the "odometer"
//       "timeout": 0.5,                 s: speeds are taken for as long as this
//       "noise": {                      what each metre, and each radian, adds to the variances (mobile/odometry.hpp)
//         "forward_by_way": 2e-5, "left_by_way": 2e-5,              m^2/m, required
//         "heading_by_way": 1e-6,       rad^2/m, required
//         "heading_by_rotation": 0      rad^2/rad
//       }
//     }
//   }
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "takt/robot/description_json.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

namespace takt::robot {

/// A vehicle as its file tells it.
struct VehicleDescription {
  std::string name;
  std::vector<std::string> provisional;      ///< JSON pointers to what is a guess
  vehicle::VehicleDriveConfiguration drive;  ///< VehicleDrive::make() takes it
  /// The table of systems, if the file has one: `drive` and what is made of it refer to it, which ends with the last copy of this.
  std::shared_ptr<const vehicle::Layouts> layouts;
};

/// A description, or every mistake that was found (never an empty list). The text comes from outside and may be anything.
/// Allocates; not for the real-time path.
[[nodiscard]] tl::expected<VehicleDescription, std::vector<Mistake>> load_vehicle(std::string_view json);

/// The same from a file. A file that cannot be read, or is larger than 4 MiB, is a mistake too.
[[nodiscard]] tl::expected<VehicleDescription, std::vector<Mistake>> load_vehicle_file(
    const std::string& path);

}  // namespace takt::robot
