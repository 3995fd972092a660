"""Trajectories of the C API as Python objects, and a textbook quintic."""

from ctypes import byref, c_void_p

from bindings import *  # the library, named in the first argument, and its structures


class Trajectory:
    def __init__(self, w=None, make=None):
        """Through waypoints, or made by `make`, which gets the address of a handle."""
        self.handle = c_void_p()
        make = make or (lambda handle: takt.takt_trajectory_create(byref(w), handle))
        result = make(byref(self.handle))
        if result != OK:
            raise ValueError(takt.takt_status_text(result).decode())
        self.joints = takt.takt_trajectory_joints(self.handle)
        self.cursor = Cursor()

    def __del__(self):
        takt.takt_trajectory_destroy(self.handle)

    def duration_ns(self):
        return takt.takt_trajectory_duration_ns(self.handle)

    def sample(self, t_ns):
        p, v, a = (doubles([0] * self.joints) for _ in range(3))
        assert takt.takt_trajectory_sample(self.handle, byref(self.cursor), t_ns, self.joints, p, v, a) == OK
        return list(p), list(v), list(a)


def quintic(start, end, duration, t):
    """Independent of takt's form: powers of t, from the textbook (Craig; Biagiotti and Melchiorri, 2.1.7)."""
    (p0, v0, a0), (p1, v1, a1), T = start, end, duration
    h = p1 - p0
    c = [p0, v0, a0 / 2,
         (20 * h - (8 * v1 + 12 * v0) * T - (3 * a0 - a1) * T**2) / (2 * T**3),
         (-30 * h + (14 * v1 + 16 * v0) * T + (3 * a0 - 2 * a1) * T**2) / (2 * T**4),
         (12 * h - 6 * (v1 + v0) * T + (a1 - a0) * T**2) / (2 * T**5)]
    return (sum(c[k] * t**k for k in range(6)),
            sum(k * c[k] * t**(k - 1) for k in range(1, 6)),
            sum(k * (k - 1) * c[k] * t**(k - 2) for k in range(2, 6)))


def usual_limits(joints):
    limits = no_limits(joints)
    for joint in limits:
        joint.velocity, joint.acceleration, joint.jerk = 2, 6, 80
    return limits
