#!/usr/bin/env python3
"""A vehicle driven by takt.h alone: twists and odometry of the C API. It also drives a circle with `takt vehicle-sim` over
authenticated channels.

    vehicle_drive_test.py LIBRARY FURBOT [TAKT]

FURBOT is examples/robots/furbot.json.
"""

import json
import math
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from ctypes import byref, c_double, c_size_t, c_uint8, c_void_p, create_string_buffer

from bindings import (BAD_ARGUMENT, CONTROL_NOT_FINITE, CONTROL_OUT_OF_DOMAIN, MOBILE_NOT_FINITE,
                      MOBILE_NOT_POSITIVE, MOBILE_OUT_OF_DOMAIN, NULL_POINTER, OK, Pose, TIMEOUT, Twist,
                      WRONG_STRUCT_SIZE, constants, initialise, takt)
import furbot_peer as peer
from vehicle_bindings import DATAGRAM, LITTLE_ENDIAN, Counters, Estimate, Key, State, options, plain
from vehicle_rig import SECOND, Round, Udp, create, describe, drive_options, is_covariance, law, sigmas
from vehicle_programs import PATIENCE, Program

FURBOT = sys.argv[2]
TAKT = sys.argv[3] if len(sys.argv) > 3 else None
NOT_FINITE, OUT_OF_RANGE, UNKNOWN_SYSTEM, NOT_READY, STOPPED = constants(
    "ERROR_VEHICLE", "NOT_FINITE OUT_OF_RANGE UNKNOWN_SYSTEM NOT_READY STOPPED")
(BAD_DESCRIPTION,) = constants("ERROR_CAPI", "BAD_DESCRIPTION")
STARTING, READY, DRIVING, STOPPING, AT_STAND = constants("DRIVE", "STARTING READY DRIVING STOPPING STOPPED")
REQUESTED, SPEED_CONTRADICTED = constants("STOP_CAUSE", "REQUESTED SPEED_CONTRADICTED")
TRACTION, STEERING = constants("SYSTEM", "TRACTION STEERING")
(RUNNING,) = constants("SYSTEM_STATE", "RUNNING")
NEVER, AT_ONCE, MS = 2**63 - 1, -2**63, 1_000_000


class CovarianceTest(unittest.TestCase):
    def test_the_check_bites(self):
        self.assertTrue(is_covariance([0] * 9))
        self.assertTrue(is_covariance([1, 2, 0, 2, 4, 0, 0, 0, 0]))
        self.assertFalse(is_covariance([1, 2, 0, 2, 3.9, 0, 0, 0, 0]))
        self.assertFalse(is_covariance([1, 0.9, 0.9, 0.9, 1, -0.9, 0.9, -0.9, 1]))
        self.assertFalse(is_covariance([1, 0.1, 0, 0, 1, 0, 0, 0, 1]))
        self.assertFalse(is_covariance([1, 0, 0, 0, -1, 0, 0, 0, 1]))
        self.assertAlmostEqual(sigmas((2, 0, 3), [4, 0, 0, 0, 1, 0, 0, 0, 9]), math.sqrt(2))


class DriveTest(unittest.TestCase):
    """Tests without a vehicle."""

    def setUp(self):
        self.channel, self.drive = plain(), c_void_p()
        self.addCleanup(takt.takt_channel_destroy, self.channel)
        self.assertEqual(create(self.channel, self.drive), OK)
        self.addCleanup(takt.takt_vehicle_drive_destroy, self.drive)
        self.client = takt.takt_vehicle_drive_client(self.drive)

    def twist(self, *velocities, now=SECOND):
        return takt.takt_vehicle_drive_twist(self.drive, byref(Twist(*velocities)), now)

    def test_its_client_is_one_as_any_other(self):
        self.assertEqual(self.twist(1, 0, 0), NOT_READY)
        self.assertEqual(self.twist(1, 0, math.nan), NOT_FINITE)
        self.assertEqual(self.twist(math.inf, 0, 0), NOT_FINITE)
        state, out, size, now = initialise(State()), (c_uint8 * DATAGRAM)(), c_size_t(), SECOND
        self.assertEqual(takt.takt_vehicle_client_poll(self.client, now, out, DATAGRAM, byref(size)), OK)
        self.assertEqual(size.value, 20)
        self.assertEqual(takt.takt_vehicle_client_next_send_ns(self.client), now + 10 * MS)
        self.assertEqual(takt.takt_vehicle_client_stop(self.client, 0, now), OK)
        self.assertEqual(takt.takt_vehicle_client_get_state(self.client, byref(state)), OK)
        self.assertEqual((state.cause, state.category), (REQUESTED, 0))
        self.assertEqual(self.twist(1, 0, 0), STOPPED)
        self.assertNotEqual(takt.takt_vehicle_client_receive(self.client, b"x", 1, now), OK)
        counters = initialise(Counters())
        self.assertEqual(takt.takt_vehicle_client_get_counters(self.client, byref(counters)), OK)
        self.assertEqual((counters.received, counters.sent, counters.stops), (1, 1, 1))

    def test_any_time_is_borne(self):
        for now in (AT_ONCE, 0, NEVER, AT_ONCE, NEVER):
            self.assertNotEqual(self.twist(1, 0, 0, now=now), OK)

    def test_nothing_is_known_before_anything_was_heard(self):
        estimate = Estimate()
        self.assertEqual(takt.takt_vehicle_drive_estimate(self.drive, byref(estimate)), OK)
        self.assertEqual((estimate.stamp_ns, estimate.pose.x, estimate.twist.forward), (0, 0, 0))
        self.assertEqual(list(estimate.covariance), [0] * 9)

    def test_a_pose_comes_with_a_covariance_or_without(self):
        def set_pose(pose, covariance):
            return takt.takt_vehicle_drive_set_pose(self.drive, byref(Pose(*pose)), covariance)
        self.assertEqual(set_pose((1, 2, 3), None), OK)
        self.assertEqual(set_pose((1, 2, 3), (c_double * 9)(1, 0, 0, 0, 1, 0, 0, 0, 1)), OK)
        self.assertEqual(set_pose((1, math.nan, 3), None), MOBILE_NOT_FINITE)
        self.assertEqual(set_pose((1, 2, 3), (c_double * 9)(*[math.inf] * 9)), MOBILE_NOT_FINITE)
        self.assertEqual(set_pose((1, 2, 3), (c_double * 9)(1, 2, 0, 2, 1, 0, 0, 0, 1)), MOBILE_OUT_OF_DOMAIN)

    def test_bad_options_are_errors(self):
        drive = c_void_p()

        def error(*changes):
            return create(self.channel, drive, *changes)
        for size in (0, 8, 2**32 - 1):
            self.assertEqual(error({"struct_size": size}), WRONG_STRUCT_SIZE)
            self.assertEqual(error({}, {"struct_size": size}), WRONG_STRUCT_SIZE)
            self.assertEqual(error({}, {}, {"struct_size": size}), WRONG_STRUCT_SIZE)
            self.assertEqual(error({}, {}, {}, {"struct_size": size}), WRONG_STRUCT_SIZE)
        for change in ({"turn": 2}, {"turn": -1}, {"distance": 2}, {"reserved": 1}):
            self.assertEqual(error(change), BAD_ARGUMENT)
        self.assertEqual(error({}, {"on_fault": 3}), BAD_ARGUMENT)
        self.assertEqual(error({}, {}, {"reserved": 1}), BAD_ARGUMENT)
        self.assertEqual(error({}, {}, {}, {"reserved": 1}), BAD_ARGUMENT)
        for length in ("wheel_radius", "track"):
            self.assertEqual(error({length: math.nan}), MOBILE_NOT_FINITE)
            self.assertEqual(error({length: 0}), MOBILE_NOT_POSITIVE)
        self.assertEqual(error({"limits": type(drive_options().limits)()}), MOBILE_NOT_POSITIVE)
        self.assertEqual(error({}, {"required": 0xfff & ~(1 << TRACTION)}), OUT_OF_RANGE)
        self.assertEqual(error({}, {"max_throttle": math.nan}), NOT_FINITE)
        self.assertEqual(error({}, {}, {"wheelbase": math.nan}), CONTROL_NOT_FINITE)
        self.assertEqual(error({}, {}, {"max_steering": 2}), CONTROL_OUT_OF_DOMAIN)
        self.assertEqual(error({}, {}, {}, {"forward_per_distance": -1}), MOBILE_OUT_OF_DOMAIN)
        self.assertIsNone(drive.value)

    def test_required_systems_of_a_description_can_be_others(self):
        description, drive, state = c_void_p(), c_void_p(), initialise(State())
        self.assertEqual(describe(description), OK)
        self.addCleanup(takt.takt_vehicle_description_destroy, description)
        for systems, error in ((0, BAD_ARGUMENT), (1 << STEERING, BAD_ARGUMENT), (1 << TRACTION | 1 << 20, UNKNOWN_SYSTEM)):
            self.assertEqual(takt.takt_vehicle_description_require(description, systems), error)
        self.assertEqual(takt.takt_vehicle_description_require(None, 1 << TRACTION), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_description_require(description, 1 << TRACTION), OK)
        self.assertEqual(takt.takt_vehicle_drive_create(description, self.channel, byref(drive)), OK)
        self.addCleanup(takt.takt_vehicle_drive_destroy, drive)
        frame = peer.encode_status(1, [(TRACTION, {**dict.fromkeys(peer.BLOCKS[TRACTION][2], 0), "state": 2})])
        client = takt.takt_vehicle_drive_client(drive)
        self.assertEqual(takt.takt_vehicle_client_receive(client, frame, len(frame), SECOND), OK)
        self.assertEqual(takt.takt_vehicle_client_get_state(client, byref(state)), OK)
        self.assertEqual(state.state, READY)

    def test_null_pointers_are_errors(self):
        description, drive, key = c_void_p(), c_void_p(), Key(1, (c_uint8 * 16)(*range(16)))
        good = [byref(drive_options()), byref(options()), byref(law()), None, None, byref(description)]
        for which in (0, 1, 2, 5):
            self.assertEqual(takt.takt_vehicle_description_create(*good[:which], None, *good[which + 1:]), NULL_POINTER)
        self.assertIsNone(description.value)
        self.assertEqual(takt.takt_vehicle_description_create(*good), OK)
        self.addCleanup(takt.takt_vehicle_description_destroy, description)
        for arguments in ((None, self.channel, byref(drive)), (description, None, byref(drive)), (description, self.channel, None)):
            self.assertEqual(takt.takt_vehicle_drive_create(*arguments), NULL_POINTER)
        other_end = c_void_p()
        self.assertEqual(takt.takt_channel_create_vehicle(byref(key), 1, None, byref(other_end)), OK)
        self.assertEqual(takt.takt_vehicle_drive_create(description, other_end, byref(drive)), BAD_ARGUMENT)
        takt.takt_channel_destroy(other_end)
        self.assertIsNone(drive.value)
        self.assertEqual(takt.takt_vehicle_drive_twist(self.drive, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_twist(None, byref(Twist()), 0), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_estimate(self.drive, None), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_estimate(None, byref(Estimate())), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_set_pose(self.drive, None, None), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_set_pose(None, byref(Pose()), None), NULL_POINTER)
        self.assertIsNone(takt.takt_vehicle_drive_client(None))
        takt.takt_vehicle_drive_options_init(None, 0)
        takt.takt_vehicle_drive_destroy(None)
        takt.takt_vehicle_description_destroy(None)


class SpeedTest(unittest.TestCase):
    """A vehicle whose wheels turn at 30 rpm: 0.94 m/s."""

    def driven(self, said, **changes):
        """The estimate and the state after half a second of frames and twists."""
        channel, drive, estimate, state = plain(), c_void_p(), Estimate(), initialise(State())
        self.assertEqual(create(channel, drive, {}, changes), OK)
        client = takt.takt_vehicle_drive_client(drive)
        for ms in range(1000, 1500, 10):
            frame = peer.steady_status(ms, RUNNING, left_speed=30, right_speed=30, **said)
            self.assertEqual(takt.takt_vehicle_client_receive(client, frame, len(frame), ms * MS), OK)
            takt.takt_vehicle_drive_twist(drive, byref(Twist(1, 0, 0)), ms * MS)
        self.assertEqual(takt.takt_vehicle_drive_estimate(drive, byref(estimate)), OK)
        self.assertEqual(takt.takt_vehicle_client_get_state(client, byref(state)), OK)
        takt.takt_vehicle_drive_destroy(drive)
        takt.takt_channel_destroy(channel)
        return estimate.twist.forward, state

    def test_without_a_sign_it_is_backwards_by_the_reverse_flag(self):
        backwards = {"speed": 94, "reverse": 1}
        self.assertAlmostEqual(self.driven(backwards, speed_is_magnitude=1)[0], -0.3 * math.pi)
        self.assertAlmostEqual(self.driven(backwards)[0], 0.3 * math.pi)
        self.assertAlmostEqual(self.driven({"speed": 94}, speed_is_magnitude=1)[0], 0.3 * math.pi)

    def test_one_that_is_not_that_of_the_wheels_stops_the_vehicle(self):
        self.assertEqual(self.driven({"speed": 94})[1].state, DRIVING)
        state = self.driven({"speed": 0})[1]
        self.assertEqual((state.state, state.cause, state.category), (STOPPING, SPEED_CONTRADICTED, 1))


class DescriptionTest(unittest.TestCase):
    def load(self, path, size=10000):
        """The status, the text, and whether a drive can be made."""
        description, drive, channel, text = c_void_p(), c_void_p(), plain(), create_string_buffer(size)
        failed = takt.takt_vehicle_description_load(os.fsencode(path), byref(description), text, size)
        made = takt.takt_vehicle_drive_create(description, channel, byref(drive)) == OK
        for destroy, handle in (("vehicle_drive", drive), ("vehicle_description", description), ("channel", channel)):
            getattr(takt, f"takt_{destroy}_destroy")(handle)
        return failed, text.value.decode().splitlines(), made

    def test_one_from_a_file_says_what_is_a_guess(self):
        with open(FURBOT) as file:
            guesses = json.load(file)["provisional"]
        self.assertTrue(guesses)
        self.assertEqual(self.load(FURBOT), (OK, guesses, True))
        self.assertEqual(self.load(FURBOT, 5), (OK, [guesses[0][:4]], True))

    def test_mistakes_are_listed(self):
        with open(FURBOT) as file:
            furbot = json.load(file)
        furbot["wheelbase"], furbot["colour"] = -1, "red"
        with tempfile.NamedTemporaryFile("w") as file:
            json.dump(furbot, file)
            file.flush()
            failed, mistakes, made = self.load(file.name)
        self.assertEqual((failed, made, len(mistakes)), (BAD_DESCRIPTION, False, 2))
        self.assertTrue(any("/wheelbase" in mistake for mistake in mistakes) and any("colour" in mistake for mistake in mistakes))
        self.assertEqual(self.load("/nowhere")[0], BAD_DESCRIPTION)
        text = create_string_buffer(b"left from before", 100)
        self.assertEqual(takt.takt_vehicle_description_load(None, byref(c_void_p()), text, 100), NULL_POINTER)
        self.assertEqual(text.value, takt.takt_status_text(NULL_POINTER))
        self.assertEqual(takt.takt_vehicle_description_load(os.fsencode(FURBOT), None, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_description_load(b"/nowhere", byref(c_void_p()), None, 0), BAD_DESCRIPTION)


class Commander:
    """A program that drives a vehicle: a socket, a key, a drive, and the loop of the manual."""

    def __init__(self, key_file, peer_port):
        self.socket, self.channel, self.drive, key = Udp(peer_port), c_void_p(), c_void_p(), Key()
        assert self.socket.status == OK, self.socket.why.value
        assert takt.takt_channel_key_read(key_file.encode(), 1, byref(key), None, 0) == OK
        assert takt.takt_channel_create_commander(byref(key), None, byref(self.channel)) == OK
        assert create(self.channel, self.drive, {}, {"byte_order": LITTLE_ENDIAN}) == OK  # as the description that ships
        self.client, self.out, self.size = takt.takt_vehicle_drive_client(self.drive), (c_uint8 * DATAGRAM)(), c_size_t()
        self.covariances_are_some = True

    def close(self):
        takt.takt_vehicle_drive_destroy(self.drive)
        takt.takt_channel_destroy(self.channel)
        self.socket.close()

    def exchange(self):
        """Waits until the next frame is due or a datagram arrives."""
        now, due = time.monotonic_ns(), takt.takt_vehicle_client_next_send_ns(self.client)
        datagram = self.socket.receive(min(max(due - now, 0), 10 * MS))
        now = time.monotonic_ns()
        if datagram != TIMEOUT:
            takt.takt_vehicle_client_receive(self.client, datagram, len(datagram), now)
        while takt.takt_vehicle_client_poll(self.client, now, self.out, DATAGRAM, byref(self.size)) == OK and self.size.value > 0:
            self.socket.send(bytes(self.out[:self.size.value]))

    def twist(self, twist):
        return takt.takt_vehicle_drive_twist(self.drive, byref(twist), time.monotonic_ns())

    def estimate(self):
        estimate = Estimate()
        assert takt.takt_vehicle_drive_estimate(self.drive, byref(estimate)) == OK
        self.covariances_are_some = self.covariances_are_some and is_covariance(list(estimate.covariance))
        return estimate

    def state(self):
        state = initialise(State())
        assert takt.takt_vehicle_client_get_state(self.client, byref(state)) == OK
        return state

    def stop(self):
        return takt.takt_vehicle_client_stop(self.client, 1, time.monotonic_ns())

    def recover(self):
        return takt.takt_vehicle_client_recover(self.client, time.monotonic_ns())


@unittest.skipIf(TAKT is None, "the program takt is not built")
class LapTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        key, log = os.path.join(folder.name, "vehicle.key"), os.path.join(folder.name, "true.csv")
        subprocess.run([TAKT, "key", "--bytes", "16", key], check=True)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        self.commander = Commander(key, port)
        self.addCleanup(self.commander.close)
        self.vehicle = Program(log, TAKT, "vehicle-sim", "--key", key, "--log", log, "--local", f"127.0.0.1:{port}",
                               "--peer", f"127.0.0.1:{self.commander.socket.port()}")
        self.addCleanup(self.vehicle.end)

    def drive_until(self, condition, twist):
        """Gives the twist every 20 ms. If a busy machine stops the vehicle, it restarts it, as a person would."""
        commander, deadline, cycle = self.commander, time.monotonic() + 3 * PATIENCE, time.monotonic_ns()
        while not condition():
            self.assertLess(time.monotonic(), deadline, commander.state().cause)
            commander.exchange()
            state = commander.state().state
            if time.monotonic_ns() < cycle:
                continue
            cycle = time.monotonic_ns() + 20 * MS
            if state in (READY, DRIVING):
                commander.twist(twist())
            elif state == AT_STAND:
                self.go_on()

    def go_on(self):
        """Restarts both ends; tells whether the commander recovers."""
        self.vehicle.type("recover\n")
        return self.commander.recover() == OK

    def standing(self):
        return abs(self.commander.estimate().twist.forward) < 0.01

    def test_round_and_home_within_the_covariance(self):
        commander, lap = self.commander, Round()

        def twist():
            return lap.twist(commander.estimate().pose)
        self.drive_until(lambda: lap.angle > math.pi, twist)

        self.assertEqual(commander.stop(), OK)
        self.assertEqual(commander.state().category, 1)
        deadline = time.monotonic() + PATIENCE
        while not (commander.state().state == AT_STAND and self.go_on()):
            self.assertEqual(commander.twist(Twist(1, 0, 0)), STOPPED)
            self.assertLess(time.monotonic(), deadline)
            commander.exchange()
        self.assertEqual(commander.state().state, READY)
        self.assertTrue(self.standing())
        half = commander.estimate().pose

        self.drive_until(lambda: lap.arrived() and self.standing(), twist)
        for _ in range(50):  # frames that it sent at standstill
            commander.exchange()
        known = commander.estimate()
        self.vehicle.end()
        last, covariance = self.vehicle.rows()[-1], list(known.covariance)
        self.assertEqual(last["speed"], 0)
        truth = [last[name] for name in ("x", "y", "heading")]
        self.assertTrue(commander.covariances_are_some)
        self.assertAlmostEqual(math.hypot(half.x, half.y - 2 * lap.radius), 0, delta=1.5)
        off = (known.pose.x - truth[0], known.pose.y - truth[1], math.remainder(known.pose.heading - truth[2], 2 * math.pi))
        self.assertLess(sigmas(off, covariance), 3)
        home = (truth[0], truth[1], math.remainder(truth[2], 2 * math.pi))
        self.assertLess(math.hypot(*home[:2]), 0.01 * 2 * math.pi * lap.radius)
        self.assertLess(abs(home[2]), 0.05)
        self.assertGreater(min(covariance[0], covariance[4], covariance[8]), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
