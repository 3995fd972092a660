// Where the first version of each structure that can grow ended.
#pragma once

#include <cstddef>

#include "takt.h"

namespace takt::capi {

/// The bytes that every caller's structure has. Fields that are appended later are optional, with zero as
/// their default: never change a line of this table.
template <class Struct>
inline constexpr std::size_t first_version = 0;

#define TAKT_FIRST_VERSION(type, last_field) \
  template <>                                \
  inline constexpr std::size_t first_version<type> = offsetof(type, last_field) + sizeof(type::last_field)

TAKT_FIRST_VERSION(takt_channel_limits, reserved);
TAKT_FIRST_VERSION(takt_component_type, description);
TAKT_FIRST_VERSION(takt_controller_type, configure);
TAKT_FIRST_VERSION(takt_dbc_message, id);
TAKT_FIRST_VERSION(takt_dbc_signal, struct_size);
TAKT_FIRST_VERSION(takt_motion_client_options, timeout_ns);
TAKT_FIRST_VERSION(takt_motion_options, joint_names);
TAKT_FIRST_VERSION(takt_odometry_options, timeout_ns);
TAKT_FIRST_VERSION(takt_pid_gains, output_max);
TAKT_FIRST_VERSION(takt_rate_limits, second);
TAKT_FIRST_VERSION(takt_record, message_size);
TAKT_FIRST_VERSION(takt_recorder_options, rotate_after_ns);
TAKT_FIRST_VERSION(takt_replay_options, recording);
TAKT_FIRST_VERSION(takt_replay_result, left_out);
TAKT_FIRST_VERSION(takt_reply, message);
TAKT_FIRST_VERSION(takt_robot_options, priority);
TAKT_FIRST_VERSION(takt_robot_state, overruns);
TAKT_FIRST_VERSION(takt_robot_totals, dropped);
TAKT_FIRST_VERSION(takt_simulated_vehicle_state, halts);
TAKT_FIRST_VERSION(takt_splice, delay_ns);
TAKT_FIRST_VERSION(takt_splice_options, start_ns);
TAKT_FIRST_VERSION(takt_twist_law_options, brake);
TAKT_FIRST_VERSION(takt_udp_counters, dropped);
TAKT_FIRST_VERSION(takt_udp_options, reserved);
TAKT_FIRST_VERSION(takt_vehicle_client_counters, stops);
TAKT_FIRST_VERSION(takt_vehicle_client_options, speed_is_magnitude);
TAKT_FIRST_VERSION(takt_vehicle_client_state, command);
TAKT_FIRST_VERSION(takt_vehicle_drive_options, distance);
TAKT_FIRST_VERSION(takt_vehicle_faults, reserved);
TAKT_FIRST_VERSION(takt_violation, limit);
TAKT_FIRST_VERSION(takt_waypoints, positions);

#undef TAKT_FIRST_VERSION

}  // namespace takt::capi
