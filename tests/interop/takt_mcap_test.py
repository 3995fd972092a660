#!/usr/bin/env python3
"""Recordings and MCAP's own library: it reads ours, and we read its files. Recordings that kill -9 ends are read, too.

usage: takt_mcap_test.py TAKT SOURCE PATIENT_ARM NPM_FOLDER [unittest arguments]

The library comes from npm; without npm or a registry its tests are skipped.
"""
import csv, json, os, random, re, signal, subprocess, sys, tempfile, time, unittest

from npm_packages import npm_packages
from robot_programs import program

HERE = os.path.dirname(os.path.abspath(__file__))
TAKT, SOURCE, ARM, NPM_FOLDER = map(os.path.abspath, sys.argv[1:5])
PATIENCE = 120  # s
PACKAGES = ["@mcap/core@2", "fzstd@0.1", "@foxglove/rosmsg@5", "@foxglove/rosmsg2-serialization@3"]
KILLS = int(os.environ.get("TAKT_KILLS") or 5)
SEED = int(os.environ.get("TAKT_SEED") or random.SystemRandom().randrange(2**32))


class Recordings(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.folder, name)

    def takt(self, *words, status=0):
        done = subprocess.run([TAKT, *words], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def report(self, recording, *options):
        """The summary and the rows of joints.csv."""
        self.takt("report", recording, "--out", self.path("report"), *options)
        with open(self.path("report/summary.json")) as file:
            summary = json.load(file)
        with open(self.path("report/joints.csv")) as file:
            return summary, list(csv.DictReader(file))


class SlowDiskTest(Recordings):
    def test_a_recording_that_lacks_records_is_no_success(self):
        disk = self.path("run.mcap")  # which takes nothing until the robot is down
        os.mkfifo(disk)
        reader = os.open(disk, os.O_RDONLY | os.O_NONBLOCK)
        run = subprocess.Popen([TAKT, "run", "arm6", "--simulate", "--port", "0", "--record", disk, "--overwrite", "--uncompressed"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in run.stdout:
            if line.startswith("listening on"):
                port = line.split()[-1].rsplit(":", 1)[1]
            if line.startswith("robot ready"):
                break
        cycles = lambda: int(re.search(r"^loop +(\d+) cycles", self.takt("state", "--port", port).stdout, re.MULTILINE)[1])
        while cycles() < 9000:  # fewer fit into the ring. A pause of the machine may stop the robot, which then counts on
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        for line in run.stdout:
            if line.startswith("robot down"):
                break
        os.set_blocking(reader, True)
        with open(reader, "rb") as file:
            while file.read(1 << 16):
                pass
        output, errors = run.communicate(timeout=PATIENCE)
        dropped = int(output.rsplit("recorded", 1)[1].split(",")[1].split()[0])
        self.assertGreater(dropped, 0)
        self.assertRegex(errors, rf"takt run: {disk} lacks {dropped} of \d+ records: the disk was too slow or full")
        self.assertEqual(run.returncode, 1)


class BagTest(Recordings):
    """Bags of ROS 1, written by its own library, which is of Debian's Python."""

    ROS_PYTHON = "/usr/bin/python3"

    def setUp(self):
        super().setUp()
        found = subprocess.run([self.ROS_PYTHON, "-c", "import rosbag, sensor_msgs.msg"], capture_output=True)
        if found.returncode != 0:
            self.skipTest("no python3-rosbag")

    def bag(self, compression="none"):
        path = self.path(f"{compression}.bag")
        subprocess.run([self.ROS_PYTHON, os.path.join(HERE, "bag_peer.py"), path, compression, str(SEED)], check=True,
                       capture_output=True, timeout=PATIENCE)
        return path

    def test_the_joint_states_of_a_bag_are_reported(self):
        path = self.bag()
        summary, rows = self.report(path)
        with open(path + ".json") as file:
            written = json.load(file)
        self.assertEqual((summary["robot"], summary["recording"]["complete"]), ("/arm/joint_states", True))
        self.assertEqual([float(row["shoulder.measured_rad_or_m"]) for row in rows], [one["positions"][0] for one in written])
        self.assertEqual([float(row["elbow.measured_Nm_or_N"]) for row in rows], [one["efforts"][1] for one in written])
        self.takt("report", path, "--topic", "/arm/joint_states", "--out", self.path("again"))
        self.assertIn("/chatter", self.takt("report", path, "--topic", "/nowhere", "--out", self.path("none"), status=2).stderr)

    def test_a_compressed_bag_is_refused_with_the_way_out(self):
        done = self.takt("report", self.bag("bz2"), "--out", self.path("report"), status=2)
        self.assertIn('"bz2"; rosbag decompress', done.stderr)


class PeerTest(Recordings):
    def setUp(self):
        super().setUp()
        self.modules = npm_packages(NPM_FOLDER, PACKAGES, 2 * PATIENCE)
        if self.modules is None:
            self.skipTest("no npm packages")

    def peer(self, action, path):
        peer = ["node", os.path.join(HERE, "mcap_peer.js"), self.modules, action, path]
        done = subprocess.run(peer, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_peer_finds_every_message_by_index_and_in_order(self):
        for options in ([], ["--uncompressed"]):
            recording = self.path("run.mcap")
            self.takt("run", f"{SOURCE}/examples/robots/mhubo.json", "--virtual-time", "--requests",
                      f"{SOURCE}/examples/data/mhubo_requests.jsonl", "--record", recording, "--overwrite", *options)
            found = json.loads(self.peer("read", recording))
            _, rows = self.report(recording)
            topics = found["topics"]
            for topic in ("/joints/measured", "/joints/reference", "/joints/command", "/cycle"):
                self.assertEqual(topics[topic], len(rows))
            self.assertEqual(topics["/buses/right"], topics["/buses/left_and_waist"])
            self.assertGreater(topics["/events"], 5)
            self.assertEqual(found["statistics"], sum(topics.values()))
            self.assertEqual(found["stream"], {"messages": sum(topics.values()), "done": True})
            self.assertGreater(found["chunks"], 3)
            self.assertEqual(found["metadata"]["takt_totals"]["dropped"], "0")
            for joint, position in found["position"].items():
                self.assertEqual(float(rows[-1][f"{joint}.measured_rad"]), position)

    def test_the_peer_knows_an_inertial_unit_and_a_wrench(self):
        recording = self.path("run.mcap")
        run = subprocess.run([TAKT, "run", f"{SOURCE}/examples/robots/arm6.json", "--physics", "mujoco", "--virtual-time", "--duration", "2",
                              "--record", recording], capture_output=True, text=True, timeout=PATIENCE)
        if "built without MuJoCo" in run.stderr:
            self.skipTest("no MuJoCo")
        self.assertEqual(run.returncode, 0, run.stderr)
        sensors = json.loads(self.peer("read", recording))["sensors"]
        unit = sensors["/sensors/wrist_imu"]
        self.assertEqual((unit["type"], unit["values"][0]["header"]["frame_id"]), ("sensor_msgs/msg/Imu", "wrist_imu"))
        acceleration = unit["values"][0]["linear_acceleration"]
        self.assertAlmostEqual(sum(acceleration[axis] ** 2 for axis in "xyz") ** 0.5, 9.81, delta=0.1)
        wrist = sensors["/sensors/wrist"]
        self.assertEqual(wrist["type"], "geometry_msgs/msg/WrenchStamped")
        self.assertGreater(sum(wrist["values"][0]["wrench"]["force"][axis] ** 2 for axis in "xyz"), 0.01)

    def test_files_of_the_peer_are_reported(self):
        self.peer("write", self.path("other.mcap"))
        summary, rows = self.report(self.path("other.mcap"))
        self.assertEqual(len(rows), 200)
        self.assertAlmostEqual(float(rows[199]["knee.measured_rad_or_m"]), 199 / 200)
        self.assertAlmostEqual(float(rows[199]["time_s"]), 1.99)
        self.assertEqual(rows[0]["elbow.command_rad_or_m"], "nan")
        done = self.takt("report", self.path("other.mcap"), "--out", self.path("r"), "--topic", "/leg", status=2)
        self.assertIn("the file has the topics /arm", done.stderr)


class DamageTest(Recordings):
    CHUNK = 6

    def chunks(self, data):
        """The first byte and the size of each chunk."""
        at = 8
        while at + 9 < len(data):
            size = int.from_bytes(data[at + 1:at + 9], "little")
            if data[at] == self.CHUNK:
                yield at, 9 + size
            at += 9 + size

    def test_one_wrong_bit_costs_one_chunk(self):
        recording = self.path("run.mcap")
        self.takt("run", f"{SOURCE}/examples/robots/mhubo.json", "--virtual-time", "--requests",
                  f"{SOURCE}/examples/data/mhubo_requests.jsonl", "--record", recording)
        summary, whole = self.report(recording)
        self.assertEqual((summary["recording"]["complete"], summary["recording"]["lost"]), (True, []))
        with open(recording, "rb") as file:
            data = bytearray(file.read())
        chunks = list(self.chunks(data))
        self.assertGreater(len(chunks), 5)
        number = len(chunks) // 2
        at, size = chunks[number]
        data[at + size // 2] ^= 16
        with open(recording, "wb") as file:
            file.write(data)
        summary, rows = self.report(recording)
        self.assertFalse(summary["recording"]["complete"])
        (lost,) = summary["recording"]["lost"]
        self.assertIn(f"byte {at}: ", lost["reason"])
        self.assertEqual((lost["chunk"], lost["bytes"]), (number + 1, size))
        self.assertGreater(lost["messages"], 4)
        missing = {row["time_s"] for row in whole} - {row["time_s"] for row in rows}
        self.assertTrue(len(missing) > 10 and set(row["time_s"] for row in rows) < set(row["time_s"] for row in whole))
        self.assertAlmostEqual(min(map(float, missing)), lost["from_s"], delta=0.1)
        self.assertAlmostEqual(max(map(float, missing)), lost["until_s"], delta=0.1)
        done = self.takt("report", recording, "--out", self.path("again"))
        self.assertIn(f"chunk {number + 1} of {size} bytes is left out", done.stdout)
        done = self.takt("replay", recording, status=2)
        self.assertIn("the recording lacks", done.stderr)


class KillTest(Recordings):
    def test_a_recording_can_be_read_up_to_its_last_second_after_kill_9(self):
        choice = random.Random(SEED)
        print(f"seed {SEED}", flush=True)
        for number in range(KILLS):
            recording = self.path(f"{number}.mcap")
            with program(TAKT, "run", ARM, "--port", "0", "--record", recording, until="controllers: ") as robot:
                began = time.monotonic()
                time.sleep(choice.uniform(0, 3))
                robot.kill()
                lasted = time.monotonic() - began
            with self.subTest(number=number, lasted=lasted):
                done = self.takt("report", recording, "--out", self.path("report"))
                self.assertIn("the recording was cut off", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
