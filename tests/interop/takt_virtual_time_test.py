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

    def test_a_move_that_resumes_just_before_its_end_exceeds_no_limit(self):
        # velocity, acceleration, jerk, start and target. At 17.736 s the planned jerk was exceeded by 70 %.
        joints = ((0.3678, 2.2787, 116.404, 1.1133, -0.5413), (0.6326, 2.3879, 260.502, 1.6641, 1.7274),
                  (0.8359, 6.5807, 145.674, 1.3883, -1.0521), (1.0852, 10.0957, 24.966, -1.042, -0.6417),
                  (1.9344, 5.3274, 160.218, 0.8737, 0.3903), (3.1, 3.0805, 286.884, 0.8947, 0.126))
        names = [f"j{i}" for i in range(len(joints))]
        description = {"name": "r", "rate": 1000, "devices": "simulated", "buses": [], "joints": []}
        for i in range(3):
            description["buses"].append({"name": f"b{i}", "protocol": "odrive", "interface": f"can{i}", "bit_rate": 1000000})
        for i, (velocity, acceleration, jerk, start, _) in enumerate(joints):
            limits = {"position": [-3, 3], "velocity": velocity, "acceleration": acceleration, "jerk": jerk}
            description["joints"].append({"name": names[i], "bus": f"b{i // 2}", "board": 1 + i % 2, "limits": limits,
                                          "drive": {"gear": 8, "current_limit": 20}, "following_error": 1,
                                          "plant": {"start": start, "inertia": 0.01}})
        with tempfile.TemporaryDirectory() as folder:
            path, script = os.path.join(folder, "r.json"), os.path.join(folder, "script.jsonl")
            with open(path, "w") as file:
                json.dump(description, file)
            for resume in (17.7, 17.736, 17.8):
                requests = [{"at": 0.05, "id": 1, "move": {"joint_names": names, "positions": [joint[4] for joint in joints]}},
                            {"at": 0.06, "speed": {"scale": 0.26}}, {"at": resume, "speed": {"scale": 1}}]
                with open(script, "w") as file:
                    file.writelines(json.dumps(request) + "\n" for request in requests)
                done = subprocess.run([TAKT, "run", path, "--virtual-time", "--requests", script, "--duration", "20"],
                                      capture_output=True, text=True, timeout=60)
                result = json.loads(done.stdout.splitlines()[-1])["result"]
                self.assertEqual(result["state"], "succeeded")
                self.assertNotIn("speed_excess", result)  # present only if it is not 0

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
