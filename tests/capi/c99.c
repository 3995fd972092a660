/* A C99 program that uses the C API. The header compiles as C, and the calls do what the manual says.
 * Sanitized builds also find leaks and invalid accesses. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "takt.h"

static int failures = 0;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

enum { joints = 2, count = 3 };
static const int64_t times_ns[count] = {0, 1000000000, 2500000000};
static const double positions[count * joints] = {0.0, 1.0, 0.5, -1.0, 0.25, 2.0};

static void test_version(void) {
  CHECK(takt_abi_version() == TAKT_ABI_VERSION);
  CHECK(strchr(takt_version(), '.') != NULL);
}

static void test_status_texts(void) {
  CHECK(strcmp(takt_status_text(TAKT_OK), "success") == 0);
  CHECK(strcmp(takt_status_text(TAKT_ERROR_TRAJECTORY_NOT_FINITE), "a number is NaN or infinite") == 0);
  CHECK(strncmp(takt_status_text(1), "unknown", 7) == 0);
  CHECK(strncmp(takt_status_text(INT32_MIN), "unknown", 7) == 0);
}

static takt_trajectory* make(int32_t through) {
  takt_waypoints waypoints;
  takt_trajectory* trajectory = NULL;
  takt_waypoints_init(&waypoints, sizeof waypoints);
  waypoints.joints = joints;
  waypoints.count = count;
  waypoints.times_ns = times_ns;
  waypoints.positions = positions;
  waypoints.through = through;
  CHECK(takt_trajectory_create(&waypoints, &trajectory) == TAKT_OK);
  return trajectory;
}

static void test_sampling(void) {
  double p[joints], v[joints], a[joints];
  takt_cursor cursor = {0};
  takt_trajectory* trajectory = make(TAKT_THROUGH_STOP);
  CHECK(takt_trajectory_joints(trajectory) == joints);
  CHECK(takt_trajectory_duration_ns(trajectory) == 2500000000);

  CHECK(takt_trajectory_sample(trajectory, &cursor, 500000000, joints, p, v, a) == TAKT_OK);
  CHECK(fabs(p[0] - 0.25) < 1e-12);             /* half-way of a rest-to-rest quintic */
  CHECK(fabs(v[0] - 0.5 * 15.0 / 8.0) < 1e-12); /* its peak velocity: 15/8 of the mean */
  CHECK(fabs(a[0]) < 1e-12);
  CHECK(takt_trajectory_sample(trajectory, &cursor, INT64_MAX, joints, p, NULL, NULL) == TAKT_OK);
  CHECK(p[0] == 0.25 && p[1] == 2.0);
  CHECK(takt_trajectory_sample(trajectory, &cursor, INT64_MIN, joints, p, v, NULL) == TAKT_OK);
  CHECK(p[0] == 0.0 && p[1] == 1.0 && v[0] == 0.0);
  cursor.segment = UINT64_MAX; /* invalid, but harmless */
  CHECK(takt_trajectory_sample(trajectory, &cursor, 500000000, joints, p, v, a) == TAKT_OK);
  CHECK(fabs(p[0] - 0.25) < 1e-12);

  CHECK(takt_trajectory_sample(trajectory, &cursor, 0, joints + 1, p, v, a) ==
        TAKT_ERROR_TRAJECTORY_WRONG_SIZE);
  CHECK(takt_trajectory_sample(trajectory, NULL, 0, joints, p, v, a) == TAKT_ERROR_CAPI_NULL_POINTER);
  CHECK(takt_trajectory_sample(NULL, &cursor, 0, joints, p, v, a) == TAKT_ERROR_CAPI_NULL_POINTER);
  takt_trajectory_destroy(trajectory);
  takt_trajectory_destroy(NULL);
}

static void test_limits(void) {
  takt_joint_limits limits[joints];
  takt_violation violation;
  double factor = 0;
  takt_trajectory* trajectory = make(TAKT_THROUGH_STOP);
  takt_joint_limits_init(&limits[0]);
  takt_joint_limits_init(&limits[1]);
  takt_violation_init(&violation, sizeof violation);
  CHECK(takt_trajectory_check(trajectory, limits, joints, &violation) == TAKT_OK);

  limits[1].velocity = 2; /* joint 1 travels 3 rad in 1.5 s: peak 15/8 * 2 rad/s */
  CHECK(takt_trajectory_check(trajectory, limits, joints, NULL) == TAKT_ERROR_MOTION_VELOCITY_LIMIT);
  CHECK(takt_trajectory_check(trajectory, limits, joints, &violation) == TAKT_ERROR_MOTION_VELOCITY_LIMIT);
  CHECK(violation.quantity == TAKT_QUANTITY_VELOCITY && violation.joint == 1 && violation.limit == 2);
  CHECK(fabs(fabs(violation.value) - 3.75) < 1e-9);

  CHECK(takt_trajectory_fit(trajectory, limits, joints, &factor, &violation) == TAKT_OK);
  CHECK(fabs(factor - 3.75 / 2) < 1e-9);
  CHECK(takt_trajectory_check(trajectory, limits, joints, &violation) == TAKT_OK);

  limits[0].position_max = 0.4; /* a slow-down does not help */
  CHECK(takt_trajectory_fit(trajectory, limits, joints, NULL, &violation) ==
        TAKT_ERROR_MOTION_POSITION_LIMIT);
  CHECK(violation.quantity == TAKT_QUANTITY_POSITION && violation.joint == 0 && violation.limit == 0.4);

  limits[0].velocity = -1;
  CHECK(takt_trajectory_check(trajectory, limits, joints, NULL) == TAKT_ERROR_CAPI_BAD_LIMITS);
  CHECK(takt_trajectory_check(trajectory, NULL, joints, NULL) == TAKT_ERROR_CAPI_NULL_POINTER);
  CHECK(takt_trajectory_check(trajectory, limits, 1, NULL) == TAKT_ERROR_TRAJECTORY_WRONG_SIZE);
  takt_trajectory_destroy(trajectory);
}

static void test_append_stop(void) {
  static const double velocities[2] = {0, 1};
  static const int64_t times[2] = {5000000000, 6000000000};
  static const double line[2] = {0, 1};
  double p, v, a;
  takt_cursor cursor = {0};
  takt_joint_limits limits;
  takt_waypoints waypoints;
  takt_trajectory* trajectory = NULL;
  takt_waypoints_init(&waypoints, sizeof waypoints);
  waypoints.joints = 1;
  waypoints.count = 2;
  waypoints.times_ns = times;
  waypoints.positions = line;
  waypoints.velocities = velocities;
  CHECK(takt_trajectory_create(&waypoints, &trajectory) == TAKT_OK);
  takt_joint_limits_init(&limits);
  limits.acceleration = 2;
  limits.jerk = 20;
  CHECK(takt_trajectory_append_stop(trajectory, &limits, 1) == TAKT_OK);
  CHECK(takt_trajectory_duration_ns(trajectory) > 1000000000);
  CHECK(takt_trajectory_sample(trajectory, &cursor, takt_trajectory_duration_ns(trajectory), 1, &p, &v, &a) ==
        TAKT_OK);
  CHECK(p > 1 && v == 0 && a == 0);
  takt_trajectory_destroy(trajectory);
}

static void test_stop(void) {
  takt_joint_limits limits;
  takt_motion_state state = {1, 2, 0};
  takt_stop* stop = NULL;
  int64_t duration_ns = 0;
  int32_t fits = 0;
  double distance = 0;
  const size_t align = takt_stop_align();
  char* memory = malloc(takt_stop_size() + align);
  char* aligned;
  CHECK(memory != NULL);
  if (memory == NULL) return;
  aligned = memory + (align - (size_t)((uintptr_t)memory % align)) % align;
  takt_joint_limits_init(&limits);
  limits.acceleration = 4;
  CHECK(takt_stop_init_in(aligned, takt_stop_size(), &state, &limits, &stop) == TAKT_OK);
  CHECK((void*)stop == (void*)aligned);
  CHECK(takt_stop_get(stop, &duration_ns, &distance, &fits) == TAKT_OK);
  CHECK(fits == 1 && distance > 0 && duration_ns >= 500000000);
  CHECK(takt_stop_sample(stop, duration_ns, &state) == TAKT_OK);
  CHECK(state.position == 1 + distance && state.velocity == 0 && state.acceleration == 0);
  CHECK(takt_stop_init_in(aligned, takt_stop_size() - 1, &state, &limits, &stop) ==
        TAKT_ERROR_CAPI_BUFFER_TOO_SMALL);
  CHECK(takt_stop_init_in(aligned + 1, takt_stop_size(), &state, &limits, &stop) ==
        TAKT_ERROR_CAPI_MISALIGNED);
  free(memory);
}

static void test_client_without_a_server(void) {
  takt_motion_client_options options;
  takt_motion_options motion;
  takt_reply reply;
  takt_robot_state state;
  takt_motion_client* client = NULL;
  takt_motion_client_options_init(&options, sizeof options);
  takt_motion_options_init(&motion, sizeof motion);
  takt_reply_init(&reply, sizeof reply);
  takt_robot_state_init(&state, sizeof state);
  CHECK(reply.struct_size == sizeof reply && reply.goal == 0 && reply.time_ns == -1 && isnan(reply.value));
  CHECK(state.struct_size == sizeof state && motion.struct_size == sizeof motion);
  options.port = 1; /* no server listens there */
  options.timeout_ns = 1000000000;
  CHECK(takt_motion_client_connect(&options, &client) == TAKT_ERROR_PLATFORM_CONNECT_FAILED);
  CHECK(client == NULL);
  CHECK(takt_motion_client_move(NULL, &motion, positions, joints, 0, &reply) == TAKT_ERROR_CAPI_NULL_POINTER);
  takt_motion_client_close(NULL);
}

static void test_can_frames(void) {
  const char line[] = "(1795208238.156435) vcan0 123#DEADBEEF";
  const uint8_t answer[] = {'z', '\r'};
  const takt_can_planned_frame plan = {1000000, 40, 8, 0, 0};
  char text[TAKT_CANDUMP_MAX_LINE];
  char command[TAKT_SLCAN_MAX_LINE];
  takt_candump_entry entry;
  takt_slcan_decoder* decoder = NULL;
  takt_slcan_item item;
  takt_j1939_id id;
  takt_can_bits bits;
  takt_can_load load;
  uint32_t number = 0;
  size_t used = 0;
  CHECK(takt_candump_parse(line, strlen(line), &entry, NULL) == TAKT_OK);
  CHECK(takt_candump_format(&entry, 0, text, sizeof text) == TAKT_OK);
  CHECK(strcmp(text, line) == 0);
  CHECK(takt_slcan_encode(&entry.frame, command, sizeof command) == TAKT_OK);
  CHECK(strcmp(command, "t1234DEADBEEF\r") == 0);
  CHECK(takt_slcan_decoder_create(&decoder) == TAKT_OK);
  CHECK(takt_slcan_decode(decoder, answer, sizeof answer, &used, &item) == TAKT_OK);
  CHECK(used == 2 && item.kind == TAKT_SLCAN_TRANSMITTED && takt_slcan_decoder_malformed(decoder) == 0);
  takt_slcan_decoder_destroy(decoder);
  CHECK(takt_can_frame_bits(&entry.frame, &bits) == TAKT_OK);
  CHECK(bits.nominal >= 79 && bits.data == 0);
  CHECK(takt_can_max_frame_bits(8, 0, &bits) == TAKT_OK && bits.nominal == 135);
  CHECK(takt_can_bus_load(&plan, 1, 1000000, 5000000, 1000000, &load) == TAKT_OK && load.worst > 5);
  CHECK(takt_j1939_decode_id(0x18F00401, &id) == TAKT_OK && id.pgn == 0xF004 && id.source == 1);
  CHECK(takt_j1939_encode_id(&id, &number) == TAKT_OK && number == 0x18F00401);
}

static void test_driving_a_vehicle(void) {
  takt_udp_options udp;
  takt_vehicle_drive_options options;
  takt_vehicle_client_options client;
  takt_twist_law_options law;
  takt_odometry_estimate estimate;
  takt_channel* channel = NULL;
  takt_vehicle_description* description = NULL;
  takt_vehicle_drive* drive = NULL;
  takt_simulated_vehicle* vehicle = NULL;
  takt_simulated_vehicle_state truth;
  takt_udp_socket* socket = NULL;
  uint8_t out[TAKT_VEHICLE_CLIENT_DATAGRAM];
  size_t bytes = 0;
  takt_udp_options_init(&udp, sizeof udp);
  udp.peer_port = 9; /* no peer answers there */
  CHECK(takt_udp_open(&udp, &socket, NULL, 0) == TAKT_OK);
  takt_vehicle_drive_options_init(&options, sizeof options);
  options.limits.forward = options.limits.backward = options.limits.rotation = 2;
  options.limits.acceleration = options.limits.braking = options.limits.rotational_acceleration = 1;
  options.limits.left = HUGE_VAL;
  options.wheel_radius = 0.3;
  options.track = 1.285;
  options.turn = TAKT_TURN_BY_STEERING;
  options.distance = TAKT_DISTANCE_BY_ODOMETER;
  takt_vehicle_client_options_init(&client, sizeof client);
  client.units.speed = 0.01;
  client.units.angle = client.units.odometer = client.units.steer = 0.001;
  client.units.full_throttle = client.units.full_brake = 100;
  client.byte_order = TAKT_BYTE_ORDER_LITTLE_ENDIAN;
  takt_twist_law_options_init(&law, sizeof law);
  law.wheelbase = 1.6;
  law.max_steering = 0.5;
  law.steering_rate = 0.8;
  law.throttle[0] = law.brake[0] = 0.4;
  CHECK(takt_channel_create_plain(&channel) == TAKT_OK);
  CHECK(takt_vehicle_description_create(&options, &client, &law, NULL, NULL, &description) == TAKT_OK);
  CHECK(takt_vehicle_drive_create(description, channel, &drive) == TAKT_OK);
  CHECK(takt_simulated_vehicle_create(description, channel, 1, 0, &vehicle) == TAKT_OK);
  takt_vehicle_description_destroy(description);
  takt_simulated_vehicle_state_init(&truth, sizeof truth);
  CHECK(takt_simulated_vehicle_get_state(vehicle, &truth) == TAKT_OK &&
        truth.state == TAKT_SYSTEM_STATE_COLD);
  CHECK(takt_vehicle_client_poll(takt_vehicle_drive_client(drive), 0, out, sizeof out, &bytes) == TAKT_OK);
  CHECK(bytes == TAKT_VEHICLE_CONTROL_BYTES);
  CHECK(takt_udp_send(socket, out, bytes) == TAKT_OK);
  CHECK(takt_udp_receive(socket, 0, out, sizeof out, &bytes) == TAKT_ERROR_CAPI_TIMEOUT);
  CHECK(takt_vehicle_drive_estimate(drive, &estimate) == TAKT_OK && estimate.covariance[8] == 0);
  CHECK(strcmp(TAKT_ODOMETRY_FRAME, "odom") == 0 && strcmp(TAKT_ODOMETRY_CHILD_FRAME, "base_link") == 0);
  takt_vehicle_drive_destroy(drive);
  takt_simulated_vehicle_destroy(vehicle);
  takt_channel_destroy(channel);
  takt_udp_close(socket);
}

static takt_robot* running = NULL;

static void shut_down(int number) {
  (void)number;
  takt_robot_shut_down(running);
}

static void test_a_robot(const char* file) {
  takt_bus_override neck = {"neck", "can0"};
  takt_robot_options options;
  takt_robot_state state;
  takt_robot_totals totals;
  char text[1024];
  size_t length = 0;
  int32_t is_failure = -1;
  takt_robot_options_init(&options, sizeof options);
  takt_robot_state_init(&state, sizeof state);
  takt_robot_totals_init(&totals, sizeof totals);
  options.simulate = 1;
  options.port = TAKT_ROBOT_PORT_ANY;
  CHECK(takt_robot_create("/nowhere/arm.json", &options, &running, text, sizeof text) ==
        TAKT_ERROR_APP_BAD_DESCRIPTION);
  CHECK(strstr(text, "/nowhere/arm.json") != NULL);
  options.buses = &neck;
  options.bus_count = 1;
  CHECK(takt_robot_create(file, &options, &running, text, sizeof text) == TAKT_ERROR_APP_NO_SUCH_BUS);
  CHECK(strstr(text, "neck") != NULL && running == NULL);
  options.bus_count = 0;
  CHECK(takt_robot_create(file, &options, &running, text, sizeof text) == TAKT_OK);
  CHECK(text[0] == '\0' && takt_robot_port(running) != 0);
  CHECK(takt_robot_get_state(running, &state) == TAKT_OK && state.state == TAKT_ROBOT_STARTING);
  takt_robot_reset(running); /* nothing to leave */
  CHECK(signal(SIGTERM, shut_down) != SIG_ERR);
  CHECK(raise(SIGTERM) == 0);
  CHECK(takt_robot_run(running, text, sizeof text) == TAKT_OK);
  CHECK(signal(SIGTERM, SIG_DFL) != SIG_ERR);
  CHECK(takt_robot_get_state(running, &state) == TAKT_OK && state.state == TAKT_ROBOT_DOWN);
  CHECK(state.reason == TAKT_ERROR_MOTION_SHUTTING_DOWN && state.cycles > 0);
  CHECK(takt_robot_next_report(running, text, sizeof text, &length, &is_failure) == TAKT_OK);
  CHECK(strncmp(text, "robot ", 6) == 0 && strlen(text) == length && is_failure == 0);
  CHECK(takt_robot_finish(running, &totals, text, sizeof text) == TAKT_OK && totals.accepted == 0);
  takt_robot_destroy(running);
  CHECK(takt_drive_protocols(text, sizeof text, &length) == TAKT_OK && strlen(text) == length);
  CHECK(strstr(text, "servo\n") != NULL);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  if (argc == 2) test_a_robot(argv[1]);
  test_can_frames();
  test_version();
  test_status_texts();
  test_sampling();
  test_limits();
  test_append_stop();
  test_stop();
  test_client_without_a_server();
  test_driving_a_vehicle();
  if (failures != 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
