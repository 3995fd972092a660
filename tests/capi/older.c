/* A program of an older takt.h, in which each structure that can grow has its first version. The present
 * library runs it. The library touches nothing behind the structures, and uses the defaults for the fields
 * that they do not have.
 *
 *     takt_capi_older ROBOT_FILE
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "older/takt.h"

static int failures = 0;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

enum { guard_bytes = 512, guard_byte = 0xA5 };

/* A structure of the caller, with bytes behind it that nobody may touch. */
#define GUARDED(type, name)                       \
  struct {                                        \
    type its;                                     \
    unsigned char guard[guard_bytes];             \
  } name;                                         \
  memset(name.guard, guard_byte, guard_bytes);    \
  type##_init(&name.its, sizeof name.its);        \
  CHECK(name.its.struct_size == sizeof name.its); \
  INTACT(name)

#define INTACT(name) CHECK(is_intact(#name, name.guard))

static int is_intact(const char* name, const unsigned char* guard) {
  int touched = 0, i;
  for (i = 0; i < guard_bytes; ++i) touched += guard[i] != guard_byte;
  if (touched != 0) fprintf(stderr, "%d bytes behind `%s` are not the library's\n", touched, name);
  return touched == 0;
}

static void test_trajectories(void) {
  static const int64_t times_ns[2] = {0, 1000000000}, later_ns[2] = {0, 2000000000};
  static const double there[2] = {0, 1}, back[2] = {1, 0};
  takt_trajectory *running = NULL, *next = NULL, *joined = NULL;
  takt_joint_limits limits;
  GUARDED(takt_waypoints, waypoints);
  GUARDED(takt_violation, violation);
  GUARDED(takt_splice_options, options);
  GUARDED(takt_splice, splice);
  waypoints.its.joints = 1;
  waypoints.its.count = 2;
  waypoints.its.times_ns = times_ns;
  waypoints.its.positions = there;
  CHECK(takt_trajectory_create(&waypoints.its, &running) == 0);
  waypoints.its.times_ns = later_ns;
  waypoints.its.positions = back;
  CHECK(takt_trajectory_create(&waypoints.its, &next) == 0);
  takt_joint_limits_init(&limits);
  limits.velocity = 0.5;
  CHECK(takt_trajectory_check(running, &limits, 1, &violation.its) < 0 && violation.its.limit == 0.5);
  limits.velocity = limits.acceleration = limits.jerk = 1000;
  options.its.at_ns = 500000000;
  options.its.start_ns = 600000000;
  CHECK(takt_trajectory_splice(running, next, &options.its, &limits, 1, &splice.its, &violation.its,
                               &joined) == 0);
  CHECK(splice.its.joins_ns > 600000000);
  takt_trajectory_destroy(running);
  takt_trajectory_destroy(next);
  takt_trajectory_destroy(joined);
  INTACT(waypoints);
  INTACT(violation);
  INTACT(options);
  INTACT(splice);
}

static void test_options_of_objects(void) {
  takt_pid* pid = NULL;
  takt_rate_limiter* limiter = NULL;
  takt_odometry* odometry = NULL;
  takt_channel* channel = NULL;
  takt_component* component = NULL;
  const takt_channel_key key = {1, {7}};
  GUARDED(takt_pid_gains, gains);
  GUARDED(takt_rate_limits, limits);
  GUARDED(takt_odometry_options, options);
  GUARDED(takt_channel_limits, times);
  GUARDED(takt_component_type, type);
  CHECK(gains.its.setpoint_weight == 1 && isinf(gains.its.output_max));
  CHECK(takt_pid_create(&gains.its, &pid) == 0);
  CHECK(takt_rate_limiter_create(&limits.its, &limiter) == 0);
  CHECK(options.its.timeout_ns == 500000000);
  CHECK(takt_odometry_create(&options.its, &odometry) == 0);
  CHECK(takt_channel_create_commander(&key, &times.its, &channel) == 0);
  type.its.type = "Older";
  CHECK(takt_component_create(&type.its, "older", NULL, &component) == 0);
  takt_pid_destroy(pid);
  takt_rate_limiter_destroy(limiter);
  takt_odometry_destroy(odometry);
  takt_channel_destroy(channel);
  takt_component_destroy(component);
  INTACT(gains);
  INTACT(limits);
  INTACT(options);
  INTACT(times);
  INTACT(type);
}

static void test_sockets(void) {
  takt_udp_socket* socket = NULL;
  GUARDED(takt_udp_options, options);
  GUARDED(takt_udp_counters, counters);
  options.its.peer_port = 9; /* no peer answers there */
  CHECK(takt_udp_open(&options.its, &socket, NULL, 0) == 0);
  CHECK(takt_udp_get_counters(socket, &counters.its) == 0 && counters.its.sent == 0);
  takt_udp_close(socket);
  INTACT(options);
  INTACT(counters);
}

static void test_messages(void) {
  static const char text[] =
      "VERSION \"\"\nBU_: A\nBO_ 291 Speed: 8 A\n SG_ speed : 0|16@1+ (0.1,0) [0|100] \"m/s\" A\n";
  takt_dbc* dbc = NULL;
  GUARDED(takt_dbc_message, message);
  GUARDED(takt_dbc_signal, signal);
  CHECK(takt_dbc_create(text, strlen(text), 1, NULL, 0, &dbc) == 0);
  CHECK(takt_dbc_describe_message(dbc, 0, &message.its) == 0 && message.its.id == 291);
  CHECK(takt_dbc_describe_signal(dbc, 0, 0, &signal.its) == 0);
  takt_dbc_destroy(dbc);
  INTACT(message);
  INTACT(signal);
}

static void test_vehicles(void) {
  takt_channel* channel = NULL;
  takt_vehicle_description* description = NULL;
  takt_vehicle_drive* drive = NULL;
  takt_simulated_vehicle* vehicle = NULL;
  GUARDED(takt_vehicle_drive_options, options);
  GUARDED(takt_vehicle_client_options, client);
  GUARDED(takt_twist_law_options, law);
  GUARDED(takt_odometry_options, odometry);
  GUARDED(takt_vehicle_client_state, state);
  GUARDED(takt_vehicle_client_counters, counters);
  GUARDED(takt_vehicle_faults, faults);
  GUARDED(takt_simulated_vehicle_state, truth);
  options.its.limits.forward = options.its.limits.backward = options.its.limits.rotation = 2;
  options.its.limits.acceleration = options.its.limits.braking = options.its.limits.rotational_acceleration =
      1;
  options.its.limits.left = HUGE_VAL;
  options.its.wheel_radius = 0.3;
  options.its.track = 1.285;
  CHECK(client.its.max_reverse == 1 && client.its.units.voltage == 0.1);
  client.its.units.speed = 0.01;
  client.its.units.angle = client.its.units.odometer = client.its.units.steer = 0.001;
  client.its.units.full_throttle = client.its.units.full_brake = 100;
  client.its.byte_order = 1;
  law.its.wheelbase = 1.6;
  law.its.max_steering = 0.5;
  law.its.steering_rate = 0.8;
  law.its.throttle[0] = law.its.brake[0] = 0.4;
  CHECK(takt_channel_create_plain(&channel) == 0);
  CHECK(takt_vehicle_description_create(&options.its, &client.its, &law.its, &odometry.its, NULL,
                                        &description) == 0);
  CHECK(takt_vehicle_drive_create(description, channel, &drive) == 0);
  CHECK(takt_simulated_vehicle_create(description, channel, 1, 0, &vehicle) == 0);
  CHECK(takt_simulated_vehicle_set_faults(vehicle, &faults.its) == 0);
  CHECK(takt_simulated_vehicle_get_state(vehicle, &truth.its) == 0);
  CHECK(takt_vehicle_client_get_state(takt_vehicle_drive_client(drive), &state.its) == 0);
  CHECK(takt_vehicle_client_get_counters(takt_vehicle_drive_client(drive), &counters.its) == 0);
  takt_vehicle_drive_destroy(drive);
  takt_simulated_vehicle_destroy(vehicle);
  takt_vehicle_description_destroy(description);
  takt_channel_destroy(channel);
  INTACT(options);
  INTACT(client);
  INTACT(law);
  INTACT(odometry);
  INTACT(state);
  INTACT(counters);
  INTACT(faults);
  INTACT(truth);
}

static void test_recordings(const char* file) {
  takt_recorder* recorder = NULL;
  takt_recording* recording = NULL;
  const takt_cycle_sample cycle = {1000000, 0, 0, 1, 0};
  char text[256];
  GUARDED(takt_recorder_options, options);
  GUARDED(takt_record, record);
  CHECK(takt_recorder_create(file, &options.its, &recorder, text, sizeof text) == 0);
  CHECK(takt_recorder_cycle(recorder, &cycle, NULL, 0) == 0);
  CHECK(takt_recorder_finish(recorder, NULL, text, sizeof text) == 0);
  CHECK(takt_recording_open(file, &recording, text, sizeof text) == 0);
  CHECK(takt_recording_next(recording, &record.its, text, sizeof text) == 0 && record.its.time_ns == 1000000);
  takt_recording_close(recording);
  takt_recorder_destroy(recorder);
  INTACT(options);
  INTACT(record);
}

static int32_t configure(void* user, takt_resources* resources) {
  (void)user;
  (void)resources;
  return 0;
}

static void* run(void* robot) {
  CHECK(takt_robot_run(robot, NULL, 0) == 0);
  return NULL;
}

static void move(takt_robot* robot) {
  static const struct timespec pause = {0, 10000000};
  static const char* const names[] = {"elbow_joint"};
  static const double target = 0.05;
  takt_motion_client* connection = NULL;
  GUARDED(takt_robot_state, state);
  GUARDED(takt_motion_client_options, server);
  GUARDED(takt_motion_options, options);
  GUARDED(takt_reply, reply);
  while (takt_robot_get_state(robot, &state.its) == 0 && state.its.state == 0) nanosleep(&pause, NULL);
  CHECK(state.its.state == 1);
  server.its.port = takt_robot_port(robot);
  CHECK(takt_motion_client_connect(&server.its, &connection) == 0);
  options.its.joint_names = names;
  options.its.fit = 1;
  CHECK(takt_motion_client_move(connection, &options.its, &target, 1, 0, &reply.its) == 0 &&
        reply.its.goal != 0);
  takt_motion_client_close(connection);
  INTACT(state);
  INTACT(server);
  INTACT(options);
  INTACT(reply);
}

static void test_a_robot(const char* description, const char* file) {
  takt_robot* robot = NULL;
  pthread_t thread;
  char text[1024];
  GUARDED(takt_robot_options, options);
  GUARDED(takt_controller_type, type);
  GUARDED(takt_robot_totals, totals);
  GUARDED(takt_replay_options, replayed);
  GUARDED(takt_replay_result, result);
  options.its.simulate = options.its.overwrite = 1;
  options.its.port = -1; /* any */
  options.its.recording = file;
  CHECK(takt_robot_create(description, &options.its, &robot, text, sizeof text) == 0);
  type.its.type = "Older";
  type.its.configure = configure;
  CHECK(takt_robot_load_controller(robot, &type.its, "older", NULL, NULL, text, sizeof text) == 0);
  CHECK(pthread_create(&thread, NULL, run, robot) == 0);
  move(robot);
  takt_robot_shut_down(robot);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(takt_robot_finish(robot, &totals.its, text, sizeof text) == 0);
  CHECK(totals.its.accepted > 0 && totals.its.records > 0);
  takt_robot_destroy(robot);
  (void)takt_replay(file, &replayed.its, &result.its, text, sizeof text);
  INTACT(options);
  INTACT(type);
  INTACT(totals);
  INTACT(replayed);
  INTACT(result);
}

int main(int argc, char** argv) {
  char folder[] = "/tmp/takt_older_XXXXXX";
  char file[64];
  CHECK(argc == 2 && mkdtemp(folder) != NULL);
  if (failures != 0) return EXIT_FAILURE;
  snprintf(file, sizeof file, "%s/run.mcap", folder);
  test_trajectories();
  test_options_of_objects();
  test_sockets();
  test_messages();
  test_vehicles();
  test_recordings(file);
  test_a_robot(argv[1], file);
  remove(file);
  rmdir(folder);
  if (failures != 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
