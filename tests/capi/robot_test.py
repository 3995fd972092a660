#!/usr/bin/env python3
"""Controllers of the C API, written in Python, in the cycle of a simulated robot; and the commands to them.

    robot_test.py LIBRARY TAKT SOURCE_FOLDER PATIENT_ARM [unittest arguments]
"""
import faulthandler
import json
import math
import os
import sys
import tempfile
import time
import unittest
from ctypes import byref, c_size_t, c_void_p, create_string_buffer

from app_test import PATIENCE, SOURCE, Robot, robot_options  # its arguments are the same
from bindings import *  # the library, named in the first argument, and its structures

ARM = sys.argv[4]
NO_SUCH_INTERFACE, CLAIMED, NO_SUCH_CONTROLLER, DUPLICATE_NAME, WRONG_STATE = constants(
    "ERROR_ROBOT", "NO_SUCH_INTERFACE CLAIMED NO_SUCH_CONTROLLER DUPLICATE_NAME WRONG_STATE")
BAD_NAME, BAD_VALUE, BAD_RATE = constants("ERROR_COMPONENT", "BAD_NAME BAD_VALUE BAD_RATE")


class Controller:
    """A controller whose callbacks are methods of the same name."""

    def __init__(self, **fields):
        self.type = initialise(ControllerType())
        self.type.type, self.type.version = b"Python", b"1.0.0"
        self.kept = []
        kinds = dict(ControllerType._fields_)

        def bind(name, call):
            function = kinds[name](call)
            self.kept.append(function)
            setattr(self.type, name, function)

        bind("configure", lambda _user, resources: self.configure(resources) or OK)
        bind("activate", lambda _user, _cycle: self.activate() or OK)
        bind("execute", lambda _user, cycle: self.execute(cycle.contents) or OK)
        bind("deactivate", lambda _user, _cycle: self.deactivate())
        for name, value in fields.items():
            setattr(self.type, name, value)

    def load(self, robot, name, placement=None):
        """The status, and the explanation of a failure."""
        text = create_string_buffer(1024)
        result = takt.takt_robot_load_controller(robot.handle, byref(self.type), name, None,
                                                 byref(placement) if placement else None, text, len(text))
        return result, text.value.decode()

    def activate(self):
        pass

    def deactivate(self):
        pass


class Shift(Controller):
    """Holds the elbow beside the place where it took it."""

    joint, by, status = b"elbow_joint", 0.1, OK

    def __init__(self, **fields):
        super().__init__(**fields)
        self.measured, self.wanted = c_void_p(), c_void_p()
        self.life, self.indices = [], []

    def configure(self, resources):
        status = takt.takt_resources_state(resources, self.joint + b"/position", byref(self.measured))
        return status if status != OK else takt.takt_resources_command(resources, self.joint + b"/position", byref(self.wanted))

    def activate(self):
        self.life.append("active")
        self.start = takt.takt_state_get(self.measured)

    def deactivate(self):
        self.life.append("inactive")

    def execute(self, cycle):
        self.indices.append(cycle.index)
        takt.takt_command_set(self.wanted, self.start + self.by)
        return self.status


class Commanded(unittest.TestCase):
    def setUp(self):
        self.robot = Robot(ARM, robot_options(simulate=1))
        self.addCleanup(self.robot.close)

    def run_robot(self):
        self.robot.start()
        self.robot.wait_for(READY)

    def command(self, request, size=1 << 16):
        """The status, and the answer or the reason."""
        answer, length = create_string_buffer(size), c_size_t()
        result = takt.takt_robot_command(self.robot.handle, request.encode(), answer, size, byref(length))
        if result == OK:
            self.assertEqual(length.value, len(answer.value))
        return result, answer.value.decode()

    def obeyed(self, request):
        result, answer = self.command(request)
        self.assertEqual(result, OK, answer)
        return next(iter(json.loads(answer).values()))

    def states(self):
        return {row["name"]: row["state"] for row in self.obeyed("list")}

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, "never " + what)
            time.sleep(0.01)

    def test_python_drives_a_vehicle_by_samples_of_its_port(self):
        self.robot.close()
        description = {"name": "vehicle", "rate": 100, "overrun": "catch_up", "overrun_limit": 10**6,
                       "vehicles": [{"name": "base", "file": os.path.join(SOURCE, "examples", "robots", "furbot.json")}],
                       "controllers": [{"name": "drive", "type": "VehicleDriveController"}]}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(description, file)
            file.flush()
            self.robot = Robot(file.name, robot_options(simulate=1))
        self.addCleanup(self.robot.close)
        self.run_robot()

        def drives():
            self.obeyed("write drive.command forward=0.5 rotation=0.1")
            values = {row["name"]: row["value"] for row in self.obeyed("interfaces") if row["kind"] == "state"}
            return values["base.odometry/pose.x"] > 0.2 and values["base.odometry/pose.heading"] > 0.01

        self.wait_for(drives, "driven")
        result, why = self.command("write drive.command forward=fast")
        self.assertEqual(result, BAD_VALUE)
        self.assertIn("forward f64, left f64, rotation f64", why)

    def test_a_controller_in_python_moves_a_joint_in_the_cycle(self):
        shift = Shift()
        self.assertEqual(shift.load(self.robot, b"tip"), (OK, ""))
        self.run_robot()
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "inactive"})
        self.obeyed("start tip")
        self.wait_for(lambda: len(shift.indices) > 1, "executed")
        goal = shift.start + shift.by
        self.wait_for(lambda: abs(takt.takt_state_get(shift.measured) - goal) < 0.01, "there")
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "active"})
        owners = {row["name"]: row.get("claimed_by") for row in self.obeyed('{"interfaces":{}}') if row["kind"] == "command"}
        self.assertEqual((owners["elbow_joint/position"], owners["wrist_1_joint/position"]), ("tip", "trajectory"))
        self.assertEqual(shift.life, ["active"])
        self.obeyed("stop tip")
        self.assertEqual(shift.life, ["active", "inactive"])
        count = len(shift.indices)
        self.obeyed("unload tip")
        self.assertEqual(len(shift.indices), count)
        self.assertEqual(self.robot.end(), (OK, ""))

    def test_it_runs_in_the_cycles_of_its_placement(self):
        shift = Shift()
        placement = Placement()
        placement.divisor, placement.phase, placement.budget_ns = 3, 1, SECOND
        self.assertEqual(shift.load(self.robot, b"tip", placement)[0], OK)
        self.obeyed("start tip")
        self.run_robot()
        self.wait_for(lambda: len(shift.indices) > 3, "executed")
        self.assertEqual({b - a for a, b in zip(shift.indices, shift.indices[1:])}, {3})
        shown = self.obeyed("show tip")
        self.assertEqual((shown["type"], shown["divisor"], shown["phase"], shown["budget_us"]), ("Python", 3, 1, 1e6))

    def test_an_error_in_the_cycle_ends_it_and_is_an_event(self):
        for by, status, reason in ((0.0, WRONG_STATE, "the controller's state does not allow this"),
                                   (math.nan, OK, "the controller commanded NaN or infinity")):
            with self.subTest(reason):
                robot, self.robot = self.robot, Robot(ARM, robot_options(simulate=1))
                self.addCleanup(self.robot.close)
                robot.close()
                shift = Shift()
                self.assertEqual(shift.load(self.robot, b"tip")[0], OK)
                self.run_robot()
                self.obeyed("start tip")
                shift.by, shift.status = by, status
                self.wait_for(lambda: self.states()["tip"] == "failed", "failed")
                event = self.obeyed("events")[0]
                self.assertEqual((event["event"], event["component"], event["error"]), ("controller_failed", "tip", reason))
                self.assertIn(f"controller tip failed: {reason}", self.robot.read_reports())
                self.assertEqual(self.states()["trajectory"], "active")
                self.assertEqual(self.robot.end()[0], OK)

    def test_a_stop_is_requested_and_left(self):
        shift, hold = Shift(), Shift(works_in_stop=1)
        hold.joint, hold.by = b"wrist_1_joint", 0.0
        self.assertEqual(shift.load(self.robot, b"tip")[0], OK)
        self.assertEqual(hold.load(self.robot, b"hold")[0], OK)
        self.run_robot()
        self.obeyed("switch start=tip,hold")
        self.assertEqual(takt.takt_robot_request_stop(self.robot.handle, 2), OK)
        self.robot.wait_for(STOPPED)
        self.assertEqual(self.states(), {"trajectory": "suspended", "tip": "suspended", "hold": "active"})
        takt.takt_robot_reset(self.robot.handle)
        self.robot.wait_for(READY)
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "active", "hold": "active"})
        for category in (-1, 3):
            self.assertEqual(takt.takt_robot_request_stop(self.robot.handle, category), BAD_ARGUMENT)

    def test_what_cannot_be_loaded_is_refused_with_the_reason(self):
        shift = Shift()
        self.assertEqual(shift.load(self.robot, b"two words")[0], BAD_NAME)
        self.assertEqual(shift.load(self.robot, b"elbow_joint")[0], DUPLICATE_NAME)
        lost = Shift()
        lost.joint = b"neck"
        result, text = lost.load(self.robot, b"tip")
        self.assertEqual(result, NO_SUCH_INTERFACE)
        self.assertIn("neck/position", text)
        for fields, expected in (({"type": b"no name"}, BAD_NAME), ({"type": None}, BAD_NAME), ({"struct_size": 3}, WRONG_STRUCT_SIZE),
                                 ({"works_in_stop": 2}, BAD_ARGUMENT), ({"configure": type(shift.type.configure)()}, NULL_POINTER)):
            with self.subTest(fields):
                self.assertEqual(Shift(**fields).load(self.robot, b"tip")[0], expected)
        placement = Placement()
        placement.divisor, placement.phase = 2, 2
        self.assertEqual(shift.load(self.robot, b"tip", placement)[0], BAD_RATE)
        placement = Placement()
        placement.over_budget = 3
        self.assertEqual(shift.load(self.robot, b"tip", placement)[0], BAD_ARGUMENT)
        self.assertEqual(self.states(), {"trajectory": "suspended"})
        again = Shift()
        self.assertEqual(again.load(self.robot, b"tip"), (OK, ""))
        self.assertEqual(Shift().load(self.robot, b"tip")[0], DUPLICATE_NAME)

    def test_commands_that_are_wrong_are_refused_with_the_reason(self):
        self.assertEqual(Shift().load(self.robot, b"a")[0], OK)
        self.assertEqual(Shift().load(self.robot, b"b")[0], OK)
        self.obeyed("start a")
        for request, expected, part in (("dance", BAD_VALUE, "there is no command"), ("{", BAD_VALUE, ""), ('{"list":1}', BAD_VALUE, "/list"),
                                        ("start b", CLAIMED, "belongs to a"), ("start c", NO_SUCH_CONTROLLER, "c"),
                                        ("stop b", WRONG_STATE, "does not run")):
            with self.subTest(request):
                result, text = self.command(request)
                self.assertEqual(result, expected, text)
                self.assertIn(part, text)
        result, text = self.command("list", size=8)
        self.assertEqual(result, BUFFER_TOO_SMALL)

    def test_null_is_refused_or_ignored(self):
        handle = self.robot.handle
        type_ = Shift().type
        self.assertEqual(takt.takt_robot_load_controller(None, byref(type_), b"a", None, None, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_robot_load_controller(handle, None, b"a", None, None, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_robot_load_controller(handle, byref(type_), None, None, None, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_robot_command(None, b"list", None, 0, None), NULL_POINTER)
        self.assertEqual(takt.takt_robot_command(handle, None, None, 0, None), NULL_POINTER)
        self.assertEqual(takt.takt_robot_command(handle, b"list", None, 1, None), NULL_POINTER)
        self.assertEqual(takt.takt_robot_request_stop(None, 1), NULL_POINTER)
        self.assertEqual(takt.takt_resources_state(None, b"x", None), NULL_POINTER)
        self.assertEqual(takt.takt_resources_command(None, b"x", None), NULL_POINTER)
        self.assertTrue(math.isnan(takt.takt_state_get(None)))
        takt.takt_command_set(None, 1.0)
        takt.takt_command_release(None)
        takt.takt_controller_type_init(None, 0)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(280, exit=True)  # where it waits, before ctest ends it
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
