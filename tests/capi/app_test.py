#!/usr/bin/env python3
"""Runs a whole robot inside this process by the C API. Its boards are takt simulate on pseudo terminals, and die while it moves.

    app_test.py LIBRARY TAKT SOURCE_FOLDER [unittest arguments]
"""
import ctypes
import faulthandler
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from ctypes import POINTER, byref, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p, create_string_buffer

from bindings import *  # the library, named in the first argument, and its structures
from motion_test import Client
import robot_programs  # of interop/, which bindings put on the path

TAKT, SOURCE = sys.argv[2], sys.argv[3]
LEFT, RIGHT = "left_and_waist", "right"
ARM = os.path.join(SOURCE, "examples", "robots", "arm6.json")
BAD_BUS_ADDRESS, BAD_DESCRIPTION, NO_SUCH_BUS, RECORDING_EXISTS = constants(
    "ERROR_APP", "BAD_BUS_ADDRESS BAD_DESCRIPTION NO_SUCH_BUS RECORDING_EXISTS")
(BAD_PRIORITY,) = constants("ERROR_RT", "BAD_PRIORITY")
CANNOT_OPEN, ALREADY_RUNNING, NOT_RUNNING, NOT_A_RECORDING = constants(
    "ERROR_RECORD", "CANNOT_OPEN ALREADY_RUNNING NOT_RUNNING NOT_A_RECORDING")
(LOG_WARNING,) = constants("LOG", "WARNING")
LISTEN_FAILED = status(15, 1)
NO_CAN_INTERFACE = tuple(status(15, code) for code in (17, 18, 27))  # without CAN in the kernel the family is missing
DRIVE_SILENT, BUS_DOWN, SHUTTING_DOWN = constants("ERROR_MOTION", "DRIVE_SILENT BUS_DOWN SHUTTING_DOWN")
(ANY_PORT,) = constants("ROBOT_PORT", "ANY")
REALTIME_ATTEMPT, REALTIME_ENFORCE = constants("REALTIME", "ATTEMPT ENFORCE")
PATIENCE = 60  # s


def robot_options(buses=(), **others):
    options = initialise(RobotOptions())
    options.port = ANY_PORT
    options.bus_count = len(buses)
    options.buses = (BusOverride * len(buses))(*((bus.encode(), place.encode()) for bus, place in dict(buses).items()))
    for name, value in others.items():
        setattr(options, name, value)
    return options


def refusal(path, options):
    """The number and the text with which a robot is rejected."""
    handle, text = c_void_p(), create_string_buffer(4096)
    result = takt.takt_robot_create(path.encode(), byref(options), byref(handle), text, len(text))
    assert handle.value is None
    return result, text.value.decode()


class Robot:
    """The C functions, the loop on a thread of its own."""

    def __init__(self, path, options):
        self.handle, self.text = c_void_p(), create_string_buffer(4096)
        result = takt.takt_robot_create(path.encode(), byref(options), byref(self.handle), self.text, len(self.text))
        if result != OK:
            raise ValueError(self.text.value.decode())
        self.thread = None
        self.result = None
        self.reports = []

    def start(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        self.result = takt.takt_robot_run(self.handle, self.text, len(self.text))

    def end(self):
        """What the run came to, after a controlled stop."""
        takt.takt_robot_shut_down(self.handle)
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        return self.result, self.text.value.decode()

    def finish(self):
        totals = initialise(RobotTotals())
        return takt.takt_robot_finish(self.handle, byref(totals), self.text, len(self.text)), totals

    def state(self):
        state = initialise(RobotState())
        assert takt.takt_robot_get_state(self.handle, byref(state)) == OK
        return state

    def wait_until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            state = self.state()
            if condition(state):
                return state
            time.sleep(0.01)
        raise AssertionError(f"never {what}: state {state.state}, reason {state.reason}; {self.read_reports()}")

    def wait_for(self, *states):
        return self.wait_until(lambda state: state.state in states, f"in any of the states {states}")

    def next_report(self, size=4096):
        text, length, is_failure = create_string_buffer(max(size, 1)), c_size_t(), c_int32(-1)
        result = takt.takt_robot_next_report(self.handle, text, size, byref(length), byref(is_failure))
        return result, text.value.decode(), length.value, is_failure.value

    def read_reports(self):
        """All reports so far."""
        while True:
            result, line, length, is_failure = self.next_report()
            assert (result, is_failure) == (OK, 0) and length == len(line.encode())
            if not line:
                return self.reports
            self.reports.append(line)

    def close(self):
        if self.thread is not None and self.thread.is_alive():
            self.end()
        takt.takt_robot_destroy(self.handle)
        self.handle = c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.mhubo = robot_programs.patient_mhubo(SOURCE)
        self.robot = self.write("robot.json", self.mhubo)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, robot):
        with open(self.path(name), "w") as file:
            json.dump(robot, file)
        return self.path(name)


class RealBuses(InFolder):
    def setUp(self):
        super().setUp()
        self.links = {bus: self.path(bus) for bus in (LEFT, RIGHT)}

    def options(self, **others):
        return robot_options({bus: "slcan:" + link for bus, link in self.links.items()}, **others)

    def boards(self):
        places = [word for bus, link in self.links.items() for word in ("--bus", f"{bus}=pty:{link}")]
        return robot_programs.program(TAKT, "simulate", self.robot, *places, until=f"boards of bus {RIGHT}")

    def reset_and_move(self, robot, client):
        """Again until the motion succeeds. The buses are opened again some time after the boards are there. A reset before that may
        take the old boards' last answers, up to feedback_timeout old, for those of the new ones, whose drives are off."""
        end = time.monotonic() + PATIENCE
        while True:
            self.assertLess(time.monotonic(), end, robot.read_reports())
            if robot.wait_for(READY, STOPPED).state == STOPPED:
                takt.takt_robot_reset(robot.handle)
                time.sleep(0.05)
            elif client.move([b"WST"], [0.3], 0) == OK:
                self.assertEqual(client.wait(timeout_ns=PATIENCE * SECOND), OK)
                if client.reply.state == SUCCEEDED:
                    return

    def test_a_robot_moves_stops_when_its_boards_die_and_goes_on_with_new_ones(self):
        recording = self.path("run.mcap")
        options = self.options(recording=recording.encode(), created=b"today")
        with self.boards() as boards, Robot(self.robot, options) as robot:
            self.assertEqual((robot.state().state, robot.state().cycles), (STARTING, 0))
            robot.start()
            self.assertEqual(robot.wait_for(READY).reason, OK)
            with Client(takt.takt_robot_port(robot.handle)) as client:
                self.assertEqual(client.trajectory([b"WST"], waypoints([SECOND // 2, SECOND], [[0.1], [0.2]])), OK)
                self.assertEqual((client.wait(timeout_ns=PATIENCE * SECOND), client.reply.state), (OK, SUCCEEDED))

                self.assertEqual(client.move([b"WST"], [1.5], PATIENCE * SECOND), OK)
                robot.wait_until(lambda state: state.active_goals == 1, "moving")
                boards.kill()
                boards.wait()
                stopped = robot.wait_for(STOPPED)
                self.assertIn(stopped.reason, (BUS_DOWN, DRIVE_SILENT))
                self.assertEqual((client.wait(timeout_ns=PATIENCE * SECOND), client.reply.state), (OK, ABORTED))
                report = next(line for line in robot.read_reports() if line.startswith("robot stopped: "))
                self.assertRegex(report, r"\[(bus_down|drive_silent)\]")
                self.assertIn(report.split(": ")[1], [joint["name"] for joint in self.mhubo["joints"]])
                if stopped.reason == BUS_DOWN:
                    self.assertTrue(any(f"{bus} (slcan:{link})" in report for bus, link in self.links.items()), report)

                with self.boards():
                    self.reset_and_move(robot, client)
                    self.assertEqual(robot.end(), (OK, ""))
            down = robot.state()
            self.assertEqual((down.state, down.reason), (DOWN, SHUTTING_DOWN))
            self.assertTrue(robot.read_reports()[-1].startswith("robot down"))
            result, totals = robot.finish()
            self.assertEqual((result, totals.errors, totals.dropped), (OK, 0, 0))
            self.assertGreaterEqual(totals.accepted, 3)
            self.assertGreater(totals.records, down.cycles)
        shown = subprocess.run([TAKT, "report", recording, "--out", self.path("report")], capture_output=True, text=True)
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_a_run_that_ends_in_a_fault_says_which(self):
        with self.boards() as boards, Robot(self.robot, self.options()) as robot:
            robot.start()
            robot.wait_for(READY)
            boards.kill()
            boards.wait()
            reason = robot.wait_for(STOPPED).reason
            result, text = robot.end()
            self.assertEqual(result, reason)
            self.assertRegex(text, r"\[(bus_down|drive_silent)\]$")

    def test_a_bus_that_cannot_be_opened_is_named(self):
        with self.boards():
            for place, results, words in (("lo", NO_CAN_INTERFACE, ("not a CAN", "modprobe")),
                                          ("nosuch0", NO_CAN_INTERFACE, ("No such", "no such", "modprobe")),
                                          ("slcan:relative", (BAD_BUS_ADDRESS,), ("is no bus; allowed",)),
                                          ("two words", (BAD_BUS_ADDRESS,), ("is no bus; allowed",))):
                with self.subTest(place):
                    result, text = refusal(self.robot, robot_options({LEFT: "slcan:" + self.links[LEFT], RIGHT: place}))
                    self.assertIn(result, results, text)
                    self.assertIn(RIGHT, text)
                    self.assertTrue(any(word in text for word in words), text)


class Simulated(InFolder):
    def options(self, **others):
        return robot_options(**{"simulate": 1, **others})

    def test_a_robot_reports_its_life(self):
        with Robot(self.robot, self.options()) as robot:
            self.assertEqual(robot.next_report(), (OK, "", 0, 0))
            robot.start()
            robot.wait_for(READY)
            self.assertEqual(robot.end(), (OK, ""))
            result, text, length, _ = robot.next_report(size=4)
            self.assertEqual((result, text), (BUFFER_TOO_SMALL, ""))
            reports = robot.read_reports()
            self.assertEqual(len(reports[0]), length)
            self.assertEqual([line.split(":")[0] for line in reports],
                             ["robot starting", "robot ready", "robot stopping", "robot down"])

    def test_what_the_thread_was_granted_is_reported(self):
        with Robot(self.robot, self.options(realtime=REALTIME_ATTEMPT)) as robot:
            robot.start()
            robot.wait_for(READY)
            self.assertEqual(robot.end()[0], OK)
            self.assertRegex(robot.read_reports()[0], "^fifo: (granted|refused), ")

    def test_a_thread_that_is_refused_what_it_needs_never_runs(self):
        with Robot(self.robot, self.options(realtime=REALTIME_ENFORCE, priority=100)) as robot:
            robot.run()
            self.assertEqual(robot.result, BAD_PRIORITY)
            self.assertIn("100", robot.text.value.decode())
            self.assertEqual(robot.state().cycles, 0)

    def test_a_robot_that_never_ran_leaves_no_recording(self):
        path = self.path("run.mcap")
        with Robot(self.robot, self.options(recording=path.encode())) as robot:
            self.assertTrue(os.path.exists(path))
            self.assertEqual(robot.finish()[0], OK)
        self.assertFalse(os.path.exists(path))

    def test_a_recording_replaces_a_file_only_if_it_may(self):
        path = self.write("run.mcap", {})
        self.assertEqual(refusal(self.robot, self.options(recording=path.encode()))[0], RECORDING_EXISTS)
        Robot(self.robot, self.options(recording=path.encode(), overwrite=1)).close()
        result, text = refusal(self.robot, self.options(recording=b"/nowhere/run.mcap"))
        self.assertEqual(result, CANNOT_OPEN)
        self.assertIn("/nowhere/run.mcap", text)

    def test_a_server_elsewhere_needs_no_port(self):
        options = self.options(serve_at=self.path("loop").encode(), port=0)
        with Robot(self.robot, options) as robot:
            self.assertEqual(takt.takt_robot_port(robot.handle), 0)
            self.assertTrue(os.path.exists(self.path("loop")))

    def test_a_port_that_is_taken_is_refused(self):
        with Robot(self.robot, self.options()) as robot:
            port = takt.takt_robot_port(robot.handle)
            self.assertGreater(port, 0)
            result, text = refusal(self.robot, self.options(port=port))
            self.assertEqual(result, LISTEN_FAILED)
            self.assertIn(str(port), text)

    def test_a_description_that_cannot_be_read_is_named(self):
        result, text = refusal(self.path("missing.json"), self.options())
        self.assertEqual(result, BAD_DESCRIPTION)
        self.assertIn(self.path("missing.json"), text)

    def test_every_mistake_of_a_description_is_listed(self):
        robot = {**self.mhubo, "rate": -1}
        robot["joints"][0]["board"] = 99
        path = self.write("wrong.json", robot)
        result, text = refusal(path, self.options())
        self.assertEqual(result, BAD_DESCRIPTION)
        lines = text.splitlines()
        self.assertEqual(len(lines), 2, text)
        self.assertTrue(all(line.startswith(path + ": ") for line in lines), text)
        self.assertIn("rate", lines[0])
        self.assertIn("board", lines[1])
        short = create_string_buffer(8)
        self.assertEqual(takt.takt_robot_create(path.encode(), None, byref(c_void_p()), short, len(short)), BAD_DESCRIPTION)
        self.assertEqual(short.value.decode(), text[:7])

    def test_a_bus_that_the_robot_does_not_have_is_named(self):
        result, text = refusal(self.robot, robot_options({"neck": "can0"}))
        self.assertEqual(result, NO_SUCH_BUS)
        self.assertIn("neck", text)
        self.assertIn(LEFT, text)

    def test_arguments_that_make_no_sense_are_refused(self):
        for changes in ({"simulate": 2}, {"overwrite": -1}, {"port": 65536}, {"port": -2}, {"realtime": 3},
                        {"serve_at": b"/tmp/x"}):
            with self.subTest(changes):
                self.assertEqual(refusal(self.robot, self.options(**changes)),
                                 (BAD_ARGUMENT, takt.takt_status_text(BAD_ARGUMENT).decode()))
        self.assertEqual(refusal(self.robot, self.options(struct_size=3))[0], WRONG_STRUCT_SIZE)
        self.assertEqual(refusal(self.robot, self.options(bus_count=1))[0], NULL_POINTER)
        handle = c_void_p()
        self.assertEqual(takt.takt_robot_create(None, None, byref(handle), None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_robot_create(ARM.encode(), None, None, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_robot_run(None, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_robot_get_state(None, byref(RobotState())), NULL_POINTER)
        self.assertEqual(takt.takt_robot_next_report(None, None, 0, None, None), NULL_POINTER)
        self.assertEqual(takt.takt_robot_finish(None, None, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_robot_port(None), 0)
        for ignores_null in (takt.takt_robot_shut_down, takt.takt_robot_reset, takt.takt_robot_destroy):
            ignores_null(None)


def texts(*words):
    return (c_char_p * len(words))(*words)


class Recorded(InFolder):
    """A run with all that it can leave behind, and its replay."""

    def setUp(self):
        super().setUp()
        self.recording = self.path("run.mcap")

    def run_robot(self):
        options = robot_options(
            simulate=1, recording=self.recording.encode(), variables=texts(b"WST/effort"), variable_count=1,
            logs=texts(self.path("run.log").encode()), log_count=1, trace=self.path("first.json").encode(),
            foxglove_address=b"127.0.0.1", foxglove_port=ANY_PORT)
        with Robot(self.robot, options) as robot:
            self.assertGreater(takt.takt_robot_foxglove_port(robot.handle), 0)
            robot.start()
            robot.wait_for(READY)
            self.stop_trace(robot)
            self.assertEqual(takt.takt_robot_start_trace(robot.handle, self.path("second.json").encode(), None, 0), OK)
            self.assertEqual(takt.takt_robot_start_trace(robot.handle, b"/tmp/x", None, 0), ALREADY_RUNNING)
            self.assertEqual(takt.takt_robot_log(robot.handle, LOG_WARNING, b"test", b"now it moves"), OK)
            self.assertEqual(takt.takt_robot_log(robot.handle, 6, b"test", b"now it moves"), BAD_ARGUMENT)
            with Client(takt.takt_robot_port(robot.handle)) as client:
                self.assertEqual(client.move([b"WST"], [0.3], 0), OK)
                self.assertEqual((client.wait(timeout_ns=PATIENCE * SECOND), client.reply.state), (OK, SUCCEEDED))
            self.stop_trace(robot)
            self.assertEqual(takt.takt_robot_stop_trace(robot.handle, None, None, None, 0), NOT_RUNNING)
            self.assertEqual(robot.end(), (OK, ""))
            result, totals = robot.finish()
            self.assertEqual((result, totals.dropped, totals.log_dropped), (OK, 0, 0))
            return totals

    def stop_trace(self, robot):
        spans, dropped = c_uint64(), c_uint64()
        self.assertEqual(takt.takt_robot_stop_trace(robot.handle, byref(spans), byref(dropped), None, 0), OK)
        self.assertGreater(spans.value, dropped.value)

    def replay(self, **others):
        options, result, text = ReplayOptions(), ReplayResult(), create_string_buffer(4096)
        initialise(options)
        initialise(result)
        for name, value in others.items():
            setattr(options, name, value)
        status = takt.takt_replay(self.recording.encode(), byref(options), byref(result), text, len(text))
        return status, result, text.value.decode()

    def test_a_run_is_recorded_logged_and_traced_and_replayed_bit_for_bit(self):
        totals = self.run_robot()
        with open(self.path("run.log")) as file:
            log = file.read()
        self.assertIn(" warning test: now it moves\n", log)
        self.assertGreaterEqual(totals.logged, len(log.splitlines()) - 2)
        for trace in ("first.json", "second.json"):
            with open(self.path(trace)) as file:
                self.assertGreater(len(json.load(file)), 100)
        with open(self.recording, "rb") as file:
            self.assertIn(b"/variables/WST/effort", file.read())

        status, result, text = self.replay(recording=self.path("again.mcap").encode())
        self.assertEqual((status, text, result.differing, result.ended_early), (OK, "", 0, 0))
        self.assertGreater(result.cycles, 20)
        self.assertTrue(os.path.exists(self.path("again.mcap")))
        self.assertEqual(self.replay(recording=self.path("again.mcap").encode())[0], RECORDING_EXISTS)

        slower = {**self.mhubo, "name": "slower"}
        for joint in slower["joints"]:
            joint["limits"]["acceleration"] /= 2
        status, result, text = self.replay(robot=self.write("slower.json", slower).encode())
        self.assertEqual(status, OK, text)
        self.assertRegex(text, rf"^cycle {result.cycle} at [0-9.]+ s, joint WST: ")
        self.assertNotEqual(result.value, result.expected)
        self.assertGreater(result.differing, 0)

    def test_what_cannot_be_replayed_is_named(self):
        self.assertEqual(self.replay()[0], CANNOT_OPEN)
        self.write("run.mcap", {})
        status, _, text = self.replay()
        self.assertEqual(status, NOT_A_RECORDING)
        self.assertIn(self.recording, text)
        self.assertEqual(self.replay(robot=b"/nowhere.json")[0], BAD_DESCRIPTION)
        for wrong in ({"speed": -1}, {"speed": float("nan")}, {"overwrite": 2}):
            self.assertEqual(self.replay(**wrong)[0], BAD_ARGUMENT)
        self.assertEqual(self.replay(file_count=1)[0], NULL_POINTER)
        self.assertEqual(takt.takt_replay(None, None, None, None, 0), NULL_POINTER)

    def test_wrong_options_are_refused(self):
        for wrong in ({"uncompressed": 2}, {"live_rate": -1}, {"foxglove_port": 65536}, {"plotjuggler_port": ANY_PORT},
                      {"rotate_after_ns": -1}, {"around_stops_ns": -1}):
            self.assertEqual(refusal(self.robot, robot_options(simulate=1, **wrong))[0], BAD_ARGUMENT, wrong)
        for count in ("variable_count", "log_count", "library_count"):
            self.assertEqual(refusal(self.robot, robot_options(simulate=1, **{count: 1}))[0], NULL_POINTER, count)
        with Robot(self.robot, robot_options(simulate=1)) as robot:  # without log and Foxglove
            self.assertEqual(takt.takt_robot_log(robot.handle, LOG_WARNING, b"test", b"x"), NOT_RUNNING)
            self.assertEqual(takt.takt_robot_foxglove_port(robot.handle), 0)


class Protocols(unittest.TestCase):
    def test_every_protocol_is_listed(self):
        length = c_size_t()
        self.assertEqual(takt.takt_drive_protocols(None, 0, byref(length)), BUFFER_TOO_SMALL)
        text = create_string_buffer(length.value + 1)
        self.assertEqual(takt.takt_drive_protocols(text, len(text), None), OK)
        names = text.value.decode().splitlines()
        self.assertEqual(names, sorted(names))
        self.assertLessEqual({"hubo", "servo", "odrive"}, set(names))


if __name__ == "__main__":
    faulthandler.dump_traceback_later(280, exit=True)  # where it waits, before ctest ends it
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
