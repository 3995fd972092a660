#!/usr/bin/env python3
"""Replays recorded runs by `takt replay`, with every option, and records runs in pieces by `takt run`.

usage: takt_replay_test.py TAKT SOURCE CONTROLLER_PLUGIN [unittest arguments]
"""
import csv, json, os, subprocess, sys, tempfile, time, unittest

TAKT, SOURCE, PLUGIN = map(os.path.abspath, sys.argv[1:4])
PATIENCE = 120  # s
MOVES = [{"at": 0.2, "move": {"joint_names": ["elbow_joint"], "positions": [1.2], "duration": 1}},
         {"at": 1.6, "move": {"joint_names": ["elbow_joint"], "positions": [1.6], "duration": 1}}]
STOP = [{"at": 3.0, "estop": {"category": 1}}, {"at": 4.0, "reset": {}}]
LAST = [{"at": 6.0, "mark": {"text": "end"}}]


def arm():
    with open(os.path.join(SOURCE, "examples", "robots", "arm6.json")) as file:
        robot = json.load(file)
    robot["rate"] = 200
    return robot


def with_borrower(by):
    """The arm, with a controller of the plug-in that holds a joint beside its place."""
    robot = arm()
    robot["controllers"] = [{"name": "tip", "type": "Borrower", "parameters": {"joint": "wrist_3_joint", "by": by}, "start": True}]
    return robot


class Replays(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "w") as file:
            file.write(content)
        return self.path(name)

    def takt(self, *words, status=0, **options):
        done = subprocess.run([TAKT, *words], capture_output=True, text=True, timeout=PATIENCE, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def record(self, *options, robot=None, requests=MOVES + LAST):
        """Runs a robot in virtual time; returns the recording."""
        description = self.write("robot.json", json.dumps(robot or arm()))
        script = self.write("script.jsonl", "".join(json.dumps(line) + "\n" for line in requests))
        self.takt("run", description, "--virtual-time", "--requests", script, "--record", self.path("run.mcap"), *options)
        return self.path("run.mcap")

    def changed(self, robot):
        return self.write("changed.json", json.dumps(robot))

    def seconds(self, *recording):
        """The times of all cycles of a recording."""
        self.takt("report", *recording, "--out", self.path("report"))
        with open(self.path("report/joints.csv")) as file:
            return [float(row["time_s"]) for row in csv.DictReader(file)]

    def recordings(self):
        return sorted(name for name in os.listdir(self.folder) if name.endswith(".mcap"))


class RepeatTest(Replays):
    def test_a_run_repeats_bit_for_bit(self):
        self.assertIn("all commands as recorded, bit for bit", self.takt("replay", self.record()).stdout)

    def test_another_limit_is_found_in_the_joint_that_it_changes(self):
        recording = self.record()
        robot = arm()
        elbow = next(joint for joint in robot["joints"] if joint["name"] == "elbow_joint")
        elbow["limits"]["acceleration"] = 0.9
        done = self.takt("replay", recording, "--robot", self.changed(robot), status=1)
        self.assertRegex(done.stdout, r"cycles differ; the first: .*elbow_joint")

    def test_a_robot_with_other_joints_is_refused(self):
        recording = self.record()
        other = os.path.join(SOURCE, "examples", "robots", "mit_arm3.json")
        self.assertIn("takt replay: ", self.takt("replay", recording, "--robot", other, status=2).stderr)

    def test_a_robot_with_a_mistake_is_refused_with_its_place(self):
        recording = self.record()
        robot = arm()
        robot["joints"][1]["limits"]["velocity"] = -1
        done = self.takt("replay", recording, "--robot", self.changed(robot), status=2)
        self.assertIn("/joints/1/limits/velocity", done.stderr)

    def test_the_controller_of_a_plug_in_repeats_and_its_new_parameter_is_found(self):
        recording = self.record("--library", PLUGIN, robot=with_borrower(0.1), requests=LAST)
        self.takt("replay", recording, "--controller", PLUGIN)
        done = self.takt("replay", recording, "--controller", PLUGIN, "--robot", self.changed(with_borrower(0.11)), status=1)
        self.assertRegex(done.stdout, r"the first: .*wrist_3_joint")
        self.assertIn("Borrower", self.takt("replay", recording, status=2).stderr)

    def test_requests_to_the_controllers_repeat_and_a_missing_plug_in_is_named(self):
        folder, file = os.path.split(PLUGIN)
        load = {"type": "Borrower", "name": "tip", "parameters": {"joint": "wrist_3_joint", "by": 0.1}, "start": True}
        requests = [{"at": at, "controllers": body} for at, body in (
            (0.1, {"library": {"file": file}}), (0.3, {"load": load}), (1.0, {"set": {"name": "tip", "parameters": {"by": 0.05}}}),
            (1.8, {"switch": {"stop": ["tip"]}}), (1.9, {"unload": {"name": "tip"}}))]
        recording = self.record("--folder", folder, requests=sorted(MOVES + requests + LAST, key=lambda line: line["at"]))
        self.takt("replay", recording, "--folder", folder)
        self.takt("replay", recording, "--controller", PLUGIN)
        missing = self.takt("replay", recording, status=2).stderr
        self.assertIn("request 1 to the controllers", missing)
        self.assertIn(file + ": there is no such file", missing)
        self.assertIn("Borrower", missing)

    def test_a_replay_that_is_recorded_repeats_itself(self):
        recording = self.record()
        self.takt("replay", recording, "--record", self.path("again.mcap"))
        self.takt("replay", self.path("again.mcap"))
        self.assertEqual(self.seconds(recording), self.seconds(self.path("again.mcap")))
        self.assertIn("again.mcap", self.takt("replay", recording, "--record", self.path("again.mcap"), status=2).stderr)
        self.takt("replay", recording, "--record", self.path("again.mcap"), "--overwrite")

    def test_the_speed_is_kept(self):
        recording = self.record(requests=MOVES[:1])
        lasts = self.seconds(recording)[-1]
        began = time.monotonic()
        self.takt("replay", recording, "--speed", "4")
        self.assertGreater(time.monotonic() - began, 0.9 * lasts / 4)

    def test_a_replay_in_steps_shows_the_joints_and_stops_when_told(self):
        done = self.takt("replay", self.record(), "--step", input="\n10\nno number\nq\n")
        self.assertRegex(done.stdout, r"before cycle 0:\n(  \S+ reference \S+ measured \S+\n){6}")
        self.assertIn("before cycle 1:", done.stdout)
        self.assertIn("before cycle 11:", done.stdout)
        self.assertIn("ended early", done.stdout)


class PiecesTest(Replays):
    def test_a_run_is_recorded_in_files_of_some_seconds_that_replay_together(self):
        self.record("--rotate-after", "2")
        files = self.recordings()
        self.assertGreaterEqual(len(files), 3)
        parts = ["run.mcap"] + [f"run.{number}.mcap" for number in range(1, len(files))]
        self.assertEqual(sorted(parts), files)
        whole = self.takt("replay", *(self.path(part) for part in reversed(parts))).stdout
        self.assertEqual(whole, self.takt("replay", self.path("run.mcap")).stdout)
        self.assertIn("another file continues the recording", self.takt("replay", self.path("run.mcap"), self.path("run.1.mcap")).stdout)
        seconds = self.seconds(self.path("run.mcap"))
        self.assertEqual(seconds, self.seconds(*(self.path(part) for part in reversed(parts))))
        rest = len(self.seconds(self.path("run.1.mcap")))
        self.assertTrue(0 < rest < len(seconds))
        os.remove(self.path("run.1.mcap"))
        done = self.takt("report", self.path("run.mcap"), "--out", self.path("report"))
        self.assertIn("run.mcap: it goes on in run.1.mcap, which is missing; ", done.stdout)
        with open(self.path("report/summary.json")) as file:
            self.assertFalse(json.load(file)["recording"]["complete"])
        lost = self.takt("replay", self.path("run.mcap"), status=2).stderr
        self.assertRegex(lost, r"the recording lacks .*: cycles 0 to \d+, up to \d+\.\d+ s after the first, give the recorded commands; "
                               r"from \d+\.\d+ s on nothing can be replayed: .*takt report shows it")
        self.assertIn("run.1.mcap, which is missing", lost)
        self.assertEqual(seconds, self.seconds(self.record("--overwrite")))

    def test_a_run_is_recorded_in_files_of_some_megabytes_beside_older_ones(self):
        older = self.write("run.1.mcap", "older")
        self.record("--rotate-mb", "1", "--uncompressed")
        with open(older) as file:
            self.assertEqual(file.read(), "older")
        self.assertGreaterEqual(len(self.recordings()), 3)
        for name in self.recordings():
            self.assertLess(os.path.getsize(self.path(name)), 2e6)

    def test_only_what_surrounds_a_stop_is_recorded(self):
        whole = self.seconds(self.record(requests=MOVES + STOP + LAST))
        os.rename(self.path("run.mcap"), self.path("whole.mcap"))
        near = self.seconds(self.record("--around-stops", "0.5", requests=MOVES + STOP + LAST))
        self.assertLess(len(near), len(whole))
        self.assertLessEqual(set(near), set(whole))
        stopped = whole[0] + 3
        self.assertTrue(any(abs(time - stopped) < 0.01 for time in near))
        refused = self.takt("replay", self.path("run.mcap"), status=2).stderr
        self.assertRegex(refused, r"the recording lacks cycle 0, and goes on with cycle \d+: nothing of it can be replayed: a replay begins "
                                  r"with cycle 0, and .*; takt report shows it")


class VariablesTest(Replays):
    def test_named_variables_are_recorded_and_an_unknown_one_is_refused(self):
        robot = with_borrower(0.1)
        recording = self.record("--library", PLUGIN, "--variable", "elbow_joint/position", robot=robot, requests=LAST)
        with open(recording, "rb") as file:
            self.assertIn(b"/variables/elbow_joint/position", file.read())
        self.takt("replay", recording, "--controller", PLUGIN, "--record", self.path("again.mcap"), "--variable", "elbow_joint/effort")
        with open(self.path("again.mcap"), "rb") as file:
            self.assertIn(b"/variables/elbow_joint/effort", file.read())
        refused = self.takt("replay", recording, "--controller", PLUGIN, "--record", self.path("third.mcap"),
                            "--variable", "elbow_joint/speed", status=2).stderr
        self.assertIn("elbow_joint/velocity", refused)


class VariantsTest(Replays):
    """Each robot of the examples exists real, simulated and recorded, chosen by one key of its description."""

    def with_devices(self, robot, devices):
        return self.write("robot.json", json.dumps(dict(robot, devices=devices)))

    def test_each_robot_runs_simulated_and_from_its_recording(self):
        folder = os.path.join(SOURCE, "examples", "robots")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name)) as file:
                robot = json.load(file) if name.endswith(".json") else {}
            if "joints" not in robot:
                continue
            with self.subTest(robot=name):
                for bus in robot["buses"]:
                    bus["interface"] = "takt_none0"
                joint = next(iter(robot["joints"]))["name"]
                moves = [{"at": 0.1, "move": {"joint_names": [joint], "positions": [0.05]}}, dict(LAST[0], at=1)]
                script = self.write("script.jsonl", "".join(json.dumps(line) + "\n" for line in moves))
                simulated = self.with_devices(robot, "simulated")
                self.takt("run", simulated, "--virtual-time", "--requests", script, "--record", self.path("day.mcap"), "--overwrite")
                recorded = self.with_devices(robot, "recorded:day.mcap")
                done = self.takt("run", recorded, "--virtual-time")
                self.assertIn("recorded in " + self.path("day.mcap"), done.stderr)
                self.assertIn("robot ready", done.stdout)
                self.assertIn("all commands as recorded, bit for bit", done.stdout)
                real = self.takt("run", self.with_devices(robot, "real"), status=1)
                self.assertIn("takt_none0", real.stderr)

    def test_recorded_devices_keep_the_time_and_end_on_demand(self):
        self.record(requests=MOVES[:1])
        recorded = self.with_devices(arm(), "recorded:run.mcap")
        began = time.monotonic()
        done = self.takt("run", recorded, "--duration", "1", "--foxglove", "127.0.0.1:0")
        self.assertGreater(time.monotonic() - began, 0.9)
        self.assertIn("Foxglove at ws://127.0.0.1:", done.stdout)
        self.assertIn("the replay ended early", done.stdout)
        self.assertIn("requests come from the recording", self.takt("run", recorded, "--port", "0", status=2).stderr)
        for program in ("check", "jog"):
            words = [program, recorded] + (["elbow_joint", "0.1"] if program == "jog" else [])
            self.assertIn("are the recording", self.takt(*words, status=1).stderr)

    def test_a_recording_that_does_not_exist_and_a_wrong_key_are_named(self):
        lost = self.takt("run", self.with_devices(arm(), "recorded:lost.mcap"), status=1).stderr
        self.assertIn(self.path("lost.mcap"), lost)
        wrong = self.takt("run", self.with_devices(arm(), "imagined"), status=2).stderr
        self.assertIn("/devices: \"imagined\" is not \"real\", \"simulated\", or \"recorded:\"", wrong)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
