#!/usr/bin/env python3
"""Drive kinematics and odometry of the C API, from Python.

    mobile_test.py LIBRARY
"""

import math
import sys
import unittest
from ctypes import byref, c_double, c_int32, c_void_p

from bindings import *  # the library, named in the first argument, and its structures


class DriveTest(unittest.TestCase):
    def test_the_twist_of_a_drive_is_read_back_from_its_wheels(self):
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
        # Mecanum wheels by the formula of the field.
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
        initialise(options)
        options.forward_per_distance = options.heading_per_distance = 1e-4
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
