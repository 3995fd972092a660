#!/usr/bin/env python3
"""A drive and a simulated vehicle of the C API on one simulated clock.

    sim_test.py LIBRARY
"""

import math
import sys
import unittest
from ctypes import byref, c_size_t, c_uint8, c_void_p

from bindings import BAD_ARGUMENT, NULL_POINTER, OK, Twist, WRONG_STRUCT_SIZE, constants, initialise, takt
from vehicle_bindings import Counters, Estimate, Faults, Key, State, Truth, commander, options
from vehicle_rig import SECOND, Round, changed, describe, is_covariance, sigmas
from vehicle_programs import PATIENCE

NO_ROOM, OUT_OF_RANGE = constants("ERROR_VEHICLE", "NO_ROOM OUT_OF_RANGE")
(BAD_VEHICLE,) = constants("ERROR_SIM", "BAD_VEHICLE")
DRIVING, STOPPING = constants("DRIVE", "DRIVING STOPPING")
SILENT, NOT_RUNNING = constants("STOP_CAUSE", "TELEMETRY_SILENT SYSTEM_NOT_RUNNING")
RUNNING, HALTED = constants("SYSTEM_STATE", "RUNNING HALTED")
(TRACTION,) = constants("SYSTEM", "TRACTION")
(SIMULATED_DATAGRAM,) = constants("SIMULATED_VEHICLE", "DATAGRAM")
MS, NEVER, AT_ONCE = 1_000_000, 2**63 - 1, -2**63


class SimulatedTest(unittest.TestCase):
    """A drive and a vehicle with authenticated channels."""

    def setUp(self):
        self.near, self.far, key = commander(), c_void_p(), Key(1, (c_uint8 * 16)(*range(16)))
        self.assertEqual(takt.takt_channel_create_vehicle(byref(key), 1, None, byref(self.far)), OK)
        self.drive, self.vehicle, self.description, self.ms = c_void_p(), c_void_p(), c_void_p(), 0
        self.assertEqual(describe(self.description), OK)
        self.assertEqual(takt.takt_vehicle_drive_create(self.description, self.near, byref(self.drive)), OK)
        self.assertEqual(takt.takt_simulated_vehicle_create(self.description, self.far, 7, 0, byref(self.vehicle)), OK)
        for destroy, handle in (("vehicle_description", self.description), ("channel", self.far), ("channel", self.near),
                                ("vehicle_drive", self.drive), ("simulated_vehicle", self.vehicle)):
            self.addCleanup(getattr(takt, f"takt_{destroy}_destroy"), handle)
        self.client = takt.takt_vehicle_drive_client(self.drive)

    def exchange(self, milliseconds, twist=None):
        """Runs; gives a twist every 20 ms, if there is one."""
        out, size = (c_uint8 * SIMULATED_DATAGRAM)(), c_size_t()
        for _ in range(milliseconds):
            self.ms += 1
            now = self.ms * MS
            if twist and self.ms % 20 == 0:
                takt.takt_vehicle_drive_twist(self.drive, byref(twist(self.estimate().pose)), now)
            for poll, end, receive, other in ((takt.takt_vehicle_client_poll, self.client, takt.takt_simulated_vehicle_receive,
                                               self.vehicle),
                                              (takt.takt_simulated_vehicle_poll, self.vehicle, takt.takt_vehicle_client_receive,
                                               self.client)):
                while poll(end, now, out, len(out), byref(size)) == OK and size.value > 0:
                    receive(other, bytes(out[:size.value]), size.value, now)

    def estimate(self):
        estimate = Estimate()
        self.assertEqual(takt.takt_vehicle_drive_estimate(self.drive, byref(estimate)), OK)
        return estimate

    def state(self):
        state = initialise(State())
        self.assertEqual(takt.takt_vehicle_client_get_state(self.client, byref(state)), OK)
        return state

    def truth(self):
        truth = initialise(Truth())
        self.assertEqual(takt.takt_simulated_vehicle_get_state(self.vehicle, byref(truth)), OK)
        return truth

    def test_a_lap_in_no_time(self):
        lap, covariances_are_some = Round(), True
        while not lap.arrived() and self.ms < PATIENCE * 1000:
            self.exchange(100, lap.twist)
            covariances_are_some = covariances_are_some and is_covariance(list(self.estimate().covariance))
        self.exchange(2000, lap.twist)
        truth, known = self.truth(), self.estimate()
        self.assertTrue(covariances_are_some)
        self.assertEqual((truth.twist.forward, truth.halts), (0, 0))
        self.assertAlmostEqual(truth.travelled, 2 * math.pi * lap.radius, delta=0.5)
        off = (known.pose.x - truth.pose.x, known.pose.y - truth.pose.y,
               math.remainder(known.pose.heading - truth.pose.heading, 2 * math.pi))
        self.assertLess(sigmas(off, list(known.covariance)), 3)
        self.assertLess(math.hypot(truth.pose.x, truth.pose.y), 0.01 * truth.travelled)

    def test_what_is_broken_is_seen(self):
        def set_faults(**changes):
            return takt.takt_simulated_vehicle_set_faults(self.vehicle, byref(changed(initialise(Faults()), changes)))
        self.exchange(5000, lambda pose: Twist(1, 0, 0))
        self.assertEqual((self.state().state, self.truth().state), (DRIVING, RUNNING))
        self.assertEqual(set_faults(silent=1), OK)
        self.exchange(200)
        self.assertEqual((self.state().state, self.state().cause), (STOPPING, SILENT))
        self.assertEqual(set_faults(), OK)
        self.exchange(6000)
        self.assertEqual(takt.takt_vehicle_client_recover(self.client, self.ms * MS), OK)
        self.assertEqual(set_faults(halted=1 << TRACTION), OK)
        self.exchange(50)
        self.assertEqual((self.state().cause, self.state().system), (NOT_RUNNING, TRACTION))
        self.assertEqual(set_faults(lost=0.5), OK)
        self.exchange(1000)
        counters = initialise(Counters())
        self.assertEqual(takt.takt_vehicle_client_get_counters(self.client, byref(counters)), OK)
        self.assertGreater(counters.lost, 20)
        for changes in ({"lost": math.nan}, {"corrupt": 1.1}, {"wrong_length": -1}, {"late_ns": -1}, {"late_ns": SECOND}, {"reserved": 1}):
            self.assertEqual(set_faults(**changes), BAD_ARGUMENT)

    def test_without_control_frames_it_halts_until_somebody_looks_after_it(self):
        self.exchange(5000)
        out, size = (c_uint8 * SIMULATED_DATAGRAM)(), c_size_t()
        self.ms += 1000
        while takt.takt_simulated_vehicle_poll(self.vehicle, self.ms * MS, out, len(out), byref(size)) == OK and size.value > 0:
            pass
        self.assertEqual((self.truth().state, self.truth().halts), (HALTED, 1))
        takt.takt_simulated_vehicle_recover(self.vehicle)
        self.exchange(1000)
        self.assertEqual(self.truth().state, RUNNING)

    def test_any_time_is_borne_and_bad_arguments_are_errors(self):
        out, size, vehicle = (c_uint8 * SIMULATED_DATAGRAM)(), c_size_t(), c_void_p()
        for now in (AT_ONCE, 0, NEVER, AT_ONCE):
            self.assertEqual(takt.takt_simulated_vehicle_poll(self.vehicle, now, out, len(out), byref(size)), OK)
        self.assertEqual(takt.takt_simulated_vehicle_poll(self.vehicle, 0, out, len(out) - 1, byref(size)), NO_ROOM)
        self.assertNotEqual(takt.takt_simulated_vehicle_receive(self.vehicle, b"x", 1, 0), OK)
        self.assertEqual(self.truth().refused, 1)
        good = [self.description, self.far, 1, 0, byref(vehicle)]
        for which in (0, 1, 4):
            self.assertEqual(takt.takt_simulated_vehicle_create(*good[:which], None, *good[which + 1:]), NULL_POINTER)
        self.assertEqual(takt.takt_simulated_vehicle_create(self.description, self.near, 1, 0, byref(vehicle)), BAD_ARGUMENT)
        for changes, error in ((({"wheel_radius": -1},), BAD_VEHICLE), (({"track": math.nan},), BAD_VEHICLE),
                               (({}, {"units": type(options().units)()}), OUT_OF_RANGE),
                               (({}, {"status_period_ns": 20 * MS}), BAD_ARGUMENT)):
            other = c_void_p()
            self.assertEqual(describe(other, *changes), OK)
            self.assertEqual(takt.takt_simulated_vehicle_create(other, self.far, 1, 0, byref(vehicle)), error)
            takt.takt_vehicle_description_destroy(other)
        self.assertIsNone(vehicle.value)
        for call in (takt.takt_simulated_vehicle_receive(None, b"x", 1, 0),
                     takt.takt_simulated_vehicle_receive(self.vehicle, None, 1, 0),
                     takt.takt_simulated_vehicle_poll(None, 0, out, 1, byref(size)),
                     takt.takt_simulated_vehicle_poll(self.vehicle, 0, None, 1, byref(size)),
                     takt.takt_simulated_vehicle_poll(self.vehicle, 0, out, 1, None),
                     takt.takt_simulated_vehicle_set_faults(None, byref(initialise(Faults()))),
                     takt.takt_simulated_vehicle_set_faults(self.vehicle, None),
                     takt.takt_simulated_vehicle_get_state(None, byref(initialise(Truth()))),
                     takt.takt_simulated_vehicle_get_state(self.vehicle, None)):
            self.assertEqual(call, NULL_POINTER)
        self.assertEqual(takt.takt_simulated_vehicle_set_faults(self.vehicle, byref(Faults())), WRONG_STRUCT_SIZE)
        self.assertEqual(takt.takt_simulated_vehicle_get_state(self.vehicle, byref(Truth())), WRONG_STRUCT_SIZE)
        self.assertEqual(takt.takt_simulated_vehicle_next_send_ns(None), NEVER)
        takt.takt_simulated_vehicle_recover(None)
        takt.takt_simulated_vehicle_destroy(None)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
