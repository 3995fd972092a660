#!/usr/bin/env python3
"""Tests takt drive and takt vehicle-sim with programs that behave like the Furbot's original ones. These are
rewritten here from knowledge of the wire format. Control words have the least significant byte first. Telemetry
has one system, from a port that the system chose. Each side receives on its own port, and sends from another.

    vehicle_original_test.py TAKT FURBOT
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import furbot_peer as peer
from vehicle_programs import PATIENCE, Program, links, wait_for

TAKT, FURBOT = sys.argv[1:3]
TRACTION, RUNNING, HALTED = 3, 2, 3
PERIOD = 0.01  # s


def now_ms():
    return peer.stamp_of(time.time())


def status(state, **traction):
    """Of one system."""
    return peer.encode_status(now_ms(), [(TRACTION, {**dict.fromkeys(peer.BLOCKS[TRACTION][2], 0), "state": state, **traction})])


def udp(address="127.0.0.1", port=0):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((address, port))
    made.settimeout(PERIOD)
    return made


def place(made):
    return "{}:{}".format(*made.getsockname())


class Sender:
    """Sends the given data a hundred times a second, from its own socket, until it is stopped."""

    def __init__(self, test, to, frame, address="127.0.0.1"):
        self.socket, self.to, self.frame, self.sent = udp(address), to, frame, 0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        test.addCleanup(self.end)

    def run(self):
        while not self.ending.wait(PERIOD):
            self.socket.sendto(self.frame(), self.to)
            self.sent += 1

    def end(self):
        self.ending.set()
        self.thread.join()
        self.socket.close()


class Vehicle(Sender):
    """Reports only its traction; accelerates by the received throttle, in the byte order of its host."""

    def __init__(self, test, to, hears_where_it_sends=False):
        self.speed, self.told = 0.0, []  # m/s
        self.hears_where_it_sends = hears_where_it_sends
        self.ear = None if hears_where_it_sends else udp()
        super().__init__(test, to, self.status)

    def status(self):
        ear = self.ear or self.socket
        try:
            while True:
                stamp, steer, throttle, brake = peer.decode_control(ear.recv(100), little=True)
                self.told.append((steer, throttle, brake))
                ear.settimeout(0)
        except (BlockingIOError, TimeoutError):
            ear.settimeout(0.001)
        _, throttle, brake = self.told[-1] if self.told else (0, 0, 100)
        self.speed = 0.0 if brake > 0 else min(self.speed + throttle / 100 * PERIOD * 4, 10)
        counts = round(self.speed * 100)
        wheels = round(self.speed / 0.3 * 60 / 6.283185307)
        return status(RUNNING, speed=counts, left_speed=wheels, right_speed=wheels)

    def end(self):
        super().end()
        if self.ear:
            self.ear.close()


class OriginalTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        (_, self.near, _, self.far), _ = links()

    def file(self, name):
        return os.path.join(self.folder, name)

    def address(self, text):
        host, port = text.split(":")
        return host, int(port)

    def start_drive(self, *words):
        log = self.file("known.csv")
        self.driver = Program(log, TAKT, "drive", "--plain", "--hold", "1000", "--duration", str(PATIENCE), "--log", log, "--local",
                              self.near, *words)
        self.addCleanup(self.driver.end)

    def line_with(self, word):
        """Returns the first matching line of the driver's output."""
        return next((line for line in self.driver.process.stdout if word in line), "")

    def wait_for_speed(self, vehicle):
        """Repeats the command until the vehicle drives; resets a drive that stopped on a busy machine."""

        def look():
            row = (self.driver.rows() or [{"state": ""}])[-1]
            self.driver.type("r" if row["state"] == "stopped" else "w")
            return row["state"] == "driving" and row["speed"] > 0.2 and row["commanded_speed"] > 0

        wait_for(look, "the vehicle drives")

    def check_in_counts(self, vehicle):
        """In the other byte order, a throttle of 1 would be 16777216."""
        self.assertTrue(any(throttle > 0 for _, throttle, _ in vehicle.told))
        for steer, throttle, brake in vehicle.told:
            self.assertLessEqual(abs(steer), 500)
            self.assertLessEqual(abs(throttle), 100)
            self.assertLessEqual(brake, 100)

    def test_an_original_vehicle_is_driven_and_no_other_sender_is_heard(self):
        lie = lambda: status(HALTED)
        from_another_host = Sender(self, self.address(self.near), lie, "127.0.0.2")
        wait_for(lambda: from_another_host.sent > 5, "the attacker began first")
        vehicle = Vehicle(self, self.address(self.near))
        self.start_drive("--peer", "127.0.0.1:any", "--send-to", place(vehicle.ear), "--required", "traction")
        self.driver.wait_until(lambda row: row["taken"] > 0, "the vehicle is heard")
        from_the_same_host = Sender(self, self.address(self.near), lie)
        self.wait_for_speed(vehicle)
        self.check_in_counts(vehicle)
        wait_for(lambda: from_the_same_host.sent > 5, "the other attacker tried")
        self.assertNotIn("a required system is not running", [row["cause"] for row in self.driver.rows()])
        heard = self.driver.rows()[-1]
        self.assertEqual((heard["malformed"], heard["refused"]), (0, 0))
        self.assertIn(f"the other side is {place(vehicle.socket)}, and other senders are ignored; sending to {place(vehicle.ear)}",
                      self.driver.end())

    def test_a_vehicle_that_hears_where_it_sends_from_is_answered_there(self):
        vehicle = Vehicle(self, self.address(self.near), hears_where_it_sends=True)
        self.start_drive("--peer", "127.0.0.1:any", "--required", "traction")
        self.wait_for_speed(vehicle)
        self.check_in_counts(vehicle)

    def test_other_datagrams_are_reported_where_nothing_is_heard(self):
        vehicle = Vehicle(self, self.address(self.near))
        self.start_drive("--peer", self.far, "--required", "traction")
        line = self.line_with("received")
        self.assertRegex(line, f"nothing was received from {self.far} at {self.near}; [1-9][0-9]* datagrams came from "
                               f"{place(vehicle.socket)}: .*--peer 127.0.0.1:any")

    def test_silence_is_reported_too(self):
        self.start_drive("--peer", self.far)
        line = self.line_with("received")
        self.assertEqual(line, f"nothing was received from {self.far} at {self.near}\n")

    def test_the_reason_why_no_datagram_is_valid_is_reported(self):
        Sender(self, self.address(self.near), lambda: b"Hello there!\n")
        self.start_drive("--peer", "127.0.0.1:any")
        line = self.line_with("received")
        self.assertRegex(line, f"[1-9][0-9]* datagrams were received from 127.0.0.1:any at {self.near}, and none of them is valid: "
                               "the datagram (does not begin with the frame's magic number|is shorter)")

    def test_the_original_sender_drives_a_simulated_vehicle_once_it_let_go_of_the_throttle(self):
        log = self.file("true.csv")
        simulated = Program(log, TAKT, "vehicle-sim", "--plain", "--log", log, "--local", self.far, "--peer", "127.0.0.1:any")
        self.addCleanup(simulated.end)
        throttle = 20  # counts of 100
        sender = Sender(self, self.address(self.far), lambda: peer.encode_control(now_ms(), 0, throttle, 0, little=True))

        def brake_is_held():
            rows = simulated.rows()
            running = [row for row in rows if row["state"] == "running"]
            return len(running) > 50 and running[-1]

        held = wait_for(brake_is_held, "it runs")
        self.assertEqual(held["obeyed"], 0)
        self.assertGreater(held["held"], 10)
        self.assertEqual(held["x"], 0)
        throttle = 0
        simulated.wait_until(lambda row: row["obeyed"] > 0, "it obeys")
        throttle = 20

        def drives(row):
            if row["state"] == "halted":  # the machine was too busy
                simulated.type("recover\n")
            nonlocal throttle
            throttle = 0 if row["state"] != "running" else 20
            return row["speed"] > 0.1

        row = simulated.wait_until(drives, "it drives")
        self.assertLess(row["throttle"], 0.21)
        told = simulated.end()
        self.assertIn("with throttle: the brake is held until one arrives without throttle", told)
        self.assertIn(f"the other side is {place(sender.socket)}", told)

    def test_a_vehicle_whose_byte_order_nobody_said_is_refused_with_what_is_allowed(self):
        with open(FURBOT) as file:
            vehicle = json.load(file)
        self.assertEqual(vehicle["control"].pop("byte_order"), "little_endian")
        vehicle["provisional"].remove("/control/byte_order")
        with open(self.file("vehicle.json"), "w") as file:
            json.dump(vehicle, file)
        for program in ("drive", "vehicle-sim"):
            refused = subprocess.run([TAKT, program, "--plain", "--vehicle", self.file("vehicle.json"), "--duration", "0.1"],
                                     capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
            self.assertEqual(refused.returncode, 2)
            self.assertIn('/control/byte_order: is missing; it is one of "network", "little_endian"', refused.stderr)

    def test_required_systems_that_there_are_not_are_refused_with_those_that_there_are(self):
        for required, why in (("traction,brakes", "no system 'brakes'; there are communication battery"),
                              ("steering", "traction is missing")):
            refused = subprocess.run([TAKT, "drive", "--plain", "--required", required, "--duration", "0.1"], capture_output=True,
                                     text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(why, refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
