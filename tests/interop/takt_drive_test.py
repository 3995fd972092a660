#!/usr/bin/env python3
"""Tests takt drive in a terminal, with keys, and the picture that it leaves at the end.

usage: takt_drive_test.py TAKT SOURCE_FOLDER [unittest arguments]
"""
import csv, json, math, os, re, resource, shutil, subprocess, sys, tempfile, termios, unittest
import xml.etree.ElementTree as xml

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

    def lap(self, devices, end, log, *words):
        """Drives by a script. A machine that pauses stops the vehicle, and then it is driven again."""
        script = os.path.join(self.folder, "twists")
        with open(script, "w") as file:
            file.write(f"0 1 0.2\n3 0 0\n{end} 0 0\n")
        for _ in range(5):
            if "--record" in words and os.path.exists(words[-1]):
                os.remove(words[-1])
            done = subprocess.run([TAKT, "drive", "--vehicle", self.vehicle_file(devices), "--twists", script, "--log", log, *words],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode == 0:
                break
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(log, newline="") as file:
            return done.stdout, [[float(row[key]) for key in ("x", "y", "heading")] for row in csv.DictReader(file)]

    def test_a_vehicle_is_driven_simulated_and_from_its_recording(self):
        log, recording = (os.path.join(self.folder, name) for name in ("run.csv", "run.mcap"))
        said, simulated = self.lap("simulated", 5, log, "--record", recording)
        self.assertRegex(said, r"recorded \d+ values in \S+run.mcap, 0 lost")
        x, _, heading = simulated[-1]
        self.assertGreater(x, 1)
        self.assertGreater(heading, 0.2)

        # A recording is not overwritten, and a damaged one is not driven.
        done = self.drive("--vehicle", self.vehicle_file("recorded:run.mcap"), "--record", recording)
        self.assertEqual(done.returncode, 1)
        self.assertIn("run.mcap: the file exists already", done.stderr)
        with open(recording, "rb") as file:
            whole = bytearray(file.read())
        whole[len(whole) // 2] ^= 1
        with open(os.path.join(self.folder, "damaged.mcap"), "wb") as file:
            file.write(whole)
        done = self.drive("--vehicle", self.vehicle_file("recorded:damaged.mcap"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("damaged.mcap: byte ", done.stderr)

        # It does not obey: its way is the recorded one. The end comes earlier, so that it is still heard.
        _, recorded = self.lap("recorded:run.mcap", 4, log)
        for one, other in zip(recorded[-1], simulated[-1]):
            self.assertAlmostEqual(one, other, delta=0.01)
        self.assertLess(max(min(math.dist(one, other) for other in simulated) for one in recorded), 0.05)

    def test_a_drive_whose_recording_lacks_values_is_no_success(self):
        recording = os.path.join(self.folder, "full.mcap")
        done = self.drive("--vehicle", self.vehicle_file("simulated"), "--record", recording, restore_signals=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"full\.mcap: File too large; [1-9]\d* records are lost")

    def test_a_recording_without_a_vehicle_and_a_wrong_variant_are_refused(self):
        robot = os.path.join(self.folder, "robot.mcap")
        subprocess.run([TAKT, "run", os.path.join(SOURCE, "examples", "robots", "arm6.json"), "--virtual-time", "--duration", "0.1",
                        "--record", robot], check=True, capture_output=True, timeout=PATIENCE)
        for devices, status, reason in [("recorded:robot.mcap", 2, "there is no topic /vehicle/received"),
                                        ("recorded:none.mcap", 2, "none.mcap: "), ("taped", 2, "/devices: \"taped\" is not \"real\", ")]:
            done = self.drive("--vehicle", self.vehicle_file(devices))
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(reason, done.stderr)


class PlotTest(DriveTest):
    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_the_picture_of_a_drive_says_where_it_stopped_and_why(self):
        self.start_vehicle()
        log, picture = (os.path.join(self.folder, name) for name in ("known.csv", "it's a lap.svg"))
        driver = Program(log, TAKT, "drive", "--plain", "--hold", "1000", "--log", log, "--plot", picture, *self.near)
        self.addCleanup(driver.end)
        driver.wait_until(lambda row: True, "it begins")
        self.drive_some_way(driver.type, lambda: driver.rows()[-1]["state"])
        self.vehicle.type("silent\n")
        driver.wait_until(lambda row: row["cause"] == "the vehicle is silent", "it stops")
        self.vehicle.type("well\n")
        driver.wait_until(lambda row: row["state"] == "stopped", "it is seen to stand")

        def break_down():
            row = driver.rows()[-1]
            if row["cause"] == "a required system is not running":
                return row["state"] == "stopped"
            if row["state"] in ("ready", "driving"):
                self.vehicle.type("halted hydraulics\n")
            else:
                self.vehicle.type("recover\n")
                driver.type("r")

        wait_for(break_down, "it goes on, and stops at the same place")
        driver.type("q")
        self.assertEqual(driver.process.wait(PATIENCE), 0)
        root = xml.parse(picture).getroot()
        texts = "".join(root.itertext())
        for text in ("x (m), odom", "speed (m/s)", "steering (rad)", "age (s)", "stops:", "the vehicle is silent",
                     "a required system is not running", "(hydraulics)"):
            self.assertIn(text, texts)
        self.check_readable(root)
        subprocess.run(["gnuplot", picture + ".gp"], cwd=self.folder, check=True, timeout=PATIENCE)

    def check_readable(self, root):
        """Checks that no text exceeds the picture at the right, for letters of usual width, and no texts overlap."""
        places = []
        for group in root.iter("{http://www.w3.org/2000/svg}g"):
            text = group.find("{http://www.w3.org/2000/svg}text")
            if text is None or not group.get("transform").startswith("translate"):
                continue
            words = "".join(text.itertext()).strip()
            x, y = (float(number) for number in group.get("transform")[len("translate("):].split(")")[0].split(","))
            if words:
                places.append((x, y))
            if group.get("text-anchor") == "start":
                self.assertLess(x + 0.6 * float(group.get("font-size")) * len(words), 1000, words)
        self.assertGreater(len(places), 20)
        self.assertEqual(len(places), len(set(places)))

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_there_is_a_picture_of_a_vehicle_that_was_never_heard(self):
        picture = os.path.join(self.folder, "nothing.png")
        drive = self.drive("--plot", picture)
        self.assertIn("no status of the vehicle was received", drive.stdout)
        self.assertEqual(drive.returncode, 1)
        with open(picture, "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def check_refused(self, why, *words, **keywords):
        done = self.drive(*words, **keywords)
        self.assertEqual(done.returncode, 1)
        self.assertIn(why, done.stderr)
        self.assertEqual(done.stdout, "")  # it never began
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_cannot_be_drawn_is_refused_before_the_drive(self):
        self.check_refused("gnuplot is not installed", "--plot", os.path.join(self.folder, "lap.svg"), env={"PATH": self.folder})
        self.check_refused(".png or .svg", "--plot", os.path.join(self.folder, "lap.pdf"))
        self.check_refused("No such file", "--plot", os.path.join(self.folder, "nowhere", "lap.svg"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
