#!/usr/bin/env python3
"""The law from twists to pedals and steering of the C API, from Python.

    twist_law_test.py LIBRARY
"""

import math
import sys
import unittest
from ctypes import byref, c_void_p

from bindings import *  # the library, named in the first argument, and its structures


class TwistLawTest(unittest.TestCase):
    def test_a_vehicle_drives_and_stops(self):
        options, law, command = TwistLawOptions(), c_void_p(), DriveCommand()
        initialise(options)
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
