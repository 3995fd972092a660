/* Declarations of an older takt.h: the first version of each structure that can grow. A program that was
 * compiled with it works with every later library of the soname. Never change this file while the soname is
 * the same. */
#ifndef TAKT_OLDER_H
#define TAKT_OLDER_H

#include <stddef.h>
#include <stdint.h>

typedef struct takt_channel takt_channel;
typedef struct takt_component takt_component;
typedef struct takt_dbc takt_dbc;
typedef struct takt_motion_client takt_motion_client;
typedef struct takt_odometry takt_odometry;
typedef struct takt_pid takt_pid;
typedef struct takt_placement takt_placement;
typedef struct takt_rate_limiter takt_rate_limiter;
typedef struct takt_recorder takt_recorder;
typedef struct takt_recorder_totals takt_recorder_totals;
typedef struct takt_recording takt_recording;
typedef struct takt_resources takt_resources;
typedef struct takt_robot takt_robot;
typedef struct takt_simulated_vehicle takt_simulated_vehicle;
typedef struct takt_trajectory takt_trajectory;
typedef struct takt_twist_law takt_twist_law;
typedef struct takt_udp_socket takt_udp_socket;
typedef struct takt_vehicle_client takt_vehicle_client;
typedef struct takt_vehicle_description takt_vehicle_description;
typedef struct takt_vehicle_drive takt_vehicle_drive;
typedef struct takt_vehicle_layouts takt_vehicle_layouts;

typedef struct takt_joint_limits {
  double position_min;
  double position_max;
  double velocity;
  double acceleration;
  double jerk;
  double effort;
} takt_joint_limits;

typedef struct takt_component_type {
  uint32_t struct_size;
  uint32_t reserved;
  const char* type;
  const char* version;
  const char* vendor;
  const char* category;
  const char* description;
} takt_component_type;

typedef struct takt_waypoints {
  uint32_t struct_size;
  int32_t through;
  size_t joints;
  size_t count;
  const int64_t* times_ns;
  const double* positions;
} takt_waypoints;

typedef struct takt_violation {
  uint32_t struct_size;
  int32_t quantity;
  uint64_t joint;
  int64_t time_ns;
  double value;
  double limit;
} takt_violation;

typedef struct takt_splice_options {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t at_ns;
  int64_t start_ns;
} takt_splice_options;

typedef struct takt_splice {
  uint32_t struct_size;
  int32_t fits;
  uint64_t waypoint;
  int64_t joins_ns;
  int64_t delay_ns;
} takt_splice;

typedef struct takt_motion_client_options {
  uint32_t struct_size;
  uint32_t port;
  const char* host;
  int64_t timeout_ns;
} takt_motion_client_options;

typedef struct takt_reply {
  uint32_t struct_size;
  int32_t state;
  int32_t reason;
  uint32_t reserved;
  uint64_t goal;
  int64_t duration_ns;
  int64_t time_ns;
  double value;
  double limit;
  char joint[64];
  char message[256];
} takt_reply;

typedef struct takt_motion_options {
  uint32_t struct_size;
  int32_t fit;
  const char* group;
  const char* const* joint_names;
} takt_motion_options;

typedef struct takt_robot_state {
  uint32_t struct_size;
  int32_t state;
  int32_t reason;
  uint32_t active_goals;
  int64_t time_ns;
  uint64_t cycles;
  uint64_t overruns;
} takt_robot_state;

typedef struct takt_bus_override {
  const char* bus;
  const char* interface;
} takt_bus_override;

typedef struct takt_robot_options {
  uint32_t struct_size;
  int32_t simulate;
  const takt_bus_override* buses;
  size_t bus_count;
  const char* serve_at;
  int32_t port;
  int32_t overwrite;
  const char* recording;
  const char* created;
  int32_t realtime;
  int32_t priority;
} takt_robot_options;

typedef struct takt_robot_totals {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t accepted;
  uint64_t rejected;
  uint64_t errors;
  uint64_t records;
  uint64_t dropped;
} takt_robot_totals;

typedef struct takt_pid_gains {
  uint32_t struct_size;
  int32_t form;
  double proportional;
  double integral;
  double derivative;
  double setpoint_weight;
  double derivative_weight;
  double derivative_filter;
  double tracking_time;
  double dead_band;
  double integral_min;
  double integral_max;
  double output_min;
  double output_max;
} takt_pid_gains;

typedef struct takt_rate_limits {
  uint32_t struct_size;
  uint32_t reserved;
  double min;
  double max;
  double forward_acceleration;
  double forward_braking;
  double reverse_acceleration;
  double reverse_braking;
  double second;
} takt_rate_limits;

typedef struct takt_dbc_message {
  uint32_t struct_size;
  uint32_t id;
} takt_dbc_message;

typedef struct takt_dbc_signal {
  uint32_t struct_size;
} takt_dbc_signal;

typedef struct takt_pose {
  double x;
  double y;
  double heading;
} takt_pose;

typedef struct takt_twist {
  double forward;
  double left;
  double rotation;
} takt_twist;

typedef struct takt_odometry_options {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t timeout_ns;
} takt_odometry_options;

typedef struct takt_udp_options {
  uint32_t struct_size;
  int32_t busy_poll;
  const char* local_address;
  const char* peer_address;
  uint16_t local_port;
  uint16_t peer_port;
  uint32_t reserved;
} takt_udp_options;

typedef struct takt_udp_counters {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t sent;
  uint64_t refused;
  uint64_t unreachable;
  uint64_t received;
  uint64_t too_long;
  uint64_t dropped;
} takt_udp_counters;

typedef struct takt_joint_sample {
  double command;
  double reference_position;
  double reference_velocity;
  double measured_position;
  double measured_velocity;
  uint64_t goal;
  double measured_effort;
} takt_joint_sample;

typedef struct takt_topic {
  const char* topic;
  const char* type;
  const char* schema;
} takt_topic;

typedef struct takt_recorder_options {
  uint32_t struct_size;
  int32_t uncompressed;
  const char* robot;
  int64_t period_ns;
  const char* const* joints;
  size_t joint_count;
  const takt_topic* topics;
  size_t topic_count;
  const char* created;
  int64_t epoch_ns;
  size_t ring_bytes;
  uint64_t rotate_bytes;
  int64_t rotate_after_ns;
} takt_recorder_options;

typedef struct takt_cycle_sample {
  int64_t time_ns;
  int64_t lateness_ns;
  int64_t busy_ns;
  int32_t state;
  uint32_t active_goals;
} takt_cycle_sample;

typedef struct takt_record {
  uint32_t struct_size;
  int32_t kind;
  int64_t time_ns;
  takt_cycle_sample cycle;
  const takt_joint_sample* joints;
  size_t joint_count;
  uint64_t goal;
  int32_t goal_state;
  int32_t goal_reason;
  const char* name;
  const void* message;
  size_t message_size;
} takt_record;

typedef struct takt_replay_options {
  uint32_t struct_size;
  int32_t overwrite;
  double speed;
  const char* robot;
  const char* const* libraries;
  size_t library_count;
  const char* folder;
  const char* const* files;
  size_t file_count;
  const char* recording;
} takt_replay_options;

typedef struct takt_replay_result {
  uint32_t struct_size;
  int32_t ended_early;
  uint64_t cycles;
  uint64_t differing;
  uint64_t cycle;
  int64_t time_ns;
  double value;
  double expected;
  uint64_t left_out;
} takt_replay_result;

typedef struct takt_controller_type {
  uint32_t struct_size;
  int32_t works_in_stop;
  const char* type;
  const char* version;
  const char* vendor;
  const char* description;
  int32_t (*configure)(void* user, takt_resources* resources);
} takt_controller_type;

typedef struct takt_channel_key {
  uint8_t id;
  uint8_t bytes[16];
} takt_channel_key;

typedef struct takt_channel_limits {
  uint32_t struct_size;
  uint32_t reserved;
} takt_channel_limits;

typedef struct takt_twist_law_options {
  uint32_t struct_size;
  uint32_t reserved;
  double wheelbase;
  double max_steering;
  double steering_rate;
  double command_threshold;
  double measured_threshold;
  double standstill;
  double hysteresis;
  double holding_brake;
  double throttle[3];
  double brake[3];
} takt_twist_law_options;

typedef struct takt_drive_command {
  double steering;
  double throttle;
  double brake;
} takt_drive_command;

typedef struct takt_vehicle_units {
  double wheel_rate;
  double speed;
  double angle;
  double odometer;
  double steer;
  double full_throttle;
  double full_brake;
  double charge;
  double current;
  double voltage;
} takt_vehicle_units;

typedef struct takt_vehicle_client_options {
  uint32_t struct_size;
  uint32_t required;
  int64_t freshness_ns;
  int64_t status_period_ns;
  int64_t send_period_ns;
  int64_t command_timeout_ns;
  int32_t on_command_timeout;
  int32_t on_fault;
  double max_steering;
  double max_throttle;
  double max_reverse;
  double service_brake;
  double brake_rate;
  double standstill;
  int64_t settling_ns;
  int64_t longest_braking_ns;
  takt_vehicle_units units;
  int64_t unix_ns_at_zero;
  int32_t byte_order;
  int32_t speed_is_magnitude;
} takt_vehicle_client_options;

typedef struct takt_vehicle_client_state {
  uint32_t struct_size;
  int32_t state;
  int32_t cause;
  uint32_t system;
  int32_t category;
  uint32_t reserved;
  takt_drive_command command;
} takt_vehicle_client_state;

typedef struct takt_vehicle_client_counters {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t received;
  uint64_t refused;
  uint64_t malformed;
  uint64_t accepted;
  uint64_t lost;
  uint64_t late;
  uint64_t duplicated;
  uint64_t invalid_stamps;
  uint64_t restarts;
  uint64_t unknown_blocks;
  uint64_t sent;
  uint64_t missed;
  uint64_t handshakes;
  uint64_t commands;
  uint64_t commands_limited;
  uint64_t commands_refused;
  uint64_t command_timeouts;
  uint64_t stops;
} takt_vehicle_client_counters;

typedef struct takt_twist_limits {
  double forward;
  double backward;
  double left;
  double rotation;
  double acceleration;
  double braking;
  double rotational_acceleration;
} takt_twist_limits;

typedef struct takt_vehicle_drive_options {
  uint32_t struct_size;
  uint32_t reserved;
  takt_twist_limits limits;
  double wheel_radius;
  double track;
  int32_t turn;
  int32_t distance;
} takt_vehicle_drive_options;

typedef struct takt_vehicle_faults {
  uint32_t struct_size;
  uint32_t halted;
  int64_t late_ns;
  double lost;
  double corrupt;
  double wrong_length;
  int32_t silent;
  uint32_t reserved;
} takt_vehicle_faults;

typedef struct takt_simulated_vehicle_state {
  uint32_t struct_size;
  int32_t state;
  takt_pose pose;
  takt_twist twist;
  takt_drive_command command;
  double travelled;
  uint64_t sent;
  uint64_t refused;
  uint64_t malformed;
  uint64_t applied;
  uint64_t outdated;
  uint64_t halts;
} takt_simulated_vehicle_state;

void takt_joint_limits_init(takt_joint_limits* limits);
void takt_component_type_init(takt_component_type* type, size_t size);
int32_t takt_component_create(const takt_component_type* type, const char* name, void* user,
                              takt_component** component);
void takt_component_destroy(takt_component* component);
void takt_waypoints_init(takt_waypoints* waypoints, size_t size);
void takt_violation_init(takt_violation* violation, size_t size);
int32_t takt_trajectory_create(const takt_waypoints* waypoints, takt_trajectory** trajectory);
void takt_trajectory_destroy(takt_trajectory* trajectory);
int32_t takt_trajectory_check(const takt_trajectory* trajectory, const takt_joint_limits* limits,
                              size_t joints, takt_violation* violation);
void takt_splice_options_init(takt_splice_options* options, size_t size);
void takt_splice_init(takt_splice* splice, size_t size);
int32_t takt_trajectory_splice(const takt_trajectory* running, const takt_trajectory* next,
                               const takt_splice_options* options, const takt_joint_limits* limits,
                               size_t joints, takt_splice* splice, takt_violation* violation,
                               takt_trajectory** result);
void takt_motion_client_options_init(takt_motion_client_options* options, size_t size);
int32_t takt_motion_client_connect(const takt_motion_client_options* options, takt_motion_client** client);
void takt_motion_client_close(takt_motion_client* client);
void takt_reply_init(takt_reply* reply, size_t size);
void takt_motion_options_init(takt_motion_options* options, size_t size);
int32_t takt_motion_client_trajectory(takt_motion_client* client, const takt_motion_options* options,
                                      const takt_waypoints* waypoints, takt_reply* reply);
int32_t takt_motion_client_move(takt_motion_client* client, const takt_motion_options* options,
                                const double* positions, size_t joints, int64_t duration_ns,
                                takt_reply* reply);
void takt_robot_state_init(takt_robot_state* state, size_t size);
int32_t takt_motion_client_state(takt_motion_client* client, takt_robot_state* state, size_t joints,
                                 double* references, double* measured);
void takt_robot_options_init(takt_robot_options* options, size_t size);
int32_t takt_robot_create(const char* path, const takt_robot_options* options, takt_robot** robot, char* text,
                          size_t size);
void takt_robot_destroy(takt_robot* robot);
uint32_t takt_robot_port(const takt_robot* robot);
int32_t takt_robot_run(takt_robot* robot, char* text, size_t size);
void takt_robot_shut_down(takt_robot* robot);
int32_t takt_robot_get_state(const takt_robot* robot, takt_robot_state* state);
void takt_robot_totals_init(takt_robot_totals* totals, size_t size);
int32_t takt_robot_finish(takt_robot* robot, takt_robot_totals* totals, char* text, size_t size);
void takt_pid_gains_init(takt_pid_gains* gains, size_t size);
int32_t takt_pid_create(const takt_pid_gains* gains, takt_pid** pid);
void takt_pid_destroy(takt_pid* pid);
void takt_rate_limits_init(takt_rate_limits* limits, size_t size);
int32_t takt_rate_limiter_create(const takt_rate_limits* limits, takt_rate_limiter** limiter);
void takt_rate_limiter_destroy(takt_rate_limiter* limiter);
void takt_dbc_message_init(takt_dbc_message* message, size_t size);
void takt_dbc_signal_init(takt_dbc_signal* signal, size_t size);
int32_t takt_dbc_create(const char* text, size_t bytes, int32_t strict, char* why, size_t size,
                        takt_dbc** dbc);
void takt_dbc_destroy(takt_dbc* dbc);
int32_t takt_dbc_describe_message(const takt_dbc* dbc, size_t message, takt_dbc_message* description);
int32_t takt_dbc_describe_signal(const takt_dbc* dbc, size_t message, size_t signal,
                                 takt_dbc_signal* description);
void takt_odometry_options_init(takt_odometry_options* options, size_t size);
int32_t takt_odometry_create(const takt_odometry_options* options, takt_odometry** odometry);
void takt_odometry_destroy(takt_odometry* odometry);
void takt_udp_options_init(takt_udp_options* options, size_t size);
int32_t takt_udp_open(const takt_udp_options* options, takt_udp_socket** socket, char* why, size_t size);
void takt_udp_close(takt_udp_socket* socket);
void takt_udp_counters_init(takt_udp_counters* counters, size_t size);
int32_t takt_udp_get_counters(const takt_udp_socket* socket, takt_udp_counters* counters);
void takt_recorder_options_init(takt_recorder_options* options, size_t size);
int32_t takt_recorder_create(const char* path, const takt_recorder_options* options, takt_recorder** recorder,
                             char* text, size_t size);
int32_t takt_recorder_cycle(takt_recorder* recorder, const takt_cycle_sample* cycle,
                            const takt_joint_sample* joints, size_t joint_count);
int32_t takt_recorder_finish(takt_recorder* recorder, takt_recorder_totals* totals, char* text, size_t size);
void takt_recorder_destroy(takt_recorder* recorder);
void takt_record_init(takt_record* record, size_t size);
int32_t takt_recording_open(const char* path, takt_recording** recording, char* text, size_t size);
int32_t takt_recording_next(takt_recording* recording, takt_record* record, char* text, size_t size);
void takt_recording_close(takt_recording* recording);
void takt_replay_options_init(takt_replay_options* options, size_t size);
void takt_replay_result_init(takt_replay_result* result, size_t size);
int32_t takt_replay(const char* path, const takt_replay_options* options, takt_replay_result* result,
                    char* text, size_t size);
void takt_controller_type_init(takt_controller_type* type, size_t size);
int32_t takt_robot_load_controller(takt_robot* robot, const takt_controller_type* type, const char* name,
                                   void* user, const takt_placement* placement, char* text, size_t size);
void takt_channel_limits_init(takt_channel_limits* limits, size_t size);
int32_t takt_channel_create_plain(takt_channel** channel);
int32_t takt_channel_create_commander(const takt_channel_key* key, const takt_channel_limits* limits,
                                      takt_channel** channel);
void takt_channel_destroy(takt_channel* channel);
void takt_twist_law_options_init(takt_twist_law_options* options, size_t size);
void takt_vehicle_client_options_init(takt_vehicle_client_options* options, size_t size);
void takt_vehicle_client_state_init(takt_vehicle_client_state* state, size_t size);
int32_t takt_vehicle_client_get_state(const takt_vehicle_client* client, takt_vehicle_client_state* state);
void takt_vehicle_client_counters_init(takt_vehicle_client_counters* counters, size_t size);
int32_t takt_vehicle_client_get_counters(const takt_vehicle_client* client,
                                         takt_vehicle_client_counters* counters);
void takt_vehicle_drive_options_init(takt_vehicle_drive_options* options, size_t size);
int32_t takt_vehicle_description_create(const takt_vehicle_drive_options* options,
                                        const takt_vehicle_client_options* client,
                                        const takt_twist_law_options* law,
                                        const takt_odometry_options* odometry,
                                        const takt_vehicle_layouts* layouts,
                                        takt_vehicle_description** description);
void takt_vehicle_description_destroy(takt_vehicle_description* description);
int32_t takt_vehicle_drive_create(const takt_vehicle_description* description, takt_channel* channel,
                                  takt_vehicle_drive** drive);
void takt_vehicle_drive_destroy(takt_vehicle_drive* drive);
takt_vehicle_client* takt_vehicle_drive_client(takt_vehicle_drive* drive);
int32_t takt_simulated_vehicle_create(const takt_vehicle_description* description, takt_channel* channel,
                                      uint64_t seed, int64_t start_ns, takt_simulated_vehicle** vehicle);
void takt_simulated_vehicle_destroy(takt_simulated_vehicle* vehicle);
void takt_vehicle_faults_init(takt_vehicle_faults* faults, size_t size);
int32_t takt_simulated_vehicle_set_faults(takt_simulated_vehicle* vehicle, const takt_vehicle_faults* faults);
void takt_simulated_vehicle_state_init(takt_simulated_vehicle_state* state, size_t size);
int32_t takt_simulated_vehicle_get_state(const takt_simulated_vehicle* vehicle,
                                         takt_simulated_vehicle_state* state);

#endif /* TAKT_OLDER_H */
