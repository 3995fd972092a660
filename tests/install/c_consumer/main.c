/* What a C user writes on the first day: a trajectory, its duration, one sample. */
#include <stdio.h>
#include <takt.h>

int main(void) {
  const int64_t times_ns[] = {0, 1000000000};
  const double positions[] = {0.0, 1.0};
  double position = 0;
  takt_cursor cursor = {0};
  takt_trajectory* trajectory = NULL;
  takt_waypoints waypoints;
  int32_t status;

  takt_waypoints_init(&waypoints);
  waypoints.joints = 1;
  waypoints.count = 2;
  waypoints.times_ns = times_ns;
  waypoints.positions = positions;
  status = takt_trajectory_create(&waypoints, &trajectory);
  if (status == TAKT_OK) {
    status = takt_trajectory_sample(trajectory, &cursor, 500000000, 1, &position, NULL, NULL);
  }
  takt_trajectory_destroy(trajectory);
  printf("takt %s: %s, %g rad at half time\n", takt_version(), takt_status_text(status), position);
  return status == TAKT_OK && position > 0.499 && position < 0.501 ? 0 : 1;
}
