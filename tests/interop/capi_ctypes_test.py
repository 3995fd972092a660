#!/usr/bin/env python3
"""Tests the C API with Python's standard library alone, as a user's script would call it.

    capi_ctypes_test.py LIBRARY
"""

import ctypes
import json
import math
import random
import sys
import unittest
from ctypes import byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p

from capi_bindings import *  # the library, named in the first argument, and its structures


class Trajectory:
    def __init__(self, w=None, make=None):
        """A trajectory through waypoints, or one that `make` creates at the address of a handle."""
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
    """The motion by another formula than takt's: powers of t, from the textbooks (Craig; Biagiotti and Melchiorri,
    2.1.7)."""
    (p0, v0, a0), (p1, v1, a1), T = start, end, duration
    h = p1 - p0
    c = [p0, v0, a0 / 2,
         (20 * h - (8 * v1 + 12 * v0) * T - (3 * a0 - a1) * T**2) / (2 * T**3),
         (-30 * h + (14 * v1 + 16 * v0) * T + (3 * a0 - 2 * a1) * T**2) / (2 * T**4),
         (12 * h - 6 * (v1 + v0) * T + (a1 - a0) * T**2) / (2 * T**5)]
    return (sum(c[k] * t**k for k in range(6)),
            sum(k * c[k] * t**(k - 1) for k in range(1, 6)),
            sum(k * (k - 1) * c[k] * t**(k - 2) for k in range(2, 6)))


class VersionTest(unittest.TestCase):
    def test_version_and_texts(self):
        self.assertRegex(takt.takt_version().decode(), r"^\d+\.\d+\.\d+$")
        self.assertGreaterEqual(takt.takt_abi_version(), 1)
        self.assertEqual(takt.takt_status_text(OK), b"success")
        self.assertEqual(takt.takt_status_text(VELOCITY_LIMIT), b"a velocity limit would be exceeded")

    def test_any_number_has_a_text(self):
        for number in [1, 2**31 - 1, -1, -65535, -65536, -(2**31), status(12, 19), status(31, 1)]:
            self.assertTrue(takt.takt_status_text(number).startswith(b"unknown"), number)


class TrajectoryTest(unittest.TestCase):
    def test_given_derivatives_match_the_textbook_quintic(self):
        rng = random.Random(1)
        for _ in range(50):
            joints, count = rng.randint(1, 9), rng.randint(2, 6)
            times = [rng.randint(-5 * SECOND, 5 * SECOND)]
            for _ in range(count - 1):
                times.append(times[-1] + rng.randint(SECOND // 100, 3 * SECOND))
            rows = [[[rng.uniform(-3, 3) for _ in range(joints)] for _ in range(count)] for _ in range(3)]
            trajectory = Trajectory(waypoints(times, *rows, through=GIVEN))
            self.assertIn(trajectory.duration_ns() - (times[-1] - times[0]), (0, 1))  # rounded up
            for k in range(count - 1):
                T = (times[k + 1] - times[k]) * 1e-9
                for _ in range(5):
                    dt = rng.randint(0, times[k + 1] - times[k] - 1)
                    sampled = trajectory.sample(times[k] - times[0] + dt)
                    for j in range(joints):
                        start, end = ([row[i][j] for row in rows] for i in (k, k + 1))
                        expected = quintic(start, end, T, dt * 1e-9)
                        for order in range(3):
                            scale = (1 + abs(end[0] - start[0]) + T + T**2) / T**order
                            self.assertAlmostEqual(sampled[order][j], expected[order], delta=1e-8 * scale)

    def test_a_stop_at_each_waypoint(self):
        trajectory = Trajectory(waypoints([0, SECOND, 3 * SECOND], [[0], [1], [-1]], through=STOP))
        for t in (0, SECOND, 3 * SECOND):
            _, v, a = trajectory.sample(t)
            self.assertAlmostEqual(v[0], 0, delta=1e-12)
            self.assertAlmostEqual(a[0], 0, delta=1e-11)

    def test_smooth_is_the_default_and_has_no_step(self):
        trajectory = Trajectory(waypoints([0, SECOND, 3 * SECOND], [[0, 0], [1, 2], [-1, 0]]))
        before, after = trajectory.sample(SECOND - 1), trajectory.sample(SECOND + 1)
        for order in range(3):
            for x, y in zip(before[order], after[order]):
                self.assertAlmostEqual(x, y, delta=1e-6)
        self.assertGreater(abs(trajectory.sample(SECOND)[1][0]), 0.1)  # passes, does not stop

    def test_velocities_make_given_the_default(self):
        trajectory = Trajectory(waypoints([0, SECOND], [[0], [1]], velocities=[[0], [0.5]]))
        self.assertEqual(trajectory.sample(SECOND)[1], [0.5])

    def test_the_end_is_exact_at_the_duration_and_after(self):
        rng = random.Random(2)
        for _ in range(200):
            times = [0, rng.randint(SECOND // 1000, 100 * SECOND)]
            trajectory = Trajectory(waypoints(times, [[0.1], [0.7]], through=STOP))
            limits = no_limits(1)
            limits[0].velocity = rng.uniform(0.001, 1)
            self.assertEqual(takt.takt_trajectory_fit(trajectory.handle, limits, 1, None, None), OK)
            for t in (trajectory.duration_ns(), 2**63 - 1):
                self.assertEqual(trajectory.sample(t), ([0.7], [0.0], [0.0]))

    def test_json_is_what_another_reader_makes_a_joint_trajectory_of(self):
        times = [0, SECOND // 2, 3 * SECOND + 1]
        rows = [[[0.1, 2], [1 / 3, -1e-9], [0.7, 5e8]], [[0, 1], [2, -1], [0, 0]], [[0, 1e-300], [0, 3], [4, 0]]]
        trajectory = Trajectory(waypoints(times, *rows, through=GIVEN))
        names = (c_char_p * 2)("schulter \"ä\"".encode(), b"elbow")
        length = c_size_t()
        self.assertEqual(takt.takt_trajectory_to_json(trajectory.handle, names, None, 0, byref(length)), BUFFER_TOO_SMALL)
        text = ctypes.create_string_buffer(length.value + 1)
        self.assertEqual(takt.takt_trajectory_to_json(trajectory.handle, names, text, length.value, None), BUFFER_TOO_SMALL)
        self.assertEqual(takt.takt_trajectory_to_json(trajectory.handle, names, text, length.value + 1, None), OK)
        message = json.loads(text.value)
        self.assertEqual(set(message), {"joint_names", "points"})
        self.assertEqual(message["joint_names"], ["schulter \"ä\"", "elbow"])
        for k, point in enumerate(message["points"]):
            self.assertEqual(set(point), {"positions", "velocities", "accelerations", "time_from_start"})
            stamp = point["time_from_start"]
            self.assertEqual(stamp["sec"] * SECOND + stamp["nanosec"], times[k])
            self.assertEqual(point["positions"], rows[0][k])
            for j in range(2):
                self.assertAlmostEqual(point["velocities"][j], rows[1][k][j], delta=1e-15)
                self.assertAlmostEqual(point["accelerations"][j], rows[2][k][j], delta=1e-15)
        self.assertEqual(takt.takt_trajectory_to_json(None, names, text, 9, None), NULL_POINTER)
        self.assertEqual(takt.takt_trajectory_to_json(trajectory.handle, None, text, 9, None), NULL_POINTER)
        self.assertEqual(takt.takt_trajectory_to_json(trajectory.handle, (c_char_p * 2)(), text, 9, None), NULL_POINTER)

    def test_times_far_from_zero_lose_nothing(self):
        epoch = 1_700_000_000 * SECOND
        near = Trajectory(waypoints([0, SECOND], [[0], [1]]))
        far = Trajectory(waypoints([epoch, epoch + SECOND], [[0], [1]]))
        self.assertEqual(near.sample(123_456_789), far.sample(123_456_789))


class LimitsTest(unittest.TestCase):
    def setUp(self):
        self.trajectory = Trajectory(waypoints([0, SECOND], [[0, 0], [1, -2]], through=STOP))
        self.limits = no_limits(2)
        self.violation = Violation()
        takt.takt_violation_init(byref(self.violation))

    def check(self):
        return takt.takt_trajectory_check(self.trajectory.handle, self.limits, 2, byref(self.violation))

    def fit(self, factor=None):
        return takt.takt_trajectory_fit(self.trajectory.handle, self.limits, 2, factor, byref(self.violation))

    def test_violations_between_the_waypoints_are_found_exactly(self):
        # A rest-to-rest quintic over h in T peaks at 15/8 h/T, 10/sqrt(3) h/T^2 and 60 h/T^3.
        for field, quantity, result, peak in [("velocity", 2, VELOCITY_LIMIT, 2 * 15 / 8),
                                              ("acceleration", 3, ACCELERATION_LIMIT, 2 * 10 / math.sqrt(3)),
                                              ("jerk", 4, JERK_LIMIT, 2 * 60)]:
            setattr(self.limits[1], field, peak * (1 + 1e-7))
            self.assertEqual(self.check(), OK)
            setattr(self.limits[1], field, peak * (1 - 1e-7))
            self.assertEqual(self.check(), result)
            self.assertEqual((self.violation.quantity, self.violation.joint), (quantity, 1))
            self.assertAlmostEqual(abs(self.violation.value), peak, places=9)
            self.assertEqual(self.violation.limit, peak * (1 - 1e-7))
            setattr(self.limits[1], field, math.inf)
        self.limits[0].position_max = 0.9
        self.assertEqual(self.check(), POSITION_LIMIT)
        self.assertEqual((self.violation.quantity, self.violation.joint, self.violation.time_ns), (1, 0, SECOND))

    def test_the_velocity_peak_is_at_half_time(self):
        self.limits[1].velocity = 1
        self.assertEqual(self.check(), VELOCITY_LIMIT)
        self.assertEqual(self.violation.time_ns, SECOND // 2)

    def test_fit_slows_down_by_the_smallest_factor(self):
        self.limits[1].velocity, self.limits[0].acceleration = 2.0, 0.5
        factor = c_double()
        self.assertEqual(self.fit(byref(factor)), OK)
        expected = max(15 / 8 * 2 / 2.0, math.sqrt(10 / math.sqrt(3) / 0.5))
        self.assertAlmostEqual(factor.value, expected, places=9)
        self.assertAlmostEqual(self.trajectory.duration_ns(), expected * SECOND, delta=2)
        self.assertEqual(self.check(), OK)

    def test_fit_says_what_no_slow_down_cures(self):
        self.limits[0].velocity = 0.1  # a slow-down helps; relatively worse than the violation that it does not help
        self.limits[1].position_min = -1.9
        before = self.trajectory.duration_ns()
        self.assertEqual(self.fit(), POSITION_LIMIT)
        self.assertEqual((self.violation.joint, self.violation.limit), (1, -1.9))
        self.limits[1].position_min, self.limits[1].velocity = -math.inf, 0
        self.assertEqual(self.fit(), VELOCITY_LIMIT)
        self.assertEqual((self.violation.joint, self.violation.limit), (1, 0))
        self.assertEqual(self.trajectory.duration_ns(), before)

    def test_bad_limits_are_refused(self):
        for field in ("position_min", "position_max", "velocity", "acceleration", "jerk", "effort"):
            limits = no_limits(2)
            setattr(limits[1], field, math.nan)
            arguments = (self.trajectory.handle, limits, 2)
            self.assertEqual(takt.takt_trajectory_check(*arguments, None), BAD_LIMITS)
            self.assertEqual(takt.takt_trajectory_fit(*arguments, None, None), BAD_LIMITS)
            self.assertEqual(takt.takt_trajectory_append_stop(*arguments), BAD_LIMITS)
        self.limits[0].position_min, self.limits[0].position_max = 1, -1
        self.assertEqual(self.check(), BAD_LIMITS)

    def test_append_stop_comes_to_rest_within_the_limits(self):
        moving = Trajectory(waypoints([0, SECOND], [[0, 0], [1, 2]], velocities=[[0, 0], [1, -2]]))
        limits = no_limits(2)
        for joint in limits:
            joint.acceleration, joint.jerk = 20, 400
        self.assertEqual(takt.takt_trajectory_append_stop(moving.handle, limits, 2), OK)
        end = moving.duration_ns()
        self.assertGreater(end, SECOND)
        _, v, a = moving.sample(end)
        self.assertEqual((v, a), ([0, 0], [0, 0]))
        for t in range(SECOND, end, max(1, (end - SECOND) // 500)):
            for value in moving.sample(t)[2]:
                self.assertLessEqual(abs(value), 20 * (1 + 1e-8))
        self.assertEqual(takt.takt_trajectory_append_stop(moving.handle, limits, 2), OK)  # rests already
        self.assertEqual(moving.duration_ns(), end)


def usual_limits(joints):
    limits = no_limits(joints)
    for joint in limits:
        joint.velocity, joint.acceleration, joint.jerk = 2, 6, 80
    return limits


class WithinTest(unittest.TestCase):
    def test_waypoints_without_times_get_the_shortest_that_the_limits_allow(self):
        w = waypoints([0, SECOND, 2 * SECOND], [[0, 0], [1, -2], [0, 0]], through=STOP)
        w.times_ns = None
        limits, through = usual_limits(2), c_int32()
        create = lambda handle: takt.takt_trajectory_create_within(byref(w), limits, 2, byref(through), handle)
        trajectory = Trajectory(make=create)
        self.assertEqual(through.value, STOP)
        self.assertEqual(takt.takt_trajectory_check(trajectory.handle, limits, 2, None), OK)
        longest = max(15 / 8 * 2 / 2, math.sqrt(10 / math.sqrt(3) * 2 / 6), (60 * 2 / 80)**(1 / 3))
        self.assertAlmostEqual(trajectory.duration_ns() / SECOND, 2 * longest, places=6)
        w.through = SMOOTH  # back and forth, and at the same place: no faster than stopping there
        self.assertLessEqual(Trajectory(make=create).duration_ns(), trajectory.duration_ns())
        w = waypoints([0, SECOND, 2 * SECOND], [[0, 0], [0.1, -0.2], [0.2, -0.4]], through=SMOOTH)
        w.times_ns, w.through = None, STOP
        stopping = Trajectory(make=create).duration_ns()
        w.through = SMOOTH
        self.assertLess(Trajectory(make=create).duration_ns(), 0.8 * stopping)
        self.assertEqual(through.value, SMOOTH)

    def test_errors(self):
        w, handle = waypoints([0, SECOND], [[0], [1]], through=GIVEN), c_void_p()
        create = takt.takt_trajectory_create_within
        self.assertEqual(create(byref(w), usual_limits(1), 1, None, byref(handle)), NO_VELOCITIES)
        w.through = 0
        self.assertEqual(create(byref(w), usual_limits(2), 2, None, byref(handle)), WRONG_SIZE)
        limits = usual_limits(1)
        limits[0].velocity = 0
        self.assertEqual(create(byref(w), limits, 1, None, byref(handle)), OUT_OF_DOMAIN)
        self.assertEqual(create(byref(w), None, 1, None, byref(handle)), NULL_POINTER)
        self.assertEqual(create(byref(w), usual_limits(1), 1, None, None), NULL_POINTER)
        self.assertEqual(create(byref(w), no_limits(1), 1, None, byref(handle)), OK)  # as the times say
        takt.takt_trajectory_destroy(handle)
        w.times_ns = None
        self.assertEqual(create(byref(w), no_limits(1), 1, None, byref(handle)), OUT_OF_DOMAIN)
        self.assertEqual(takt.takt_trajectory_create(byref(waypoints([0], [[0]])), byref(handle)), ONE_WAYPOINT)


class SpliceTest(unittest.TestCase):
    def setUp(self):
        self.running = Trajectory(waypoints([0, 2 * SECOND], [[0, 0], [1, -1]], through=STOP))
        self.next = Trajectory(waypoints([0, SECOND, 3 * SECOND], [[1], [0.5], [0]]))
        self.limits = usual_limits(2)
        self.options, self.splice, self.violation = SpliceOptions(), Splice(), Violation()
        takt.takt_splice_options_init(byref(self.options))
        takt.takt_splice_init(byref(self.splice))
        takt.takt_violation_init(byref(self.violation))

    def make(self, handle):
        return takt.takt_trajectory_splice(self.running.handle, self.next.handle, byref(self.options), self.limits, 2,
                                           byref(self.splice), byref(self.violation), handle)

    def test_the_running_one_before_the_next_one_after_and_no_step_between(self):
        self.options.at_ns, self.options.start_ns = SECOND, SECOND // 2
        self.options.joints = (c_size_t * 1)(1)
        spliced = Trajectory(make=self.make)
        self.assertEqual((self.splice.kept, self.splice.waypoint, self.splice.joins_ns, self.splice.delay_ns),
                         (1, 1, 1_500_000_000 + self.splice.delay_ns, self.splice.delay_ns))
        self.assertGreater(self.splice.delay_ns, 0)
        self.assertEqual(takt.takt_trajectory_check(spliced.handle, self.limits, 2, None), OK)
        end = 3_500_000_000 + self.splice.delay_ns
        self.assertAlmostEqual(spliced.duration_ns(), end, delta=2)
        before = None
        for t in range(0, end, 5_000_000):
            p, v, a = spliced.sample(t)
            expected = self.running.sample(t)
            self.assertAlmostEqual(p[0], expected[0][0], places=9)
            if t <= SECOND:
                self.assertAlmostEqual(a[1], expected[2][1], places=6)
            if t > self.splice.joins_ns:
                then = self.next.sample(t - SECOND // 2 - self.splice.delay_ns)
                self.assertAlmostEqual(p[1], then[0][0], places=6)
            if before is not None:
                self.assertLessEqual(abs(p[1] - before[0]), 2 * 0.005 * 1.001)
                self.assertLessEqual(abs(v[1] - before[1]), 6 * 0.005 * 1.001)
                self.assertLessEqual(abs(a[1] - before[2]), 80 * 0.005 * 1.001)
            before = p[1], v[1], a[1]

    def test_a_bridge_that_cannot_keep_a_limit_says_which(self):
        self.options.at_ns, self.options.start_ns = SECOND, 3 * SECOND
        self.options.joints = (c_size_t * 1)(1)
        self.limits[1].velocity = 0.7  # it goes at 15/16
        Trajectory(make=self.make)
        self.assertEqual(self.splice.kept, 0)
        self.assertEqual((self.violation.quantity, self.violation.joint, self.violation.time_ns), (2, 1, SECOND))
        self.assertAlmostEqual(self.violation.value, -15 / 16)

    def test_errors(self):
        handle = c_void_p()
        self.options.at_ns = SECOND
        self.assertEqual(self.make(byref(handle)), WRONG_SIZE)  # one joint for two
        self.options.joints = (c_size_t * 1)(2)
        self.assertEqual(self.make(byref(handle)), WRONG_SIZE)
        self.options.joints = (c_size_t * 1)(0)
        self.options.at_ns = -1
        self.assertEqual(self.make(byref(handle)), OUT_OF_DOMAIN)
        self.options.at_ns, self.options.start_ns = SECOND, -10 * SECOND
        self.assertEqual(self.make(byref(handle)), NO_WAYPOINTS)
        self.options.reserved = 1
        self.assertEqual(self.make(byref(handle)), BAD_ARGUMENT)
        self.options.struct_size = 4
        self.assertEqual(self.make(byref(handle)), WRONG_STRUCT_SIZE)
        takt.takt_splice_options_init(byref(self.options))
        self.splice.struct_size = 4
        self.assertEqual(self.make(byref(handle)), WRONG_STRUCT_SIZE)
        arguments = [self.running.handle, self.next.handle, byref(self.options), self.limits, 2, None, None, byref(handle)]
        for k in (0, 1, 2, 3, 7):
            self.assertEqual(takt.takt_trajectory_splice(*(None if i == k else x for i, x in enumerate(arguments))),
                             NULL_POINTER)
        self.assertIsNone(handle.value)

    def test_parts_and_some_of_the_joints(self):
        part = Trajectory(make=lambda handle: takt.takt_trajectory_part(
            self.running.handle, SECOND // 2, 2**62, handle))
        self.assertAlmostEqual(part.duration_ns(), 1_500_000_000, delta=2)
        self.assertAlmostEqual(part.sample(SECOND // 4)[0][1], self.running.sample(750_000_000)[0][1])
        some = Trajectory(make=lambda handle: takt.takt_trajectory_select(
            self.running.handle, (c_size_t * 1)(1), 1, handle))
        self.assertEqual(some.joints, 1)
        self.assertAlmostEqual(some.sample(SECOND // 4)[1][0], self.running.sample(SECOND // 4)[1][1])
        self.assertEqual(takt.takt_trajectory_select(some.handle, (c_size_t * 1)(1), 1, byref(c_void_p())), WRONG_SIZE)
        self.assertEqual(takt.takt_trajectory_select(some.handle, (c_size_t * 65)(), 65, byref(c_void_p())), WRONG_SIZE)

    def test_each_joint_stops_by_itself(self):
        kept = c_int32(-1)
        stopped = Trajectory(make=lambda handle: takt.takt_trajectory_stop_each(
            self.running.handle, SECOND, self.limits, 2, byref(kept), byref(self.violation), handle))
        self.assertEqual(kept.value, 1)
        self.assertEqual(stopped.sample(stopped.duration_ns())[1], [0, 0])
        self.assertLess(stopped.duration_ns(), 1_500_000_000)
        self.limits[0].position_max = 0.55
        Trajectory(make=lambda handle: takt.takt_trajectory_stop_each(
            self.running.handle, SECOND, self.limits, 2, byref(kept), byref(self.violation), handle))
        self.assertEqual((kept.value, self.violation.quantity, self.violation.joint), (0, 1, 0))
        self.assertEqual(takt.takt_trajectory_stop_each(self.running.handle, -1, self.limits, 2, None, None,
                                                        byref(c_void_p())), OUT_OF_DOMAIN)

    def test_slow_down(self):
        self.assertEqual(takt.takt_trajectory_slow_down(self.running.handle, 2.5), OK)
        self.assertAlmostEqual(self.running.duration_ns(), 5 * SECOND, delta=2)
        self.assertEqual(takt.takt_trajectory_slow_down(self.running.handle, 0), OUT_OF_DOMAIN)
        self.assertEqual(takt.takt_trajectory_slow_down(self.running.handle, math.nan), NOT_FINITE)
        self.assertEqual(takt.takt_trajectory_slow_down(None, 1), NULL_POINTER)


class ControlTest(unittest.TestCase):
    def test_a_pid_of_each_form_drives_a_plant_and_keeps_its_limits(self):
        for form in range(7):
            gains = PidGains()
            takt.takt_pid_gains_init(byref(gains))
            gains.form, gains.proportional, gains.integral, gains.tracking_time = form, 4, 8, 0.5
            gains.output_min, gains.output_max, gains.integral_min, gains.integral_max = -3, 3, -3, 3
            pid, output, x = c_void_p(), c_double(), 0.0
            self.assertEqual(takt.takt_pid_create(byref(gains), byref(pid)), OK)
            for _ in range(10_000):
                self.assertEqual(takt.takt_pid_step(pid, 1, x, 1_000_000, 0, byref(output)), OK)
                x += 0.001 * (output.value - x)
            self.assertAlmostEqual(x, 1, places=3)
            last = output.value
            self.assertEqual(takt.takt_pid_step(pid, math.nan, x, 1_000_000, 0, byref(output)), CONTROL_NOT_FINITE)
            self.assertEqual(output.value, last)
            self.assertEqual(takt.takt_pid_step(pid, 1, x, 0, 0, byref(output)), CONTROL_BAD_PERIOD)
            self.assertEqual(takt.takt_pid_follow(pid, 0.5, 1, x, 1_000_000, 0), OK)
            gains.proportional = 8
            self.assertEqual(takt.takt_pid_change(pid, byref(gains), 1, x), OK)
            gains.form = (form + 1) % 7
            self.assertEqual(takt.takt_pid_change(pid, byref(gains), 1, x), BAD_ARGUMENT)
            self.assertEqual(takt.takt_pid_change(pid, None, 1, x), NULL_POINTER)
            takt.takt_pid_reset(pid, 0)
            takt.takt_pid_destroy(pid)

    def test_the_period_comes_before_the_feed_forward_as_in_cpp(self):
        gains, pid, output = PidGains(), c_void_p(), c_double()
        takt.takt_pid_gains_init(byref(gains))
        gains.integral = 1
        self.assertEqual(takt.takt_pid_create(byref(gains), byref(pid)), OK)
        self.assertEqual(takt.takt_pid_step(pid, 2, 0, 500_000_000, 0.25, byref(output)), OK)
        self.assertEqual(output.value, 1.25)  # half a second of an error of 2, and the feed-forward
        self.assertEqual(takt.takt_pid_follow(pid, 3, 0, 0, 500_000_000, 1), OK)
        self.assertEqual(takt.takt_pid_step(pid, 0, 0, 500_000_000, 1, byref(output)), OK)
        self.assertEqual(output.value, 3)
        takt.takt_pid_destroy(pid)

    def test_pids_that_cannot_be(self):
        gains, pid = PidGains(), c_void_p()
        takt.takt_pid_gains_init(byref(gains))
        gains.form = 7
        self.assertEqual(takt.takt_pid_create(byref(gains), byref(pid)), BAD_ARGUMENT)
        gains.form, gains.output_min, gains.output_max = 0, 1, -1
        self.assertEqual(takt.takt_pid_create(byref(gains), byref(pid)), CONTROL_MIN_ABOVE_MAX)
        gains.struct_size = 3
        self.assertEqual(takt.takt_pid_create(byref(gains), byref(pid)), WRONG_STRUCT_SIZE)
        self.assertEqual(takt.takt_pid_create(None, byref(pid)), NULL_POINTER)
        self.assertEqual(takt.takt_pid_step(None, 0, 0, 1, 0, None), NULL_POINTER)
        takt.takt_pid_destroy(None)

    def test_a_limited_joint_stays_in_its_range(self):
        limits, limiter, state = JointLimits(-1, 1, 2, 10, 100, 5), c_void_p(), MotionState()
        self.assertEqual(takt.takt_joint_limiter_create(byref(limits), byref(limiter)), OK)
        for command in (5, -5, 0.3):
            for _ in range(3000):
                self.assertEqual(takt.takt_joint_limiter_toward_position(limiter, command, 1_000_000, byref(state)), OK)
                self.assertLessEqual(abs(state.position), 1 + 1e-9)
        self.assertAlmostEqual(state.position, 0.3)
        for _ in range(5000):
            self.assertEqual(takt.takt_joint_limiter_toward_velocity(limiter, 1, 1_000_000, byref(state)), OK)
        self.assertAlmostEqual(state.position, 1)
        self.assertEqual(takt.takt_joint_limiter_reset(limiter, byref(MotionState(math.nan, 0, 0))), CONTROL_NOT_FINITE)
        takt.takt_joint_limiter_destroy(limiter)
        limits.jerk = math.inf
        self.assertEqual(takt.takt_joint_limiter_create(byref(limits), byref(limiter)), CONTROL_NOT_FINITE)


    def test_a_limited_value_keeps_its_rates_and_arrives(self):
        limits, limiter, value = RateLimits(), c_void_p(), c_double()
        takt.takt_rate_limits_init(byref(limits))
        self.assertEqual(limits.max, math.inf)
        limits.forward_acceleration, limits.forward_braking, limits.second = 2, 4, 20
        self.assertEqual(takt.takt_rate_limiter_create(byref(limits), byref(limiter)), OK)
        last = 0.0
        for _ in range(2000):
            self.assertEqual(takt.takt_rate_limiter_step(limiter, 1.5, 1_000_000, byref(value)), OK)
            self.assertLessEqual(value.value - last, 2e-3 + 1e-12)
            last = value.value
        self.assertEqual(last, 1.5)
        self.assertEqual(takt.takt_rate_limiter_step(limiter, math.nan, 1_000_000, byref(value)), CONTROL_NOT_FINITE)
        self.assertEqual(takt.takt_rate_limiter_step(limiter, 0, 0, byref(value)), CONTROL_BAD_PERIOD)
        self.assertEqual(value.value, 1.5)
        takt.takt_rate_limiter_reset(limiter, 0.5)
        self.assertEqual(takt.takt_rate_limiter_step(limiter, 0.5, 1_000_000, byref(value)), OK)
        self.assertEqual(value.value, 0.5)
        takt.takt_rate_limiter_destroy(limiter)
        limits.min = 1
        self.assertEqual(takt.takt_rate_limiter_create(byref(limits), byref(limiter)), CONTROL_MIN_ABOVE_MAX)
        limits.min, limits.second = -1, 0
        self.assertEqual(takt.takt_rate_limiter_create(byref(limits), byref(limiter)), CONTROL_OUT_OF_DOMAIN)
        limits.reserved = 1
        self.assertEqual(takt.takt_rate_limiter_create(byref(limits), byref(limiter)), BAD_ARGUMENT)
        self.assertEqual(takt.takt_rate_limiter_create(None, byref(limiter)), NULL_POINTER)
        self.assertEqual(takt.takt_rate_limiter_step(None, 0, 1, byref(value)), NULL_POINTER)

    def test_filters_pass_what_they_should(self):
        first_order, low_pass, high_pass, band_pass, notch = range(5)
        # Gains of a constant and of the design frequency.
        for kind, constant, middle in ((first_order, 1, None), (low_pass, 1, 4), (high_pass, 0, 4), (band_pass, 0, 1),
                                       (notch, 1, 0)):
            filter, value = c_void_p(), c_double()
            self.assertEqual(takt.takt_filter_create(kind, 50, 4, 1_000_000, byref(filter)), OK)
            for _ in range(10):
                self.assertEqual(takt.takt_filter_step(filter, 3, byref(value)), OK)
            self.assertAlmostEqual(value.value, 3 * constant)
            self.assertEqual(takt.takt_filter_step(filter, math.nan, byref(value)), CONTROL_NOT_FINITE)
            self.assertAlmostEqual(value.value, 3 * constant)
            takt.takt_filter_reset(filter)
            most = 0
            for k in range(2000):
                self.assertEqual(takt.takt_filter_step(filter, math.sin(2 * math.pi * 0.05 * k), byref(value)), OK)
                if k > 1500:
                    most = max(most, abs(value.value))
            if middle is not None:
                self.assertAlmostEqual(most, middle, delta=0.01 + 0.06 * middle)
            takt.takt_filter_destroy(filter)
        self.assertEqual(takt.takt_filter_create(5, 50, 1, 1_000_000, byref(filter)), BAD_ARGUMENT)
        self.assertEqual(takt.takt_filter_create(low_pass, 500, 1, 1_000_000, byref(filter)), CONTROL_OUT_OF_DOMAIN)
        self.assertEqual(takt.takt_filter_create(notch, 50, 1, 0, byref(filter)), CONTROL_BAD_PERIOD)
        self.assertEqual(takt.takt_filter_step(None, 0, byref(value)), NULL_POINTER)

    def test_transmissions_go_both_ways_and_keep_the_power(self):
        positions, velocities, efforts = range(3)
        n, m, offsets = doubles([10, -20]), doubles([2, 3]), doubles([0.1, 0.2])
        four_bar, differential, coupling = c_void_p(), c_void_p(), c_void_p()
        self.assertEqual(takt.takt_transmission_create_four_bar(n, m, offsets, byref(four_bar)), OK)
        self.assertEqual(takt.takt_transmission_create_differential(n, m, None, byref(differential)), OK)
        self.assertEqual(takt.takt_transmission_create(doubles([1, 0.5, 0, 2]), 2, offsets, byref(coupling)), OK)
        a, q, back = doubles([3, 4]), doubles([0] * 2), doubles([0] * 2)
        self.assertEqual(takt.takt_transmission_to_joints(four_bar, positions, 2, a, q), OK)
        self.assertAlmostEqual(q[0], 3 / 20 + 0.1)
        self.assertAlmostEqual(q[1], (4 / -20 - 3 / 20) / 3 + 0.2)
        self.assertEqual(takt.takt_transmission_to_joints(differential, positions, 2, a, q), OK)
        self.assertAlmostEqual(q[0], (0.3 - 0.2) / 4)
        self.assertEqual(takt.takt_transmission_to_joints(coupling, positions, 2, a, q), OK)
        self.assertEqual(list(q), [5.1, 8.2])
        for transmission in (four_bar, differential, coupling):
            for quantity in (positions, velocities, efforts):
                self.assertEqual(takt.takt_transmission_to_joints(transmission, quantity, 2, a, q), OK)
                self.assertEqual(takt.takt_transmission_to_actuators(transmission, quantity, 2, q, back), OK)
                for own, got in zip(a, back):
                    self.assertAlmostEqual(own, got)
            v, f = doubles([0] * 2), doubles([0] * 2)
            takt.takt_transmission_to_joints(transmission, velocities, 2, a, v)
            takt.takt_transmission_to_joints(transmission, efforts, 2, back, f)
            self.assertAlmostEqual(v[0] * f[0] + v[1] * f[1], a[0] * back[0] + a[1] * back[1])
            self.assertEqual(takt.takt_transmission_to_joints(transmission, efforts, 3, a, q), CONTROL_WRONG_SIZE)
            self.assertEqual(takt.takt_transmission_to_joints(transmission, 3, 2, a, q), BAD_ARGUMENT)
            takt.takt_transmission_destroy(transmission)
        identity = doubles([float(k % 7 == 0) for k in range(36)])
        self.assertEqual(takt.takt_transmission_create(identity, 6, None, byref(coupling)), OK)
        takt.takt_transmission_destroy(coupling)
        for size in (0, 7):
            self.assertEqual(takt.takt_transmission_create(identity, size, None, byref(coupling)), CONTROL_WRONG_SIZE)
        self.assertEqual(takt.takt_transmission_create(doubles([0]), 1, None, byref(coupling)), CONTROL_OUT_OF_DOMAIN)
        self.assertEqual(takt.takt_transmission_create_four_bar(n, doubles([0, 1]), None, byref(coupling)),
                         CONTROL_OUT_OF_DOMAIN)
        self.assertEqual(takt.takt_transmission_create(None, 1, None, byref(coupling)), NULL_POINTER)
        self.assertEqual(takt.takt_transmission_to_joints(None, positions, 2, a, q), NULL_POINTER)


class DriveTest(unittest.TestCase):
    def test_what_a_drive_is_told_is_what_its_wheels_are_read_as(self):
        wanted, got, speed, steering, exact = Twist(1, 0, 0.3), Twist(), c_double(), c_double(), c_int32()
        self.assertEqual(takt.takt_car_drive(1.6, 0.6, byref(wanted), byref(speed), byref(steering), byref(exact)), OK)
        self.assertAlmostEqual(steering.value, math.atan(1.6 * 0.3))
        self.assertEqual(exact.value, 1)
        self.assertEqual(takt.takt_car_twist(1.6, speed, steering, byref(got)), OK)
        self.assertAlmostEqual(got.rotation, 0.3)
        self.assertEqual(takt.takt_car_drive(1.6, 0.6, byref(Twist(0, 0, 1)), byref(speed), byref(steering), byref(exact)),
                         OK)
        self.assertEqual((steering.value, exact.value), (0.6, 0))
        self.assertEqual(takt.takt_tricycle_drive(1.5, byref(wanted), byref(speed), byref(steering)), OK)
        self.assertEqual(takt.takt_tricycle_twist(1.5, speed, steering, byref(got)), OK)
        self.assertAlmostEqual(got.forward, 1)
        self.assertAlmostEqual(got.rotation, 0.3)
        # Mecanum wheels by the usual formula.
        eighth, lever = math.pi / 4, 0.3 + 0.2
        wheels = (OmniWheel * 4)(*(OmniWheel(x, y, d, 0.1 / math.sqrt(2)) for x, y, d in (
            (0.3, 0.2, -eighth), (0.3, -0.2, eighth), (-0.3, 0.2, eighth), (-0.3, -0.2, -eighth))))
        rates, wanted = doubles([0] * 4), Twist(1, 0.5, 0.25)
        self.assertEqual(takt.takt_omni_rates(wheels, 4, byref(wanted), rates), OK)
        for rate, formula in zip(rates, (1 - 0.5 - lever * 0.25, 1 + 0.5 + lever * 0.25, 1 + 0.5 - lever * 0.25,
                                         1 - 0.5 + lever * 0.25)):
            self.assertAlmostEqual(rate, formula / 0.1)
        self.assertEqual(takt.takt_omni_twist(wheels, 4, rates, byref(got)), OK)
        self.assertAlmostEqual(got.left, 0.5)

    def test_drives_that_cannot_be(self):
        twist, number = Twist(), c_double()
        self.assertEqual(takt.takt_car_twist(0, 1, 0, byref(twist)), MOBILE_NOT_POSITIVE)
        self.assertEqual(takt.takt_car_twist(1, math.nan, 0, byref(twist)), MOBILE_NOT_FINITE)
        self.assertEqual(takt.takt_car_drive(1, 1.6, byref(twist), byref(number), byref(number), None),
                         MOBILE_OUT_OF_DOMAIN)
        self.assertEqual(takt.takt_tricycle_twist(-1, 1, 0, byref(twist)), MOBILE_NOT_POSITIVE)
        self.assertEqual(takt.takt_tricycle_drive(1, byref(Twist(math.inf, 0, 0)), byref(number), byref(number)),
                         MOBILE_NOT_FINITE)
        self.assertEqual(takt.takt_tricycle_drive(10, byref(Twist(1, 0, 1e308)), byref(number), byref(number)),
                         MOBILE_NOT_FINITE)
        self.assertEqual(takt.takt_differential_wheels(0.1, 0.1, 1, byref(Twist(1e308, 0, 0)), byref(number), byref(number)),
                         MOBILE_NOT_FINITE)
        wheels = (OmniWheel * 9)(*(OmniWheel(1, 0, 0, 0.1) for _ in range(9)))
        for count in (2, 3, 9):  # three that all push the same way
            self.assertEqual(takt.takt_omni_twist(wheels, count, doubles([0] * 9), byref(twist)), MOBILE_OUT_OF_DOMAIN)
        self.assertEqual(takt.takt_omni_rates(None, 3, byref(twist), doubles([0] * 3)), NULL_POINTER)
        self.assertEqual(takt.takt_car_drive(1, 0.5, None, byref(number), byref(number), None), NULL_POINTER)


class TwistLawTest(unittest.TestCase):
    def test_a_vehicle_drives_and_stops(self):
        options, law, command = TwistLawOptions(), c_void_p(), DriveCommand()
        takt.takt_twist_law_options_init(byref(options))
        self.assertEqual((options.command_threshold, options.holding_brake), (0.1, 0.2))
        self.assertEqual(takt.takt_twist_law_create(byref(options), byref(law)), CONTROL_OUT_OF_DOMAIN)
        options.wheelbase, options.max_steering, options.steering_rate = 1.6, 0.5, 0.6
        options.throttle[:], options.brake[:] = (0.4, 0.2, 0), (0.5, 0.1, 0)
        self.assertEqual(takt.takt_twist_law_create(byref(options), byref(law)), OK)
        speed = 0.0
        for wanted in (2.0, 0.0):
            for _ in range(4000):
                twist = Twist(wanted, 0, 0.1 * wanted)
                self.assertEqual(takt.takt_twist_law_step(law, byref(twist), speed, 10_000_000, byref(command)), OK)
                self.assertEqual(command.throttle * command.brake, 0)
                speed = max(0.0, speed + 0.01 * (3 * command.throttle - 6 * command.brake - 0.2 * speed))
            self.assertAlmostEqual(speed, wanted, delta=0.05)
            if wanted > 0:
                self.assertAlmostEqual(command.steering, math.atan(1.6 * 0.1))
        self.assertGreaterEqual(command.brake, 0.2)
        last = command.brake
        twist.forward = math.nan
        self.assertEqual(takt.takt_twist_law_step(law, byref(twist), 0, 10_000_000, byref(command)), CONTROL_NOT_FINITE)
        self.assertEqual(takt.takt_twist_law_step(law, byref(Twist()), 0, 0, byref(command)), CONTROL_BAD_PERIOD)
        self.assertEqual(command.brake, last)
        self.assertEqual(takt.takt_twist_law_step(law, byref(Twist(2, 0, 0)), 0, 10_000_000, byref(command)), OK)
        self.assertGreater(command.throttle, 0)
        self.assertEqual(takt.takt_twist_law_step(law, byref(Twist(2, 0, 0)), math.nan, 10_000_000, byref(command)),
                         CONTROL_NOT_FINITE)
        self.assertEqual((command.throttle, command.brake), (0, 0.2))
        takt.takt_twist_law_reset(law, 0.3)
        self.assertEqual(takt.takt_twist_law_step(law, None, 0, 1, byref(command)), NULL_POINTER)
        takt.takt_twist_law_destroy(law)
        options.struct_size -= 8
        self.assertEqual(takt.takt_twist_law_create(byref(options), byref(law)), WRONG_STRUCT_SIZE)


class OdometryTest(unittest.TestCase):
    def test_wheels_that_turned_move_the_vehicle(self):
        odometry, motion, pose = c_void_p(), Twist(), Pose()
        self.assertEqual(takt.takt_odometry_create(None, byref(odometry)), OK)
        self.assertEqual(takt.takt_differential_twist(0.1, 0.1, 0.5, 10, 10, byref(motion)), OK)
        self.assertEqual(takt.takt_odometry_move(odometry, byref(motion)), OK)
        self.assertEqual(takt.takt_odometry_get(odometry, byref(pose), None), OK)
        self.assertAlmostEqual(pose.x, 1)
        self.assertEqual(takt.takt_odometry_move(odometry, byref(Twist(math.nan, 0, 0))), MOBILE_NOT_FINITE)
        self.assertEqual(takt.takt_odometry_move(None, byref(motion)), NULL_POINTER)
        takt.takt_odometry_destroy(odometry)

    def test_a_circle_closes_and_the_covariance_grows(self):
        options, odometry = OdometryOptions(), c_void_p()
        takt.takt_odometry_options_init(byref(options))
        options.forward_by_way = options.heading_by_way = 1e-4
        self.assertEqual(takt.takt_odometry_create(byref(options), byref(odometry)), OK)
        twist, left, right = Twist(1, 0, 0.5), c_double(), c_double()
        self.assertEqual(takt.takt_differential_wheels(0.3, 0.3, 1.285, byref(twist), byref(left), byref(right)), OK)
        self.assertEqual(takt.takt_differential_twist(0.3, 0.3, 1.285, left, right, byref(twist)), OK)
        steps = 1000
        for _ in range(steps):
            self.assertEqual(takt.takt_odometry_advance(odometry, byref(twist), round(4 * math.pi / steps * 1e9)), OK)
        pose, covariance = Pose(), doubles([0] * 9)
        self.assertEqual(takt.takt_odometry_get(odometry, byref(pose), covariance), OK)
        self.assertLess(math.hypot(pose.x, pose.y), 1e-6)
        self.assertGreater(covariance[0], 0)
        self.assertEqual(covariance[1], covariance[3])
        self.assertEqual(takt.takt_odometry_advance(odometry, byref(twist), SECOND), MOBILE_STALE)
        self.assertEqual(takt.takt_odometry_set(odometry, byref(Pose(math.nan, 0, 0))), MOBILE_NOT_FINITE)
        self.assertEqual(takt.takt_odometry_set(odometry, byref(Pose(3, 4, 0))), OK)
        takt.takt_odometry_destroy(odometry)
        self.assertEqual(takt.takt_differential_twist(0, 0.3, 1, 0, 0, byref(twist)), MOBILE_NOT_POSITIVE)


class AlignedMemory:
    """Memory for an object of the library, between guard bytes."""
    GUARD = b"guard" * 20

    def __init__(self, size, align):
        self.size = size
        self.buffer = ctypes.create_string_buffer(size + align + 2 * len(self.GUARD))
        begin = ctypes.addressof(self.buffer) + len(self.GUARD)
        self.address = begin + -begin % align
        for at in (self.address - len(self.GUARD), self.address + size):
            ctypes.memmove(at, self.GUARD, len(self.GUARD))

    def untouched_outside(self):
        return all(ctypes.string_at(at, len(self.GUARD)) == self.GUARD
                   for at in (self.address - len(self.GUARD), self.address + self.size))


class PointToPointTest(unittest.TestCase):
    def setUp(self):
        self.memory = AlignedMemory(takt.takt_point_to_point_size(2), takt.takt_point_to_point_align())
        self.motion = c_void_p()
        self.assertEqual(self.init_in(self.memory.size), OK)
        self.assertEqual(self.motion.value, self.memory.address)
        self.limits = (DirectionalLimits * 2)((-1, 2, -4, 3, 50), (-2, 2, -6, 6, 80))
        self.start = (MotionState * 2)((0, 0.5, 0), (1, 0, 0))
        self.target = (MotionState * 2)((1, 0, 0), (-1, 0, 0))

    def tearDown(self):
        self.assertTrue(self.memory.untouched_outside())

    def init_in(self, size, joints=2, offset=0):
        return takt.takt_point_to_point_init_in(self.memory.address + offset, size, joints, byref(self.motion))

    def plan(self, how=0, at_least=0):
        return takt.takt_point_to_point_plan(self.motion, self.start, self.target, self.limits, 2, how, at_least)

    def duration(self):
        duration, fits = c_int64(), c_int32()
        self.assertEqual(takt.takt_point_to_point_get(self.motion, byref(duration), byref(fits)), OK)
        self.assertEqual(fits.value, 1)
        return duration.value

    def sample(self, t):
        p, v, a = (doubles([0] * 2) for _ in range(3))
        self.assertEqual(takt.takt_point_to_point_sample(self.motion, t, 2, p, v, a), OK)
        return list(p), list(v), list(a)

    def test_it_leads_to_the_target_in_the_time_that_is_asked_for_within_the_limits(self):
        self.assertEqual(self.plan(), OK)
        shortest = self.duration()
        self.assertEqual(self.plan(at_least=2 * shortest), OK)
        self.assertEqual(self.duration(), 2 * shortest)
        self.assertEqual(self.sample(0), ([0, 1], [0.5, 0], [0, 0]))
        self.assertEqual(self.sample(2 * shortest), ([1, -1], [0, 0], [0, 0]))
        for t in range(0, 2 * shortest, 10_000_000):
            _, v, a = self.sample(t)
            for limit, speed, push in zip(self.limits, v, a):
                self.assertTrue(limit.velocity_min - 1e-9 <= speed <= limit.velocity_max + 1e-9)
                self.assertTrue(limit.acceleration_min - 1e-9 <= push <= limit.acceleration_max + 1e-9)
        trajectory = Trajectory(make=lambda handle: takt.takt_point_to_point_to_trajectory(self.motion, handle))
        for t in range(0, 2 * shortest, 10_000_000):
            for one, other in zip(trajectory.sample(t)[0], self.sample(t)[0]):
                self.assertAlmostEqual(one, other, places=9)

    def test_in_phase_all_joints_stay_on_the_line(self):
        self.assertEqual(self.plan(how=1), NOT_IN_PHASE)
        self.start[0].velocity = 0
        self.assertEqual(self.plan(how=1), OK)
        p, _, _ = self.sample(self.duration() // 3)
        self.assertAlmostEqual(1 - 2 * p[0], p[1])

    def test_errors_leave_the_old_motion(self):
        self.assertEqual(self.plan(), OK)
        before = self.duration()
        self.assertEqual(self.plan(how=2), BAD_ARGUMENT)
        self.assertEqual(self.plan(at_least=2 * 10**15), OUT_OF_DOMAIN)
        self.target[1].velocity = 5
        self.assertEqual(self.plan(), TARGET_OUTSIDE_LIMITS)
        self.target[1].velocity = math.nan
        self.assertEqual(self.plan(), NOT_FINITE)
        takt.takt_directional_limits_init(byref(self.limits[0]), byref(no_limits(1)[0]))
        self.target[1].velocity = 0
        self.assertEqual(self.plan(), NOT_FINITE)
        self.assertEqual(self.duration(), before)
        plan = takt.takt_point_to_point_plan
        self.assertEqual(plan(self.motion, self.start, self.target, self.limits, 1, 0, 0), WRONG_SIZE)
        arguments = [self.motion, self.start, self.target, self.limits, 2, 0, 0]
        for k in range(4):
            self.assertEqual(plan(*(None if i == k else x for i, x in enumerate(arguments))), NULL_POINTER)

    def test_bad_memory_is_refused(self):
        size, handle = self.memory.size, self.motion.value
        self.assertEqual(self.init_in(size - 1), BUFFER_TOO_SMALL)
        self.assertEqual(self.init_in(size, joints=3), BUFFER_TOO_SMALL)
        self.assertEqual(self.init_in(size, offset=1), MISALIGNED)
        self.assertEqual(self.init_in(size, offset=-self.memory.address), NULL_POINTER)
        self.assertEqual(takt.takt_point_to_point_init_in(self.memory.address, size, 2, None), NULL_POINTER)
        for joints in (0, 65, 2**64 - 1):
            self.assertEqual(self.init_in(size, joints), WRONG_SIZE)
            self.assertEqual(takt.takt_point_to_point_size(joints), 0)
        self.assertEqual(self.motion.value, handle)
        self.assertEqual(self.init_in(size, joints=1), OK)  # there is room for fewer

    def test_as_many_joints_as_there_may_be_fit_into_the_memory_that_is_asked_for(self):
        memory = AlignedMemory(takt.takt_point_to_point_size(64), takt.takt_point_to_point_align())
        motion, end = c_void_p(), doubles([0] * 64)
        self.assertEqual(takt.takt_point_to_point_init_in(memory.address, memory.size, 64, byref(motion)), OK)
        start, target = (MotionState * 64)(), (MotionState * 64)(*((j, 0, 0) for j in range(64)))
        limits = (DirectionalLimits * 64)(*((-1, 2, -4, 3, 50) for _ in range(64)))
        self.assertEqual(takt.takt_point_to_point_plan(motion, start, target, limits, 64, 0, 0), OK)
        self.assertEqual(takt.takt_point_to_point_sample(motion, 100 * SECOND, 64, end, None, None), OK)
        self.assertEqual(list(end), list(range(64)))
        self.assertTrue(memory.untouched_outside())


class StopTest(unittest.TestCase):
    def setUp(self):
        self.memory = AlignedMemory(takt.takt_stop_size(), takt.takt_stop_align())
        self.size, self.address = self.memory.size, self.memory.address
        self.limits = no_limits(1)
        self.limits[0].acceleration, self.limits[0].jerk = 5, 100

    def plan(self, state, offset=0, size=None):
        self.stop = c_void_p()
        return takt.takt_stop_init_in(self.address + offset, self.size if size is None else size, byref(state),
                                      self.limits, byref(self.stop))

    def test_a_stop_is_continuous_and_keeps_its_limits(self):
        rng = random.Random(3)
        for _ in range(100):
            start = MotionState(rng.uniform(-3, 3), rng.uniform(-2, 2), rng.uniform(-1, 1))
            self.assertEqual(self.plan(start), OK)
            self.assertEqual(self.stop.value, self.address)
            duration, distance, fits = c_int64(), c_double(), c_int32()
            self.assertEqual(takt.takt_stop_get(self.stop, byref(duration), byref(distance), byref(fits)), OK)
            self.assertEqual(fits.value, 1)
            at = MotionState()
            for k in range(101):
                self.assertEqual(takt.takt_stop_sample(self.stop, duration.value * k // 100, byref(at)), OK)
                self.assertLessEqual(abs(at.acceleration), 5 * (1 + 1e-8))
                if k == 0:
                    for name in ("position", "velocity", "acceleration"):
                        self.assertAlmostEqual(getattr(start, name), getattr(at, name), places=12)
            self.assertEqual((at.velocity, at.acceleration), (0, 0))
            self.assertAlmostEqual(at.position, start.position + distance.value, places=12)

    def test_an_impossible_stop_says_so(self):
        self.assertEqual(self.plan(MotionState(0, 1, 50)), OK)
        fits = c_int32(7)
        self.assertEqual(takt.takt_stop_get(self.stop, None, None, byref(fits)), OK)
        self.assertEqual(fits.value, 0)

    def test_bad_memory_and_bad_numbers_are_refused(self):
        good = MotionState(0, 1, 0)
        self.assertEqual(self.plan(good, size=self.size - 1), BUFFER_TOO_SMALL)
        self.assertEqual(self.plan(good, offset=1), MISALIGNED)
        self.assertEqual(self.plan(good, offset=-self.address), NULL_POINTER)
        self.assertEqual(self.plan(MotionState(math.nan, 1, 0)), NOT_FINITE)
        self.assertEqual(self.plan(MotionState(0, math.inf, 0)), NOT_FINITE)
        self.assertEqual(self.plan(MotionState(0, 1e10, 0)), OUT_OF_DOMAIN)
        self.limits[0].jerk = math.nan
        self.assertEqual(self.plan(good), BAD_LIMITS)
        self.assertIsNone(self.stop.value)
        self.assertEqual(takt.takt_stop_get(None, None, None, None), NULL_POINTER)
        self.assertEqual(takt.takt_stop_sample(None, 0, None), NULL_POINTER)


class BadInputTest(unittest.TestCase):
    def create(self, w):
        handle = c_void_p()
        result = takt.takt_trajectory_create(byref(w), byref(handle))
        if result == OK:
            takt.takt_trajectory_destroy(handle)
        else:
            self.assertIsNone(handle.value)  # outputs are not written
        return result

    def test_numbers(self):
        times = [0, SECOND]
        for bad in (math.nan, math.inf, -math.inf):
            self.assertEqual(self.create(waypoints(times, [[0], [bad]])), NOT_FINITE)
            self.assertEqual(self.create(waypoints(times, [[0], [1]], velocities=[[bad], [0]])), NOT_FINITE)
            self.assertEqual(self.create(waypoints(times, [[0], [1]], [[0], [0]], [[0], [bad]])), NOT_FINITE)
        self.assertEqual(self.create(waypoints(times, [[0], [1e300]])), OUT_OF_DOMAIN)

    def test_times(self):
        for times in ([0, 0], [SECOND, 0], [0, 2 * SECOND, SECOND]):
            self.assertEqual(self.create(waypoints(times, [[0]] * len(times))), TIMES_NOT_INCREASING)
        self.assertEqual(self.create(waypoints([0, 1], [[0], [1]])), OUT_OF_DOMAIN)  # 1 ns
        self.assertEqual(self.create(waypoints([-2**63, 2**63 - 1], [[0], [1]])), OUT_OF_DOMAIN)
        self.assertEqual(self.create(waypoints([0, 10**16], [[0], [1]])), OUT_OF_DOMAIN)

    def test_sizes(self):
        self.assertEqual(self.create(waypoints([0], [[0]])), ONE_WAYPOINT)
        self.assertEqual(self.create(waypoints([], [])), NO_WAYPOINTS)
        for joints in (0, 65, 2**64 - 1):
            w = waypoints([0, SECOND], [[0], [1]])
            w.joints = joints
            self.assertEqual(self.create(w), WRONG_SIZE)
        for count in (2**64 - 1, 2**61):
            w = waypoints([0, SECOND], [[0], [1]])
            w.count = count
            self.assertEqual(self.create(w), OUT_OF_MEMORY)

    def test_modes(self):
        for through in (-1, 6, 2**31 - 1):
            self.assertEqual(self.create(waypoints([0, SECOND], [[0], [1]], through=through)), BAD_ARGUMENT)
        self.assertEqual(self.create(waypoints([0, SECOND], [[0], [1]], through=GIVEN)), NO_VELOCITIES)

    def test_null(self):
        self.assertEqual(takt.takt_trajectory_create(None, byref(c_void_p())), NULL_POINTER)
        self.assertEqual(takt.takt_trajectory_create(byref(waypoints([0, SECOND], [[0], [1]])), None), NULL_POINTER)
        for field in ("times_ns", "positions"):
            w = waypoints([0, SECOND], [[0], [1]])
            setattr(w, field, None)
            self.assertEqual(self.create(w), NULL_POINTER)
        takt.takt_trajectory_destroy(None)
        takt.takt_joint_limits_init(None)
        takt.takt_waypoints_init(None)
        takt.takt_violation_init(None)
        self.assertEqual(takt.takt_trajectory_joints(None), 0)
        self.assertEqual(takt.takt_trajectory_duration_ns(None), 0)
        for function, *arguments in [(takt.takt_trajectory_sample, None, None, 0, 0, None, None, None),
                                     (takt.takt_trajectory_check, None, None, 0, None),
                                     (takt.takt_trajectory_fit, None, None, 0, None, None),
                                     (takt.takt_trajectory_append_stop, None, None, 0)]:
            self.assertEqual(function(*arguments), NULL_POINTER)

    def test_struct_sizes(self):
        w = waypoints([0, SECOND], [[0], [1]], velocities=[[0], [0]], through=STOP)
        for size in (0, 1, Waypoints.velocities.offset - 1, 4097, 2**32 - 1):
            w.struct_size = size
            self.assertEqual(self.create(w), WRONG_STRUCT_SIZE, size)

    def test_a_program_of_an_older_header_is_served(self):
        # The caller's structure ends before the velocities: the library must not read beyond it.
        w = waypoints([0, SECOND], [[0], [1]], velocities=[[math.nan], [math.nan]])
        w.struct_size = Waypoints.velocities.offset
        self.assertEqual(self.create(w), OK)

    def test_a_program_of_a_newer_header_is_served_if_it_asks_for_nothing_new(self):
        class Newer(ctypes.Structure):
            _fields_ = [("known", Waypoints), ("future", c_uint64)]
        newer = Newer(known=waypoints([0, SECOND], [[0], [1]]))
        newer.known.struct_size = ctypes.sizeof(Newer)
        self.assertEqual(self.create(newer), OK)
        newer.future = 1 << 40
        self.assertEqual(self.create(newer), WRONG_STRUCT_SIZE)

    def test_an_output_of_the_wrong_size_is_refused(self):
        trajectory = Trajectory(waypoints([0, SECOND], [[0], [1]]))
        violation = Violation()  # not initialised: size 0
        arguments = (trajectory.handle, no_limits(1), 1)
        self.assertEqual(takt.takt_trajectory_check(*arguments, byref(violation)), WRONG_STRUCT_SIZE)
        self.assertEqual(takt.takt_trajectory_fit(*arguments, None, byref(violation)), WRONG_STRUCT_SIZE)

    def test_no_numbers_crash_it_and_what_is_accepted_stays_finite(self):
        rng = random.Random(4)
        pool = [0.0, -0.0, 1.0, 1e-300, 5e-324, 1e9, 1e10, 1e308, math.nan, math.inf, -math.inf, -1.0, 0.5]
        instants = [0, 1, 1000, SECOND, -SECOND, 2**63 - 1, -2**63, 10**15, 10**15 + 1]
        made = 0
        for _ in range(3000):
            joints, count = rng.randint(1, 3), rng.randint(1, 4)
            number = (lambda: rng.choice(pool)) if rng.random() < 0.5 else (lambda: rng.uniform(-2, 2))
            matrix = lambda: [[number() for _ in range(joints)] for _ in range(count)]
            times = [rng.choice(instants) for _ in range(count)]
            if rng.random() < 0.7:
                times = sorted(rng.sample(range(-5, 5), count))
                times = [t * 10**rng.randint(3, 14) for t in times]
            handle = c_void_p()
            w = waypoints(times, matrix(), matrix(), matrix(), through=rng.randint(0, 5))
            result = takt.takt_trajectory_create(byref(w), byref(handle))
            if result != OK:
                self.assertFalse(takt.takt_status_text(result).startswith(b"unknown"))
                continue
            made += 1
            p, v, a = (doubles([math.nan] * joints) for _ in range(3))
            for t in instants:
                cursor = Cursor(rng.randrange(2**64))
                self.assertEqual(takt.takt_trajectory_sample(handle, byref(cursor), t, joints, p, v, a), OK)
                self.assertTrue(all(math.isfinite(x) for x in [*p, *v, *a]))
            takt.takt_trajectory_destroy(handle)
        self.assertGreater(made, 100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
