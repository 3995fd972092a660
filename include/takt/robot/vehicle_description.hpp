// A description of a vehicle that is driven over datagrams, as a JSON file. Loading is as strict as that of
// robots (robot/description_json.hpp). Measures of the individual vehicle are required. Other keys are
// optional, with the defaults shown here.
//
// {
//   "name": "furbot",
//   "devices": "real",                a vehicle at the other end of datagrams; "simulated": one in this
//                                     process
//   "provisional": ["/wheelbase"],    JSON pointers to guessed values; programs warn the operator of them
//
//   "wheelbase": 1.6,                 m, required
//   "track": 1.285,                   m between the rear wheels, required
//   "wheel_radius": 0.3,              m, of the rear wheels, required
//   "steering": {                     required, both
//     "limit": 0.5, "rate": 0.8       rad, of the bicycle model's wheel, either way; rad/s
//   },
//   "units": {                        the meaning of one count in a frame (vehicle/units.hpp)
//     "speed": 0.01,                  m/s, of the vehicle's speed, required; at most "standstill"
//     "angle": 0.001,                 rad, of measured steering angles, required; negative if to the right
//     "odometer": 0.001,              m, required
//     "steer": 0.001,                 rad, of the commanded steering, required; negative if to the right
//     "full_throttle": 100,           counts, required
//     "full_brake": 100,              counts, required
//     "wheel_rate": 0.10471975511966, rad/s: a revolution per minute
//     "speed_is_magnitude": false,    whether speeds have no sign; the reverse flag gives it
//     "charge": 0.005, "current": 0.1, "voltage": 0.1     of a full battery, A, V
//   },
//   "control": {                      required: the command frames
//     "byte_order": "little_endian",  required: "network", or "little_endian" as the Furbot's first sender.
//                                     No check on the wire finds a wrong one: the vehicle drives with
//                                     full pedals. Test it on blocks
//     "rate": 100,                    Hz, 1..1000
//     "timeout": 0.2,                 s: the vehicle is stopped after this time without a command
//     "throttle": 1, "reverse": 1     0..1, of full throttle: the largest forwards and backwards
//   },
//   "status": {                       the telemetry frames
//     "rate": 100,                    Hz, 1..1000
//     "timeout": 0.1,                 s: older telemetry is stale, and the vehicle is stopped
//     "required": ["traction"],       names of systems that must run, "traction" among them; default: all
//     "systems": [{                   blocks of the frame (vehicle/system_layout.hpp), in wire order;
//                                     default: the known ones of the Furbot
//       "id": 3, "name": "traction",  0..31, the number on the wire. As on the Furbot, 1 is the battery,
//                                     3 the traction (required), and 4 the steering; these have at least
//                                     the Furbot's fields
//       "length": 17,                 bytes
//       "provisional": true,          optional: the places of its fields are a guess
//       "fields": {"state": {"offset": 0, "type": "i8"}}  bytes; u8, u16, u32, i8, i16 or i32.
//                                     Each system has a state
//     }]
//   },
//   "limits": {                       of the requested twists, all required
//     "forward": 2, "backward": 2, "rotation": 0.6,                               m/s, m/s, rad/s
//     "acceleration": 1, "braking": 1, "rotational_acceleration": 2               m/s^2, m/s^2, rad/s^2
//   },
//   "standstill": 0.05,               m/s: the vehicle counts as standing below this speed
//   "law": {                          required: from a twist to steering and pedals (vehicle/twist_law.hpp)
//     "throttle": {                   required: from m/s to 0..1 (control/pid.hpp)
//       "proportional": 0.4,          required
//       "integral": 0, "derivative": 0, "derivative_filter": 0, "dead_band": 0, "setpoint_weight": 1,
//       "derivative_weight": 0
//     },
//     "brake": {"proportional": 0.2}, required, above 0: from m/s too fast to 0..1
//     "command_threshold": 0.1, "measured_threshold": 0.5,    m/s
//     "hysteresis": 0.1,              m/s: it brakes when it is too fast by this
//     "holding_brake": 0.2            0..1
//   },
//   "stop": {                         how the vehicle is stopped (vehicle/emergency_stop.hpp)
//     "service_brake": 0.5,           0..1, above 0
//     "brake_rate": 1,                1/s of full braking
//     "settling": 0.5,                s: the vehicle stands after being below standstill for so long
//     "longest_braking": 5,           s: if it still moves after this, the full brake is applied
//     "on_timeout": 1, "on_fault": 1  stop category, 0..2
//   },
//   "odometry": {                     required
//     "turn": "wheels",               the source of the heading change: the "wheels", or the "steering"
//     "distance": "wheels",                the source of the distance: the "wheels", or the "odometer"
//     "timeout": 0.5,                 s: a speed is used for at most this time
//     "noise": {                      variance added per metre or radian of motion (mobile/odometry.hpp)
//       "forward_per_distance": 2e-5, "left_per_distance": 2e-5,          m^2/m, required
//       "heading_per_distance": 1e-6,       rad^2/m, required
//       "heading_per_rotation": 0      rad^2/rad
//     }
//   }
// }
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "takt/robot/description.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

namespace takt::robot {

/// A vehicle's description, as loaded.
struct VehicleDescription {
  std::string name;
  bool is_simulated = false;
  std::vector<std::string> provisional;      ///< JSON pointers to values that are guesses
  vehicle::VehicleDriveConfiguration drive;  ///< VehicleDrive::make() takes it
  /// The table of systems, if the file has one. Both `drive` and the vehicles made from it refer to the
  /// table. Keep a copy of this pointer as long as they live.
  std::shared_ptr<const vehicle::Layouts> layouts;
};

/// Loads a description. Returns it, or all mistakes that were found (at least one). `json`: any bytes are
/// safe. Allocates; not real-time safe.
[[nodiscard]] tl::expected<VehicleDescription, std::vector<Mistake>> load_vehicle(std::string_view json);

/// The same from a file. A file that cannot be read, or is larger than 4 MiB, is a mistake too.
[[nodiscard]] tl::expected<VehicleDescription, std::vector<Mistake>> load_vehicle_file(
    const std::string& path);

}  // namespace takt::robot
