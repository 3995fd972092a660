#!/usr/bin/env python3
"""Tests the experiment on a machine that pauses. The robot's process is stopped in the middle of a section for longer than its
description allows, and continues.

usage: pauses_test.py TAKT PAPER_EXPERIMENT SOURCE_FOLDER [unittest arguments]
"""
import json, os, re, shutil, signal, subprocess, sys, tempfile, time, unittest

TAKT, EXPERIMENT, SOURCE = sys.argv[1:4]
SECTION = "10 Hz stream held"
PAUSE = 2.5  # s


class Pauses(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        # Patient, so that no pause but those of this test stops it.
        with open(os.path.join(SOURCE, "examples/robots/mhubo.json")) as file:
            robot = json.load(file) | {"overrun_limit": 400, "feedback_timeout": 2.2}
        self.description = os.path.join(self.folder, "robot.json")
        with open(self.description, "w") as file:
            json.dump(robot, file)

    def start(self, command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        return process

    def experiment(self, pauses):
        """Runs one section, the robot being paused in so many of its tries; the exit code, and what was printed."""
        recording = os.path.join(self.folder, "mhubo.mcap")
        robot = self.start([TAKT, "run", self.description, "--port", "0", "--realtime", "off", "--wait", "sleep",
                            "--record", recording])
        try:
            port = next(match[1] for line in robot.stdout if (match := re.match(r"listening on 127\.0\.0\.1:(\d+)", line)))
            run = self.start([EXPERIMENT, "mhubo", "--port", port, "--data", os.path.join(SOURCE, "examples/data"),
                              "--section", SECTION, "--out", os.path.join(self.folder, "mhubo.json")])
            said = ""
            for line in run.stdout:
                said += line
                if line.startswith("mhubo: " + SECTION) and pauses > 0:
                    pauses -= 1
                    time.sleep(0.5)
                    robot.send_signal(signal.SIGSTOP)
                    time.sleep(PAUSE)
                    robot.send_signal(signal.SIGCONT)
            code = run.wait(timeout=60)
        finally:
            robot.send_signal(signal.SIGCONT)
            robot.send_signal(signal.SIGTERM)
            robot.communicate(timeout=60)
        report = subprocess.run([TAKT, "report", recording, "--out", os.path.join(self.folder, "mhubo")],
                                capture_output=True, text=True)
        self.assertEqual(report.returncode, 0, report.stderr)
        return code, said

    def table(self):
        """The table of this robot beside what was found of the other one: the exit code, and its lines."""
        found = os.path.join(SOURCE, "tests/examples/found")
        for name in ("arm6", "arm6.json", "cyclictest.txt", "virtual.json"):
            copy = shutil.copytree if name == "arm6" else shutil.copy
            copy(os.path.join(found, name), os.path.join(self.folder, name))
        table = subprocess.run([EXPERIMENT, "table", self.folder], capture_output=True, text=True)
        ways = os.path.join(self.folder, "ways.txt")
        subprocess.run([EXPERIMENT, "ways", self.folder, "--out", ways], check=True)
        with open(ways) as file:
            blocks = file.read().split("\n\n\n")
        return table.returncode, table.stdout.splitlines(), [len(block.splitlines()) for block in blocks]

    def outcome(self):
        with open(os.path.join(self.folder, "mhubo.json")) as file:
            return json.load(file)

    def test_a_section_that_a_pause_hit_is_measured_again_and_the_table_says_so(self):
        code, said = self.experiment(pauses=1)
        self.assertEqual(code, 0, said)
        self.assertIn("a pause of the machine hit it: the robot stopped: ", said)
        outcome = self.outcome()
        self.assertEqual([pause["section"] for pause in outcome["pauses"]], [SECTION])
        [section] = outcome["sections"]
        self.assertEqual((section["sent"], section["accepted"], section["mark"]), (51, 51, SECTION + " (try 2)"))

        code, lines, ways = self.table()
        self.assertEqual(code, 0, lines)
        self.assertTrue(any(f"M-Hubo, {SECTION}: repeated once, because a pause" in line for line in lines), lines)
        with open(os.path.join(self.folder, "mhubo", "summary.json")) as file:
            [section] = [part for part in json.load(file)["sections"] if part["name"] == SECTION + " (try 2)"]
        [joint] = [joint for joint in section["tracking"]["joints"] if joint["joint"] == "WST"]
        tracking = next(line for line in lines if line.startswith("10 Hz stream, held"))
        self.assertEqual(tracking.split()[4], f"{joint['command_minus_measured_deg']['std']:.3f}")
        self.assertGreater(ways[0], 50)
        self.assertEqual(ways[1:3], [2, 2])

    def test_what_was_not_measured_has_no_number_and_fails_with_the_reason(self):
        code, said = self.experiment(pauses=4)
        self.assertEqual(code, 1, said)
        outcome = self.outcome()
        self.assertEqual(outcome["sections"], [])
        self.assertEqual(outcome["not_measured"]["section"], SECTION)
        self.assertEqual(len(outcome["pauses"]), 4)

        code, lines, ways = self.table()
        self.assertEqual(code, 1, lines)
        rows = [line for line in lines if line.startswith(("10 Hz stream, held", "200 Hz stream, inter", "M-Hubo: 200 Hz stream",
                                                           "M-Hubo: hand-over"))]
        self.assertEqual(len(rows), 4, lines)
        for row in rows:
            self.assertRegex(row, r"not measured( +–)+")
        reason = next(line for line in lines if line.startswith("NOT AS EXPECTED"))
        self.assertRegex(reason, SECTION + ": not measured, .* the robot stopped: (drive_silent|loop_overrun)")
        self.assertEqual(ways[:3], [2, 2, 2])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
