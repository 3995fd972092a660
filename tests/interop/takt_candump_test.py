#!/usr/bin/env python3
"""Tests takt candump from outside: logs in all formats, pipes, DBC files, and a bus behind an slcan adapter.

usage: takt_candump_test.py TAKT SOURCE_FOLDER [unittest arguments]
"""
import contextlib, json, os, re, signal, subprocess, sys, tempfile, time, unittest

import robot_programs
from slcan_adapter import Adapter

try:
    import can
except ImportError:
    can = None

TAKT = sys.argv[1]
SOURCE = sys.argv[2]

DRIVE = """VERSION ""
BU_: Drive Master
BO_ 385 MotorStatus: 4 Drive
 SG_ Position : 0|16@1- (0.0001,0) [0|0] "rad" Master
 SG_ Temperature : 16|8@1+ (1,-40) [0|0] "degC" Master
 SG_ Mode : 24|8@1+ (1,0) [0|0] "" Master
BO_ 386 Pages: 3 Drive
 SG_ Page M : 0|8@1+ (1,0) [0|0] "" Master
 SG_ Counter m0 : 8|16@1+ (1,0) [0|0] "" Master
 SG_ Torque m1 : 8|16@1- (0.5,0) [0|0] "Nm" Master
BO_ 2566844672 Engine: 8 Drive
 SG_ Speed : 24|16@1+ (0.125,0) [0|8031.875] "rpm" Master
VAL_ 385 Mode 2 "ready" 3 "moving" ;
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
BA_DEF_DEF_ "VFrameFormat" "StandardCAN";
BA_ "VFrameFormat" BO_ 2566844672 3;
"""

LOG = """(1795208238.156435) can0 181#983A4102
(1795208238.156436) can0 123#DEADBEEF
(1795208238.156437) can1 5A1##1112233 R
"""


def confirms(frames):
    """The answers of an adapter that confirms each command, and sends these frames once its bus is open."""
    def answer(line):
        return b"\r".join([b"V1013" if line == b"V" else b"", *(frames if line == b"O" else []), b""])
    return answer


class TaktCandump(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def candump(self, *arguments, code=0, **options):
        done = subprocess.run([TAKT, "candump", *arguments], capture_output=True, text=True, timeout=120, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    @contextlib.contextmanager
    def running(self, *arguments):
        process = subprocess.Popen([TAKT, "candump", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.communicate(timeout=60)

    def adapter(self, *frames):
        adapter = Adapter(confirms(frames))
        self.addCleanup(adapter.close)
        return adapter

    def test_a_log_is_printed_as_it_was_and_known_frames_are_decoded(self):
        log, dbc = self.write("drive.log", LOG), self.write("drive.dbc", DRIVE)
        self.assertEqual(self.candump(log).stdout, LOG)
        first, *others = self.candump(log, "--dbc", dbc).stdout.splitlines()
        self.assertEqual(first, LOG.splitlines()[0] + ' :: MotorStatus(Position: 1.5 rad, Temperature: 25 degC, Mode: 2 "ready")')
        self.assertEqual(others, LOG.splitlines()[1:])

    def test_signals_without_a_value_tell_why(self):
        dbc = self.write("drive.dbc", DRIVE)

        def signals(frame):
            return self.candump("-", "--dbc", dbc, input=f"(1.0) can0 {frame}\n").stdout.strip().partition(" :: ")[2]

        self.assertEqual(signals("182#00FFFF"), "Pages(Page: 0, Counter: 65535)")
        self.assertEqual(signals("182#01FEFF"), "Pages(Page: 1, Torque: -1 Nm)")
        self.assertEqual(signals("181#983A41"), "MotorStatus(Position: 1.5 rad, Temperature: 25 degC, Mode: cut off)")
        self.assertEqual(signals("18FEF200#0000004006000000"), "")  # another parameter group
        self.assertEqual(signals("0CFEF103#0000004006000000"), "Engine(Speed: 200 rpm)")  # another sender
        self.assertEqual(signals("0CFEF103#000000FFFF000000"), "Engine(Speed: not available)")
        self.assertEqual(signals("0CFEF103#00000000FE000000"), "Engine(Speed: error)")
        self.assertEqual(signals("181#R4"), "")
        self.assertEqual(signals("20000181#0000000000000000"), "")

    def test_what_candump_prints_to_a_screen_is_decoded_line_by_line(self):
        with self.running("-", "--dbc", self.write("drive.dbc", DRIVE)) as process:
            for line, expected in (("  can0  181   [4]  98 3A 41 02", "(0000000000.000000) can0 181#983A4102 :: MotorStatus("),
                                   (" (1795208238.156435)  can0  RX B -  5A1  [03]  11 22 33",
                                    "(1795208238.156435) can0 5A1##1112233 R\n")):
                process.stdin.write(line + "\n")
                process.stdin.flush()  # and no more: the answer may not wait for another line
                self.assertTrue(process.stdout.readline().startswith(expected))
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)
            process.stdin = None

    def test_bad_lines_are_named_and_the_others_are_printed(self):
        log = self.write("bad.log", LOG + "(1.0) can0 123#0\nnonsense\n" + LOG)
        done = self.candump(log, code=2)
        self.assertEqual(done.stdout, 2 * LOG)
        self.assertIn(f"{log}:4:16: ", done.stderr)
        self.assertIn(f"{log}:5:1: ", done.stderr)
        self.assertIn("(1.5) can0 123#00", done.stderr)  # the formats that are read
        self.assertIn("2 lines", done.stderr)
        many = self.candump("-", code=2, input="\n".join(["nonsense"] * 500))
        self.assertIn("standard input:20:1: ", many.stderr)
        self.assertNotIn("standard input:21:1: ", many.stderr)
        self.assertIn("500 lines", many.stderr)
        self.candump("-", code=2, input="\x00" * 100_000)

    def test_counters_and_checksums_are_checked_by_a_rule(self):
        dbc = self.write("brake.dbc", """BU_: A
BO_ 291 Brake: 3 A
 SG_ Sum : 0|8@1+ (1,0) [0|0] "" A
 SG_ Count : 8|8@1+ (1,0) [0|0] "" A
 SG_ Pressure : 16|8@1+ (1,0) [0|0] "bar" A
""")
        frames = ("123#070205", "123#080305", "123#080305", "123#0B0605", "123#0C0605", "123#0702", "124#00", "123#R")
        log = self.write("brake.log", "".join(f"(1.0) can0 {frame}\n" for frame in frames))
        done = self.candump(log, "--dbc", dbc, "--check", "Brake:Count:Sum:sum", code=1)
        self.assertEqual([line.partition(" !! ")[2] for line in done.stdout.splitlines()],
                         ["", "", "repeated", "frames lost", "wrong checksum", "wrong length", "", ""])
        self.assertIn("123#0C0605 :: Brake(Sum: 12, Count: 6, Pressure: 5 bar) !! wrong checksum\n", done.stdout)
        self.assertEqual(done.stderr, "Brake: 2 good, 1 wrong length, 1 wrong checksum, 1 repeated, 1 frames lost\n")
        good = self.write("good.log", "".join(f"(1.0) can0 {frame}\n" for frame in frames[:2]))
        self.assertEqual(self.candump(good, "--dbc", dbc, "--check", "Brake:Count:Sum:sum").stderr, "Brake: 2 good\n")
        for rule, reason in (("Brake:Count:Sum:crc", "its kind is unknown"), ("Brake:Counter:Sum:sum", "no signal Counter")):
            self.assertIn(reason, self.candump(log, "--dbc", dbc, "--check", rule, code=2).stderr)
        self.assertIn("--dbc", self.candump(log, "--check", "Brake:Count:Sum:sum", code=2).stderr)

    def test_a_log_of_vector_is_printed_and_its_other_lines_are_counted(self):
        log = self.write("drive.asc", "date Sun Nov 29 02:56:10.123 pm 2026\nbase hex  timestamps absolute\n"
                                      "   0.5 1  181             Rx   d 4 98 3A 41 02  Length = 0 BitCount = 0 ID = 385\n"
                                      "   0.6 1  ErrorFrame\n   0.7 1  Statistic: D 0 R 0\n")
        done = self.candump(log, "--dbc", self.write("drive.dbc", DRIVE))
        self.assertEqual(done.stdout, '(0000000000.500000) 1 181#983A4102 R :: '
                                      'MotorStatus(Position: 1.5 rad, Temperature: 25 degC, Mode: 2 "ready")\n')
        self.assertIn(f"{log}: 1 error frames and 1 other events have no data and were left out", done.stderr)
        with open(log, "a") as file:
            file.write("   0.8 1  999 Rx d 0\n")
        self.assertIn(f"{log}:6:11: ", self.candump(log, code=2).stderr)

    @unittest.skipIf(can is None, "Debian: python3-can")
    def test_files_of_python_can_have_the_same_frames_in_both_formats(self):
        messages = [can.Message(timestamp=1e9 + number / 64, channel=0, arbitration_id=0x181 + number, is_extended_id=number % 2 == 1,
                                data=bytes(range(number % 9)), is_rx=number % 3 == 0) for number in range(100)]
        frames = []
        for suffix in (".log", ".asc"):
            path = os.path.join(self.folder, "python" + suffix)
            with can.Logger(path) as logger:
                for message in messages:
                    logger.on_message_received(message)
            lines = self.candump(path).stdout.splitlines()
            frames.append([line.split(maxsplit=2)[2] for line in lines])
        self.assertEqual(len(frames[0]), 100)
        self.assertEqual(frames[0], frames[1])

    def test_frames_of_a_bus_are_printed_as_they_come_until_a_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            adapter = self.adapter(b"t1814983A4102", b"T0CFEF1030", b"r1234")
            before = time.time()
            with self.running("slcan:" + adapter.path, "--bit-rate", "500000", "--dbc", self.write("drive.dbc", DRIVE)) as process:
                lines = [process.stdout.readline() for _ in range(3)]
                stamp, name, frame = lines[0].split(maxsplit=2)
                self.assertTrue(before - 1 <= float(stamp.strip("()")) <= time.time() + 1, stamp)
                self.assertEqual(name, os.path.basename(adapter.path))
                self.assertEqual(frame, '181#983A4102 :: MotorStatus(Position: 1.5 rad, Temperature: 25 degC, Mode: 2 "ready")\n')
                self.assertTrue(lines[1].endswith(" 0CFEF103# :: Engine(Speed: cut off)\n"), lines[1])
                self.assertTrue(lines[2].endswith(" 123#R4\n"), lines[2])
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), 0)
            self.assertIn(b"S6", adapter.heard)
            self.assertEqual([line for line in adapter.heard if line[:1] in b"tTrR" and line], [])  # it sends nothing

    def test_a_bus_is_printed_for_a_duration_and_until_the_reader_is_gone(self):
        adapter = self.adapter(b"t1810")
        done = self.candump("slcan:" + adapter.path, "--duration", "0.5")
        self.assertRegex(done.stdout, r"^\(\d{10}\.\d{6}\) \S+ 181#\n$")
        with self.running("slcan:" + self.adapter(b"t1810").path) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.wait(timeout=60), 1)
            process.stdout = None

    def test_a_lost_link_ends_it(self):
        adapter = Adapter(confirms([b"t1810"]))
        with self.running("slcan:" + adapter.path) as process:
            process.stdout.readline()
            adapter.close()
            self.assertEqual(process.wait(timeout=60), 1)
            self.assertIn("the link is lost", process.stderr.read())

    def test_a_simulated_robot_is_listened_to(self):
        place = os.path.join(self.folder, "arm")
        robot = os.path.join(SOURCE, "examples", "robots", "odrive_arm.json")
        with open(robot) as file:
            bus = json.load(file)["buses"][0]["name"]
        with robot_programs.program(TAKT, "simulate", robot, "--bus", f"{bus}=pty:{place}", until="boards of bus"):
            with self.running("slcan:" + place) as process:
                self.assertRegex(process.stdout.readline(), re.compile(r"^\(\d+\.\d{6}\) \S+ [0-9A-F]{3}#"))

    def test_wrong_arguments_are_named(self):
        log = self.write("drive.log", LOG)
        self.assertIn("no such file", self.candump("no/such/file", code=2).stderr.lower())
        self.assertIn("no file of that name", self.candump("nosuch.log", code=1).stderr)
        self.assertIn("/no/such/tty", self.candump("slcan:/no/such/tty", code=1).stderr)
        self.assertIn("simulation", self.candump("virtual", code=2).stderr)
        self.assertIn("--duration", self.candump(log, "--duration", "1", code=2).stderr)
        self.assertIn(f"{log}: line 4", self.candump(log, "--dbc", log, code=2).stderr)
        self.assertIn("no.dbc", self.candump(log, "--dbc", os.path.join(self.folder, "no.dbc"), code=2).stderr)
        self.assertEqual(self.candump(self.folder, code=1).stdout, "")
        with open("/dev/full", "w") as full:
            done = subprocess.run([TAKT, "candump", log], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
