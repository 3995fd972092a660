"""A vehicle for tests of the C API, its path, and checks of covariances without the library."""

import itertools
import math
from ctypes import byref, c_size_t, c_void_p, create_string_buffer

from bindings import OK, OdometryOptions, Twist, TwistLawOptions, initialise, takt
from vehicle_bindings import DriveOptions, UdpCounters, UdpOptions, options
from vehicle_programs import PATIENCE

BY_STEERING = BY_ODOMETER = 1
SECOND = 1_000_000_000


def drive_options():
    made = initialise(DriveOptions())
    limits = made.limits
    limits.forward = limits.backward = limits.acceleration = limits.braking = limits.rotational_acceleration = 2
    limits.left = math.inf
    limits.rotation = 1
    made.wheel_radius, made.track, made.turn, made.distance = 0.3, 1.285, BY_STEERING, BY_ODOMETER
    return made


def law():
    made = initialise(TwistLawOptions())
    made.wheelbase, made.max_steering, made.steering_rate = 1.6, 0.5, 0.8
    made.throttle[:], made.brake[:] = (0.4, 0.15, 0), (0.5, 0.2, 0)
    return made


def odometry():
    made = initialise(OdometryOptions())
    made.timeout_ns = 5 * SECOND
    made.forward_per_distance = made.left_per_distance = 1e-4
    made.heading_per_distance = 1e-5
    return made


def changed(made, changes):
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def describe(description, drive_changes={}, client_changes={}, law_changes={}, odometry_changes={}):
    return takt.takt_vehicle_description_create(
        byref(changed(drive_options(), drive_changes)), byref(options(**client_changes)), byref(changed(law(), law_changes)),
        byref(changed(odometry(), odometry_changes)), None, byref(description))


def create(channel, drive, *changes):
    description = c_void_p()
    failed = describe(description, *changes) or takt.takt_vehicle_drive_create(description, channel, byref(drive))
    takt.takt_vehicle_description_destroy(description)
    return failed


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    return sum((-1) ** column * m[0][column] * determinant([row[:column] + row[column + 1:] for row in m[1:]])
               for column in range(len(m)))


def is_covariance(c):
    """Nine numbers, row-major: symmetric and positive semi-definite. No principal minor of the correlations is negative, except for
    rounding."""
    c = [list(c[3 * row:3 * row + 3]) for row in range(3)]
    if any(not math.isfinite(x) for row in c for x in row) or any(c[i][i] < 0 for i in range(3)):
        return False
    scale = [math.sqrt(c[i][i]) or 1.0 for i in range(3)]
    r = [[c[i][j] / scale[i] / scale[j] for j in range(3)] for i in range(3)]
    chosen = (kept for size in (1, 2, 3) for kept in itertools.combinations(range(3), size))
    return all(c[i][j] == c[j][i] for i in range(3) for j in range(3)) and all(
        determinant([[r[i][j] for j in kept] for i in kept]) >= -1e-9 for kept in chosen)


def sigmas(off, covariance):
    """The error (x, y, heading) in standard deviations. Cramer's rule solves covariance s = error."""
    c = [list(covariance[3 * row:3 * row + 3]) for row in range(3)]
    whole = determinant(c)
    solved = [determinant([[off[i] if j == k else c[i][j] for j in range(3)] for i in range(3)]) / whole for k in range(3)]
    return math.sqrt(sum(a * b for a, b in zip(off, solved)))


class Round:
    """Twists for one left circle, each on the arc through a point ahead (pure pursuit)."""
    radius, fastest, braking, look_ahead = 4, 2, 0.4, 1.5

    def __init__(self):
        self.angle = 0

    def left(self):
        return self.radius * (2 * math.pi - self.angle)

    def arrived(self):
        return self.left() < 0.05

    def twist(self, pose):
        self.angle += math.remainder(math.atan2(pose.x, self.radius - pose.y) - self.angle, 2 * math.pi)
        if self.arrived():
            return Twist()
        ahead = self.angle + self.look_ahead / self.radius
        dx, dy = self.radius * math.sin(ahead) - pose.x, self.radius * (1 - math.cos(ahead)) - pose.y
        across = dy * math.cos(pose.heading) - dx * math.sin(pose.heading)
        speed = min(self.fastest, max(0.15, math.sqrt(2 * self.braking * self.left())))
        return Twist(speed, 0, speed * 2 * across / (dx * dx + dy * dy))


class Udp:
    """A socket of the library, to a port of 127.0.0.1."""

    def __init__(self, port, **changes):
        self.handle, self.why = c_void_p(), create_string_buffer(200)
        self.options = changed(initialise(UdpOptions()), {"peer_port": port, **changes})
        self.status = takt.takt_udp_open(byref(self.options), byref(self.handle), self.why, len(self.why))

    def close(self):
        takt.takt_udp_close(self.handle)

    def port(self):
        return takt.takt_udp_local_port(self.handle)

    def send(self, datagram):
        return takt.takt_udp_send(self.handle, datagram, len(datagram))

    def receive(self, timeout_ns=PATIENCE * SECOND, size=1024):
        """The datagram, or the status of the error."""
        buffer, came = create_string_buffer(max(size, 1)), c_size_t()
        failed = takt.takt_udp_receive(self.handle, timeout_ns, buffer, size, byref(came))
        return buffer.raw[:came.value] if failed == OK else failed

    def counters(self):
        counters = initialise(UdpCounters())
        assert takt.takt_udp_get_counters(self.handle, byref(counters)) == OK
        return counters
