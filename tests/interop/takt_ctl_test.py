#!/usr/bin/env python3
"""Commands the controllers of a running robot by takt ctl and by its motion server's socket.

usage: takt_ctl_test.py TAKT SOURCE_FOLDER PATIENT_ARM CONTROLLER_PLUGIN [unittest arguments]
"""
import faulthandler, json, os, random, signal, subprocess, sys, tempfile, time, unittest

from motion_client import Client, wait_for_state
from robot_programs import program

TAKT, SOURCE, PATIENT_ARM, PLUGIN = sys.argv[1:5]
PATIENCE = 60  # s
SEED = int(os.environ.get("TAKT_SEED") or random.SystemRandom().randrange(2**32))
ELBOW = 2  # index of the elbow joint


def arm(folder, **more):
    """The patient arm with further members, as a file."""
    with open(PATIENT_ARM) as file:
        robot = json.load(file)
    path = os.path.join(folder, "arm.json")
    with open(path, "w") as file:
        json.dump(dict(robot, **more), file)
    return path


class Running(unittest.TestCase):
    """A simulated robot that runs until the end of the test."""

    def run_robot(self, *arguments, description=PATIENT_ARM, until="controllers: "):
        robot = self.enterContext(program(TAKT, "run", description, "--port", "0", "--folder", os.path.dirname(PLUGIN), *arguments,
                                          until=until))
        self.port = next((line.rsplit(":", 1)[1] for line in robot.lines if line.startswith("listening on")), None)
        return robot

    def takt(self, *words):
        return subprocess.run([TAKT, *words, "--port", self.port], capture_output=True, text=True, timeout=PATIENCE)

    def ctl(self, *words):
        """The answer to a command that is obeyed, as a value."""
        done = self.takt("ctl", *words, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("\n"), 1)
        return json.loads(done.stdout)[words[0]]

    def refused(self, *words, code=1):
        """The reason why a command is refused."""
        done = self.takt("ctl", *words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return done.stderr

    def states(self):
        return {row["name"]: row["state"] for row in self.ctl("list")}

    def client(self):
        client = Client(int(self.port))
        self.addCleanup(client.close)
        return client

    def load(self, name="tip", *words, plugin=True):
        if plugin:
            self.ctl("library", os.path.basename(PLUGIN))
        self.ctl("load", "Borrower", name, *(words or ("joint=elbow_joint",)))

    def move(self, client, *joints):
        """The answer to a small motion of these joints."""
        state = client.ask({"state": {}})[1]
        places = [state["reference"][state["joint_names"].index(joint)] for joint in joints]
        return client.ask({"move": {"joint_names": joints, "positions": [place - 0.05 for place in places]}})


class WordsTest(Running):
    def test_several_controllers_start_and_stop_at_once_or_not_at_all(self):
        self.run_robot()
        self.load()
        self.load("other", "joint=wrist_2_joint", plugin=False)
        self.assertIn("\"ghost\" is not loaded", self.refused("start", "tip", "other", "ghost"))
        self.assertEqual(self.takt("ctl", "start", "tip", "other").returncode, 0)
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "active", "other": "active"})
        self.assertEqual(self.takt("ctl", "stop", "tip", "other").returncode, 0)
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "inactive", "other": "inactive"})

    def test_a_number_is_taken_for_a_list_of_numbers(self):
        self.run_robot()
        self.ctl("load", "PidController", "pid", "joints=elbow_joint", "output=effort", "proportional=5")
        rows = {row["name"]: row["value"] for row in self.ctl("show", "pid")["parameters"]}
        self.assertEqual(rows["proportional"], "5")

    def test_the_options_may_stand_before_the_command(self):
        self.run_robot()
        done = subprocess.run([TAKT, "ctl", "--port", self.port, "--json", "list"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([row["name"] for row in json.loads(done.stdout)["list"]], ["trajectory"])


class TrajectoryTest(Running):
    def test_run_and_ctl_list_the_trajectory_controller(self):
        robot = self.run_robot()
        self.assertEqual(robot.lines[-1], "controllers: trajectory (active)")
        self.assertEqual(self.states(), {"trajectory": "active"})
        table = self.takt("ctl", "list").stdout.splitlines()
        self.assertEqual(len(table), 2)
        self.assertRegex(table[1], r"^trajectory +JointTrajectoryController +1 +\d+  active +.*elbow_joint \(position\)")
        self.assertIn("state        active", self.takt("ctl", "show", "trajectory").stdout)
        self.assertEqual(self.ctl("events"), [])
        rows = {(row["name"], row["kind"]): row for row in self.ctl("interfaces")}
        self.assertEqual(rows["elbow_joint/position", "command"]["claimed_by"], "trajectory")
        self.assertIn("elbow_joint/effort", self.takt("ctl", "interfaces").stdout)

    def test_without_the_trajectory_controller_motions_are_rejected_and_with_it_they_work(self):
        self.run_robot()
        client = self.client()
        self.ctl("stop", "trajectory")
        self.assertEqual(self.states(), {"trajectory": "inactive"})
        kind, answer = self.move(client, "elbow_joint")
        self.assertEqual((kind, answer["reason"]), ("rejected", "controller_stopped"))
        self.ctl("start", "trajectory")
        self.assertEqual(self.move(client, "elbow_joint")[0], "accepted")
        self.assertEqual(client.result()["state"], "succeeded")

    def test_stopping_the_trajectory_controller_ends_its_goals(self):
        self.run_robot()
        client = self.client()
        state = client.ask({"state": {}})[1]
        target = state["reference"][ELBOW] - 0.5
        self.assertEqual(client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [target], "duration": 20}})[0], "accepted")
        self.ctl("stop", "trajectory")
        result = client.result()
        self.assertEqual((result["state"], result["reason"]), ("aborted", "controller_stopped"))


class PluginTest(Running):
    def test_a_controller_of_a_plug_in_borrows_a_joint_and_returns_it(self):
        self.run_robot()
        self.load("tip", "joint=elbow_joint", "by=-0.1")
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "inactive"})
        client = self.client()
        begin = client.ask({"state": {}})[1]["reference"]
        self.assertEqual(client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [begin[ELBOW] + 0.5], "duration": 20}})[0],
                         "accepted")
        self.ctl("start", "tip")
        result = client.result()
        self.assertEqual((result["state"], result["reason"]), ("aborted", "joint_taken"))
        kind, answer = self.move(client, "elbow_joint")
        self.assertEqual((kind, answer["reason"], answer["joint"]), ("rejected", "joint_taken", "elbow_joint"))
        self.assertEqual(self.move(client, "wrist_1_joint")[0], "accepted")
        self.assertEqual(client.result()["state"], "succeeded")
        rows = {row["name"]: row for row in self.ctl("interfaces") if row["kind"] == "command"}
        self.assertEqual(rows["elbow_joint/position"]["claimed_by"], "tip")
        self.assertEqual(rows["wrist_1_joint/position"]["claimed_by"], "trajectory")

        held = client.ask({"state": {}})[1]["reference"][ELBOW]
        self.ctl("set", "tip", "by=0.1")
        wait_for_state(client, lambda state: abs(state["reference"][ELBOW] - held) > 0.05)
        self.assertEqual(self.ctl("show", "tip")["changes"][-1]["parameter"], "by")
        self.assertIn("tip is active or to be", self.refused("unload", "tip"))
        self.ctl("stop", "tip")
        self.ctl("unload", "tip")
        self.assertEqual(self.states(), {"trajectory": "active"})
        wait_for_state(client, lambda state: state["reference_velocity"][ELBOW] == 0)
        self.assertEqual(self.move(client, "elbow_joint")[0], "accepted")
        self.assertEqual(client.result()["state"], "succeeded")

    def test_a_file_names_controllers_which_start_with_the_robot(self):
        with tempfile.TemporaryDirectory() as folder:
            path = arm(folder, controllers=[
                {"name": "spare", "type": "Borrower", "parameters": {"joint": "wrist_1_joint"}, "start": False},
                {"name": "tip", "type": "Borrower", "divisor": 2, "phase": 1, "budget_us": 1e6, "fallbacks": ["spare"],
                 "parameters": {"joint": "elbow_joint"}}])
            robot = self.run_robot("--library", os.path.basename(PLUGIN), description=path)
            self.assertEqual(robot.lines[-1], "controllers: trajectory (active), spare (inactive), tip (active)")
            row = self.ctl("show", "tip")
            self.assertEqual((row["divisor"], row["phase"], row["budget_us"], row["fallbacks"]), (2, 1, 1e6, ["spare"]))
            self.assertIn("rate         one cycle of 2, phase 1", self.takt("ctl", "show", "tip").stdout)

    def test_what_is_wrong_with_the_controllers_of_a_file_is_listed_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = arm(folder, controllers=[{"name": "a", "type": "Nobody"}, {"name": "b", "type": "Bystander"},
                                            {"name": "c", "type": "Borrower", "parameters": {"joint": "neck"}},
                                            {"name": "d", "type": "Thrower"}])
            done = subprocess.run([TAKT, "run", path, "--port", "0", "--library", PLUGIN], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2)
            for part in ("/controllers/0: \"Nobody\" is not a component type; there are: Composite", "/controllers/1: \"Bystander\" is a type",
                         "/controllers/2: ", "elbow_joint", "/controllers/3: ", "not today"):
                self.assertIn(part, done.stderr)
            path = arm(folder, controllers=[{"name": "a b", "type": "T", "colour": "red"}])
            done = subprocess.run([TAKT, "run", path, "--port", "0"], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2)
            for part in ("/controllers/0/name: ", "/controllers/0/colour: "):
                self.assertIn(part, done.stderr)

    def test_a_failure_is_an_event_starts_a_fallback_and_is_led_back_by_a_reset(self):
        robot = self.run_robot()
        self.load("spare")
        self.ctl("load", "Borrower", "tip", "joint=elbow_joint", "--fallback", "spare", "--start")
        self.ctl("set", "tip", "breaks=true")
        client = self.client()
        end = time.monotonic() + PATIENCE
        while self.states()["tip"] != "failed" and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(self.states(), {"trajectory": "active", "spare": "active", "tip": "failed"})
        events = self.ctl("events")
        self.assertEqual((events[0]["event"], events[0]["component"]), ("controller_failed", "tip"))
        self.assertEqual((events[-1]["event"], events[-1]["component"]), ("fallback_started", "spare"))
        self.assertEqual(self.ctl("events", str(events[-1]["number"])), [])
        self.assertIn("controller tip failed: the controller commanded NaN or infinity", self.takt("ctl", "events").stdout)
        self.assertIn("failed: the controller commanded NaN", self.takt("ctl", "list").stdout)
        self.ctl("reset", "tip")
        self.ctl("set", "tip", "breaks=false")
        self.ctl("switch", "--start", "tip", "--stop", "spare")
        self.assertEqual(self.states(), {"trajectory": "active", "spare": "inactive", "tip": "active"})
        said = [robot.stdout.readline().strip() for _ in range(2)]
        self.assertIn("controller tip failed: the controller commanded NaN or infinity", said)
        wait_for_state(client, lambda state: state["robot"] == "ready")

    def test_a_controller_leaves_its_joint_in_an_emergency_stop_and_takes_it_back(self):
        self.run_robot()
        self.load()
        self.ctl("start", "tip")
        client = self.client()
        client.ask({"estop": {"category": 2}})
        wait_for_state(client, lambda state: state["robot"] == "stopped")
        self.assertEqual(self.states(), {"trajectory": "suspended", "tip": "suspended"})
        client.ask({"reset": {}})
        wait_for_state(client, lambda state: state["robot"] == "ready")
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "active"})


class RecordedTest(Running):
    def replay(self, *words, code=0):
        done = subprocess.run([TAKT, "replay", *words], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_a_run_with_every_command_replays_bit_for_bit(self):
        recording = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "run.mcap")
        robot = self.run_robot("--record", recording)
        self.load("tip", "joint=elbow_joint", "by=-0.1")
        self.ctl("load", "Borrower", "spare", "joint=wrist_2_joint", "by=0.1", "--start")
        self.ctl("start", "tip")
        client = self.client()
        self.assertEqual(self.move(client, "wrist_1_joint")[0], "accepted")
        self.ctl("set", "tip", "by=0.1")
        self.assertEqual(client.result()["state"], "succeeded")
        self.ctl("set", "spare", "breaks=true")
        end = time.monotonic() + PATIENCE
        while self.states()["spare"] != "failed" and time.monotonic() < end:
            time.sleep(0.02)
        self.ctl("reset", "spare")
        self.ctl("set", "spare", "breaks=false")
        self.ctl("switch", "--start", "spare", "--stop", "tip")
        self.ctl("unload", "tip")
        self.assertEqual(self.move(client, "elbow_joint")[0], "accepted")
        self.assertEqual(client.result()["state"], "succeeded")
        robot.send_signal(signal.SIGTERM)
        robot.communicate(timeout=PATIENCE)
        same = "all commands as recorded, bit for bit"
        self.assertIn(same, self.replay(recording, "--folder", os.path.dirname(PLUGIN)))
        self.assertIn(same, self.replay(recording, "--controller", PLUGIN))
        missing = self.replay(recording, code=2)
        self.assertIn(os.path.basename(PLUGIN) + ": there is no such file", missing)
        self.assertIn("\"Borrower\" is not a component type", missing)


class HostileTest(Running):
    def test_commands_that_cannot_be_obeyed_say_why_and_change_nothing(self):
        self.run_robot()
        self.load()
        self.load("other", plugin=False)
        self.ctl("start", "tip")
        for words, part in ((("start", "ghost"), "\"ghost\" is not loaded"), (("start", "tip"), "runs already"),
                            (("start", "other"), "\"elbow_joint\" belongs to tip, and other claims it too"),
                            (("stop", "other"), "does not run"), (("unload", "ghost"), "no controller \"ghost\""),
                            (("reset", "tip"), "cannot be reset"), (("show", "ghost"), "no controller \"ghost\""),
                            (("set", "tip", "by=7"), "by: 7 is not in"), (("set", "tip", "mood=good"), "no such parameter"),
                            (("load", "Borrower", "tip"), "\"tip\" is a controller, a device or a joint already"),
                            (("load", "Borrower", "x", "joint=neck"), "elbow_joint"), (("load", "Nobody", "x"), "there are: Composite"),
                            (("load", "Bystander", "x"), "not of controllers"), (("load", "Thrower", "x"), "not today"),
                            (("load", "Borrower", "x", "--divisor", "2", "--phase", "2"), "must be below the divisor"),
                            (("load", "Borrower", "x", "--fallback", "ghost"), "\"ghost\" is not loaded"),
                            (("switch", "--start", "other", "--stop", "tip,tip"), "named twice"),
                            (("library", "/tmp/evil.so"), "by its name alone"), (("library", "none.so"), "no such file in")):
            with self.subTest(words):
                said = self.refused(*words)
                self.assertTrue(said.startswith("rejected: "), said)
                self.assertIn(part, said)
                self.assertIn("(controllers_refused)", said)
        for words in (("set", "tip", "by"), ("load", "Borrower", "x", "=2")):
            self.assertIn("is not PARAMETER=VALUE", self.refused(*words, code=2))
        self.assertIn("named twice", self.refused("stop", "tip", "tip"))
        self.refused("dance", code=2)
        self.refused("start", code=2)
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "active", "other": "inactive"})
        self.ctl("switch", "--start", "other,ghost", "--stop", "tip", "--best-effort")
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "inactive", "other": "active"})

    def test_garbage_in_requests_leaves_robot_and_controllers_alone(self):
        self.run_robot()
        self.load()
        generator = random.Random(SEED)
        seeds = [json.dumps({"id": 1, "controllers": body}) for body in (
            {"list": {}}, {"show": {"name": "tip"}}, {"reset": {"name": "tip"}}, {"events": {"after": 3}}, {"interfaces": {}},
            {"set": {"name": "tip", "parameters": {"by": 0.01}}},
            {"load": {"type": "Bystander", "name": "x", "divisor": 2, "fallbacks": ["tip"], "parameters": {"a": [1, 2]}}})]
        client = self.client()
        for _ in range(1000):
            text = bytearray(generator.choice(seeds).encode())
            for _ in range(generator.randint(1, 4)):
                place = generator.randrange(len(text))
                if generator.random() < 0.5:
                    text[place] = generator.randrange(32, 127)
                else:
                    text[place:place] = generator.choice([b"1e999", b"null", b'"', b"[[[[", b"-", b"}", b"\xff", b"NaN"])
            client.socket.sendall(bytes(text).replace(b"\n", b" ") + b"\n")
            client.wait_for("controllers", "rejected", "error", "accepted", "state")
        self.assertEqual(self.states(), {"trajectory": "active", "tip": "inactive"}, "seed %d" % SEED)
        self.assertEqual(self.move(self.client(), "elbow_joint")[0], "accepted")

    def test_a_server_without_the_loop_says_that_it_has_no_controllers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loop")
            with program(TAKT, "run", PATIENT_ARM, "--serve-at", path, until="robot ready"), \
                    program(TAKT, "serve", PATIENT_ARM, "--loop", path, "--port", "0", until="listening on") as server:
                self.port = server.lines[-1].rsplit(":", 1)[1]
                self.assertIn("(no_controllers)", self.refused("list"))

    def test_a_server_that_is_not_there_is_reported(self):
        self.port = "1"
        self.assertIn("takt: ", self.refused("list"))


class VirtualTimeTest(unittest.TestCase):
    def test_a_script_commands_controllers_and_gets_the_same_answers_each_time(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.jsonl")
            with open(script, "w") as file:
                for at, body in ((0, {"load": {"type": "Borrower", "name": "tip", "parameters": {"joint": "elbow_joint", "by": -0.1}}}),
                                 (0.1, {"start": {"name": "tip"}}), (1, {"list": {}}), (1, {"stop": {"name": "tip"}})):
                    file.write(json.dumps({"at": at, "controllers": body}) + "\n")
            recording = os.path.join(folder, "run.mcap")
            command = [TAKT, "run", PATIENT_ARM, "--virtual-time", "--requests", script, "--library", PLUGIN, "--record", recording,
                       "--overwrite"]
            runs = [subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE) for _ in range(2)]
            self.assertEqual(runs[0].returncode, 0, runs[0].stderr)
            self.assertEqual(runs[0].stdout, runs[1].stdout)
            answers = [json.loads(line)["controllers"] for line in runs[0].stdout.splitlines() if line.startswith("{")]
            self.assertEqual([next(iter(answer)) for answer in answers], ["load", "start", "list", "stop"])
            self.assertEqual([row["state"] for row in answers[2]["list"]], ["active", "active"])
            replay = subprocess.run([TAKT, "replay", recording, "--controller", PLUGIN], capture_output=True, text=True, timeout=PATIENCE)
            self.assertIn("all commands as recorded, bit for bit", replay.stdout, replay.stderr)
            with open(script, "a") as file:
                file.write(json.dumps({"at": 1, "controllers": {"start": {"name": "ghost"}}}) + "\n")
            refused = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("1 requests were refused", refused.stderr)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(280, exit=True)  # where it waits, before ctest ends it
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
