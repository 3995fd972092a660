#!/usr/bin/env python3
"""Tests a simulated vehicle and its driver as two programs, with a bad network between them. The logs of both, on
one clock, show what each knew of the other and when the vehicle stopped.

    vehicle_wire_test.py TAKT proxy PROXY     through our proxy: 20 % lost, 50 +- 20 ms late, reordered, doubled,
                                              corrupted; and with 100 000 datagrams of garbage a second
    vehicle_wire_test.py TAKT loop FURBOT     direct: a vehicle other than the Furbot, and access by the right key
    vehicle_wire_test.py TAKT console         input at a terminal or through a pipe, and the end of both programs
    vehicle_wire_test.py TAKT netns           between two network namespaces: a cable that is cut, and a slow one.
                                              Needs root; exits with 77 without namespaces
"""
import bisect, json, math, os, pty, re, shlex, signal, subprocess, sys, tempfile, termios, time, unittest

from vehicle_programs import PATIENCE, Program, TerminalProgram, free_places, links, wait_for

TAKT, WAY = sys.argv[1:3]
COMMAND_TIMEOUT = 0.2  # s, the default of both programs
SEND_PERIOD = 0.01  # s, of the control frames


def system(number, name, length, **fields):
    fields = {field: {"offset": offset, "type": kind} for field, (offset, kind) in fields.items()}
    return {"id": number, "name": name, "length": length, "fields": fields}


# Different from the Furbot's: other systems, places and order.
OTHER_SYSTEMS = [
    system(17, "winch", 3, state=(2, "u8"), load=(0, "u16")),
    system(4, "steering", 10, state=(0, "u8"), current_angle=(2, "i32"), target_angle=(6, "i32")),
    system(3, "traction", 22, state=(21, "i8"), mode=(20, "u8"), speed=(16, "i32"), left_speed=(14, "i16"), right_speed=(12, "i16"),
           throttle=(10, "i16"), brake=(8, "i16"), reverse=(7, "u8"), odometer=(0, "i32"))]


def sh(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


def counts(text):
    """The counters of a program's summary: {"control frames sent": 1200, ...}."""
    return {name: int(number) for number, name in re.findall(r"(\d+) ([a-z ]+)", text)}


def waited_for_a_core(process):
    """Ends it. Returns for how many seconds it was ready to run, but other processes ran."""
    process.terminate()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{process.pid}/schedstat") as file:
        return int(file.read().split()[1]) * 1e-9


class Wire(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name):
        return os.path.join(self.folder, name)

    def key(self, name, *words):
        subprocess.run([TAKT, "key", self.file(name), *words], check=True)
        return ["--key", self.file(name)]

    def start(self, sim_words, drive_words, *both):
        key = self.key("vehicle.key")
        self.start_vehicle(sim_words, *key, *both)
        self.start_driver(drive_words, *key, *both)

    def start_vehicle(self, before, *words, **streams):
        true = self.file("true.csv")
        self.vehicle = Program(true, *before, "vehicle-sim", "--log", true, *self.vehicle_link, *words, **streams)
        self.addCleanup(self.vehicle.end)

    def start_driver(self, before, *words, kind=Program, **streams):
        known = self.file("known.csv")
        self.driver = kind(known, *before, "drive", "--hold", "1000", "--log", known, *self.driver_link, *words, **streams)
        self.addCleanup(self.driver.end)

    def get_going(self):
        """Repeats the command until the vehicle drives."""
        for _ in range(10):
            self.driver.wait_until(lambda row: self.may_go_on() and row["state"] != "starting", "the vehicle starts up")
            self.driver.type("wwww")
            row = self.driver.wait_until(lambda row: row["state"] == "stopped" or row["speed"] > 0.5, "the vehicle drives")
            if row["state"] != "stopped":
                return
            self.recover()
        self.fail("the vehicle does not get going")

    def may_go_on(self):
        """Lets a vehicle go on that halted, as when the driver before was not heard for a while."""
        if [row["state"] for row in self.vehicle.rows()[-1:]] == ["halted"]:
            self.vehicle.type("recover\n")
        return True

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
        """Checks that typed keys do not move the vehicle."""
        self.vehicle.wait_until(lambda row: row["speed"] == 0, "the vehicle stands")
        before = self.vehicle.rows()[-1]
        self.driver.type("wwww")
        time.sleep(seconds)
        after = self.vehicle.rows()[-1]
        self.assertEqual((before["x"], before["y"]), (after["x"], after["y"]))

    def check_halt_in_time(self):
        """Checks the command timeout from the last accepted frame, by the vehicle's clock. Pauses of the whole
        program are excused."""
        rows = self.vehicle.rows()
        halted = next(i for i, row in enumerate(rows) if row["state"] == "halted")
        obeyed = max(i for i in range(1, halted) if rows[i]["obeyed"] > rows[i - 1]["obeyed"])
        times = [row["time"] for row in rows[obeyed - 1:halted + 1]]
        pause = max(b - a for a, b in zip(times, times[1:]))
        self.assertLess(times[-1] - times[0], COMMAND_TIMEOUT + 2 * pause + 0.02)
        return rows[halted]["time"]

    def check_age(self, since, least_way=0.0):
        """Checks that no telemetry is newer than `since`. The reported age is exact up to the shortest network
        delay."""
        late = [row for row in self.driver.rows() if row["time"] > since]
        self.assertTrue(late)
        for row in late:
            self.assertGreaterEqual(row["age_ms"] * 1e-3, row["time"] - since - least_way - 0.002)


    def check_age_by_place(self, since, until):
        """Checks, for a moving vehicle, that the age of telemetry matches the age of its position, up to the
        shortest delay. The telemetry then grows old, and the driver stops."""
        true = self.vehicle.rows()
        places = [row["x"] for row in true]
        known = [row for row in self.driver.rows() if since < row["time"] < until and row["x"] < places[-1] - 0.05]
        self.assertTrue(known)
        for row in known:
            then = true[bisect.bisect(places, row["x"])]["time"]  # at the latest
            self.assertGreaterEqual(row["age_ms"] * 1e-3, row["time"] - then - 0.03)
        self.assertGreater(max(row["age_ms"] for row in known), 100)
        self.assertIn(known[-1]["state"], ("stopping", "stopped"))


class ProxyTest(Wire):
    def start_through_proxy(self, *faults):
        places = free_places(4)
        self.driver_link = ["--local", places[1], "--peer", places[0]]
        self.vehicle_link = ["--local", places[3], "--peer", places[2]]
        self.proxy = subprocess.Popen([sys.argv[3], *places, *faults], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.proxy.stdout.close)
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
        """Sends from the vehicle's address, so that the driver must check each datagram."""
        garbage = 1000000
        self.start_through_proxy("garbage=100000", f"of_garbage={garbage}")
        started = self.driver.rows()[-1]  # in the midst of it
        told = self.proxy.stdout.readline()
        print(told, end="", flush=True)
        self.assertEqual(counts(told)["sent"], garbage)
        self.assertGreater(self.driver.rows()[-1]["taken"], started["taken"])
        self.check_known_is_true(self.driver.rows(), self.vehicle.rows())
        self.proxy.terminate()  # nothing more comes
        ends = [line.split(": ") for line in self.proxy.communicate()[0].splitlines()]
        near, far = (counts(dict(ends)[name]) for name in ("near", "far"))
        waited = waited_for_a_core(self.driver.process)
        driver, vehicle = counts(self.driver.end()), counts(self.vehicle.end())

        # The fate of each datagram to the driver.
        came, dropped = driver["datagrams received"], driver["dropped by the system"]
        self.assertEqual(came + driver["too long"] + dropped, near["sent"])
        self.assertGreater(driver["refused"], 10000)
        self.assertGreaterEqual(driver["refused"] + driver["too long"] + dropped, garbage)
        self.assertLessEqual(driver["too long"], garbage // 50)
        self.assertGreaterEqual(driver["too long"] + dropped, garbage // 50)
        self.assertGreaterEqual(came - driver["refused"], driver["taken"] + driver["late"] + driver["duplicated"])
        print(f"driver: {driver}, waited for a core {waited:.3f} s", flush=True)
        # The driver's own frames: the vehicle received all, and frames were skipped only while other processes had
        # the core.
        self.assertEqual(near["received"], far["sent"])
        became = ("control frames obeyed", "held back by the brake", "outdated", "overruled by a stop", "refused", "malformed")
        missing = far["sent"] - sum(vehicle[what] for what in became)
        self.assertGreaterEqual(missing, 0)
        self.assertLessEqual(missing, driver["handshakes"])
        self.assertLessEqual(driver["missed"] * SEND_PERIOD, waited + SEND_PERIOD)

    def check_known_is_true(self, known, true):
        """Checks that the reported speed was true at some moment within the reported age and the longest delay."""
        longest = 0.07 + 0.035
        for row in known[-50:]:
            if row["age_ms"] == float("inf"):
                continue
            age = row["age_ms"] * 1e-3
            speeds = [r["speed"] for r in true if row["time"] - age - longest - 0.1 <= r["time"] <= row["time"] + 0.02]
            self.assertTrue(speeds)
            self.assertGreaterEqual(row["speed"], min(speeds) - 0.1)
            self.assertLessEqual(row["speed"], max(speeds) + 0.1)


class ConsoleTest(Wire):
    def setUp(self):
        super().setUp()
        self.driver_link, self.vehicle_link = links()
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # our parent may ignore it; our programs must not

    def test_a_terminal_that_goes_and_a_signal_to_quit_end_in_a_stop(self):
        self.start_vehicle([TAKT], "--plain")
        for number in (signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number):
                self.start_driver([TAKT], "--plain", kind=TerminalProgram)
                self.get_going()
                cc = self.driver.settings()[6]
                self.assertEqual(cc[termios.VSUSP], b"\0")  # who sleeps stops nothing
                self.driver.process.send_signal(number)
                self.assertEqual(self.driver.process.wait(PATIENCE), 0)
                self.assertEqual(self.driver.rows()[-1]["state"], "stopped")
                self.assertEqual(self.driver.settings(), self.driver.before)
                self.vehicle.wait_until(lambda row: row["speed"] == 0, "it stands")


    def test_standard_input_that_never_ends_keeps_neither_program_from_its_work(self):
        with open("/dev/zero") as zeros:
            self.start_vehicle([TAKT], "--plain", stdin=zeros)
            self.vehicle.wait_until(lambda row: row["sent"] > 0, "the vehicle can be heard")
            self.start_driver([TAKT], "--plain", "--duration", "2", stdin=zeros)
        self.vehicle.wait_until(lambda row: row["obeyed"] + row["held"] > 0, "the vehicle hears of the driver")
        end, most = time.monotonic() + PATIENCE, 0
        while self.driver.process.poll() is None and time.monotonic() < end:
            most = max(most, self.vehicle.memory(), self.driver.memory())
            time.sleep(0.05)
        self.assertGreater(most, 0)
        self.assertLess(most, 1 << 30)
        self.assertEqual(self.driver.process.wait(PATIENCE), 0)
        self.vehicle.process.send_signal(signal.SIGINT)
        self.assertEqual(self.vehicle.process.wait(PATIENCE), 0)


    def test_who_does_not_know_whether_the_vehicle_stands_says_so(self):
        self.start_vehicle([TAKT], "--plain")
        self.start_driver([TAKT], "--plain")
        self.get_going()
        self.vehicle.type("silent\n")
        self.driver.type("q")
        output = self.driver.process.communicate(timeout=PATIENCE)[0]
        self.assertIn("it is unknown whether the vehicle has stopped", output)
        self.assertEqual(self.driver.process.returncode, 1)
        self.assertEqual(self.driver.rows()[-1]["brake"], 1)  # it hears what it does not answer
        wait_for(lambda: [row["brake"] for row in self.vehicle.rows() if row["state"] == "running"][-1] > 0.9, "the vehicle brakes")

    def test_twists_of_a_file_end_where_the_vehicle_was_stopped_and_nobody_can_let_it_go_on(self):
        with open(self.file("twists"), "w") as file:
            file.write("0 1 0\n1000 0 0\n")
        known = self.file("known.csv")
        self.start_vehicle([TAKT], "--plain")
        self.driver = Program(known, TAKT, "drive", "--plain", "--twists", self.file("twists"), "--log", known, *self.driver_link,
                              stdin=subprocess.DEVNULL)
        self.addCleanup(self.driver.end)
        self.driver.wait_until(lambda row: row["state"] != "starting", "the vehicle starts up")
        self.vehicle.type("silent\n")
        self.assertEqual(self.driver.process.wait(PATIENCE), 1)


    def test_twists_of_a_file_are_given_up_where_the_vehicle_does_not_become_ready(self):
        with open(self.file("twists"), "w") as file:
            file.write("0 1 0\n1 0 0\n")
        self.start_vehicle([TAKT], "--plain", "--fault", "halted traction")
        drive = [TAKT, "drive", "--twists", self.file("twists")]
        why = {"an operator at the vehicle must let it continue": [*self.driver_link, "--plain"],
               "no session with the vehicle": [*links()[0], *self.key("vehicle.key")]}
        told = {reason: Program(None, *drive, *words, stdin=subprocess.DEVNULL) for reason, words in why.items()}
        for reason, driver in told.items():
            self.addCleanup(driver.end)
            output = driver.process.communicate(timeout=PATIENCE)[0]
            self.assertRegex(output, "not ready after.*: starting: .*" + reason)
            self.assertEqual(driver.process.returncode, 1)

    def test_neither_program_is_stopped_where_a_shell_has_it_in_the_background(self):
        with open(self.file("twists"), "w") as file:
            file.write("0 0 0\n1000 0 0\n")
        vehicle = [TAKT, "vehicle-sim", "--plain", "--duration", "1", *self.vehicle_link]
        driver = [TAKT, "drive", "--plain", "--duration", "1", "--twists", self.file("twists"), *self.driver_link]
        start = "".join(f"{shlex.join(words)} >/dev/null 2>&1 & {name}=$!\n" for name, words in (("vehicle", vehicle), ("driver", driver)))
        look = "".join(f"wait ${name}; echo $? >{name}\n" for name in ("vehicle", "driver"))
        shell, terminal = pty.fork()
        if shell == 0:
            os.chdir(self.folder)
            os.execvp("bash", ["bash", "-c", f"set -m\n{start}{look}kill -KILL $vehicle $driver"])
        self.addCleanup(os.close, terminal)
        os.write(terminal, b"wwww\n")  # to the foreground process
        self.assertEqual(os.waitpid(shell, 0)[0], shell)
        for program, code in (("vehicle", 0), ("driver", 1)):  # the twists are not over
            with open(self.file(program)) as file:
                self.assertEqual(int(file.read()), code, program)

    def test_what_makes_no_sense_is_refused_and_not_half_taken(self):
        for words in (["drive", "--hold", "nan"], ["drive", "--hold", "inf"], ["drive", "--hold", "0"], ["drive", "--duration", "nan"],
                      ["drive", "--speed", "nan"], ["drive", "--rotation", "-1"], ["vehicle-sim", "--duration", "nan"],
                      ["vehicle-sim", "--seed", "-1"]):
            with self.subTest(words):
                both = ["--plain", *self.driver_link] + ([] if "--duration" in words else ["--duration", "0.1"])
                refused = subprocess.run([TAKT, *words, *both], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
                self.assertNotIn(refused.returncode, (0, 1))
                self.assertIn(words[-1], refused.stderr)

    def test_a_fault_that_makes_no_sense_is_refused_with_what_does(self):
        share, systems = "takes a share of the frames, from 0 to 1", "takes one or more of: communication battery motion_control"
        mistakes = {"late 600": "takes a number of milliseconds, from 0 to 500", "lost 20": share, "lost 0.5 corrupt 1": share,
                    "corrupt": share, "lying nan": share, "halted": systems, "halted brakes": systems, "well 1": "takes no further word",
                    "broken": "not one of silent, late, lost, corrupt, lying, halted, well, and if typed, recover"}
        for fault, allowed in mistakes.items():
            with self.subTest(fault):
                refused = subprocess.run([TAKT, "vehicle-sim", "--plain", *self.vehicle_link, "--duration", "0.1", "--fault", fault],
                                         capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
                self.assertEqual(refused.returncode, 2)
                self.assertIn(f"'{fault}'", refused.stderr)
                self.assertIn(allowed, refused.stderr)
        self.start_vehicle([TAKT], "--plain", "--fault", "silent")
        self.vehicle.type("".join(fault + "\n" for fault in mistakes) + "well\n")
        self.vehicle.wait_until(lambda row: row["sent"] > 0, "the last line is taken")
        told = self.vehicle.end()
        for fault, allowed in mistakes.items():
            self.assertRegex(told, f"'{fault}'.*{allowed}")

    def test_a_peer_on_another_machine_needs_an_address_that_reaches_it(self):
        for program in ("drive", "vehicle-sim"):
            refused = subprocess.run([TAKT, program, "--plain", "--peer", "192.0.2.1:18004", "--duration", "0.1"], capture_output=True,
                                     text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("a loopback address reaches no other machine", refused.stderr)

    def test_each_fault_shows_by_its_word(self):
        self.start_vehicle([TAKT], "--plain")
        self.start_driver([TAKT], "--plain")
        is_well = lambda row: row["state"] == "driving" and row["age_ms"] < 100
        self.driver.wait_until(is_well, "the vehicle starts up")
        for word, shown in (("lost 0.5", lambda row, before: row["lost"] > before["lost"] + 10),
                            ("corrupt 1", lambda row, before: row["malformed"] > before["malformed"]),
                            ("lying 1", lambda row, before: row["malformed"] > before["malformed"] + 10),
                            ("late 300", lambda row, before: row["age_ms"] > 250),
                            ("halted hydraulics", lambda row, before: "not running" in row["cause"]),
                            ("silent", lambda row, before: row["age_ms"] > 500)):
            with self.subTest(word):
                before = self.driver.rows()[-1]
                self.vehicle.type(word + "\n")
                self.driver.wait_until(lambda row: shown(row, before), word)
                self.vehicle.type("well\n")
                self.driver.wait_until(lambda row: row["age_ms"] < 100, "it is heard again")
                self.recover()
                self.driver.wait_until(is_well, "it is well again")


    def test_each_program_advises_what_helps_and_where(self):
        self.start_vehicle([TAKT], "--plain")
        self.start_driver([TAKT], "--plain")
        self.driver.wait_until(lambda row: row["state"] == "driving", "the vehicle starts up")
        self.vehicle.type("halted hydraulics\n")
        self.driver.wait_until(lambda row: "not running" in row["cause"], "it is known")
        self.vehicle.type("recover\n")  # which mends nothing
        told = self.driver.end()
        self.vehicle.wait_until(lambda row: row["state"] == "halted", "nobody drives it")
        advised = self.vehicle.end()
        self.assertIn("(hydraulics), which is halted: an operator at the vehicle must let it continue", told)
        self.assertNotIn("vehicle-sim", told)
        self.assertNotIn("recover", told)
        self.assertIn("systems are still broken: type well", advised)
        self.assertIn("halted: no control frame for 200 ms; type recover", advised)

    def test_a_log_that_cannot_be_written_is_reported_and_the_program_fails(self):
        for program, link in (("drive", self.driver_link), ("vehicle-sim", self.vehicle_link)):
            failed = subprocess.run([TAKT, program, "--plain", *link, "--duration", "0.1", "--log", "/dev/full"], capture_output=True,
                                    text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
            self.assertEqual(failed.returncode, 1)
            self.assertIn("/dev/full is not complete: No space left on device", failed.stderr)


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
        super().setUp()
        self.start(["ip", "netns", "exec", self.far, TAKT], ["ip", "netns", "exec", self.near, TAKT])

    def test_a_cut_cable_stops_the_vehicle_and_only_a_reset_lets_it_go_on(self):
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
        since = time.monotonic()
        time.sleep(2)
        until = time.monotonic()
        sh("ip", "netns", "exec", self.far, "tc", "qdisc", "delete", "dev", "vb", "root")
        after = self.driver.rows()[-1]
        self.check_age_by_place(since, until)
        share = (after["taken"] - before["taken"]) / (after["time"] - before["time"]) / 100
        self.assertLess(share, 0.75)
        self.assertGreater(after["lost"], before["lost"])


class LoopTest(Wire):
    def setUp(self):
        super().setUp()
        self.driver_link, self.vehicle_link = links()

    def describe_vehicle(self, **changed):
        """The Furbot's description with changed values; returns the option that names the file."""
        with open(sys.argv[3]) as file:
            vehicle = json.load(file)
        for key, value in changed.items():
            vehicle[key] = {**vehicle[key], **value} if isinstance(value, dict) else value
        with open(self.file("vehicle.json"), "w") as file:
            json.dump(vehicle, file)
        return ["--vehicle", self.file("vehicle.json")]

    def test_a_vehicle_of_another_description_drives_as_commanded(self):
        vehicle = self.describe_vehicle(
            wheelbase=1.1, track=0.9, wheel_radius=0.2, steering={"limit": 0.6, "rate": 1.1},
            units={"speed": 0.004, "angle": -0.0005, "odometer": 0.002, "steer": -0.0002, "full_throttle": 3000, "full_brake": 511},
            control={"byte_order": "little_endian", "rate": 50, "timeout": 3}, status={"timeout": 2, "systems": OTHER_SYSTEMS},
            limits={"forward": 1.6, "rotation": 0.8})
        self.start([TAKT], [TAKT], *vehicle)
        self.get_going()  # by four of eight steps
        steady = lambda row: abs(row["speed"] - 0.8) < 0.02
        self.vehicle.wait_until(steady, "the vehicle drives at half of its limit")
        self.driver.wait_until(steady, "the driver knows")
        self.driver.type("aaaa")
        row = self.vehicle.wait_until(lambda row: row["steering"] > 0.4, "it turns left")
        self.assertAlmostEqual(row["speed"], 0.8, delta=0.1)
        self.vehicle.wait_until(lambda row: row["heading"] > 1.5, "it has turned by a quarter")
        curve = self.vehicle.rows()[-1]
        self.assertAlmostEqual(curve["steering"], math.atan(1.1 * 0.4 / 0.8), delta=0.01)
        self.driver.type("c")
        self.vehicle.wait_until(lambda row: row["speed"] == 0, "it stands")
        self.driver.wait_until(lambda row: row["state"] == "stopped", "the driver knows")
        true, known = self.vehicle.rows()[-1], self.driver.rows()[-1]
        for key in ("x", "y", "heading"):
            self.assertAlmostEqual(true[key], known[key], delta=0.1, msg=key)

    def test_no_program_starts_with_a_vehicle_that_is_none(self):
        vehicle = self.describe_vehicle(wheelbase=-1.6, units={"speed": "fast"})
        for program in ("drive", "vehicle-sim"):
            refused = subprocess.run([TAKT, program, "--plain", *vehicle, "--duration", "1"], capture_output=True, text=True)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f'{vehicle[1]}: /wheelbase: -1.6 is not above 0', refused.stderr)
            self.assertIn(f'{vehicle[1]}: /units/speed: must be a finite number, not "fast"', refused.stderr)

    def test_two_keys_let_in_whoever_has_one_of_them_and_nobody_else(self):
        old, new, third = (self.key(name) for name in ("old.key", "new.key", "third.key"))
        self.start_vehicle([TAKT], *old, "--key-id", "7", *new, "--key-id", "8")
        self.vehicle.wait_until(lambda row: row["state"] == "running", "the vehicle runs")
        for key, number in ((third, "7"), (third, "8"), (third, "9"), (old, "8"), (new, "7")):
            refused = subprocess.run([TAKT, "drive", *self.driver_link, *key, "--key-id", number, "--duration", "0.5"],
                                     capture_output=True, text=True, stdin=subprocess.DEVNULL)
            self.assertIn("\n0 control frames sent", refused.stdout)
            self.assertIn("status frames: 0 taken", refused.stdout)
        for key, number in ((old, "7"), (new, "8"), (old, "7")):
            heard = lambda row: row["obeyed"] + row["held"]  # halted meanwhile, it holds its brake
            before = heard(self.vehicle.rows()[-1])
            self.start_driver([TAKT], *key, "--key-id", number)
            self.driver.wait_until(lambda row: row["taken"] > 0 and row["sent"] > 0, "they know each other")
            self.vehicle.wait_until(lambda row: heard(row) > before, "the vehicle hears of the driver")
            self.driver.end()
        self.assertGreater(int(self.vehicle.end().split(" refused")[0].split()[-1]), 0)

    def test_a_key_of_either_kind_is_taken_but_not_one_of_each(self):
        strong = self.key("strong.key")
        small = self.key("small.key", "--bytes", "16")
        kinds = {os.path.getsize(key[1]): key for key in (strong, small)}
        for key in kinds.values():
            self.start_vehicle([TAKT], *key)
            self.start_driver([TAKT], *key)
            self.vehicle.wait_until(lambda row: row["obeyed"] > 0, "they know each other")
            self.driver.end()
            self.vehicle.end()
            os.remove(self.file("true.csv"))
            os.remove(self.file("known.csv"))
        if len(kinds) == 2:
            refused = subprocess.run([TAKT, "vehicle-sim", *strong, "--key-id", "1", *small, "--key-id", "2", "--duration", "1"],
                                     capture_output=True, text=True)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("both keys must have the same size", refused.stderr)

    def test_a_vehicle_with_a_key_finds_its_commander_at_any_port(self):
        key = self.key("vehicle.key")
        near, far = self.driver_link[1], self.vehicle_link[1]
        self.vehicle_link = ["--local", far, "--peer", near.split(":")[0] + ":any"]
        self.start_vehicle([TAKT], *key)
        self.start_driver([TAKT], *key)
        self.driver.wait_until(lambda row: row["taken"] > 0, "they know each other")
        self.driver.end()
        self.assertIn(f"the other side is {near}", self.vehicle.end())
        refused = subprocess.run([TAKT, "drive", *key, "--local", near, "--peer", "127.0.0.1:any"], capture_output=True, text=True,
                                 stdin=subprocess.DEVNULL, timeout=PATIENCE)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("does not send first, so --peer ADDRESS:any needs --send-to", refused.stderr)

    def test_each_of_two_keys_needs_a_number_of_its_own(self):
        two = [*self.key("old.key"), *self.key("new.key")]
        for numbers in ([], ["--key-id", "1"], ["--key-id", "1", "--key-id", "1"]):
            refused = subprocess.run([TAKT, "vehicle-sim", *two, *numbers, "--duration", "1"], capture_output=True, text=True)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("--key-id", refused.stderr)


if __name__ == "__main__":
    case = {"proxy": ProxyTest, "loop": LoopTest, "console": ConsoleTest, "netns": NamespaceTest}[WAY]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
