#!/usr/bin/env python3
"""Tests takt import: the robot file that it writes runs, its notes are on standard error, and wrong files are refused.

    takt_import_test.py TAKT SOURCE_FOLDER
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TAKT = sys.argv.pop(1)
GANTRY = pathlib.Path(sys.argv.pop(1)) / "tests" / "urdf" / "gantry_arm.urdf"


def takt(*arguments):
    return subprocess.run([TAKT, *map(str, arguments)], capture_output=True, text=True, timeout=120)


class ImportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "gantry.json"

    def test_writes_a_robot_file_that_runs(self):
        done = takt("import", GANTRY, "--out", self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("joint/safety_controller of rail: not taken over", done.stderr)
        self.assertIn("gantry_arm: 7 joints, 2 mimic joints, 2 transmissions", done.stderr)
        script = self.path.with_name("script.jsonl")
        move = {"joint_names": ["elbow", "rail"], "positions": [0.4, 0.3]}
        script.write_text("".join(json.dumps(line) + "\n" for line in ({"at": 0.1, "move": move}, {"at": 3, "state": {}})))
        ran = takt("run", self.path, "--virtual-time", "--requests", script)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn('"state":"succeeded"', ran.stdout)
        state = next(json.loads(line)["state"] for line in ran.stdout.splitlines() if line.startswith('{"state"'))
        self.assertEqual([mimic["joint"] for mimic in state["mimics"]], ["right_finger", "finger_tip"])

    def test_writes_to_standard_output_with_the_chosen_protocol_and_rate(self):
        done = takt("import", GANTRY, "--protocol", "cia402", "--rate", "100", "--acceleration-time", "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        robot = json.loads(done.stdout)
        self.assertEqual(robot["buses"][0]["protocol"], "cia402")
        self.assertEqual(robot["rate"], 100)
        self.assertEqual(robot["joints"][2]["limits"]["acceleration"], 5)

    def test_replaces_a_file_only_on_request(self):
        self.path.write_text("mine")
        done = takt("import", GANTRY, "--out", self.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("exists: name another file, or say --overwrite", done.stderr)
        self.assertEqual(self.path.read_text(), "mine")
        self.assertEqual(takt("import", GANTRY, "--out", self.path, "--overwrite").returncode, 0)
        self.assertEqual(json.loads(self.path.read_text())["name"], "gantry_arm")

    def test_refuses_wrong_files_and_options(self):
        wrong = self.path.with_name("wrong.urdf")
        wrong.write_text("<robot name='r'>\n<link name='a'>\n</robot>")
        done = takt("import", wrong, "--out", self.path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{wrong}: line ", done.stderr)
        self.assertFalse(self.path.exists())
        stuck = self.path.with_name("stuck.urdf")
        stuck.write_text("""<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">
            <parent link="a"/><child link="b"/><limit lower="1" upper="1" velocity="1" effort="1"/></joint></robot>""")
        done = takt("import", stuck)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{stuck}: joint/limit of j: joint left out", done.stderr)
        self.assertIn("no joint is left to command", done.stderr)
        self.assertEqual(takt("import", self.path).returncode, 2)
        self.assertEqual(takt("import", GANTRY, "--protocol", "none").returncode, 2)
        self.assertEqual(takt("import", GANTRY, "--rate", "nan").returncode, 2)
        self.assertEqual(takt("import", GANTRY, "--out", "/nowhere/robot.json").returncode, 1)


if __name__ == "__main__":
    unittest.main()
