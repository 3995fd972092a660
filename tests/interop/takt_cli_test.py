#!/usr/bin/env python3
"""Tests the program takt at a shell: its help, its error messages, the commands that move a robot, and the
terminal output.

usage: takt_cli_test.py TAKT SOURCE_FOLDER PATIENT_ARM [unittest arguments]
"""
import csv, json, os, re, shlex, signal, socket, subprocess, sys, tempfile, time, unittest

from takt_run_test import PATIENT_ARM, SOURCE, TAKT, Client, running, wait_for_state  # its arguments are the same
from terminal import Terminal
from vehicle_programs import PATIENCE, wait_for

MISSING = "/nowhere/at/all"


def takt(*arguments, program=TAKT, **keywords):
    return subprocess.run([program, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, **keywords)


def commands_of(*command):
    """The commands of takt, or of a group of its commands, as its help lists them."""
    listed = takt(*command, "--help").stdout.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z0-9-]+) ", listed, re.MULTILINE)


def all_commands():
    for name in commands_of():
        yield (name,)
        yield from ((name, inner) for inner in commands_of(name))


def examples_in_help(command):
    """The arguments of the lines in a command's help that call takt."""
    return [shlex.split(line)[1:] for line in re.findall(rf"^  (takt {command} .*)$", takt(command, "--help").stdout, re.MULTILINE)]


class CommandLine(unittest.TestCase):
    def check_printable(self, text):
        self.assertEqual([c for c in text if ord(c) < 0x20 and c != "\n"], [], text)

    def test_every_help_is_text_and_lists_the_words_of_an_option(self):
        commands = list(all_commands())
        self.assertGreater(len(commands), 15)
        for command in [(), *commands]:
            with self.subTest(command):
                shown = takt(*command, "--help")
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                self.check_printable(shown.stdout)
                self.assertIn(" ".join(("Usage: takt", *command)), shown.stdout)
        self.assertIn("--wait hybrid|sleep=hybrid ", takt("run", "--help").stdout)
        self.assertIn("--realtime attempt|enforce|off=attempt\n", takt("run", "--help").stdout)
        for command in ("send", "move"):
            self.assertRegex(takt(command, "--help").stdout, r"--when-busy splice\|queue\|reject\s")

    def test_a_word_that_an_option_does_not_have_is_refused_with_those_that_it_has(self):
        for command, option, words in ((["run", PATIENT_ARM], "--wait", "hybrid, sleep"),
                                       (["run", PATIENT_ARM], "--realtime", "attempt, enforce, off"),
                                       (["send", PATIENT_ARM], "--when-busy", "splice, queue, reject"),
                                       (["move", "elbow_joint", "1"], "--when-busy", "splice, queue, reject")):
            with self.subTest(option):
                refused = takt(*command, option, "sometimes")
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.check_printable(refused.stderr)
                self.assertIn(f"takt {command[0]}: {option}: 'sometimes' is not one of {words}\n", refused.stderr)
                self.assertIn(f"takt {command[0]} --help", refused.stderr)

    def test_a_command_that_there_is_not_is_named_beside_those_that_there_are(self):
        for group in ((), ("shm",)):
            names = ", ".join(commands_of(*group))
            prefix = " ".join(("takt", *group))
            for given, why in ((["foo"], "there is no command 'foo'"), ([], "a command is missing")):
                with self.subTest(given, group=group):
                    refused = takt(*group, *given)
                    self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                    self.assertEqual(refused.stderr, f"{prefix}: {why}. Commands: {names}\nSee: {prefix} --help\n")

    def test_a_mistake_in_arguments_is_reported_by_the_command_that_has_it(self):
        for arguments, why in ((["run"], "ROBOT is required"), (["run", "arm6", "--surprise"], "--surprise"), (["cancel", "0"], "'0' is no"),
                               (["move", "elbow_joint", "nan"], "'nan' is not a finite number"), (["run", "arm6", "--overwrite"], "--record"),
                               (["move", "elbow_joint", "1", "--duration", "0"], "'0' is not a finite number above 0")):
            with self.subTest(arguments):
                refused = takt(*arguments)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertTrue(refused.stderr.startswith(f"takt {arguments[0]}: "), refused.stderr)
                self.assertIn(why, refused.stderr)


class Files(unittest.TestCase):
    def commands_with(self, path):
        yield ["run", path]
        yield ["run", PATIENT_ARM, "--virtual-time", "--requests", path]
        yield ["serve", path, "--loop", "/nowhere"]
        yield ["send", path]
        yield ["dbc2hpp", path]
        yield ["report", path, "--out", "/nowhere"]
        yield ["drive", "--plain", "--twists", path]
        yield ["drive", "--plain", "--vehicle", path]
        yield ["vehicle-sim", "--plain", "--vehicle", path]
        yield ["drive", "--key", path]

    def test_a_file_that_cannot_be_read_is_named_with_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, reason in ((MISSING, "No such file or directory"), (folder, "Is a directory"), (PATIENT_ARM + "/x", "Not a directory")):
                for command in self.commands_with(path):
                    with self.subTest(" ".join(command)):
                        refused = takt(*command)
                        self.assertNotEqual(refused.returncode, 0)
                        self.assertIn(path, refused.stderr)
                        if not (path == folder and "--key" in command):  # it says that it is no regular file
                            self.assertIn(reason, refused.stderr)


    def test_a_continuous_joint_that_turns_less_than_once_is_told(self):
        with open(os.path.join(SOURCE, "examples/robots/arm6.json")) as file:
            robot = json.load(file)
        robot["transmissions"] = [{"name": "gear", "type": "simple", "joints": [{"name": "wrist_3_joint", "reduction": 100}],
                                   "actuators": [{"name": "motor"}]}]
        robot["joints"][5]["plant"]["start"] = 0
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "geared.json")
            with open(path, "w") as file:
                json.dump(robot, file)
            for command in (["check", path, "--simulate", "--duration", 0.1], ["run", path, "--virtual-time", "--duration", 0.1]):
                with self.subTest(command[0]):
                    told = takt(*command)
                    self.assertIn(f"{path}: /joints/5: wrist_3_joint turns only from -", told.stderr)
            self.assertEqual(takt("check", os.path.join(SOURCE, "examples/robots/arm6.json"), "--simulate", "--duration", 0.1).stderr, "")


class Recordings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.mcap")

    def contents(self):
        with open(self.path, "rb") as file:
            return file.read()

    def write(self, contents):
        with open(self.path, "wb") as file:
            file.write(contents)

    def record(self, *arguments):
        return takt("run", PATIENT_ARM, "--record", self.path, "--duration", "0.1", *arguments)

    def test_a_file_that_is_there_is_overwritten_only_when_that_was_said(self):
        for how in (["--virtual-time"], ["--port", "0"]):
            with self.subTest(how):
                self.write(b"a day of work")
                refused = self.record(*how)
                self.assertEqual(refused.returncode, 1)
                self.assertIn(f"{self.path} exists", refused.stderr)
                self.assertIn("--overwrite", refused.stderr)
                self.assertEqual(self.contents(), b"a day of work")
                self.assertEqual(self.record(*how, "--overwrite").returncode, 0)
                self.assertGreater(len(self.contents()), 1000)

    def test_what_is_no_file_is_written_to(self):
        self.assertEqual(takt("run", PATIENT_ARM, "--virtual-time", "--duration", "0.1", "--record", "/dev/null").returncode, 0)

    def test_a_robot_that_never_ran_leaves_no_recording_in_the_way_of_the_next(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            refused = self.record("--port", taken.getsockname()[1])
        self.assertEqual(refused.returncode, 1)
        self.assertFalse(os.path.exists(self.path))


class Motions(unittest.TestCase):
    def measured(self, client, joint):
        state = client.ask({"state": {}})[1]
        return state["measured"][state["joint_names"].index(joint)]

    def test_a_joint_is_moved_to_where_it_shall_be(self):
        with running() as (_, port):
            client = Client(port)
            for joint, position, options in (("elbow_joint", 1.2, []), ("wrist_1_joint", -1.9, ["--duration", "0.7"]),
                                             ("elbow_joint", 1.25, ["--velocity", "0.2", "--when-busy", "reject"])):
                moved = takt("move", joint, position, "--port", port, *options)
                self.assertEqual(moved.returncode, 0, moved.stdout + moved.stderr)
                self.assertIn("succeeded", moved.stdout)
                if "--duration" in options:
                    self.assertIn("accepted, 0.700 s", moved.stdout)
                self.assertAlmostEqual(self.measured(client, joint), position, delta=0.02)
            for joint, position, why in (("elbow_joint", 99, "position_limit"), ("knee", 1, "knee")):
                refused = takt("move", joint, position, "--port", port)
                self.assertEqual(refused.returncode, 1)
                self.assertIn(why, refused.stderr)
            client.close()

    def test_the_examples_of_help_work_after_those_of_the_readme(self):
        with open(os.path.join(SOURCE, "examples", "README.md")) as readme:
            first = re.findall(r"^(?:    )?takt ((?:move|send) .*?)(?:#.*)?$", readme.read(), re.MULTILINE)
        self.assertGreater(len(first), 0)
        examples = [line.split() for line in first] + examples_in_help("move") + examples_in_help("send")
        self.assertGreater(len(examples), 3)
        with running() as (_, port):
            for arguments in examples:
                done = takt(*arguments, "--port", port, cwd=SOURCE)
                self.assertEqual(done.returncode, 0, f"{arguments}: {done.stdout}{done.stderr}")

    def test_a_goal_that_is_waited_for_no_longer_is_stopped_or_goes_on_and_that_is_said(self):
        with running() as (_, port), tempfile.TemporaryDirectory() as folder:
            client = Client(port)
            given_up = takt("move", "elbow_joint", "0.5", "--duration", "30", "--timeout", "0.2", "--port", port)
            self.assertEqual(given_up.returncode, 1)
            self.assertIn("goal 1 has not ended after 0.2 s (--timeout): it is stopped\n", given_up.stderr)
            self.assertIn("goal 1 preempted", given_up.stdout)
            self.assertEqual(client.ask({"state": {}})[1]["active_goals"], 0)

            path = os.path.join(folder, "move.json")
            with open(path, "w") as file:
                json.dump({"move": {"joint_names": ["elbow_joint"], "positions": [0.5], "duration": 30, "on_disconnect": "continue"}}, file)
            given_up = takt("send", path, "--timeout", "0.2", "--port", port)
            self.assertEqual(given_up.returncode, 1)
            self.assertIn("goal 2 has not ended after 0.2 s (--timeout): it goes on; `takt cancel 2` stops it\n", given_up.stderr)
            time.sleep(0.3)
            self.assertEqual(client.ask({"state": {}})[1]["active_goals"], 1)
            self.assertEqual(takt("cancel", "2", "--port", port).returncode, 0)
            client.close()

    def test_positions_have_the_same_units_in_state_top_and_csv_and_they_are_said(self):
        with tempfile.TemporaryDirectory() as folder:
            recording, out = os.path.join(folder, "run.mcap"), os.path.join(folder, "report")
            with running("--record", recording) as (_, port):
                self.assertEqual(takt("move", "elbow_joint", "1.2", "--port", port).returncode, 0)
                tables = [takt("state", "--port", port).stdout, takt("top", "--once", "--port", port).stdout]
            takt("report", recording, "--out", out)
            with open(os.path.join(out, "joints.csv"), newline="") as file:
                last = list(csv.DictReader(file))[-1]
        for table in tables:
            self.assertIn("(rad, rad/s; m, m/s for linear joints)", table)
            elbow = next(line.split() for line in table.splitlines() if line.startswith("elbow_joint"))
            self.assertAlmostEqual(float(elbow[2]), float(last["elbow_joint.measured_rad"]), delta=0.02)
        self.assertIn("joints.csv", takt("state", "--help").stdout)


class Screens(unittest.TestCase):
    def start(self, *words, **size):
        terminal = Terminal(TAKT, *words, **size)
        self.addCleanup(terminal.close)
        return terminal

    def frames(self, terminal):
        """The complete screens that were drawn: the lines of each."""
        drawn = terminal.text.split("\x1b[H")[1:-1]
        return [re.sub(r"\x1b\[[0-9]*[A-Z]", "", frame).split("\r\n") for frame in drawn]

    def check_screens(self, terminal, columns, rows):
        frames = wait_for(lambda: self.frames(terminal), "it draws")
        for frame in frames:
            self.assertLessEqual(len(frame), rows)
            self.assertLessEqual(max(map(len, frame)), columns, frame)
        return frames[-1]

    def test_top_names_the_robot_fits_its_terminal_and_ends_with_q(self):
        with running() as (_, port):
            terminal = self.start("top", "--port", str(port), "--rate", "20")
            screen = self.check_screens(terminal, 80, 24)
            self.assertTrue(screen[0].startswith("arm6: "), screen)
            self.assertEqual(sum("_joint" in line for line in screen), 6)
            self.assertIn("q ends this", screen[-1])
            terminal.type("z")  # which is nothing
            drawn = len(self.frames(terminal))
            wait_for(lambda: len(self.frames(terminal)) > drawn + 2, "it goes on")
            terminal.type("q")
            self.assertEqual(terminal.process.wait(PATIENCE), 0)
            self.assertEqual(terminal.settings(), terminal.before)

            terminal = self.start("top", "--port", str(port))
            self.check_screens(terminal, 80, 24)
            terminal.process.send_signal(signal.SIGINT)
            self.assertEqual(terminal.process.wait(PATIENCE), 0)
            self.assertEqual(terminal.settings(), terminal.before)

    def test_top_shortens_names_and_leaves_out_joints_that_do_not_fit(self):
        with open(PATIENT_ARM) as file:
            description = file.read()
        for joint, name in (("elbow_joint", "left_hand_little_finger_flexion_joint_1"), ("wrist_1_joint", "left_hand_little_finger_flexion_joint_2")):
            description = description.replace(joint, name)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "hand.json")
            with open(path, "w") as file:
                file.write(description)
            with running(description=path) as (_, port):
                screen = self.check_screens(self.start("top", "--port", str(port)), 80, 24)
                self.assertEqual([line.split()[0][-3:] for line in screen if line.startswith("left_h")], ["t_1", "t_2"])
                screen = self.check_screens(self.start("top", "--port", str(port), rows=9), 80, 9)
                self.assertRegex(screen[-1], r"^\(5 more lines\) ")
                self.assertIn("left_hand_little_finger_flexion_joint_1", takt("state", "--port", port).stdout)

    def test_top_without_a_terminal_reads_nothing_away_and_says_when_the_server_goes(self):
        with running() as (process, port):
            with subprocess.Popen([TAKT, "top", "--port", str(port)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as top:
                self.assertIn("\x1b[2J", top.stdout.readline())
                process.send_signal(signal.SIGTERM)
                errors = top.communicate(timeout=PATIENCE)[1]
                self.assertEqual(top.returncode, 1)
                self.assertIn("ended the connection", errors)

    def test_the_progress_of_a_motion_stays_on_its_line(self):
        with running() as (_, port):
            terminal = self.start("move", "elbow_joint", "1.2", "--duration", "1", "--port", str(port))
            self.assertEqual(terminal.process.wait(PATIENCE), 0)
            wait_for(lambda: "succeeded" in terminal.text, "it says so")
            shown = [piece for piece in re.split(r"[\r\n]+", re.sub(r"\x1b\[K", "", terminal.text)) if piece.startswith("[")]
            self.assertGreater(len(shown), 3)
            self.assertLess(max(map(len, shown)), 80)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
