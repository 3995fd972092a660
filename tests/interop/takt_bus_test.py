#!/usr/bin/env python3
"""Tests a robot's real path from outside. takt simulate plays the boards on pseudo terminals; takt check, jog, run
and move use their other ends.

usage: takt_bus_test.py TAKT SOURCE_FOLDER [unittest arguments]

The robot is mhubo, whose boards speak classic CAN. Its loop is slow and tolerant, so that no test depends on
the machine's speed.
"""
import collections, contextlib, faulthandler, functools, json, os, pty, re, select, signal, subprocess, sys, tempfile, threading, time, tty, unittest

import robot_programs
from motion_client import Client, wait_for_state
from slcan_adapter import Adapter

TAKT = sys.argv[1]
SOURCE = sys.argv[2]
patient_mhubo = functools.partial(robot_programs.patient_mhubo, SOURCE)
program = functools.partial(robot_programs.program, TAKT)
LEFT, RIGHT = "left_and_waist", "right"
WAIST_BOARD = 12
ENCODERS = 0x60  # the identifier of board 0's encoder reply


def without(robot, board):
    joints = [joint for joint in robot["joints"] if joint["board"] != board]
    names = [joint["name"] for joint in joints]
    groups = {group: [name for name in members if name in names] for group, members in robot["groups"].items()}
    return {**robot, "joints": joints, "groups": {group: members for group, members in groups.items() if members}}


def takt(*arguments):
    return subprocess.run([TAKT, *arguments], capture_output=True, text=True, timeout=120)


def reset_until_ready(client, port):
    """Resets a robot whose boards are back. Its buses are opened again some time later."""
    end = time.monotonic() + 60
    _, state = client.ask({"state": {}})
    while state["robot"] != "ready":
        if time.monotonic() > end:
            raise AssertionError(f"never ready again: {state}")
        done = takt("reset", "--port", port)
        if done.returncode != 0 and "(bus_down)" not in done.stderr:
            raise AssertionError(done.stderr)
        state = wait_for_state(client, lambda state: state["robot"] in ("ready", "stopped") or state.get("reason") == "drive_fault"
                                or time.monotonic() > end)


class Tap:
    """A pseudo terminal before another one, for a bus with additional traffic. `change` converts each line of the
    boards' adapter to the lines for the master, which arrive `delay` s later."""

    def __init__(self, boards, change, delay=0):
        self.boards = os.open(boards, os.O_RDWR | os.O_NOCTTY)
        self.master, self.slave = pty.openpty()
        for end in (self.boards, self.slave):
            tty.setraw(end)
        self.path = os.ttyname(self.slave)
        self.change = change
        self.delay = delay
        self.stop_read, self.stop_write = os.pipe()
        self.thread = threading.Thread(target=self.carry)
        self.thread.start()

    def carry(self):
        rest = b""
        late = collections.deque()
        while True:
            wait = max(late[0][0] - time.monotonic(), 0) if late else None
            ready = select.select([self.boards, self.master, self.stop_read], [], [], wait)[0]
            while late and late[0][0] <= time.monotonic():
                os.write(self.master, late.popleft()[1])
            if self.stop_read in ready:
                return
            if self.master in ready:
                os.write(self.boards, os.read(self.master, 4096))
            if self.boards in ready:
                *lines, rest = (rest + os.read(self.boards, 4096)).split(b"\r")
                changed = [other for line in lines for other in self.change(line)]
                late.append((time.monotonic() + self.delay, b"".join(line + b"\r" for line in changed)))

    def close(self):
        os.close(self.stop_write)
        self.thread.join()
        for end in (self.boards, self.master, self.slave, self.stop_read):
            os.close(end)


def refuses(kinds):
    """The answers of an adapter that confirms all lines but those that begin with one of these letters."""
    return lambda line: b"\a" if line[:1] and line[:1] in kinds else b"V1013\r" if line == b"V" else b"\r"


def as_canable(line):
    """CANables confirm nothing, and answer V with the name of their firmware."""
    if line.startswith(b"V"):
        return [b"b158aa7 https://example.com/canable-fw.git"]
    frame = line.lstrip(b"\azZ")
    return [frame] if frame else []


def is_reply_of(board, line):
    """Returns whether a line has the encoder reply of a board; confirmations such as "z" may precede the frame."""
    return line.lstrip(b"\az").startswith(b"t%03X" % (ENCODERS + board))


class TaktBus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.robot = self.write("robot.json", patient_mhubo())
        self.links = {bus: self.path(bus) for bus in (LEFT, RIGHT)}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, robot):
        with open(self.path(name), "w") as file:
            json.dump(robot, file)
        return self.path(name)

    def on_buses(self, **other):
        """The master's --bus options."""
        places = {bus: "slcan:" + link for bus, link in self.links.items()} | other
        return [word for bus, place in places.items() for word in ("--bus", f"{bus}={place}")]

    def boards(self, robot=None):
        places = [word for bus, link in self.links.items() for word in ("--bus", f"{bus}=pty:{link}")]
        return program("simulate", robot or self.robot, *places, until=f"boards of bus {RIGHT}")

    @contextlib.contextmanager
    def running(self, *arguments):
        """takt run on the buses; yields the process and its port."""
        with program("run", self.robot, *self.on_buses(), "--port", "0", *arguments, until="robot ready") as process:
            place = next(line for line in process.lines if line.startswith("listening on"))
            yield process, place.rsplit(":", 1)[1]

    def check(self, **other):
        return takt("check", self.robot, *self.on_buses(**other))

    def tapped_check(self, change, delay=0):
        """takt check with a tap on the bus of the waist."""
        with self.boards():
            tap = Tap(self.links[LEFT], change, delay)
            try:
                return self.check(**{LEFT: "slcan:" + tap.path})
            finally:
                tap.close()

    def rows(self, done):
        """The words of each joint's row."""
        names = [joint["name"] for joint in patient_mhubo()["joints"]]
        return {words[0]: words[1:] for words in map(str.split, done.stdout.splitlines()) if words and words[0] in names}

    def test_check_shows_the_firmware_that_a_drive_tells(self):
        arm = self.path("arm")
        robot = os.path.join(SOURCE, "examples", "robots", "odrive_arm.json")
        with program("simulate", robot, "--bus", f"arm=pty:{arm}", until="boards of bus arm"):
            done = takt("check", robot, "--bus", f"arm=slcan:{arm}", "--duration", "3")
        self.assertEqual(done.stdout.count("hardware 4.4.58, firmware 0.6.10"), 2, done.stdout + done.stderr)

    def test_a_jog_that_is_interrupted_stops_the_robot(self):
        jog = subprocess.Popen([TAKT, "jog", self.robot, "WST", "1", "--speed", "0.002", "--simulate"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in jog.stdout:
            if line.startswith("goal 1 accepted"):
                break
        jog.send_signal(signal.SIGINT)
        said, complaint = jog.communicate(timeout=60)
        self.assertEqual(jog.returncode, 1, said + complaint)
        self.assertRegex(complaint, "shutting_down|loop_overrun")

    def test_a_robot_is_checked_jogged_run_and_reported_on_real_buses(self):
        recording, report = self.path("run.mcap"), self.path("report")
        with self.boards():
            done = self.check()
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rows = self.rows(done)
            self.assertEqual(len(rows), 17)
            for words in rows.values():
                self.assertEqual((words[2], words[7:]), ("yes", ["board", "type", "0", "well,", "power", "off"]))
            self.assertRegex(done.stdout, r"\bjitter +identity +state\n")
            self.assertIn(" ".join(self.on_buses()), done.stdout.splitlines()[-1])  # the next step is on the same buses

            done = takt("jog", self.robot, "WST", "0.05", *self.on_buses())
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("goal 1 succeeded", done.stdout)

            with self.running("--record", recording) as (process, port):
                done = takt("move", "WST", "0.4", "--port", port)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                done = takt("state", "--port", port)
                self.assertIn("mhubo: ready", done.stdout)
                process.send_signal(signal.SIGTERM)
                self.assertIn("0 dropped", process.communicate(timeout=60)[0])
                self.assertEqual(process.returncode, 0)
        done = takt("report", recording, "--out", report)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(report, "summary.json")) as file:
            summary = json.load(file)
        self.assertTrue(summary["recording"]["complete"])
        self.assertEqual((summary["goals"], summary["whole"]["goal_events"]["succeeded"]), (1, 1))
        self.assertEqual([bus["bus"] for bus in summary["buses"]], [LEFT, RIGHT])
        for bus in summary["buses"]:
            self.assertGreater(bus["load_mean"], 0)
            self.assertGreater(bus["frames"], 0)

    def test_a_missing_drive_ends_jog_and_run_in_time_and_by_name(self):
        with self.boards(self.write("less.json", without(patient_mhubo(), WAIST_BOARD))):
            missing = rf"without 1 of 17 drives: WST \(board {WAIST_BOARD}\): does not answer on bus {LEFT} \(slcan:{self.links[LEFT]}\)"
            for command in (("jog", self.robot, "LSP", "0.05"), ("run", self.robot, "--port", "0")):
                with self.subTest(command[0]):
                    # Without a time-out it says what it waits for, again and again.
                    with program(*command, *self.on_buses(), until=r"robot starting for ([3-9]|\d\d+) s, " + missing) as process:
                        self.assertIsNone(process.poll())
                    # On a loaded machine the other drives may need more time than that. Then it names them, too.
                    for patience in (2, 4, 8, 16, 32):
                        begin = time.monotonic()
                        done = takt(*command, *self.on_buses(), "--start-timeout", str(patience))
                        longest = time.monotonic() - begin  # pauses of this computer are of both times
                        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                        told = re.search(rf"takt {command[0]}: robot starting for (\d+) s, without (\d+) of 17 drives: (.*)", done.stderr)
                        self.assertIsNotNone(told, done.stderr)
                        self.assertEqual(told[3].count("(board "), int(told[2]), done.stderr)
                        self.assertIn(missing.split(": ", 1)[1].replace("\\", ""), told[3])
                        self.assertGreater(longest, patience)
                        self.assertLessEqual(int(told[1]), longest + 0.5)  # it is rounded
                        if int(told[2]) == 1:
                            break
                    self.assertRegex(done.stderr, missing)

    def test_joints_are_turned_by_hand_without_power(self):
        with self.boards(), program("run", self.robot, *self.on_buses(), "--port", "0", "--power", "off", until="robot without power") as process:
            port = next(line for line in process.lines if line.startswith("listening on")).rsplit(":", 1)[1]
            self.assertIn("all drives answer", process.lines[-1])
            self.assertNotIn("robot ready", process.lines)
            done = takt("state", "--port", port)
            self.assertIn("[power_off]", done.stdout)
            self.assertEqual(done.stdout.count(" off\n"), 17, done.stdout)
            done = takt("move", "WST", "0.4", "--port", port)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("(power_off)", done.stderr)
            self.assertEqual(takt("reset", "--port", port).returncode, 0)
            time.sleep(0.5)
            self.assertEqual(takt("state", "--port", port).stdout.count(" off\n"), 17)

    def test_a_scan_finds_the_boards_and_writes_a_file_that_checks_them(self):
        robots = {"odrive": ("odrive_arm", "arm", {1, 2}), "mit": ("mit_arm3", "arm", {3})}
        for protocol, (name, bus, boards) in robots.items():
            with self.subTest(protocol):
                robot = os.path.join(SOURCE, "examples", "robots", name + ".json")
                place = self.path(protocol)
                with program("simulate", robot, "--bus", f"{bus}=pty:{place}", until=f"boards of bus {bus}"):
                    done = takt("scan", "slcan:" + place, "--protocol", protocol, "--duration", "1")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    written = json.loads(done.stdout[done.stdout.index("{"):])
                    self.assertLessEqual(boards, {joint["board"] for joint in written["joints"]}, done.stdout)
                    written.update(overrun_limit=1000, feedback_timeout=1)
                    done = takt("check", self.write("scanned.json", written))
                    for board in boards:  # of unknown gear: perhaps outside the file's limits
                        self.assertRegex(done.stdout, rf"(?m)^joint_{board} +bus +{board} yes ", done.stderr)
        with self.boards():
            done = takt("scan", "slcan:" + self.links[LEFT], "--protocol", "hubo", "--duration", "0.5")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, rf"(?m)^hubo +{WAIST_BOARD}  when asked  two motors$")
            done = takt("scan", "slcan:" + self.links[LEFT], "--duration", "0.2")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("Nothing was asked", done.stdout)
        done = takt("scan", "virtual")
        self.assertEqual(done.returncode, 1)

    def test_boards_that_die_in_motion_stop_the_robot_and_new_ones_are_taken_up(self):
        with self.boards() as boards, self.running() as (process, port):
            client = Client(int(port))
            self.assertEqual(client.ask({"move": {"joint_names": ["WST"], "positions": [1.5], "duration": 60}})[0], "accepted")
            wait_for_state(client, lambda state: state["reference_velocity"][state["joint_names"].index("WST")] > 0)
            boards.kill()
            boards.wait()
            state = wait_for_state(client, lambda state: state["robot"] == "stopped")
            self.assertIn(state["reason"], ("bus_down", "drive_silent"))
            self.assertIn(state["joint"], state["joint_names"])
            self.assertTrue(state["message"].startswith(state["joint"] + ": "), state["message"])
            if state["reason"] == "bus_down":
                self.assertTrue(any(f"{bus} (slcan:{link})" in state["message"] for bus, link in self.links.items()), state["message"])
            self.assertEqual(state["active_goals"], 0)
            self.assertGreater(state["age_ms"][state["joint_names"].index(state["joint"])], 0)
            shown = takt("state", "--port", port).stdout
            self.assertRegex(shown, r"(?m)^joint .* velocity +age +goal +drive$")
            self.assertRegex(shown, rf"(?m)^{state['joint']} .* [0-9.]+ +- ")

            end = time.monotonic() + 60
            while (done := takt("reset", "--port", port)).returncode == 0:  # until the loop has seen that the buses are down
                self.assertLess(time.monotonic(), end, state)
            self.assertIn("(bus_down)", done.stderr)
            self.assertTrue(any(f"{bus} (slcan:{link})" in done.stderr for bus, link in self.links.items()), done.stderr)

            with self.boards():
                reset_until_ready(client, port)
                client.close()
                done = takt("move", "WST", "0.3", "--port", port)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0)

    def test_boards_of_every_classic_protocol_are_taken_up_again_after_they_were_killed(self):
        # hubo: the test above. servo has FD frames, which no pseudo terminal carries: tests/drives/restart_test.cpp.
        for protocol in ("cia402", "mit", "odrive"):
            with self.subTest(protocol):
                robot = self.write(protocol + ".json", robot_programs.patient_arm(SOURCE, protocol))
                link = self.path(protocol)

                def boards():
                    return program("simulate", robot, "--bus", "arm=pty:" + link, until="boards of bus arm")

                with boards() as first, program("run", robot, "--bus", "arm=slcan:" + link, "--port", "0", until="robot ready") as process:
                    port = next(line for line in process.lines if line.startswith("listening on")).rsplit(":", 1)[1]
                    client = Client(int(port))
                    self.addCleanup(client.close)
                    first.kill()
                    first.wait()
                    wait_for_state(client, lambda state: state["robot"] == "stopped")
                    with boards():
                        reset_until_ready(client, port)
                        done = takt("move", "shoulder", "0.5", "--port", port)
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                        process.send_signal(signal.SIGTERM)
                        process.communicate(timeout=60)
                        self.assertEqual(process.returncode, 0)

    def test_a_server_elsewhere_names_the_interfaces_that_the_loop_has_open(self):
        place = self.path("loop")
        with self.boards() as boards, program("run", self.robot, *self.on_buses(), "--serve-at", place, until="robot ready"):
            with program("serve", self.robot, "--loop", place, "--port", "0", until="listening on") as server:
                client = Client(int(server.lines[-1].rsplit(":", 1)[1]))
                boards.kill()
                boards.wait()
                wait_for_state(client, lambda state: state["robot"] == "stopped")
                kind = "accepted"
                while kind == "accepted":  # until the loop has seen that the buses are down
                    kind, refusal = client.ask({"reset": {}})
                client.close()
        self.assertEqual((kind, refusal["reason"]), ("rejected", "bus_down"))
        self.assertTrue(any(f"{bus} (slcan:{link})" in refusal["message"] for bus, link in self.links.items()), refusal)

    def test_a_missing_board_is_named(self):
        with self.boards(self.write("less.json", without(patient_mhubo(), WAIST_BOARD))):
            done = self.check()
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = self.rows(done)
        self.assertEqual([name for name, words in rows.items() if words[2] != "yes"], ["WST"])
        self.assertIn(f"does not answer: is board {WAIST_BOARD} powered", " ".join(rows["WST"]))
        self.assertIn("1 of 17 joints", done.stdout)

    def test_a_bus_that_cannot_be_opened_is_named_before_anything_is_sent(self):
        no_can = ("modprobe", "no such", "No such", "not a CAN")  # without CAN in the kernel the family is missing
        places = {"slcan:/nowhere/tty": ("/nowhere/tty",), "lo": no_can, "nosuch0": no_can, "slcan:relative": ("is no bus; allowed",),
                  "two words": ("is no bus; allowed",)}
        with self.boards() as boards:
            for place, words in places.items():
                on_buses = self.on_buses(**{RIGHT: place})
                for command in (("check", self.robot), ("jog", self.robot, "WST", "0.05"), ("run", self.robot, "--port", "0")):
                    with self.subTest(place=place, command=command[0]):
                        done = takt(*command, *on_buses)
                        self.assertEqual(done.returncode, 1, done.stdout)
                        self.assertIn(RIGHT, done.stderr)
                        self.assertTrue(any(word in done.stderr for word in words), done.stderr)
                        self.assertNotIn("robot starting", done.stdout)
            boards.send_signal(signal.SIGTERM)
            said = boards.communicate(timeout=60)[0]
        self.assertIn(f"bus {LEFT}: 0 frames", said)
        self.assertIn(f"bus {RIGHT}: 0 frames", said)

    def test_boards_without_a_place_are_refused(self):
        for places, words in (([], f"bus {LEFT} is virtual"), (["--bus", "neck=pty:/tmp/x"], f"its buses are {LEFT}, {RIGHT}"),
                              (["--bus", f"{LEFT}=pty:/nowhere/tty"], f"bus {LEFT}: pty:/nowhere/tty"),
                              (["--bus", f"{LEFT}=slcan:relative"], f"bus {LEFT}: \"slcan:relative\" is no bus")):
            with self.subTest(places):
                done = takt("simulate", self.robot, *places)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
        arm = os.path.join(SOURCE, "examples", "robots", "arm6.json")
        done = takt("simulate", arm, "--bus", "arm=pty:" + self.path("arm"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("bus arm: slcan carries classic frames only", done.stderr)

    def test_a_tap_that_changes_nothing_is_not_seen(self):
        done = self.tapped_check(lambda line: [line])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_canable_is_an_adapter(self):
        done = self.tapped_check(as_canable)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_answers_that_come_late_are_seen(self):
        robot = patient_mhubo()
        robot["feedback_timeout"] = 0.05
        self.robot = self.write("robot.json", robot)
        done = self.tapped_check(lambda line: [line], delay=0.15)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(" ".join(self.rows(done)["WST"]), r"answers \d\d\d ms late: its position is older than feedback_timeout, 0.05 s")

    def test_a_bus_on_which_nobody_acknowledges_is_named(self):
        robot = os.path.join(SOURCE, "examples", "robots", "odrive_arm.json")
        adapter = Adapter(refuses(b"tr"))  # as if alone on its bus
        try:
            done = takt("check", robot, "--bus", f"arm=slcan:{adapter.path}")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertRegex(done.stdout, rf"bus arm \(slcan:{adapter.path}\): nobody acknowledged \d+ frames: is a drive on it powered, is the bit rate 1000000 bit/s")
            for command in (("jog", robot, "shoulder", "0.05"), ("run", robot, "--port", "0")):
                with self.subTest(command[0]):
                    process = subprocess.Popen([TAKT, *command, "--bus", f"arm=slcan:{adapter.path}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                    for line in process.stdout:
                        if "nobody acknowledged" in line:
                            break
                    process.send_signal(signal.SIGTERM)
                    process.communicate(timeout=60)
                    self.assertIn("nobody acknowledged", line)
        finally:
            adapter.close()

    def test_a_pause_of_the_computer_is_no_silence_of_an_adapter(self):
        def answer(line):
            if line[:1] == b"S":  # the answer comes while the program stands still, for longer than it would wait
                time.sleep(0.1)
                process.send_signal(signal.SIGSTOP)
                threading.Timer(2.5, process.send_signal, [signal.SIGCONT]).start()
            return refuses(b"SO")(line)

        adapter = Adapter(answer)
        try:
            process = subprocess.Popen([TAKT, "scan", "slcan:" + adapter.path, "--duration", "0.2"], stderr=subprocess.PIPE, text=True)
            _, told = process.communicate(timeout=60)
            self.assertIn("refuses the command", told)
        finally:
            adapter.close()

    def test_two_odrives_of_one_node_are_seen_and_not_switched_on(self):
        arm = self.path("arm")
        robot = os.path.join(SOURCE, "examples", "robots", "odrive_arm.json")
        with program("simulate", robot, "--bus", f"arm=pty:{arm}", until="boards of bus arm"):
            of_node_1 = tuple(b"t%03X" % (1 << 5 | command) for command in range(32))
            tap = Tap(arm, lambda line: [line] * (2 if line.lstrip(b"\azZ").startswith(of_node_1) else 1))
            try:
                done = takt("check", robot, "--bus", f"arm=slcan:{tap.path}")
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn("fault: two drives answer with its node id", done.stdout)
                with program("run", robot, "--bus", f"arm=slcan:{tap.path}", "--port", "0", until="robot starting: ") as process:
                    self.assertIn("two drives answer with its node id", process.lines[-1])
            finally:
                tap.close()

    def test_a_drive_with_another_range_is_present_and_says_which(self):
        arm = self.path("arm")
        file = os.path.join(SOURCE, "examples", "robots", "mit_arm3.json")
        with open(file) as opened:
            robot = json.load(opened)
        for joint in robot["joints"]:
            if joint["drive"]["vendor"] == "damiao":
                joint["drive"]["velocity_range"] = 45
        bus = robot["buses"][0]["name"]
        with program("simulate", self.write("other.json", robot), "--bus", f"{bus}=pty:{arm}", until=f"boards of bus {bus}"):
            done = takt("check", file, "--bus", f"{bus}=slcan:{arm}")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("fault: its VMAX is not the velocity_range of the description", done.stdout)
        self.assertIn("VMAX 45", done.stdout)

    def test_two_drives_of_one_number_are_seen(self):
        for _ in range(10):  # boards that pause as the check ends leave questions unanswered, which hides the second drive
            done = self.tapped_check(lambda line: [line] * (2 if is_reply_of(WAIST_BOARD, line) else 1))
            if done.returncode != 0:
                break
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("Two drives have one number", done.stdout)
        self.assertIn("answers a period more than", done.stdout)

    def test_a_drive_of_another_kind_is_seen(self):
        short = b"t%03X2ABCD" % (ENCODERS + WAIST_BOARD)
        done = self.tapped_check(lambda line: [short if is_reply_of(WAIST_BOARD, line) else line])
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("make no sense in the file's protocol", done.stdout)
        self.assertEqual(self.rows(done)["WST"][2], "no")

    def test_frames_of_a_second_master_are_seen(self):
        done = self.tapped_check(lambda line: [line, b"t00130C0200"] if is_reply_of(WAIST_BOARD, line) else [line])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)  # they may be another robot's
        self.assertIn("a second master's", done.stdout)

    def test_python_can_is_a_master_as_well(self):
        script = f"""if True:
            import can, sys, time
            with can.Bus(interface="slcan", channel=sys.argv[1], bitrate=1000000, sleep_after_open=0) as bus:
                end = time.monotonic() + 60
                while time.monotonic() < end:
                    bus.send(can.Message(arbitration_id=1, is_extended_id=False, data=[{WAIST_BOARD}, 3, 0]))
                    while (reply := bus.recv(timeout=1)) is not None:
                        if reply.arbitration_id == {ENCODERS + WAIST_BOARD}:
                            print(reply.dlc)
                            sys.exit()
            sys.exit("no reply")"""
        python = "/usr/bin/python3"  # Debian's python-can is seen by Debian's interpreter only
        if subprocess.run([python, "-c", "import can, serial"], capture_output=True).returncode != 0:
            self.skipTest("no python-can (Debian: python3-can python3-serial)")
        with self.boards():
            done = subprocess.run([python, "-c", script, self.links[LEFT]], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, "8\n"), done.stderr)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(280, exit=True)  # where it waits, before ctest ends it
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
