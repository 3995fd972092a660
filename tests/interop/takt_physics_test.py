#!/usr/bin/env python3
"""Runs robots in MuJoCo by `takt run --physics mujoco`.

usage: takt_physics_test.py TAKT SOURCE [unittest arguments]
"""
import csv, json, os, shutil, struct, subprocess, sys, tempfile, unittest

from robot_programs import program

TAKT, SOURCE = map(os.path.abspath, sys.argv[1:3])
PATIENCE = 300  # s
ROBOTS = os.path.join(SOURCE, "examples", "robots")
SQUAT = {"at": 0.2, "move": {"joint_names": [f"{leg}_knee" for leg in ("front_left", "front_right", "hind_left", "hind_right")],
                             "positions": [-1.7] * 4, "duration": 0.5}}


class PhysicsTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.script = self.path("script.jsonl")
        with open(self.script, "w") as file:
            file.write(json.dumps(SQUAT) + "\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def takt(self, *words, status=0):
        done = subprocess.run([TAKT, *words], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def squat(self, *options):
        return self.takt("run", os.path.join(ROBOTS, "quadruped.json"), "--physics", "mujoco", "--virtual-time",
                         "--requests", self.script, *options)

    def test_two_runs_are_the_same_to_the_last_byte_and_replay(self):
        for name in ("one.mcap", "two.mcap"):
            self.assertIn('"state":"succeeded"', self.squat("--record", self.path(name)).stdout)
        with open(self.path("one.mcap"), "rb") as one, open(self.path("two.mcap"), "rb") as two:
            self.assertEqual(one.read(), two.read())
        self.assertIn("bit for bit", self.takt("replay", self.path("one.mcap")).stdout)

    def test_a_controller_reads_the_recorded_inertial_unit_without_the_physics(self):
        with open(os.path.join(ROBOTS, "quadruped.json")) as file:
            robot = json.load(file)
        robot["controllers"] = [{"name": "unit", "type": "ImuBroadcaster", "parameters": {"sensor": "imu"}, "start": True}]
        with open(self.path("quadruped.json"), "w") as file:
            json.dump(robot, file)
        model = os.path.join(ROBOTS, "quadruped.xml")
        self.takt("run", self.path("quadruped.json"), "--physics", "mujoco", "--model", model, "--virtual-time", "--requests", self.script,
                  "--record", self.path("run.mcap"), "--variable", "unit.imu")
        self.assertIn("bit for bit", self.takt("replay", self.path("run.mcap"), "--record", self.path("again.mcap"),
                                               "--variable", "unit.imu").stdout)
        for name in ("run.mcap", "again.mcap"):
            with open(self.path(name), "rb") as file:
                content = file.read()
            for topic in (b"/sensors/imu", b"/sensors/physics/hind_left_foot", b"/variables/unit.imu"):
                self.assertIn(topic, content)

    def test_gravity_is_felt(self):
        self.squat("--record", self.path("run.mcap"))
        self.takt("report", self.path("run.mcap"), "--out", self.path("report"))
        with open(self.path("report/joints.csv")) as file:
            last = list(csv.DictReader(file))[-10]
        efforts = [abs(float(last[f"{leg}_knee.measured_Nm"])) for leg in ("front_left", "hind_right")]
        self.assertTrue(all(effort > 0.5 for effort in efforts), efforts)

    def test_pictures_are_png_files_of_their_size(self):
        said = self.squat("--pictures", self.path("frames"), "--picture-rate", "5").stdout
        pictures = sorted(os.listdir(self.path("frames")))
        self.assertIn(f"{len(pictures)} pictures in {self.path('frames')}", said)
        self.assertGreater(len(pictures), 3)
        with open(self.path(f"frames/{pictures[-1]}"), "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", head[16:24]), (640, 480))

    def test_a_model_that_does_not_fit_is_refused(self):
        done = self.takt("run", os.path.join(ROBOTS, "arm6.json"), "--physics", "mujoco", "--model", os.path.join(ROBOTS, "quadruped.xml"),
                         "--virtual-time", "--duration", "1", status=2)
        self.assertIn("the model has no joint shoulder_pan_joint; it has ", done.stderr)
        done = self.takt("run", os.path.join(ROBOTS, "odrive_arm.json"), "--physics", "mujoco", "--virtual-time", "--duration", "1", status=2)
        self.assertIn("odrive_arm.xml", done.stderr)

    def test_a_robot_without_a_model_is_told_which_robots_have_one(self):
        done = self.takt("run", os.path.join(ROBOTS, "odrive_arm.json"), "--physics", "mujoco", "--virtual-time", "--duration", "1", status=2)
        self.assertIn("odrive_arm.xml beside the robot. Robots there that have a model: arm6, mhubo_mobile, quadruped. Or name", done.stderr)
        shutil.copy(os.path.join(ROBOTS, "odrive_arm.json"), self.folder)
        done = self.takt("run", self.path("odrive_arm.json"), "--physics", "mujoco", "--virtual-time", "--duration", "1", status=2)
        self.assertIn("have a model: none. Or name an MJCF file by --model", done.stderr)

    def test_a_servo_for_quite_another_inertia_than_the_model_s_is_told(self):
        with open(os.path.join(ROBOTS, "arm6.json")) as file:
            robot = json.load(file)
        robot["joints"][5]["plant"]["inertia"] = 400
        with open(self.path("arm6.json"), "w") as file:
            json.dump(robot, file)
        done = subprocess.run([TAKT, "run", self.path("arm6.json"), "--physics", "mujoco", "--model", os.path.join(ROBOTS, "arm6.xml"),
                               "--virtual-time", "--duration", "0.1"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertRegex(done.stderr, r"arm6.xml: joint wrist_3_joint: its servo is made for 400 kg m\^2 \(plant.inertia\), \d+ times the ")
        self.assertEqual(done.stderr.count("its servo is made for"), 1)

    def test_a_model_that_is_slower_than_the_clock_is_told_and_stops_the_robot_and_the_run_ends(self):
        with open(os.path.join(ROBOTS, "arm6.xml")) as file:
            slow = file.read().replace('timestep="0.0005"', 'timestep="0.000001"')  # no processor makes a million steps a second
        with open(self.path("slow.xml"), "w") as file:
            file.write(slow)
        done = self.takt("run", os.path.join(ROBOTS, "arm6.json"), "--physics", "mujoco", "--model", self.path("slow.xml"),
                         "--port", "0", "--duration", "3", status=1)
        self.assertRegex(done.stderr, r"the physics are [\d.]+ s behind the clock: a second of the robot takes them [\d.e+]+ s. Use --virtual-time")
        self.assertIn("slow.xml cheaper", done.stderr)
        self.assertIn("[loop_overrun]", done.stdout)
        self.assertIn("robot down", done.stdout)

    def test_the_motion_server_moves_it_in_wall_time(self):
        with open(os.path.join(ROBOTS, "arm6.json")) as file:
            robot = json.load(file)
        robot.update(rate=100, overrun="catch_up", overrun_limit=1_000_000, feedback_timeout=10, goal_time=30)
        description = self.path("arm.json")
        with open(description, "w") as file:
            json.dump(robot, file)
        arguments = ("run", description, "--physics", "mujoco", "--model", os.path.join(ROBOTS, "arm6.xml"), "--port", "0")
        with program(TAKT, *arguments, until="controllers: ") as running:
            port = next(line for line in running.lines if line.startswith("listening on")).rsplit(":", 1)[1]
            self.takt("move", "elbow_joint", "1.5", "--duration", "0.5", "--port", port)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
