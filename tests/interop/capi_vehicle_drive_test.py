#!/usr/bin/env python3
"""A vehicle driven by takt.h alone: twists, odometry and UDP sockets of the C API; and round a circle, with `takt vehicle-sim` on the
other side of a wire on which both believe nobody but each other.

    capi_vehicle_drive_test.py LIBRARY [TAKT]
"""

import itertools
import math
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from ctypes import byref, c_double, c_size_t, c_uint8, c_void_p, create_string_buffer

from capi_bindings import (BAD_ARGUMENT, CONTROL_NOT_FINITE, CONTROL_OUT_OF_DOMAIN, MOBILE_NOT_FINITE, MOBILE_NOT_POSITIVE,
                           MOBILE_OUT_OF_DOMAIN, NULL_POINTER, OK, TIMEOUT, WRONG_STRUCT_SIZE, OdometryOptions, Pose, Twist,
                           TwistLawOptions, status, takt)
from capi_vehicle_bindings import (DATAGRAM, Counters, DriveOptions, Estimate, Key, State, UdpCounters, UdpDatagram, UdpOptions,
                                   options, plain)
from vehicle_programs import PATIENCE, Program

NOT_FINITE, OUT_OF_RANGE, NOT_READY, STOPPED = (status(6, code) for code in (13, 11, 41, 42))
SEND_FAILED, BAD_ADDRESS, UDP_FAILED = (status(15, code) for code in (4, 24, 25))
STARTING, READY, DRIVING, STOPPING, AT_STAND = range(5)
BY_STEERING = BY_ODOMETER = 1
TOLD, TRACTION, BATCH, NEVER, AT_ONCE = 1, 3, 32, 2**63 - 1, -2**63
MS, SECOND = 1_000_000, 1_000_000_000
TAKT = sys.argv[2] if len(sys.argv) > 2 else None


def initialised(structure):
    names = {DriveOptions: "vehicle_drive_options", TwistLawOptions: "twist_law_options", OdometryOptions: "odometry_options",
             State: "vehicle_client_state", Counters: "vehicle_client_counters", UdpOptions: "udp_options",
             UdpCounters: "udp_counters"}
    made = structure()
    getattr(takt, f"takt_{names[structure]}_init")(byref(made))
    return made


def drive_options():
    made = initialised(DriveOptions)
    limits = made.limits
    limits.forward = limits.backward = limits.acceleration = limits.braking = limits.rotational_acceleration = 2
    limits.left = math.inf
    limits.rotation = 1
    made.wheel_radius, made.track, made.turn, made.way = 0.3, 1.285, BY_STEERING, BY_ODOMETER
    return made


def law():
    made = initialised(TwistLawOptions)
    made.wheelbase, made.max_steering, made.steering_rate = 1.6, 0.5, 0.8
    made.throttle[:], made.brake[:] = (0.4, 0.15, 0), (0.5, 0.2, 0)
    return made


def odometry():
    made = initialised(OdometryOptions)
    made.timeout_ns = 5 * SECOND
    made.forward_by_way = made.left_by_way = 1e-4
    made.heading_by_way = 1e-5
    return made


def changed(made, changes):
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def create(channel, drive, drive_changes={}, client_changes={}, law_changes={}, odometry_changes={}):
    return takt.takt_vehicle_drive_create(
        byref(changed(drive_options(), drive_changes)), byref(options(**client_changes)), byref(changed(law(), law_changes)),
        byref(changed(odometry(), odometry_changes)), None, channel, byref(drive))


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    return sum((-1) ** column * m[0][column] * determinant([row[:column] + row[column + 1:] for row in m[1:]])
               for column in range(len(m)))


def is_covariance(c):
    """Symmetric, and no principal minor of the correlations is below zero, but for rounding: that is what positive semi-definite
    means. Nine numbers, row by row."""
    c = [list(c[3 * row:3 * row + 3]) for row in range(3)]
    if any(not math.isfinite(x) for row in c for x in row) or any(c[i][i] < 0 for i in range(3)):
        return False
    scale = [math.sqrt(c[i][i]) or 1.0 for i in range(3)]
    r = [[c[i][j] / scale[i] / scale[j] for j in range(3)] for i in range(3)]
    chosen = (kept for size in (1, 2, 3) for kept in itertools.combinations(range(3), size))
    return all(c[i][j] == c[j][i] for i in range(3) for j in range(3)) and all(
        determinant([[r[i][j] for j in kept] for i in kept]) >= -1e-9 for kept in chosen)


def sigmas(off, covariance):
    """How many standard deviations (x, y, heading) is off: the solution of covariance s = off by Cramer's rule."""
    c = [list(covariance[3 * row:3 * row + 3]) for row in range(3)]
    whole = determinant(c)
    solved = [determinant([[off[i] if j == k else c[i][j] for j in range(3)] for i in range(3)]) / whole for k in range(3)]
    return math.sqrt(sum(a * b for a, b in zip(off, solved)))


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
    """Without a vehicle."""

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
        state, out, size, now = initialised(State), (c_uint8 * DATAGRAM)(), c_size_t(), SECOND
        self.assertEqual(takt.takt_vehicle_client_poll(self.client, now, out, DATAGRAM, byref(size)), OK)
        self.assertEqual(size.value, 20)
        self.assertEqual(takt.takt_vehicle_client_next_send_ns(self.client), now + 10 * MS)
        self.assertEqual(takt.takt_vehicle_client_stop(self.client, 0, now), OK)
        self.assertEqual(takt.takt_vehicle_client_get_state(self.client, byref(state)), OK)
        self.assertEqual((state.cause, state.category), (TOLD, 0))
        self.assertEqual(self.twist(1, 0, 0), STOPPED)
        self.assertNotEqual(takt.takt_vehicle_client_receive(self.client, b"x", 1, now), OK)
        counters = initialised(Counters)
        self.assertEqual(takt.takt_vehicle_client_get_counters(self.client, byref(counters)), OK)
        self.assertEqual((counters.received, counters.sent, counters.stops), (1, 1, 1))

    def test_any_time_is_borne(self):
        for now in (AT_ONCE, 0, NEVER, AT_ONCE, NEVER):
            self.assertNotEqual(self.twist(1, 0, 0, now=now), OK)

    def test_nothing_is_known_before_anything_was_heard(self):
        estimate = Estimate()
        self.assertEqual(takt.takt_vehicle_drive_estimate(self.drive, byref(estimate)), OK)
        self.assertEqual((estimate.stamp_ns, estimate.pose.x, estimate.twist.forward, list(estimate.covariance)), (0, 0, 0, [0] * 9))

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
        for change in ({"turn": 2}, {"turn": -1}, {"way": 2}, {"reserved": 1}):
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
        self.assertEqual(error({}, {}, {}, {"forward_by_way": -1}), MOBILE_OUT_OF_DOMAIN)
        self.assertIsNone(drive.value)

    def test_null_pointers_are_errors(self):
        drive, key = c_void_p(), Key(1, (c_uint8 * 16)(*range(16)))
        good = [byref(drive_options()), byref(options()), byref(law()), None, None, self.channel, byref(drive)]
        for which in (0, 1, 2, 5, 6):
            self.assertEqual(takt.takt_vehicle_drive_create(*good[:which], None, *good[which + 1:]), NULL_POINTER)
        other_end = c_void_p()
        self.assertEqual(takt.takt_channel_create_vehicle(byref(key), 1, None, byref(other_end)), OK)
        self.assertEqual(takt.takt_vehicle_drive_create(*good[:5], other_end, byref(drive)), BAD_ARGUMENT)
        takt.takt_channel_destroy(other_end)
        self.assertIsNone(drive.value)
        self.assertEqual(takt.takt_vehicle_drive_twist(self.drive, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_twist(None, byref(Twist()), 0), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_estimate(self.drive, None), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_estimate(None, byref(Estimate())), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_set_pose(self.drive, None, None), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_drive_set_pose(None, byref(Pose()), None), NULL_POINTER)
        self.assertIsNone(takt.takt_vehicle_drive_client(None))
        takt.takt_vehicle_drive_options_init(None)
        takt.takt_vehicle_drive_destroy(None)


class Udp:
    """A socket of the library's to a port of 127.0.0.1."""

    def __init__(self, port, **changes):
        self.handle, self.why = c_void_p(), create_string_buffer(200)
        self.options = changed(initialised(UdpOptions), {"peer_port": port, **changes})
        self.status = takt.takt_udp_open(byref(self.options), byref(self.handle), self.why, len(self.why))

    def close(self):
        takt.takt_udp_close(self.handle)

    def port(self):
        return takt.takt_udp_local_port(self.handle)

    def send(self, datagram):
        return takt.takt_udp_send(self.handle, datagram, len(datagram))

    def receive(self, timeout_ns=PATIENCE * SECOND, size=1024):
        """The datagram, or why there is none."""
        buffer, came = create_string_buffer(max(size, 1)), c_size_t()
        failed = takt.takt_udp_receive(self.handle, timeout_ns, buffer, size, byref(came))
        return buffer.raw[:came.value] if failed == OK else failed

    def counters(self):
        counters = initialised(UdpCounters)
        assert takt.takt_udp_get_counters(self.handle, byref(counters)) == OK
        return counters


class UdpTest(unittest.TestCase):
    def setUp(self):
        self.peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.peer.close)
        self.peer.bind(("127.0.0.1", 0))
        self.peer.settimeout(PATIENCE)
        self.socket = Udp(self.peer.getsockname()[1])
        self.assertEqual(self.socket.status, OK)
        self.addCleanup(self.socket.close)

    def give(self, *datagrams):
        for datagram in datagrams:
            self.peer.sendto(datagram, ("127.0.0.1", self.socket.port()))

    def test_datagrams_go_both_ways(self):
        for datagram in (b"twelve bytes", b"", bytes(range(256)) * 4):
            self.assertEqual(self.socket.send(datagram), OK)
            self.assertEqual(self.peer.recvfrom(2000), (datagram, ("127.0.0.1", self.socket.port())))
            self.give(datagram)
            self.assertEqual(self.socket.receive(), datagram)
        self.assertEqual(self.socket.receive(0), TIMEOUT)
        self.assertEqual(self.socket.receive(AT_ONCE), TIMEOUT)
        self.assertEqual(self.socket.receive(MS), TIMEOUT)
        counters = self.socket.counters()
        self.assertEqual((counters.sent, counters.received, counters.refused, counters.dropped), (3, 3, 0, 0))

    def test_strangers_are_not_heard(self):
        stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(stranger.close)
        stranger.sendto(b"stranger", ("127.0.0.1", self.socket.port()))
        self.give(b"peer")
        self.assertEqual(self.socket.receive(), b"peer")
        self.assertEqual(self.socket.receive(0), TIMEOUT)

    def test_what_does_not_fit_is_passed_over_and_counted(self):
        self.give(b"much too long", b"fits", b"")
        self.assertEqual(self.socket.receive(NEVER, 4), b"fits")
        self.assertEqual(self.socket.receive(NEVER, 0), b"")
        self.assertEqual(self.socket.counters().too_long, 1)
        self.assertEqual(self.socket.send(bytes(70000)), SEND_FAILED)
        self.assertEqual(self.socket.counters().refused, 1)

    def batch(self, count, size):
        buffers = [(c_uint8 * max(size, 1))() for _ in range(count)]
        return buffers, (UdpDatagram * max(count, 1))(*(UdpDatagram(buffer, size) for buffer in buffers))

    def test_a_batch_is_taken_at_once(self):
        sent = [bytes([number]) * (2 + number) for number in range(40)]
        self.give(*sent)
        buffers, datagrams = self.batch(40, 1000)
        came, got = c_size_t(), []
        while len(got) < 40:
            self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, NEVER, datagrams, 40, byref(came)), OK)
            self.assertIn(came.value, range(1, BATCH + 1))
            got += [bytes(one.buffer[:one.bytes]) for one in datagrams[:came.value]]
        self.assertEqual(got, sent)
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, 0, datagrams, 40, byref(came)), TIMEOUT)

    def test_of_a_batch_those_that_fit_come_first(self):
        self.give(b"a", b"long", b"b", b"long", b"c")
        buffers, datagrams = self.batch(8, 2)
        came = c_size_t()
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, NEVER, datagrams, 8, byref(came)), OK)
        self.assertEqual([bytes(one.buffer[:one.bytes]) for one in datagrams[:came.value]], [b"a", b"b", b"c"])
        addresses = {id(buffer) for buffer in buffers}
        self.assertEqual(len(addresses), 8)
        self.assertEqual(self.socket.counters().too_long, 2)

    def test_hostile_sizes_and_counts_are_borne(self):
        came, huge = c_size_t(), 2**64 - 1
        buffers, datagrams = self.batch(BATCH, 100)
        for one in datagrams:
            one.size = huge  # as a caller says who has 64 KiB: nothing longer comes
        self.give(b"one", b"two")
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, NEVER, datagrams, huge, byref(came)), OK)
        self.assertEqual(bytes(datagrams[0].buffer[:datagrams[0].bytes]), b"one")
        self.assertEqual(datagrams[0].size, 65536)
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, 0, datagrams, 0, byref(came)), BAD_ARGUMENT)
        while takt.takt_udp_receive_batch(self.socket.handle, 0, datagrams, BATCH, byref(came)) == OK:
            pass
        datagrams[31].buffer = None
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, 0, datagrams, BATCH, byref(came)), NULL_POINTER)

    def test_a_peer_that_is_not_there_is_counted(self):
        self.peer.close()
        self.assertEqual(self.socket.send(b"anybody?"), OK)
        deadline = time.monotonic() + PATIENCE
        while self.socket.counters().unreachable == 0 and time.monotonic() < deadline:
            self.assertEqual(self.socket.receive(MS), TIMEOUT)
        self.assertGreater(self.socket.counters().unreachable, 0)

    def test_others_can_wait_for_its_descriptor(self):
        self.give(b"x")
        readable, _, _ = select.select([takt.takt_udp_descriptor(self.socket.handle)], [], [], PATIENCE)
        self.assertTrue(readable)
        self.assertEqual(self.socket.receive(0), b"x")

    def test_it_says_why_it_cannot_be_opened(self):
        for changes, error, why in (({"local_address": b"localhost"}, BAD_ADDRESS, b"localhost"),
                                    ({"peer_address": b"1.2.3"}, BAD_ADDRESS, b"1.2.3"),
                                    ({"local_port": self.peer.getsockname()[1]}, UDP_FAILED, b"in use"),
                                    ({"local_address": b"192.0.2.1"}, UDP_FAILED, b"192.0.2.1"),
                                    ({"struct_size": 8}, WRONG_STRUCT_SIZE, b""),
                                    ({"reserved": 1}, BAD_ARGUMENT, b"")):
            refused = Udp(1, **changes)
            self.assertEqual(refused.status, error)
            self.assertIn(why, refused.why.value)
            self.assertIsNone(refused.handle.value)
        self.assertEqual(Udp(1, busy_poll=1, local_address=b"::1", peer_address=b"::1").status, OK)
        short = create_string_buffer(5)
        bad = changed(initialised(UdpOptions), {"peer_address": b"nobody"})
        self.assertEqual(takt.takt_udp_open(byref(bad), byref(c_void_p()), short, len(short)), BAD_ADDRESS)
        self.assertEqual(len(short.value), 4)

    def test_null_pointers_are_errors(self):
        handle, size, buffer, one = self.socket.handle, c_size_t(), create_string_buffer(4), UdpDatagram()
        self.assertEqual(takt.takt_udp_open(None, byref(c_void_p()), None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_udp_open(byref(initialised(UdpOptions)), None, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_udp_send(None, b"x", 1), NULL_POINTER)
        self.assertEqual(takt.takt_udp_send(handle, None, 1), NULL_POINTER)
        for arguments in ((None, 0, buffer, 4, byref(size)), (handle, 0, None, 4, byref(size)), (handle, 0, buffer, 4, None)):
            self.assertEqual(takt.takt_udp_receive(*arguments), NULL_POINTER)
        for arguments in ((None, 0, byref(one), 1, byref(size)), (handle, 0, None, 1, byref(size)), (handle, 0, byref(one), 1, None)):
            self.assertEqual(takt.takt_udp_receive_batch(*arguments), NULL_POINTER)
        self.assertEqual(takt.takt_udp_get_counters(None, byref(initialised(UdpCounters))), NULL_POINTER)
        self.assertEqual(takt.takt_udp_get_counters(handle, None), NULL_POINTER)
        self.assertEqual(takt.takt_udp_get_counters(handle, byref(UdpCounters())), WRONG_STRUCT_SIZE)
        self.assertEqual((takt.takt_udp_local_port(None), takt.takt_udp_descriptor(None)), (0, -1))
        takt.takt_udp_options_init(None)
        takt.takt_udp_counters_init(None)
        takt.takt_udp_close(None)


class Round:
    """Twists that lead once round a circle to the left, each on the arc through a point a little ahead (pure pursuit)."""
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


class Commander:
    """What a program in Python does to drive a vehicle: a socket, a key, a drive, and the loop of the manual."""

    def __init__(self, key_file, peer_port):
        self.socket, self.channel, self.drive, key = Udp(peer_port), c_void_p(), c_void_p(), Key()
        assert self.socket.status == OK, self.socket.why.value
        assert takt.takt_channel_key_read(key_file.encode(), 1, byref(key), None, 0) == OK
        assert takt.takt_channel_create_commander(byref(key), None, byref(self.channel)) == OK
        assert create(self.channel, self.drive) == OK
        self.client, self.out, self.size = takt.takt_vehicle_drive_client(self.drive), (c_uint8 * DATAGRAM)(), c_size_t()
        self.covariances_are_some = True

    def close(self):
        takt.takt_vehicle_drive_destroy(self.drive)
        takt.takt_channel_destroy(self.channel)
        self.socket.close()

    def exchange(self):
        """Until the next frame is due, or one came."""
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
        state = initialised(State)
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
        subprocess.run([TAKT, "key", key], check=True)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        self.commander = Commander(key, port)
        self.addCleanup(self.commander.close)
        self.vehicle = Program(log, TAKT, "vehicle-sim", "--key", key, "--log", log, "--local", f"127.0.0.1:{port}",
                               "--peer", f"127.0.0.1:{self.commander.socket.port()}")
        self.addCleanup(self.vehicle.end)

    def drive_until(self, condition, twist):
        """With the twist that is asked for each 20 ms. A machine that is too busy for a while has the vehicle stopped: then it is
        let go on, as people would."""
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
        """Both ends are told to; whether the one that commands does."""
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
        for _ in range(50):  # what it said when it stood
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
