#!/usr/bin/env python3
"""The publications of takt drive, read by another process by their schemas, compared with the true pose of the simulated vehicle.

    drive_test.py LIBRARY TAKT
"""
import bisect
import json
import math
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from ctypes import byref, c_int32, c_void_p, create_string_buffer

from bindings import *  # the library, named in the first argument, and its structures
from vehicle_programs import PATIENCE, Program, links, wait_for

TAKT = sys.argv[2]
ODOMETRY = b"stamp i64, pose.x f64, pose.y f64, pose.heading f64, twist.forward f64, twist.left f64, twist.rotation f64, covariance f64[9]"
VEHICLE = b"stamp i64, heard i64, charge f64, state u8, cause u8, _ u8[6]"
DRIVING, STOPPED = constants("DRIVE", "DRIVING STOPPED")
(REQUESTED,) = constants("STOP_CAUSE", "REQUESTED")
TWISTS = "0 1 0\n3 1 0.3\n9 1 -0.3\n12 0 0\n1000 0 0\n"


def made(create, *arguments):
    handle = c_void_p()
    result = create(*arguments, byref(handle))
    if result != OK:
        raise ValueError(takt.takt_status_text(result).decode())
    return handle


class Reader:
    """Reader of a latest value, which Python's struct unpacks."""

    def __init__(self, segment, name, schema, form):
        self.form = form
        self.end = made(takt.takt_value_reader_create, segment, name, schema)

    def read(self):
        """The numbers and their freshness; nothing before the first."""
        value, freshness = create_string_buffer(struct.calcsize(self.form)), c_int32()
        assert takt.takt_value_reader_read(self.end, value, len(value), byref(freshness)) == OK
        return None if freshness.value == NONE else (struct.unpack(self.form, value.raw), freshness.value == NEW)

    def close(self):
        takt.takt_value_reader_destroy(self.end)


class PublishedDriveTest(unittest.TestCase):
    def setUp(self):
        self.name = f"takt-drive-{os.getpid()}"
        self.addCleanup(takt.takt_segment_remove, self.name.encode())
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        true, known, twists = (os.path.join(folder.name, name) for name in ("true.csv", "known.csv", "twists"))
        with open(twists, "w") as file:
            file.write(TWISTS)
        self.near, far = links()
        self.vehicle = Program(true, TAKT, "vehicle-sim", "--plain", "--log", true, *far)
        self.addCleanup(self.vehicle.end)
        self.driver = Program(known, TAKT, "drive", "--plain", "--twists", twists, "--log", known, "--publish", self.name,
                              *self.near)
        self.addCleanup(self.driver.end)
        self.driver.wait_until(lambda row: True, "it drives")
        self.segment = made(takt.takt_segment_open, self.name.encode())
        self.addCleanup(takt.takt_segment_close, self.segment)
        self.odometry = Reader(self.segment, b"odometry", ODOMETRY, "<q6d9d")
        self.addCleanup(self.odometry.close)
        self.status = Reader(self.segment, b"vehicle", VEHICLE, "<qqdBB6x")
        self.addCleanup(self.status.close)

    def go_on(self):
        """The status of a vehicle that drives. On a busy machine it stops and is restarted."""
        found = self.status.read()
        if found and found[0][3] == STOPPED:
            self.vehicle.type("recover\n")
            self.driver.type("r")
        return found[0] if found and found[0][3] == DRIVING else None

    def check_true(self, estimates):
        """Checks that the vehicle was near the published position at about that time, within some cycles of the
        simulation."""
        rows = self.vehicle.rows()
        times = [row["time"] for row in rows]
        for stamp, x, y, heading, *_ in estimates:
            at = bisect.bisect(times, stamp * 1e-9)
            then = rows[max(at - 20, 0):at + 20]
            away = min(math.hypot(row["x"] - x, row["y"] - y) + abs(row["heading"] - heading) for row in then)
            self.assertLess(away, 0.15)

    def check_gone(self):
        """The reader goes on with what was said last; the slots show that the writer is gone."""
        first, _ = self.odometry.read()
        self.assertEqual(self.odometry.read(), (first, False))
        inspected = json.loads(subprocess.run([TAKT, "shm", "inspect", self.name, "--json"], check=True,
                                              capture_output=True).stdout)
        alive = {owner_slot["place"]: owner_slot["alive"] for owner_slot in inspected["owner_slots"]}
        self.assertEqual(alive, {"segment": False, "odometry producer 0": False, "odometry consumer 0": True,
                                 "vehicle producer 0": False, "vehicle consumer 0": True})
        takt.takt_value_writer_destroy(made(takt.takt_value_writer_create, self.segment, b"odometry", ODOMETRY))

    def test_a_reader_sees_where_the_vehicle_is_while_it_drives_and_that_the_driver_is_gone(self):
        with self.assertRaisesRegex(ValueError, "another process holds"):
            made(takt.takt_value_writer_create, self.segment, b"odometry", ODOMETRY)
        estimates = []
        fresh = 0

        def look():
            nonlocal fresh
            self.go_on()
            found = self.odometry.read()
            now = time.monotonic_ns()
            if found is None:
                return False
            estimate, new = found
            self.assertLessEqual(estimate[0], now)
            if estimates:
                (self.assertGreaterEqual if new else self.assertEqual)(estimate[0], estimates[-1][0])
            estimates.append(estimate)
            fresh += now - estimate[0] < 100_000_000
            return fresh > 10 and estimate[1] > 2 and abs(estimate[3]) > 0.3

        wait_for(look, "the vehicle is somewhere else")
        self.check_true(estimates)
        variances = [(e[7], e[11], e[15]) for e in estimates]
        self.assertTrue(all(b >= a for a, b in zip(variances[0], variances[-1])))
        self.assertGreater(variances[-1][0], 0)
        self.assertEqual(estimates[-1][8], estimates[-1][10])  # xy, yx

        stamp, heard, charge, _, cause = wait_for(self.go_on, "it drives")
        self.assertEqual(cause, 0)
        self.assertLessEqual(heard, stamp)
        self.assertTrue(0 < charge <= 1)

        self.driver.end()
        self.assertEqual(self.driver.process.returncode, 1)  # before the twists were over
        self.assertEqual(self.status.read()[0][4], REQUESTED)
        self.check_true([self.odometry.read()[0]])
        first, _ = self.odometry.read()
        self.assertEqual(self.odometry.read(), (first, False))  # the last value stays with its reader
        self.assertNotIn(self.name, os.listdir("/dev/shm"))
        self.assertNotEqual(takt.takt_segment_open(self.name.encode(), byref(c_void_p())), OK)

    def test_a_driver_that_is_killed_is_gone_too_and_the_next_goes_on_with_the_same_reader(self):
        last = wait_for(lambda: self.odometry.read(), "the vehicle is heard")[0]
        self.driver.process.send_signal(signal.SIGKILL)
        self.driver.process.wait(PATIENCE)
        last = self.odometry.read()[0]
        self.check_gone()
        second = subprocess.Popen([TAKT, "drive", "--plain", "--publish", self.name, *self.near], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL)
        self.addCleanup(second.wait, PATIENCE)
        self.addCleanup(second.terminate)
        wait_for(lambda: self.odometry.read()[0][0] > last[0], "the vehicle is heard again")

        third = subprocess.run([TAKT, "drive", "--plain", "--publish", self.name, *links()[0]], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(third.returncode, 1)
        self.assertIn(str(second.pid), third.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
