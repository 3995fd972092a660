#!/usr/bin/env python3
"""A simulated vehicle and whoever drives it, as two programs, with a bad network between them: what the logs of both say, on one
clock, about what one knew of the other, and when the vehicle stopped.

    vehicle_wire_test.py TAKT proxy PROXY     through our own proxy: 20 % lost, 50 +- 20 ms late, reordered, doubled, corrupted;
                                              and with 100 000 datagrams of garbage a second
    vehicle_wire_test.py TAKT netns           between two network namespaces: a cable that is cut, and one that is too slow.
                                              Needs root; exits with 77 where there are no namespaces
"""
import os, random, subprocess, sys, tempfile, time, unittest

from vehicle_programs import PATIENCE, Program

TAKT, WAY = sys.argv[1:3]
COMMAND_TIMEOUT = 0.2  # s, the default of both programs


def sh(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


class Wire(unittest.TestCase):
    def start(self, sim_words, drive_words):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        true, known = os.path.join(folder.name, "true.csv"), os.path.join(folder.name, "known.csv")
        key = os.path.join(folder.name, "vehicle.key")
        subprocess.run([TAKT, "key", key], check=True)
        self.vehicle = Program(true, *sim_words, "vehicle-sim", "--key", key, "--log", true, *self.vehicle_link)
        self.addCleanup(self.vehicle.end)
        self.driver = Program(known, *drive_words, "drive", "--key", key, "--hold", "1000", "--log", known, *self.driver_link)
        self.addCleanup(self.driver.end)

    def get_going(self):
        """Whoever drives goes on until the vehicle does."""
        for _ in range(10):
            self.driver.wait_until(lambda row: row["state"] != "starting", "the vehicle starts up")
            self.driver.type("wwww")
            row = self.driver.wait_until(lambda row: row["state"] == "stopped" or row["speed"] > 0.5, "the vehicle drives")
            if row["state"] != "stopped":
                return
            self.recover()
        self.fail("the vehicle does not get going")

    def recover(self):
        self.vehicle.type("recover\n")
        self.vehicle.wait_until(lambda row: row["state"] == "running", "the vehicle runs again")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.driver.type("r")
            time.sleep(0.2)
            if self.driver.rows()[-1]["state"] in ("ready", "driving", "starting"):
                return
        self.fail("the driver does not recover")

    def check_stands_still(self, seconds):
        """Whatever is typed."""
        self.vehicle.wait_until(lambda row: row["speed"] == 0, "the vehicle stands")
        before = self.vehicle.rows()[-1]
        self.driver.type("wwww")
        time.sleep(seconds)
        after = self.vehicle.rows()[-1]
        self.assertEqual((before["x"], before["y"]), (after["x"], after["y"]))

    def check_halt_in_time(self):
        """From the last frame that it obeyed, by its own clock. A pause of the whole program is no fault of its."""
        rows = self.vehicle.rows()
        halted = next(i for i, row in enumerate(rows) if row["state"] == "halted")
        obeyed = max(i for i in range(1, halted) if rows[i]["obeyed"] > rows[i - 1]["obeyed"])
        times = [row["time"] for row in rows[obeyed - 1:halted + 1]]
        pause = max(b - a for a, b in zip(times, times[1:]))
        self.assertLess(times[-1] - times[0], COMMAND_TIMEOUT + 2 * pause + 0.02)
        return rows[halted]["time"]

    def check_age(self, since, least_way=0.0):
        """Nothing that was said later than `since` is known: what is known is as old as that, but for the time that the shortest
        way takes, which nobody can know."""
        late = [row for row in self.driver.rows() if row["time"] > since]
        self.assertTrue(late)
        for row in late:
            self.assertGreaterEqual(row["age_ms"] * 1e-3, row["time"] - since - least_way - 0.002)


class ProxyTest(Wire):
    def start_through_proxy(self, *faults):
        ports = [str(port) for port in random.sample(range(20000, 30000), 4)]
        self.driver_link = ["--local", f"127.0.0.1:{ports[1]}", "--peer", f"127.0.0.1:{ports[0]}"]
        self.vehicle_link = ["--local", f"127.0.0.1:{ports[3]}", "--peer", f"127.0.0.1:{ports[2]}"]
        self.proxy = subprocess.Popen([sys.argv[3], *ports, *faults])
        self.addCleanup(self.proxy.wait)
        self.addCleanup(self.proxy.terminate)
        self.start([TAKT], [TAKT])
        self.get_going()

    def test_over_a_bad_network(self):
        self.start_through_proxy("loss=0.2", "delay=50", "jitter=20", "reorder=0.05", "duplicate=0.1", "corrupt=0.05", "seed=7")
        time.sleep(2)
        row = self.driver.rows()[-1]
        for fault in ("lost", "late", "refused"):
            self.assertGreater(row[fault], 0, fault)
        self.check_known_is_true(self.driver.rows(), self.vehicle.rows())
        since = time.monotonic()
        self.proxy.terminate()  # the cable is cut
        self.proxy.wait()
        self.vehicle.wait_until(lambda row: row["state"] == "halted", "the vehicle halts")
        self.check_halt_in_time()
        self.driver.wait_until(lambda row: row["state"] == "stopped" or row["age_ms"] > 1000, "the driver knows")
        self.check_age(since, least_way=0.07)

    def test_under_a_hundred_thousand_datagrams_of_garbage_a_second(self):
        """From the vehicle's own address, so that the driver must look at each."""
        self.start_through_proxy("garbage=100000")
        before = self.driver.rows()[-1]
        time.sleep(3)
        after = self.driver.rows()[-1]
        self.assertGreater(after["refused"] - before["refused"], 10000)
        self.assertGreater(after["taken"], before["taken"])
        self.assertGreater(after["sent"], before["sent"])
        self.check_known_is_true(self.driver.rows(), self.vehicle.rows())

    def check_known_is_true(self, known, true):
        """How fast the vehicle was said to be, it was at some moment no longer ago than its age and the longest way say."""
        longest = 0.07 + 0.035
        for row in known[-50:]:
            if row["age_ms"] == float("inf"):
                continue
            age = row["age_ms"] * 1e-3
            speeds = [r["speed"] for r in true if row["time"] - age - longest - 0.1 <= r["time"] <= row["time"] + 0.02]
            self.assertTrue(speeds)
            self.assertGreaterEqual(row["speed"], min(speeds) - 0.1)
            self.assertLessEqual(row["speed"], max(speeds) + 0.1)


class NamespaceTest(Wire):
    near, far = f"takt{os.getpid()}a", f"takt{os.getpid()}b"
    driver_link = ["--local", "10.77.0.1:18003", "--peer", "10.77.0.2:18004"]
    vehicle_link = ["--local", "10.77.0.2:18004", "--peer", "10.77.0.1:18003"]

    @classmethod
    def setUpClass(cls):
        try:
            for name in (cls.near, cls.far):
                sh("ip", "netns", "add", name)
            sh("ip", "link", "add", "va", "netns", cls.near, "type", "veth", "peer", "name", "vb", "netns", cls.far)
            sh("tc", "-V")
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            print("skipped: no network namespaces here:", error, flush=True)
            cls.tearDownClass()
            os._exit(77)
        for name, end, address in ((cls.near, "va", "10.77.0.1"), (cls.far, "vb", "10.77.0.2")):
            sh("ip", "-n", name, "address", "add", address + "/24", "dev", end)
            sh("ip", "-n", name, "link", "set", end, "up")

    @classmethod
    def tearDownClass(cls):
        for name in (cls.near, cls.far):
            if os.path.exists("/run/netns/" + name):
                sh("ip", "netns", "delete", name)

    def setUp(self):
        self.start(["ip", "netns", "exec", self.far, TAKT], ["ip", "netns", "exec", self.near, TAKT])

    def test_a_cut_cable_stops_the_vehicle_and_only_being_told_lets_it_go_on(self):
        self.get_going()
        sh("ip", "-n", self.near, "link", "set", "va", "down")
        since = time.monotonic()
        self.vehicle.wait_until(lambda row: row["state"] == "halted", "the vehicle halts")
        self.check_halt_in_time()
        self.driver.wait_until(lambda row: row["age_ms"] > 1000, "the driver knows")
        self.check_age(since)
        self.check_stands_still(1)
        sh("ip", "-n", self.near, "link", "set", "va", "up")
        self.driver.wait_until(lambda row: row["age_ms"] < 100, "the vehicle is heard again")
        self.check_stands_still(1)
        self.vehicle.type("recover\n")
        self.vehicle.wait_until(lambda row: row["state"] == "running", "the vehicle runs again")
        self.check_stands_still(1)
        self.recover()
        self.get_going()

    def test_a_cable_that_is_too_slow_loses_telemetry_and_the_driver_knows(self):
        self.get_going()
        before = self.driver.rows()[-1]
        limit = ["root", "tbf", "rate", "64kbit", "burst", "1600", "latency", "50ms"]  # of 139 kbit/s
        sh("ip", "netns", "exec", self.far, "tc", "qdisc", "add", "dev", "vb", *limit)
        time.sleep(2)
        sh("ip", "netns", "exec", self.far, "tc", "qdisc", "delete", "dev", "vb", "root")
        after = self.driver.rows()[-1]
        share = (after["taken"] - before["taken"]) / (after["time"] - before["time"]) / 100
        self.assertLess(share, 0.75)
        self.assertGreater(after["lost"], before["lost"])


if __name__ == "__main__":
    case = ProxyTest if WAY == "proxy" else NamespaceTest
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
