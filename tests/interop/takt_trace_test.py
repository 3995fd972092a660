#!/usr/bin/env python3
"""Traces of a running robot: takt run --trace, and takt ctl trace while it runs.

usage: takt_trace_test.py TAKT PATIENT_ARM [unittest arguments]
"""
import collections, faulthandler, json, os, signal, subprocess, sys, tempfile, time, unittest

from robot_programs import program

TAKT, PATIENT_ARM = sys.argv[1:3]
PATIENCE = 60  # s
PERIOD = 10_000  # us, of the patient arm
STEPS = ["read", "judge", "switch", "control", "protect", "limit", "write", "publish", "record"]


def load(path):
    with open(path) as file:
        return json.load(file)


def spans_of(events):
    return [event for event in events if event["ph"] == "X"]


def children_of(spans):
    """For each span of a cycle: the names of the spans that lie directly in it. Fails if two spans overlap."""
    stack, cycles = [], []
    for span in spans:
        begin, end = round(span["ts"] * 1000), round((span["ts"] + span["dur"]) * 1000)
        while stack and stack[-1][1] <= begin:
            stack.pop()
        assert not stack or end <= stack[-1][1] + 1, f"{span} reaches out of {stack[-1][0]}"
        if stack and stack[-1][0]["name"] == "cycle":
            cycles[-1].append(span["name"])
        if span["name"] == "cycle":
            cycles.append([])
        stack.append((span, end))
    return cycles


class TraceTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_robot(self, *arguments):
        robot = self.enterContext(program(TAKT, "run", PATIENT_ARM, "--port", "0", "--trace-folder", self.folder, *arguments,
                                          until="controllers: "))
        self.port = next(line.rsplit(":", 1)[1] for line in robot.lines if line.startswith("listening on"))
        return robot

    def ctl(self, *words):
        return subprocess.run([TAKT, "ctl", *words, "--port", self.port], capture_output=True, text=True, timeout=PATIENCE)

    def obeyed(self, *words):
        done = self.ctl(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def check_cycles(self, spans, at_least):
        cycles = children_of(spans)
        self.assertGreaterEqual(len(cycles), at_least)
        self.assertEqual(collections.Counter(map(tuple, cycles)).most_common(1)[0][0], tuple(STEPS))
        for span in spans:
            self.assertGreaterEqual(span["dur"], 0)
        names = {span["name"] for span in spans}
        self.assertLessEqual({"sleep", "cycle", "drives", "trajectory", *STEPS}, names)

    def test_a_trace_is_switched_on_and_off_while_the_robot_runs(self):
        robot = self.run_robot()
        self.assertEqual(self.obeyed("trace", "cycle.json"), "")
        time.sleep(1)
        self.assertRegex(self.obeyed("trace", "off"), r"^traced \d+ spans, 0 dropped\n$")
        events = load(self.path("cycle.json"))
        self.assertEqual(events[0]["name"], "process_name")
        spans = spans_of(events)
        self.check_cycles(spans, 20)
        cycles = [span for span in spans if span["name"] == "cycle"]
        self.assertGreater(cycles[-1]["ts"] - cycles[0]["ts"], (len(cycles) - 2) * PERIOD * 0.9)
        size = os.path.getsize(self.path("cycle.json"))
        time.sleep(0.3)
        self.assertEqual(os.path.getsize(self.path("cycle.json")), size)
        self.obeyed("trace", "again.json")
        time.sleep(0.3)
        robot.send_signal(signal.SIGINT)
        out = robot.communicate(timeout=PATIENCE)[0]
        self.assertRegex(out, r"traced \d+ spans, 0 dropped\n")
        self.check_cycles(spans_of(load(self.path("again.json"))), 5)

    def test_a_trace_of_the_whole_run(self):
        robot = self.run_robot("--trace", self.path("run.json"), "--duration", "1")
        robot.communicate(timeout=PATIENCE)
        self.assertEqual(robot.returncode, 0)
        self.check_cycles(spans_of(load(self.path("run.json"))), 20)

    def test_after_a_kill_the_trace_lacks_its_end_only(self):
        robot = self.run_robot("--trace", self.path("run.json"))
        time.sleep(0.5)
        robot.kill()
        robot.communicate(timeout=PATIENCE)
        with open(self.path("run.json")) as file:
            text = file.read()
        self.assertRaises(json.JSONDecodeError, json.loads, text)
        self.check_cycles(spans_of(json.loads(text + "]")), 10)

    def test_commands_write_new_files_of_the_folder_only(self):
        self.run_robot()
        self.assertIn("no trace is being written", self.ctl("trace", "off").stderr)
        for name in ("../cycle.json", "/tmp/cycle.json", "."):
            refused = self.ctl("trace", name)
            self.assertEqual(refused.returncode, 1, name)
        with open(self.path("mine"), "w") as file:
            file.write("mine")
        self.assertIn("File exists", self.ctl("trace", "mine").stderr)
        with open(self.path("mine")) as file:
            self.assertEqual(file.read(), "mine")
        self.obeyed("trace", "one.json")
        self.assertIn("a trace is being written", self.ctl("trace", "two.json").stderr)
        self.obeyed("trace", "off")
        self.assertEqual(sorted(os.listdir(self.folder)), ["mine", "one.json"])


if __name__ == "__main__":
    faulthandler.dump_traceback_later(280, exit=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
