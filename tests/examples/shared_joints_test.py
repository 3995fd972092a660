#!/usr/bin/env python3
"""The motion processes of examples/05_shared_memory move joints of a robot that takt runs. One is killed.

usage: shared_joints_test.py TAKT MOTION PATIENT_ARM [unittest arguments]
"""
import json, os, signal, subprocess, sys, tempfile, time, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "interop"))
from motion_client import Client
from robot_programs import program

TAKT, MOTION, PATIENT_ARM = sys.argv[1:4]
PATIENCE = 60  # s
SEGMENT = f"takt_test_shared_{os.getpid()}"
MEMORY = f"/dev/shm/takt.{SEGMENT}"
JOINTS = ["elbow_joint", "wrist_1_joint"]


def description(folder):
    """The patient arm, which shares two joints. A process may pause for long before it counts as silent."""
    with open(PATIENT_ARM) as file:
        robot = json.load(file)
    robot["controllers"] = [{"name": "shared", "type": "SharedJointsController",
                             "parameters": {"joints": ", ".join(JOINTS), "segment": SEGMENT, "silent_cycles": 1000}}]
    path = os.path.join(folder, "arm.json")
    with open(path, "w") as file:
        json.dump(robot, file)
    return path


class SharedJoints(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.addCleanup(lambda: os.path.exists(MEMORY) and os.remove(MEMORY))
        robot = self.enterContext(program(TAKT, "run", description(folder), "--port", "0", until="robot ready"))
        self.client = Client(int(next(line.rsplit(":", 1)[1] for line in robot.lines if line.startswith("listening on"))))
        self.addCleanup(self.client.close)

    def state(self):
        return self.client.ask({"state": {}})[1]

    def reference(self, joint):
        state = self.state()
        return state["reference"][state["joint_names"].index(joint)]

    def motion(self, slot, *joints):
        process = subprocess.Popen([MOTION, SEGMENT, str(slot), *map(str, joints)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_until(self, what):
        end = time.monotonic() + PATIENCE
        while not what():
            self.assertLess(time.monotonic(), end, "it never came to that")
            time.sleep(0.05)

    def moves(self, joint):
        before = self.reference(joint)
        self.wait_until(lambda: abs(self.reference(joint) - before) > 0.05)

    def test_two_processes_move_a_joint_each_and_a_killed_one_leaves_its_joint_to_the_next(self):
        first = self.motion(0, 0)
        self.motion(1, 1)
        for joint in JOINTS:
            self.moves(joint)
        first.send_signal(signal.SIGKILL)
        first.wait()

        def rests():
            before = self.reference(JOINTS[0])
            time.sleep(0.5)
            return self.reference(JOINTS[0]) == before

        self.wait_until(rests)
        self.moves(JOINTS[1])  # the other process goes on
        self.motion(2, 0)
        self.moves(JOINTS[0])
        self.assertEqual(self.state()["robot"], "ready")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
