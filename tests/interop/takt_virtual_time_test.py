#!/usr/bin/env python3
"""Tests takt run in virtual time, and the robot files and recordings that it refuses.

usage: takt_virtual_time_test.py TAKT SOURCE_FOLDER [unittest arguments]
"""
import json, math, os, subprocess, sys, tempfile, unittest

TAKT = sys.argv[1]
SOURCE = sys.argv[2]


def robot(name):
    return os.path.join(SOURCE, "examples", "robots", name + ".json")


class VirtualTime(unittest.TestCase):
    def test_two_runs_give_the_same_bytes(self):
        for name, joint, target in (("mhubo", "WST", -1.5), ("arm6", "elbow_joint", 0.9)):
            with tempfile.TemporaryDirectory() as folder:
                script = os.path.join(folder, "script.jsonl")
                with open(script, "w") as file:
                    file.write(json.dumps({"at": 0.1, "mark": {"text": "there"}}) + "\n")
                    file.write(json.dumps({"at": 0.1, "move": {"joint_names": [joint], "positions": [target]}}) + "\n")
                    file.write(json.dumps({"at": 1.0, "move": {"joint_names": [joint], "positions": [target / 2], "fit": True}}) + "\n")
                recordings = []
                for run in ("a", "b"):
                    path = os.path.join(folder, run)
                    done = subprocess.run([TAKT, "run", robot(name), "--virtual-time", "--requests", script, "--record", path],
                                          capture_output=True, text=True, timeout=60)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn('"state":"succeeded"', done.stdout)
                    with open(path, "rb") as file:
                        recordings.append(file.read())
                self.assertGreater(len(recordings[0]), 10_000)
                self.assertEqual(recordings[0], recordings[1])

    def test_a_script_is_played_to_its_end_however_long_its_last_requests_take_to_plan_or_wait(self):
        with open(robot("arm6")) as file:
            elbow = json.load(file)["joints"][2]
        start = elbow["plant"]["start"]
        points = [{"time_from_start": 0.01 * (i + 1), "positions": [start]} for i in range(300)]
        names = {"joint_names": [elbow["name"]]}
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.jsonl")
            with open(script, "w") as file:
                file.write(json.dumps({"at": 0.1, "trajectory": {**names, "points": points}}) + "\n")
                file.write(json.dumps({"at": 0.1, "move": {**names, "positions": [start - 0.1], "when_busy": "queue"}}) + "\n")
            done = subprocess.run([TAKT, "run", robot("arm6"), "--virtual-time", "--requests", script],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout.count('"state":"succeeded"'), 2, done.stdout)

    def test_a_continuous_joint_goes_the_short_way_and_its_drive_counts_the_turns(self):
        with open(robot("arm6")) as file:
            wrist = json.load(file)["joints"][5]
        self.assertEqual(wrist["kind"], "continuous")
        start, degree = wrist["plant"]["start"], math.pi / 180

        def move(degrees):
            return {"move": {"joint_names": [wrist["name"]], "positions": [start + degrees * degree]}}

        # A target of 350 degrees is 10 degrees back. Then steps of 120 degrees, with angles that restart at each
        # turn.
        requests = [move(350), move(110), move(230), move(350), move(110)]
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.jsonl")
            with open(script, "w") as file:
                for k, request in enumerate(requests):
                    file.write(json.dumps({"at": 2 * k, **request}) + "\n")
                    file.write(json.dumps({"at": 2 * k + 1.9, "state": {}}) + "\n")
            done = subprocess.run([TAKT, "run", robot("arm6"), "--virtual-time", "--requests", script],
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count('"state":"succeeded"'), len(requests), done.stdout)
        states = [json.loads(line)["state"] for line in done.stdout.splitlines() if line.startswith('{"state"')]
        turned = [(state["measured"][5] - start) / degree for state in states]
        for measured, expected in zip(turned, (-10, 110, 230, 350, 470), strict=True):
            self.assertAlmostEqual(measured, expected, delta=0.2)

    def test_a_bad_robot_file_is_refused_with_every_mistake(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(robot("arm6")) as file:
                description = json.load(file)
            description["rate"] = 0
            description["joints"][1]["limits"]["velocity"] = -1
            description["joints"][2]["surprise"] = True
            path = os.path.join(folder, "bad.json")
            with open(path, "w") as file:
                json.dump(description, file)
            done = subprocess.run([TAKT, "run", path, "--virtual-time", "--duration", "1"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            for pointer in ("/rate", "/joints/1/limits/velocity", "/joints/2/surprise"):
                self.assertIn(pointer, done.stderr)

    def test_a_recording_that_cannot_be_written_is_an_error(self):
        done = subprocess.run([TAKT, "run", robot("arm6"), "--virtual-time", "--duration", "1", "--record", "/dev/full"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/full", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
