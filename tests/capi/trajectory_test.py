#!/usr/bin/env python3
"""Trajectories of the C API and their limits, from Python.

    trajectory_test.py LIBRARY
"""

import ctypes
import json
import math
import random
import sys
import unittest
from ctypes import byref, c_char_p, c_double, c_int32, c_size_t, c_uint64, c_void_p

from bindings import *  # the library, named in the first argument, and its structures
from trajectories import Trajectory, quintic, usual_limits


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
        self.violation = initialise(Violation())

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
        self.limits[0].velocity = 0.1  # curable, and worse by ratio than what is not
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
        w.through = SMOOTH  # to and fro and at the same place: no faster than stopping there
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
        takt.takt_waypoints_init(None, 0)
        takt.takt_violation_init(None, 0)
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
        # Its structure ended before the velocities: the library must not read beyond it.
        w = waypoints([0, SECOND], [[0], [1]], velocities=[[math.nan], [math.nan]])
        w.struct_size = Waypoints.velocities.offset
        self.assertEqual(self.create(w), OK)

    def test_a_program_of_a_newer_header_is_served_if_it_asks_for_nothing_new(self):
        class Newer(ctypes.Structure):
            _fields_ = [("known", Waypoints), ("future", c_uint64)]
        newer = Newer(known=waypoints([0, SECOND], [[0], [1]]))
        newer.known.struct_size = ctypes.sizeof(Newer)
        self.assertEqual(self.create(newer.known), OK)
        newer.future = 1 << 40
        self.assertEqual(self.create(newer.known), WRONG_STRUCT_SIZE)

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
