#!/usr/bin/env python3
"""Point-to-point motions and stops of the C API in memory of the caller, from Python.

    point_to_point_test.py LIBRARY
"""

import math
import random
import sys
import unittest
from ctypes import byref, c_double, c_int32, c_int64, c_void_p

from aligned_memory import AlignedMemory
from bindings import *  # the library, named in the first argument, and its structures
from trajectories import Trajectory


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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
