#!/usr/bin/env python3
"""Controllers, limits, filters and transmissions of the C API, from Python.

    control_test.py LIBRARY
"""

import math
import sys
import unittest
from ctypes import byref, c_double, c_void_p

from aligned_memory import AlignedMemory
from bindings import *  # the library, named in the first argument, and its structures


class ControlTest(unittest.TestCase):
    def test_a_pid_of_each_form_drives_a_plant_and_keeps_its_limits(self):
        for form in range(7):
            gains = initialise(PidGains())
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
        initialise(gains)
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
        initialise(gains)
        gains.form = 7
        self.assertEqual(takt.takt_pid_create(byref(gains), byref(pid)), BAD_ARGUMENT)
        gains.form, gains.output_min, gains.output_max = 0, 1, -1
        self.assertEqual(takt.takt_pid_create(byref(gains), byref(pid)), CONTROL_MIN_ABOVE_MAX)
        gains.struct_size = 3
        self.assertEqual(takt.takt_pid_create(byref(gains), byref(pid)), WRONG_STRUCT_SIZE)
        self.assertEqual(takt.takt_pid_create(None, byref(pid)), NULL_POINTER)
        self.assertEqual(takt.takt_pid_step(None, 0, 0, 1, 0, None), NULL_POINTER)
        takt.takt_pid_destroy(None)

    def test_a_pid_in_memory_of_the_caller_is_one_as_others(self):
        gains, pid, other, output, same = PidGains(), c_void_p(), c_void_p(), c_double(), c_double()
        initialise(gains)
        gains.proportional, gains.integral, gains.derivative = 3, 2, 0.1
        memory = AlignedMemory(takt.takt_pid_size(), takt.takt_pid_align())
        init_in = lambda address, size: takt.takt_pid_init_in(address, size, byref(gains), byref(pid))
        self.assertEqual(init_in(memory.address, memory.size - 1), BUFFER_TOO_SMALL)
        self.assertEqual(init_in(memory.address + 1, memory.size), MISALIGNED)
        self.assertEqual(init_in(None, memory.size), NULL_POINTER)
        self.assertEqual(takt.takt_pid_init_in(memory.address, memory.size, byref(gains), None), NULL_POINTER)
        gains.form = 7
        self.assertEqual(init_in(memory.address, memory.size), BAD_ARGUMENT)
        self.assertIsNone(pid.value)
        for gains.form in range(7):
            self.assertEqual(init_in(memory.address, memory.size), OK)
            self.assertEqual(pid.value, memory.address)
            self.assertEqual(takt.takt_pid_create(byref(gains), byref(other)), OK)
            for k in range(100):
                self.assertEqual(takt.takt_pid_step(pid, 1, math.sin(k), 1_000_000, 0, byref(output)), OK)
                self.assertEqual(takt.takt_pid_step(other, 1, math.sin(k), 1_000_000, 0, byref(same)), OK)
                self.assertEqual(output.value, same.value)
            takt.takt_pid_destroy(other)
        self.assertTrue(memory.untouched_outside())

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
        initialise(limits)
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
        first_order, low_pass, high_pass, band_pass, notch = constants("FILTER", "FIRST_ORDER LOW_PASS HIGH_PASS BAND_PASS NOTCH")
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
        positions, velocities, efforts = constants("TRANSMISSION", "POSITIONS VELOCITIES EFFORTS")
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
