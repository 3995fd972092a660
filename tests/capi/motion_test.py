#!/usr/bin/env python3
"""The motion client of the C API, from Python's standard library: against a real-time process, and against wrong servers.

    motion_test.py LIBRARY [TAKT ROBOT]     TAKT: the program, ROBOT: a description; without them only the second half
"""

import ctypes
import json
import math
import re
import socket
import subprocess
import sys
import threading
import time
import unittest
from ctypes import byref, c_char_p, c_size_t, c_void_p

from bindings import *  # the library, named in the first argument, and its structures

(UNKNOWN_REQUEST, UNKNOWN_JOINT, UNKNOWN_GOAL, JOINT_BUSY, START_TOO_FAR, MALFORMED, TOO_LARGE, MOTION_WRONG_SIZE,
 EMERGENCY_STOP, SETPOINT_TIMEOUT, PATH_TOLERANCE) = constants(
     "ERROR_MOTION", "UNKNOWN_REQUEST UNKNOWN_JOINT UNKNOWN_GOAL JOINT_BUSY START_TOO_FAR MALFORMED MESSAGE_TOO_LARGE "
     "WRONG_SIZE EMERGENCY_STOP SETPOINT_TIMEOUT PATH_TOLERANCE")
(PENDING,) = constants("GOAL", "PENDING")
WHEN_BUSY_QUEUE, WHEN_BUSY_REJECT = constants("WHEN_BUSY", "QUEUE REJECT")


class Client:
    """A client of the C API."""

    def __init__(self, port, timeout_ns=0, host=None):
        options = initialise(MotionClientOptions())
        options.port, options.timeout_ns, options.host = port, timeout_ns, host
        self.handle, self.reply = c_void_p(), Reply()
        self.status = takt.takt_motion_client_connect(byref(options), byref(self.handle))
        initialise(self.reply)

    def close(self):
        takt.takt_motion_client_close(self.handle)
        self.handle = c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def names(self):
        return [takt.takt_motion_client_joint_name(self.handle, j) for j in range(takt.takt_motion_client_joints(self.handle))]

    def options(self, names=None, **more):
        options = initialise(MotionOptions())
        if names is not None:
            options.joint_names = (c_char_p * len(names))(*names)
        for name, value in more.items():
            setattr(options, name, value)
        return options

    def move(self, names, positions, duration_ns=0, **more):
        return takt.takt_motion_client_move(self.handle, byref(self.options(names, **more)), doubles(positions), len(positions),
                                     duration_ns, byref(self.reply))

    def trajectory(self, names, w, **more):
        return takt.takt_motion_client_trajectory(self.handle, byref(self.options(names, **more)), byref(w), byref(self.reply))

    def setpoint(self, names, positions, velocities=None, hold_ns=0):
        rates = None if velocities is None else doubles(velocities)
        return takt.takt_motion_client_setpoint(self.handle, byref(self.options(names)), doubles(positions), rates,
                                         len(positions), hold_ns, byref(self.reply))

    def wait(self, goal=None, timeout_ns=20 * SECOND):
        return takt.takt_motion_client_wait(self.handle, self.reply.goal if goal is None else goal, timeout_ns, byref(self.reply))

    def state(self):
        state, count = RobotState(), takt.takt_motion_client_joints(self.handle)
        initialise(state)
        self.references, self.measured = doubles([0] * count), doubles([0] * count)
        result = takt.takt_motion_client_state(self.handle, byref(state), count, self.references, self.measured)
        return state if result == OK else result

    def receive(self, timeout_ns=5 * SECOND, size=65536):
        buffer, length = ctypes.create_string_buffer(max(size, 1)), c_size_t()
        result = takt.takt_motion_client_receive(self.handle, timeout_ns, buffer, size, byref(length))
        return (result, length.value) if result != OK else json.loads(buffer.value)

    def wait_for_robot(self, wanted, seconds=10):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.state()
            if state.state == wanted:
                return state
            time.sleep(0.01)
        raise TimeoutError(f"the robot is in state {state.state}, not {wanted}")


@unittest.skipIf(len(sys.argv) < 4, "no program to talk to")
class RobotTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.process = subprocess.Popen([sys.argv[2], "run", sys.argv[3], "--port", "0", "--realtime", "off", "--wait", "sleep"],
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = []
        for line in cls.process.stdout:
            said.append(line)
            port = re.search(r"(?:127\.0\.0\.1:|port )(\d+)", line)
            if port:
                cls.port = int(port[1])
                break
        else:
            raise RuntimeError("takt run did not say its port: " + "".join(said))
        cls.reader = threading.Thread(target=cls.process.stdout.read, daemon=True)
        cls.reader.start()
        with Client(cls.port) as client:
            client.wait_for_robot(READY)

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        cls.process.wait(20)
        cls.reader.join()
        cls.process.stdout.close()

    def setUp(self):
        self.client = Client(self.port)
        self.assertEqual(self.client.status, OK)
        self.names = self.client.names

    def tearDown(self):
        self.client.close()

    def reference(self, joint):
        self.assertEqual(self.client.state().state, READY)
        return self.client.references[joint]

    def test_the_greeting_tells_joints_and_period(self):
        self.assertEqual(len(self.names), 6)
        self.assertTrue(all(self.names))
        self.assertIsNone(takt.takt_motion_client_joint_name(self.client.handle, 6))
        self.assertEqual(takt.takt_motion_client_period_ns(self.client.handle), 10_000_000)

    def test_a_move_succeeds_and_arrives(self):
        target = self.reference(0) + 0.1
        self.assertEqual(self.client.move(self.names[:1], [target]), OK)
        self.assertGreater(self.client.reply.goal, 0)
        self.assertGreater(self.client.reply.duration_ns, 0)
        self.assertEqual(self.client.reply.state, ACTIVE)
        self.assertEqual(self.client.wait(), OK)
        self.assertEqual((self.client.reply.state, self.client.reply.reason), (SUCCEEDED, OK))
        self.assertAlmostEqual(self.reference(0), target, places=6)

    def test_a_trajectory_is_followed_to_its_end(self):
        start = self.reference(1)
        w = waypoints([SECOND // 5, 2 * SECOND // 5], [[start + 0.01], [start + 0.02]], through=STOP)
        self.assertEqual(self.client.trajectory(self.names[1:2], w), OK)
        self.assertAlmostEqual(self.client.reply.duration_ns, 2 * SECOND // 5, delta=1000)
        self.assertEqual(self.client.wait(), OK)
        self.assertEqual(self.client.reply.state, SUCCEEDED)
        self.assertAlmostEqual(self.reference(1), start + 0.02, places=6)

    def test_a_trajectory_begins_at_a_time_of_the_loops_clock(self):
        here = self.reference(1)
        w = waypoints([SECOND // 5], [[here + 0.01]], through=STOP)
        start = self.client.state().time_ns + SECOND // 2
        self.assertEqual(self.client.trajectory(self.names[1:2], w, start_ns=start), OK)
        self.assertEqual((self.client.reply.state, self.client.reply.duration_ns), (PENDING, -1))
        while (state := self.client.state()).time_ns < start:
            self.assertEqual(self.client.references[1], here)
        self.assertEqual(self.client.wait(), OK)
        self.assertEqual(self.client.reply.state, SUCCEEDED)
        self.assertAlmostEqual(self.reference(1), here + 0.01, places=6)
        self.assertEqual(self.client.trajectory(self.names[1:2], w, start_ns=state.time_ns + 7200 * SECOND), START_TOO_FAR)
        self.assertEqual(self.client.trajectory(self.names[1:2], w, start_ns=-1), MALFORMED)
        self.assertEqual(self.client.move(self.names[1:2], [here], start_ns=start), BAD_ARGUMENT)

    def test_a_limit_is_named_with_joint_time_value_and_limit_and_fit_cures_it(self):
        start = self.reference(2)
        w = waypoints([SECOND // 20], [[start + 0.5]], through=STOP)
        result = self.client.trajectory(self.names[2:3], w)
        self.assertIn(result, (VELOCITY_LIMIT, ACCELERATION_LIMIT, JERK_LIMIT))
        reply = self.client.reply
        self.assertEqual((reply.reason, reply.state, reply.goal), (result, REJECTED, 0))
        self.assertEqual(reply.joint, self.names[2])
        self.assertGreater(abs(reply.value), reply.limit)
        self.assertGreaterEqual(reply.time_ns, 0)
        self.assertTrue(reply.message)
        self.assertEqual(self.client.trajectory(self.names[2:3], w, fit=1), OK)
        self.assertGreater(self.client.reply.duration_ns, SECOND // 20)
        self.assertEqual(self.client.wait(), OK)
        self.assertEqual(self.client.reply.state, SUCCEEDED)

    def test_a_goal_keeps_its_own_tolerances(self):
        start = self.reference(4)
        # While it moves, no drive follows within a thousandth of a microradian, and every drive follows within a
        # radian.
        tight, wide = (JointTolerance * 1)((1e-9, 0, 0)), (JointTolerance * 1)((1, -1, -1))
        self.assertEqual(self.client.move(self.names[4:5], [start + 0.3], SECOND, path_tolerance=tight), OK)
        self.assertEqual(self.client.wait(), OK)
        reply = self.client.reply
        self.assertEqual((reply.state, reply.reason, reply.joint), (ABORTED, PATH_TOLERANCE, self.names[4]))
        self.assertGreater(reply.value, reply.limit)
        self.assertEqual(reply.limit, 1e-9)
        self.assertEqual(self.client.state().state, READY)
        w = waypoints([SECOND // 2], [[start]], through=STOP)
        options = {"path_tolerance": wide, "goal_tolerance": wide, "goal_time_ns": -1}
        self.assertEqual(self.client.trajectory(self.names[4:5], w, **options), OK)
        self.assertEqual(self.client.wait(), OK)
        self.assertEqual(self.client.reply.state, SUCCEEDED)
        tolerances = (JointTolerance * 6)(*[(0, 0, 0)] * 4, (1e-9, 0, 0), (0, 0, 0))
        targets = [self.reference(j) + (0.1 if j == 4 else 0) for j in range(6)]
        self.assertEqual(self.client.move(None, targets, SECOND, group=b"arm", path_tolerance=tolerances), OK)
        self.assertEqual(self.client.wait(), OK)
        self.assertEqual((self.client.reply.reason, self.client.reply.joint), (PATH_TOLERANCE, self.names[4]))

    def test_refusals_by_name(self):
        self.assertEqual(self.client.move([b"no such joint"], [0.1]), UNKNOWN_JOINT)
        self.assertEqual(self.client.move(None, [0.1], group=b"no such group"), status(12, 6))
        self.assertEqual(takt.takt_motion_client_cancel(self.client.handle, 987654321), UNKNOWN_GOAL)
        self.assertEqual(self.client.move(self.names[:1], [1e6]), POSITION_LIMIT)

    def test_cancel_ends_the_goal_as_preempted(self):
        target = self.reference(3) + 0.5
        self.assertEqual(self.client.move(self.names[3:4], [target], 10 * SECOND), OK)
        goal = self.client.reply.goal
        self.assertEqual(self.client.wait(goal, 0), TIMEOUT)
        self.assertEqual(takt.takt_motion_client_cancel(self.client.handle, goal), OK)
        self.assertEqual(self.client.wait(goal), OK)
        self.assertEqual(self.client.reply.state, PREEMPTED)

    def test_a_goal_goes_slower_pauses_and_goes_on(self):
        target = self.reference(3) + 0.3
        self.assertEqual(self.client.move(self.names[3:4], [target], SECOND), OK)
        goal = self.client.reply.goal
        self.assertEqual(takt.takt_motion_client_speed(self.client.handle, goal, 0.5), OK)
        self.assertEqual(takt.takt_motion_client_speed(self.client.handle, 0, 0), OK)
        self.assertEqual(self.client.wait(goal, SECOND // 2), TIMEOUT)
        paused = self.reference(3)
        self.assertEqual(self.client.wait(goal, SECOND), TIMEOUT)
        self.assertEqual(self.reference(3), paused)
        self.assertNotEqual(paused, target)
        self.assertEqual(takt.takt_motion_client_speed(self.client.handle, goal, 1), OK)
        self.assertEqual(self.client.wait(goal), OK)
        self.assertEqual(self.client.reply.state, SUCCEEDED)
        self.assertEqual(self.reference(3), target)
        self.assertEqual(takt.takt_motion_client_speed(self.client.handle, goal, 1), UNKNOWN_GOAL)
        self.assertEqual(takt.takt_motion_client_speed(self.client.handle, 987654321, 1), UNKNOWN_GOAL)
        self.assertNotEqual(takt.takt_motion_client_speed(self.client.handle, 0, 1.5), OK)
        self.assertNotEqual(takt.takt_motion_client_speed(self.client.handle, 0, math.nan), OK)
        self.assertNotEqual(takt.takt_motion_client_speed(None, 0, 1), OK)

    def test_cancel_on_the_path_ends_the_goal_as_preempted(self):
        start = [self.reference(j) for j in (3, 4)]
        self.assertEqual(self.client.move(self.names[3:5], [start[0] + 0.5, start[1] + 0.25], 10 * SECOND), OK)
        goal = self.client.reply.goal
        self.assertEqual(self.client.wait(goal, SECOND), TIMEOUT)
        self.assertEqual(takt.takt_motion_client_cancel_on_path(self.client.handle, goal), OK)
        self.assertEqual(self.client.wait(goal), OK)
        self.assertEqual(self.client.reply.state, PREEMPTED)
        moved = [self.reference(j) - s for j, s in zip((3, 4), start)]
        self.assertAlmostEqual(moved[0], 2 * moved[1], places=9)
        self.assertEqual(takt.takt_motion_client_cancel_on_path(self.client.handle, 987654321), UNKNOWN_GOAL)

    def test_results_that_come_while_something_else_is_waited_for_are_kept(self):
        start = [self.reference(j) for j in range(2)]
        goals = []
        for j in range(2):
            self.assertEqual(self.client.move(self.names[j:j + 1], [start[j] + 0.02], SECOND // 2), OK)
            goals.append(self.client.reply.goal)
        for goal in reversed(goals):
            self.assertEqual(self.client.wait(goal), OK)
            self.assertEqual((self.client.reply.goal, self.client.reply.state), (goal, SUCCEEDED))

    def test_a_motion_may_wait_for_the_one_before_it_or_be_refused(self):
        client, name, here = self.client, self.names[:1], self.reference(0)
        self.assertEqual(client.move(name, [here + 0.05], SECOND // 2), OK)
        self.assertEqual(client.reply.state, ACTIVE)
        self.assertEqual(client.move(name, [here], when_busy=WHEN_BUSY_REJECT), JOINT_BUSY)
        self.assertEqual(client.move(name, [here], when_busy=WHEN_BUSY_QUEUE), OK)
        self.assertEqual((client.reply.state, client.reply.duration_ns), (PENDING, -1))
        self.assertEqual(client.wait(), OK)
        self.assertEqual(client.reply.state, SUCCEEDED)
        self.assertAlmostEqual(self.reference(0), here)

    def test_a_stream_of_setpoints_stays_one_goal_until_it_dries_up(self):
        start = self.reference(4)
        goals = set()
        for k in range(20):
            self.assertEqual(self.client.setpoint(self.names[4:5], [start + 0.001 * k], [0.1], 2 * SECOND), OK)
            goals.add(self.client.reply.goal)
        self.assertEqual(len(goals), 1)
        self.assertEqual(self.client.setpoint(self.names[4:5], [start], None, 50_000_000), OK)
        self.assertEqual(self.client.wait(goals.pop()), OK)
        self.assertEqual((self.client.reply.state, self.client.reply.reason), (ABORTED, SETPOINT_TIMEOUT))

    def test_emergency_stop_latches_and_reset_leads_back(self):
        self.assertEqual(self.client.move(self.names[5:], [self.reference(5) + 0.3], 5 * SECOND), OK)
        goal = self.client.reply.goal
        self.assertEqual(takt.takt_motion_client_estop(self.client.handle, 3), BAD_ARGUMENT)
        self.assertEqual(takt.takt_motion_client_estop(self.client.handle, 2), OK)
        self.assertEqual(self.client.wait(goal), OK)
        self.assertEqual((self.client.reply.state, self.client.reply.reason), (ABORTED, EMERGENCY_STOP))
        self.client.wait_for_robot(STOPPED)
        self.assertEqual(takt.takt_motion_client_reset(self.client.handle), OK)
        self.client.wait_for_robot(READY)

    def test_the_wire_as_text(self):
        client = self.client
        self.assertEqual(takt.takt_motion_client_send(client.handle, b'{"id":"mine",\n"state":{}}'), OK)
        self.assertEqual(client.receive(size=10)[0], BUFFER_TOO_SMALL)  # and the message stays
        self.assertEqual(client.receive(size=0)[0], BUFFER_TOO_SMALL)
        message = client.receive()
        self.assertEqual(message["state"]["id"], "mine")
        self.assertEqual([name.encode() for name in message["state"]["joint_names"]], self.names)
        self.assertEqual(client.receive(timeout_ns=0)[0], TIMEOUT)
        for text, reason in [(b"", MALFORMED), (b"{", MALFORMED), (b"[1]", MALFORMED), (b'{"fly":{}}', UNKNOWN_REQUEST)]:
            self.assertEqual(takt.takt_motion_client_send(client.handle, text), reason, text)
        self.assertEqual(client.receive(timeout_ns=0)[0], TIMEOUT)  # none of them was sent

    def test_numbers_and_arguments_are_checked_before_anything_is_sent(self):
        client, name = self.client, self.names[:1]
        for bad in (math.nan, math.inf):
            self.assertEqual(client.move(name, [bad]), NOT_FINITE)
            self.assertEqual(client.setpoint(name, [0], [bad]), NOT_FINITE)
            self.assertEqual(client.trajectory(name, waypoints([SECOND], [[bad]])), NOT_FINITE)
        self.assertEqual(client.move(None, [0.1]), BAD_ARGUMENT)  # no joints named
        self.assertEqual(client.move(name, [0.1], group=b"arm"), BAD_ARGUMENT)  # named twice
        self.assertEqual(client.move(name, [0.1], fit=2), BAD_ARGUMENT)
        self.assertEqual(client.move(name, [0.1], on_disconnect=2), BAD_ARGUMENT)
        self.assertEqual(client.move(name, [0.1], when_busy=3), BAD_ARGUMENT)
        self.assertEqual(client.trajectory(name, waypoints([SECOND], [[0.1]]), at_end=7), BAD_ARGUMENT)
        for bad, reason in [(math.nan, NOT_FINITE), (math.inf, NOT_FINITE)]:
            self.assertEqual(client.move(name, [0.1], goal_tolerance=(JointTolerance * 1)((0, bad, 0))), reason)
        self.assertEqual(client.move(name, [0.1], path_tolerance=(JointTolerance * 1)((0, 0, 1))), BAD_ARGUMENT)
        self.assertEqual(client.move([None], [0.1]), NULL_POINTER)
        self.assertEqual(client.move(name, []), WRONG_SIZE)
        self.assertEqual(client.move(name, [0.1], struct_size=8), WRONG_STRUCT_SIZE)
        self.assertNotEqual(client.move(name, [0.1], -SECOND), OK)
        self.assertEqual(client.move(None, [0.1, 0.2], group=b"arm"), MOTION_WRONG_SIZE)
        client.reply.struct_size = 3
        self.assertEqual(client.move(name, [0.1]), WRONG_STRUCT_SIZE)
        self.assertEqual(client.receive(timeout_ns=0)[0], TIMEOUT)
        self.assertEqual(takt.takt_motion_client_state(client.handle, None, 5, None, None), WRONG_SIZE)
        self.assertEqual(takt.takt_motion_client_state(client.handle, None, 6, None, None), OK)

    def test_two_clients_at_a_time(self):
        with Client(self.port) as other:
            target = self.reference(0) + 0.05
            self.assertEqual(self.client.move(self.names[:1], [target]), OK)
            self.assertEqual(other.wait(self.client.reply.goal, 50_000_000), TIMEOUT)  # not its goal
            self.assertEqual(self.client.wait(), OK)
            self.assertEqual(self.client.reply.state, SUCCEEDED)


class FakeServer:
    """Accepts one client and sends prepared lines."""

    def __init__(self, *chunks, close=True):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, args=(chunks, close))
        self.done = threading.Event()
        self.thread.start()

    def serve(self, chunks, close):
        connection, _ = self.listener.accept()
        with connection:
            try:
                for chunk in chunks:
                    connection.sendall(chunk)
                if not close:
                    self.done.wait(20)
            except OSError:
                pass  # the client closed the connection

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        self.listener.close()


GREETING = (b'{"takt":{"version":"0.1.0","protocol":1,"robot":"fake","period":0.001,"joints":["a","b"],"groups":{}}}\n')


class FakeServerTest(unittest.TestCase):
    def test_nobody_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as reserved:
            port = reserved.getsockname()[1]
        client = Client(port)
        self.assertEqual(client.status, CONNECT_FAILED)
        self.assertIsNone(client.handle.value)
        self.assertEqual(Client(port, host=b"no.such.host.invalid").status, CONNECT_FAILED)
        self.assertEqual(Client(65536).status, BAD_ARGUMENT)

    def test_greetings_that_are_none(self):
        for said, expected in [(b"", CONNECTION_CLOSED),
                               (b"HTTP/1.1 400 Bad Request\r\n\r\n", MALFORMED),
                               (b"\xff\xfe\x00\n", MALFORMED),
                               (b"{" * 100_000 + b"\n", MALFORMED),
                               (GREETING.replace(b'"protocol":1', b'"protocol":2'), MALFORMED),
                               (GREETING[:-20], CONNECTION_CLOSED)]:
            with FakeServer(said) as server:
                client = Client(server.port)
                self.assertEqual(client.status, expected, said[:40])
                self.assertIsNone(client.handle.value)

    def test_a_server_that_says_nothing_is_given_up_in_time(self):
        with FakeServer(close=False) as server:
            begin = time.monotonic()
            self.assertEqual(Client(server.port, timeout_ns=SECOND // 10).status, TIMEOUT)
            self.assertLess(time.monotonic() - begin, 5)

    def test_a_server_that_answers_nothing_or_ends(self):
        with FakeServer(GREETING, close=False) as server, Client(server.port, timeout_ns=SECOND // 10) as client:
            self.assertEqual(client.status, OK)
            self.assertEqual(client.names, [b"a", b"b"])
            self.assertEqual(client.move([b"a"], [1]), TIMEOUT)
            self.assertEqual(client.state(), TIMEOUT)
            self.assertEqual(client.wait(1, SECOND // 100), TIMEOUT)
        with FakeServer(GREETING) as server, Client(server.port) as client:
            self.assertEqual(client.wait(1), CONNECTION_CLOSED)
            self.assertEqual(client.wait(1), CONNECTION_CLOSED)

    def test_a_state_of_the_wrong_size_writes_nothing(self):
        state = (b'{"state":{"id":"takt 1","time":1,"robot":"ready","active_goals":0,"loop":{"cycles":1,"overruns":0,'
                 b'"lateness_us":0,"busy_us":0},"bus":{"sent":0,"received":0,"refused":0,"malformed":0,"unexpected":0},'
                 b'"joint_names":["a"],"command":[1],"reference":[1],"reference_velocity":[0],"measured":[1],'
                 b'"measured_velocity":[0],"goal":[0],"drive":["ready"]}}\n')
        with FakeServer(GREETING, state, close=False) as server, Client(server.port, timeout_ns=SECOND) as client:
            self.assertEqual(client.state(), MALFORMED)
            self.assertEqual(list(client.references), [0, 0])

    def test_texts_too_long_are_cut_between_characters(self):
        result = {"result": {"goal": 7, "state": "aborted", "reason": "drive_fault", "joint": "ä" * 100, "message": "x" * 1000}}
        said = json.dumps(result, ensure_ascii=False).encode() + b"\n"
        with FakeServer(GREETING, said, close=False) as server, Client(server.port) as client:
            self.assertEqual(client.wait(7), OK)
            self.assertEqual(client.reply.joint.decode(), "ä" * 31)
            self.assertEqual(client.reply.message, b"x" * 255)
            self.assertEqual((client.reply.state, client.reply.reason), (ABORTED, status(12, 42)))
            self.assertTrue(math.isnan(client.reply.value) and client.reply.time_ns == -1)

    def test_more_messages_than_are_kept_drop_the_oldest(self):
        said = b"".join(b'{"result":{"goal":%d,"state":"succeeded"}}\n' % goal for goal in range(1, 5001))
        with FakeServer(GREETING, said, close=False) as server, Client(server.port, timeout_ns=SECOND) as client:
            self.assertEqual(client.wait(5000), OK)
            self.assertEqual(client.receive(0)["result"]["goal"], 5000 - 4096)

    def test_null(self):
        self.assertEqual(takt.takt_motion_client_connect(None, None), NULL_POINTER)
        takt.takt_motion_client_close(None)
        takt.takt_motion_client_options_init(None, 0)
        takt.takt_motion_options_init(None, 0)
        takt.takt_reply_init(None, 0)
        takt.takt_robot_state_init(None, 0)
        self.assertEqual(takt.takt_motion_client_joints(None), 0)
        self.assertEqual(takt.takt_motion_client_period_ns(None), 0)
        self.assertIsNone(takt.takt_motion_client_joint_name(None, 0))
        for function, *arguments in [(takt.takt_motion_client_trajectory, None, None, None, None),
                                     (takt.takt_motion_client_move, None, None, None, 1, 0, None),
                                     (takt.takt_motion_client_setpoint, None, None, None, None, 1, 0, None),
                                     (takt.takt_motion_client_cancel, None, 0),
                                     (takt.takt_motion_client_wait, None, 0, 0, None),
                                     (takt.takt_motion_client_estop, None, 0),
                                     (takt.takt_motion_client_reset, None),
                                     (takt.takt_motion_client_state, None, None, 0, None, None),
                                     (takt.takt_motion_client_send, None, None),
                                     (takt.takt_motion_client_receive, None, 0, None, 0, None)]:
            self.assertEqual(function(*arguments), NULL_POINTER)
        with FakeServer(GREETING, close=False) as server, Client(server.port) as client:
            self.assertEqual(takt.takt_motion_client_send(client.handle, None), NULL_POINTER)
            self.assertEqual(takt.takt_motion_client_receive(client.handle, 0, None, 1, None), NULL_POINTER)
            self.assertEqual(takt.takt_motion_client_move(client.handle, None, doubles([1]), 1, 0, None), NULL_POINTER)
            self.assertEqual(takt.takt_motion_client_move(client.handle, byref(client.options([b"a"])), None, 1, 0, None), NULL_POINTER)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
