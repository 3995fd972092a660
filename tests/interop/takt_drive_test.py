#!/usr/bin/env python3
"""Tests takt drive and takt teleop in a terminal, with keys.

usage: takt_drive_test.py TAKT SOURCE_FOLDER [unittest arguments]
"""
import csv, json, os, re, subprocess, sys, tempfile, termios, unittest

from terminal import Terminal
from vehicle_programs import PATIENCE, Program, links, wait_for

TAKT, SOURCE = sys.argv[1:3]
COLUMNS = 60
LINE_BEGIN = "\r\x1b[K"


def pieces(terminal):
    """Splits the output into temporary lines, which are overwritten, and permanent lines."""
    return terminal.text.split(LINE_BEGIN)[1:]


def told(terminal):
    return [piece.rstrip() for piece in pieces(terminal) if piece.endswith("\n")]


class DriveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.near, self.far = links()

    def vehicle_file(self, devices="real", **timeouts):
        """The Furbot with these devices, and with these timeouts of its parts, in s."""
        with open(os.path.join(SOURCE, "examples", "robots", "furbot.json")) as file:
            description = dict(json.load(file), devices=devices)
        for part, timeout in timeouts.items():
            description[part]["timeout"] = timeout
        path = os.path.join(self.folder, "vehicle.json")
        with open(path, "w") as file:
            json.dump(description, file)
        return path

    def start_vehicle(self, *words):
        log = os.path.join(self.folder, "true.csv")
        self.vehicle = Program(log, TAKT, "vehicle-sim", "--plain", "--log", log, *self.far, *words)
        self.addCleanup(self.vehicle.end)

    def drive(self, *words, **keywords):
        return subprocess.run([TAKT, "drive", "--plain", "--duration", "0.2", *self.near, *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, **keywords)

    def drive_some_way(self, press, situation):
        """If a busy machine has stopped the vehicle, recovers it."""
        begin = None

        def look():
            nonlocal begin
            if situation().startswith("stopped"):
                self.vehicle.type("recover\n")
                press("r")
            if situation() != "driving" or not (rows := self.vehicle.rows()):
                return False
            begin = rows[-1]["x"] if begin is None else begin
            press("w")
            return abs(rows[-1]["x"] - begin) > 0.3

        wait_for(look, "the vehicle drives")


class TerminalTest(DriveTest):
    def test_keys_drive_the_vehicle_and_its_state_is_shown(self):
        # A machine that is never in time for long stops an impatient vehicle, again and again.
        patient = ("--vehicle", self.vehicle_file(control=5, status=5))
        self.start_vehicle(*patient)
        terminal = Terminal(TAKT, "drive", "--plain", "--hold", "1000", *self.near, *patient, columns=COLUMNS)
        self.addCleanup(terminal.close)

        def situation():
            return (told(terminal) or [""])[-1]

        # Measured of commanded. A machine that pauses may drive the vehicle all the way between two lines.
        moving = re.compile(r"driving +-?[0-9.]+ of (?!0\.00 )[0-9.]+ m/s, ")
        for _ in range(20):
            self.drive_some_way(terminal.type, situation)
            if any(moving.match(piece) for piece in pieces(terminal)):
                break
        else:
            self.fail("no line shows the motion")
        self.assertFalse(terminal.settings()[3] & (termios.ECHO | termios.ICANON))
        terminal.type("c")
        wait_for(lambda: situation() == "stopped: stop requested", "it stops")
        self.drive_some_way(terminal.type, situation)  # after an r, and not before
        terminal.type("x")
        wait_for(lambda: situation().startswith("stop"), "it stops at once")
        terminal.type("q")
        self.assertEqual(terminal.process.wait(PATIENCE), 0)
        self.assertEqual(terminal.settings(), terminal.before)

        wait_for(lambda: "status frames" in situation(), "it says how the link was")
        live = [piece for piece in pieces(terminal) if not piece.endswith("\n")]
        self.assertGreater(len(live), 3)
        for line in live:
            self.assertLess(len(line), COLUMNS)  # one that is longer could not be written over
            self.assertTrue(line.isprintable())


class VariantTest(DriveTest):
    """The key "devices" of the vehicle's description."""

    def test_a_simulated_vehicle_needs_no_link(self):
        script, log = (os.path.join(self.folder, name) for name in ("twists", "run.csv"))
        with open(script, "w") as file:
            file.write("0 1 0.2\n3 0 0\n5 0 0\n")
        for _ in range(5):  # a machine that pauses stops the vehicle, and then it is driven again
            done = subprocess.run([TAKT, "drive", "--vehicle", self.vehicle_file("simulated"), "--twists", script, "--log", log],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode == 0:
                break
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(log, newline="") as file:
            last = list(csv.DictReader(file))[-1]
        self.assertGreater(float(last["x"]), 1)
        self.assertGreater(float(last["heading"]), 0.2)

    def test_another_word_is_refused(self):
        done = self.drive("--vehicle", self.vehicle_file("recorded:run.mcap"))
        self.assertEqual(done.returncode, 2)
        self.assertIn('/devices: "recorded:run.mcap" is not one of "real", "simulated"', done.stderr)


class RobotTest(DriveTest):
    """A vehicle as a robot, without joints: takt run over UDP to takt vehicle-sim, driven by takt teleop."""

    def start_robot(self, key, *words):
        vehicle = {"name": "base", "file": self.vehicle_file(control=5, status=5), "local": self.near[1], "peer": self.near[3]}
        vehicle.update({"key": key, "key_id": 1} if key else {"plain": True})
        robot = {"name": "vehicle", "rate": 100, "overrun": "catch_up", "overrun_limit": 10**6, "vehicles": [vehicle],
                 "controllers": [{"name": "drive", "type": "VehicleDriveController"}]}
        path = os.path.join(self.folder, "robot.json")
        with open(path, "w") as file:
            json.dump(robot, file)
        self.recording = os.path.join(self.folder, "run.mcap")
        self.robot = Program(None, TAKT, "run", path, "--port", "0", "--record", self.recording, *words)
        self.addCleanup(self.robot.end)
        self.port = next(found[1] for line in self.robot.process.stdout if (found := re.search(r"127\.0\.0\.1:(\d+)", line)))

    def value(self, name):
        done = subprocess.run([TAKT, "ctl", "--port", self.port, "--json", "interfaces"], capture_output=True, text=True, timeout=PATIENCE)
        rows = json.loads(done.stdout)["interfaces"]
        return next(row["value"] for row in rows if row["name"] == name)

    def true(self, name):
        return (self.vehicle.rows() or [{name: 0}])[-1][name]

    def replays(self):
        self.assertEqual(self.robot.process.poll(), None)
        self.robot.end()
        done = subprocess.run([TAKT, "replay", self.recording], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("bit for bit", done.stdout)

    def test_keys_drive_the_vehicle_of_a_robot_over_udp_and_the_run_is_replayed(self):
        self.start_vehicle("--vehicle", self.vehicle_file(control=5, status=5))
        self.start_robot(None)
        teleop = Terminal(TAKT, "teleop", "--port", self.port, "--hold", "1000", columns=COLUMNS)
        self.addCleanup(teleop.close)
        wait_for(lambda: "drive is active" in teleop.text, "it says how the controller is")
        teleop.type("wwww")
        wait_for(lambda: self.true("speed") > 0.3, "the vehicle drives")
        wait_for(lambda: self.value("base.odometry/pose.x") > 0.2, "the robot knows where it is")
        teleop.type("c")  # and the robot is stopped
        wait_for(lambda: "drive is suspended" in teleop.text, "the controller waits")
        wait_for(lambda: self.true("speed") == 0 and self.value("base/moving") == 0, "it stands")
        teleop.type("r")
        wait_for(lambda: told(teleop)[-1:] == ["drive is active"], "it goes on")
        at = self.true("x")
        teleop.type("wwww")
        wait_for(lambda: self.true("x") > at + 0.3, "the vehicle drives again")
        teleop.type("q")
        self.assertEqual(teleop.process.wait(PATIENCE), 0)
        self.assertEqual(teleop.settings(), teleop.before)
        wait_for(lambda: self.true("speed") == 0, "it stands without twists")
        self.replays()

    def test_a_vehicle_that_halts_fails_its_controller_which_a_key_starts_again(self):
        key = os.path.join(self.folder, "vehicle.key")
        subprocess.run([TAKT, "key", key, "--bytes", "16"], check=True, capture_output=True)
        log = os.path.join(self.folder, "true.csv")
        self.vehicle = Program(log, TAKT, "vehicle-sim", "--key", key, "--log", log, *self.far, "--vehicle", self.vehicle_file(control=5, status=5))
        self.addCleanup(self.vehicle.end)
        self.start_robot(key)
        teleop = Terminal(TAKT, "teleop", "--port", self.port, "--hold", "1000", columns=COLUMNS)
        self.addCleanup(teleop.close)
        teleop.type("wwww")
        wait_for(lambda: self.true("speed") > 0.3, "the vehicle drives")
        self.vehicle.type("halted hydraulics\n")
        wait_for(lambda: "drive is failed: " in teleop.text, "the controller fails")
        wait_for(lambda: self.true("speed") == 0, "it stands")
        self.vehicle.type("well\nrecover\n")
        wait_for(lambda: self.true("state") == "running", "it runs again")
        at = self.true("x")

        def drives_on():
            teleop.type("rwwww")
            return self.true("x") > at + 0.3

        wait_for(drives_on, "it drives again")
        self.replays()

    def test_twists_of_a_file_drive_and_a_robot_that_is_not_there_is_told(self):
        self.start_vehicle("--vehicle", self.vehicle_file(control=5, status=5))
        self.start_robot(None)
        script = os.path.join(self.folder, "twists")
        with open(script, "w") as file:
            file.write("0 1 0\n3 0 0\n4 0 0\n")
        done = subprocess.run([TAKT, "teleop", "--port", self.port, "--twists", script], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(self.true("x"), 0.5)
        done = subprocess.run([TAKT, "teleop", "--port", self.port, "--controller", "wheels", "--twists", script],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn('no controller "wheels" is loaded', done.stdout)
        self.robot.end()
        done = subprocess.run([TAKT, "teleop", "--port", self.port], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
