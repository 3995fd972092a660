#!/usr/bin/env python3
"""Tests the page of takt report in headless Chromium: a script that is added to the page uses it as a reader does.

    takt_report_test.py TAKT SOURCE_FOLDER

Exit status 77: there is no Chromium, or takt was built without uPlot.
"""

import base64
import bisect
import csv
import html
import json
import math
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TAKT = sys.argv.pop(1)
SOURCE = pathlib.Path(sys.argv.pop(1))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

LISTEN = """<script>window.mistakes = [];
addEventListener("error", event => mistakes.push(event.message));
addEventListener("securitypolicyviolation", event => mistakes.push(event.violatedDirective));</script>"""
USE = """<script>
(async () => {
  const settled = () => new Promise(resolve => setTimeout(resolve, 300));
  const said = {};
  const {charts, range, chooseTheme, setRange, marked} = taktReport;
  const rangeText = () => document.querySelector(".bar output").textContent;
  const timed = charts.filter(chart => chart.overTime).map(chart => chart.plot);
  const paper = () => getComputedStyle(document.body).backgroundColor;
  const mouse = (plot, type, share, more = {}) => {
    const box = plot.over.getBoundingClientRect();
    plot.over.dispatchEvent(new MouseEvent(type, {bubbles: true, button: 0, buttons: 1, clientX: box.left + share * box.width,
      clientY: box.top + box.height / 2, movementX: 10, ...more}));
  };
  const scales = () => timed.map(plot => [plot.scales.x.min, plot.scales.x.max]);
  try {
    await settled();
    said.plots = charts.length;
    said.timed = timed.length;
    said.goals = document.querySelectorAll("[data-plot=goals] canvas").length;
    said.whole = range();
    said.wholeText = rangeText();
    const first = timed[1];
    first.root.scrollIntoView();
    await settled();
    mouse(first, "mousemove", 0.25); mouse(first, "mousedown", 0.25); mouse(first, "mousemove", 0.75); mouse(first, "mouseup", 0.75);
    await settled();
    said.zoomed = {range: range(), plot: [first.scales.x.min, first.scales.x.max], next: [timed[2].scales.x.min, timed[2].scales.x.max]};
    mouse(first, "dblclick", 0.5);
    await settled();
    said.unzoomed = range();
    const row = [...document.querySelectorAll("tr[data-time]")].at(-1);
    row.click();
    await settled();
    said.jump = {time: Number(row.dataset.time), range: range(), marked: marked()};
    said.lastFollows = scales().at(-1);
    first.root.querySelectorAll(".u-legend .u-series")[1].querySelector("th").click();
    said.hidden = first.series[1].show === false;
    chooseTheme("dark");
    said.dark = paper();
    chooseTheme("light");
    said.light = paper();
    const goal = JSON.parse(document.getElementById("takt-data").textContent).goals[0];
    setRange(goal.begin, goal.begin + 1);
    said.goalText = rangeText();
    await settled();
    dispatchEvent(new Event("beforeprint"));
  } catch (error) { mistakes.push(String(error.stack)); }
  said.mistakes = mistakes;
  const answer = document.createElement("pre");
  answer.id = "answer";
  answer.textContent = JSON.stringify(said);
  document.body.append(answer);
})();
</script>"""


def answer_of(page, folder):
    path = folder / "used.html"
    path.write_text(page.replace("<body>", "<body>" + LISTEN).replace("</body>", USE + "</body>"))
    for _ in range(2):  # on a machine that pauses, the browser may give up before it has shown the page
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1300,900", "--enable-logging=stderr",
                               f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000", "--dump-dom", path.as_uri()],
                              capture_output=True, text=True, timeout=200, check=False)
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        if found := re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.S):
            return json.loads(html.unescape(found[1])), console
    return {"none": done.stderr[-2000:]}, console


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        recording = cls.folder / "run.mcap"
        subprocess.run([TAKT, "run", SOURCE / "examples/robots/mhubo.json", "--virtual-time", "--requests",
                        SOURCE / "examples/data/mhubo_requests.jsonl", "--record", recording], capture_output=True, timeout=300, check=True)
        subprocess.run([TAKT, "report", recording, "--out", cls.folder / "out"], capture_output=True, timeout=300, check=False)
        cls.page = (cls.folder / "out/index.html").read_text()
        if 'id="takt-data"' not in cls.page:
            print("takt was built without uPlot")
            sys.exit(77)

    def test_a_reader_zooms_jumps_hides_and_changes_colours(self):
        said, console = answer_of(self.page, self.folder)
        self.assertNotIn("none", said)
        self.assertEqual((said["mistakes"], console), ([], []))
        self.assertGreater(said["timed"], 10)
        self.assertEqual(said["goals"], 1)
        end = said["whole"]["max"]
        self.assertGreater(end, 20)

        self.assertIn("with every sample", said["wholeText"])
        zoomed = said["zoomed"]
        self.assertAlmostEqual(zoomed["range"]["min"], 0.25 * end, delta=0.02 * end)
        self.assertAlmostEqual(zoomed["range"]["max"], 0.75 * end, delta=0.02 * end)
        self.assertEqual(zoomed["plot"], [zoomed["range"]["min"], zoomed["range"]["max"]])
        self.assertEqual(zoomed["next"], zoomed["plot"])
        self.assertEqual(said["unzoomed"], said["whole"])

        jump = said["jump"]
        self.assertEqual(jump["marked"], jump["time"])
        self.assertTrue(jump["range"]["min"] <= jump["time"] <= jump["range"]["max"])
        self.assertAlmostEqual(jump["range"]["max"] - jump["range"]["min"], 2, places=6)
        self.assertEqual(said["lastFollows"], [jump["range"]["min"], jump["range"]["max"]])

        self.assertTrue(said["hidden"])
        self.assertEqual(said["light"], "rgb(255, 255, 255)")
        self.assertNotEqual(said["dark"], said["light"])

    def test_two_recordings_stand_in_the_same_plots(self):
        robot = json.loads((SOURCE / "examples/robots/mhubo.json").read_text())
        for joint in robot["joints"]:
            joint["plant"]["bandwidth"] = 0.7 * joint["plant"].get("bandwidth", 30)
        softer = self.folder / "softer.json"
        softer.write_text(json.dumps(robot))
        recording = self.folder / "softer.mcap"
        subprocess.run([TAKT, "run", softer, "--virtual-time", "--requests", SOURCE / "examples/data/mhubo_requests.jsonl", "--record", recording],
                       capture_output=True, timeout=300, check=True)
        subprocess.run([TAKT, "report", recording, "--against", self.folder / "run.mcap", "--out", self.folder / "both"],
                       capture_output=True, timeout=300, check=False)
        page = (self.folder / "both/index.html").read_text()
        plots = json.loads(re.search(r'id="takt-data">(.*?)</script>', page, re.S)[1])["figures"]
        panel = next(figure for name, figure in plots.items() if name.startswith("joint_"))["panels"][0]
        self.assertEqual([table["series"][-1]["label"] for table in panel["tables"]], ["measured", "other recording"])
        numbers = json.loads((self.folder / "both/summary.json").read_text())["against"]["numbers"]
        errors = [row for row in numbers if row["name"].endswith("tracking error, std")]
        self.assertGreater(len(errors), 5)
        self.assertTrue(all(row["this"] > 0 and row["other"] > 0 and row["this"] != row["other"] for row in errors), errors)
        said, console = answer_of(page, self.folder)
        self.assertNotIn("none", said)
        self.assertEqual((said["mistakes"], console), ([], []))
        self.assertTrue(said["hidden"])

    def test_a_stop_shows_the_log_before_it(self):
        requests, recording, out = (self.folder / name for name in ("stop.jsonl", "stop.mcap", "stop"))
        requests.write_text('{"at": 1, "move": {"joint_names": ["elbow_joint"], "positions": [1.2], "duration": 2}}\n'
                            '{"at": 2, "estop": {"category": 1}}\n')
        for words in (["run", SOURCE / "examples/robots/arm6.json", "--virtual-time", "--requests", requests, "--record", recording],
                      ["report", recording, "--out", out]):
            subprocess.run([TAKT, *words], capture_output=True, timeout=300, check=True)
        with open(out / "log.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["level"], row["text"]) for row in rows if "ready" in row["text"]], [("info", "robot ready")])
        page = (out / "index.html").read_text()
        before = page[page.index("Why the robot stopped"):page.index("</table>", page.index("Why the robot stopped"))]
        stop = next(row for row in rows if row["level"] == "warning")
        self.assertAlmostEqual(float(stop["time_s"]), 2, delta=0.1)
        self.assertIn(html.escape(stop["text"]), before)
        self.assertIn("goal 1", before)
        self.assertIn("a request without a goal succeeded", before)
        self.assertNotIn("goal 0", page)
        states = json.loads(re.search(r'id="takt-data">(.*?)</script>', page, re.S)[1])["states"]
        self.assertEqual([state["label"] for state in states if state["stop"]], ["stopping: emergency_stop"])
        self.assertIn(f"Show {len(rows)} lines", page)

    def test_a_page_has_each_sample_of_a_stop_and_a_move_and_the_extremes_between_them(self):
        robot = json.loads((SOURCE / "examples/robots/arm6.json").read_text())
        robot["rate"] = 1000
        description, requests, recording, out = (self.folder / name for name in ("fast.json", "fast.jsonl", "fast.mcap", "fast"))
        description.write_text(json.dumps(robot))
        requests.write_text('{"at": 5, "move": {"joint_names": ["elbow_joint"], "positions": [1.2], "duration": 1}}\n'
                            '{"at": 25, "move": {"joint_names": ["elbow_joint"], "positions": [0.7], "duration": 1}}\n'
                            '{"at": 25.5, "estop": {"category": 1}}\n{"at": 40, "mark": {"text": "end"}}\n')
        for words in (["run", description, "--virtual-time", "--requests", requests, "--record", recording], ["report", recording, "--out", out]):
            subprocess.run([TAKT, *words], capture_output=True, timeout=300, check=True)
        text = (out / "index.html").read_text()
        page = json.loads(re.search(r'id="takt-data">(.*?)</script>', text, re.S)[1])
        with open(out / "joints.csv", newline="") as file:
            all_samples = {float(row["time_s"]): math.degrees(float(row["elbow_joint.measured_rad"])) for row in csv.DictReader(file)}
        figure = next(figure for name, figure in page["figures"].items() if name.endswith("elbow_joint"))
        table = figure["panels"][0]["tables"][0]
        numbers = lambda text, code: [value for (value,) in struct.iter_unpack("<" + code, base64.b64decode(text))]
        times = numbers(page["axes"][table["x"]], "d")
        measured = numbers(next(one for one in table["series"] if one["label"] == "measured")["values"], "f")
        there = {round(time, 9): value for time, value in zip(times, measured)}
        (stop,) = (state["begin"] for state in page["states"] if state["stop"])
        windows = [(stop - 2, stop + 2)] + [(goal["begin"] - 0.5, goal["end"] + 0.5) for goal in page["goals"]]
        self.assertEqual(len(windows), 3)
        for begin, end in windows:
            samples = [time for time in all_samples if begin <= time <= end]
            self.assertGreater(len(samples), 1500)
            for time in samples:
                self.assertAlmostEqual(there[time], all_samples[time], delta=1e-4)
        self.assertGreaterEqual(len(page["thinned"]), 2)
        ordered = sorted(all_samples)
        for part in page["thinned"]:
            self.assertGreater(part["samples"], 1)
            first, last = (bisect.bisect_left(times, part[key]) for key in ("begin", "end"))
            for at in range(first, last, 2):
                inside = ordered[bisect.bisect_left(ordered, times[at] - 1e-7):bisect.bisect_right(ordered, times[at + 1] + 1e-7)]
                values = [all_samples[time] for time in inside]
                if any(map(math.isnan, values)):
                    continue  # during the start-up
                self.assertLessEqual(len(values), part["samples"])
                self.assertAlmostEqual(min(measured[at:at + 2]), min(values), delta=1e-4)
                self.assertAlmostEqual(max(measured[at:at + 2]), max(values), delta=1e-4)
        self.assertIn("A grey bar at the bottom", text)
        said, console = answer_of(text, self.folder)
        self.assertEqual((said["mistakes"], console), ([], []))
        self.assertRegex(said["wholeText"], r"above the grey bars: the lowest and the highest of each \d+ samples")
        self.assertIn("with every sample", said["goalText"])

    def test_a_planted_mistake_in_the_page_is_seen(self):
        said, console = answer_of(self.page.replace("</main>", "</main><script>noSuchFunction()</script>"), self.folder)
        self.assertIn("noSuchFunction", " ".join(said["mistakes"]))
        self.assertIn("noSuchFunction", " ".join(console))

    def test_a_page_that_asks_for_something_outside_is_stopped(self):
        said, _ = answer_of(self.page.replace("</main>", '</main><img src="https://takt.example/a.png">'), self.folder)
        self.assertIn("img-src", said["mistakes"])


if __name__ == "__main__":
    if CHROMIUM is None:
        print("no Chromium is installed")
        sys.exit(77)
    unittest.main(verbosity=2)
