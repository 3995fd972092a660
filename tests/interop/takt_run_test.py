#!/usr/bin/env python3
"""Tests the whole program from outside: takt run as a process, with clients of Python's standard library on its
port.

usage: takt_run_test.py TAKT SOURCE_FOLDER PATIENT_ARM [unittest arguments]

PATIENT_ARM describes the six-joint arm with a slow loop that catches up after delays, for runs in wall time.
"""
import contextlib, faulthandler, fcntl, json, os, random, shutil, signal, socket, subprocess, sys, tempfile, threading, time, unittest

from motion_client import Client, wait_for_state

TAKT = sys.argv[1]
SOURCE = sys.argv[2]
PATIENT_ARM = sys.argv[3]


def robot(name):
    return os.path.join(SOURCE, "examples", "robots", name + ".json")


@contextlib.contextmanager
def running(*arguments, description=PATIENT_ARM):
    """A robot process on a free port; yields (process, port)."""
    process = subprocess.Popen([TAKT, "run", description, "--port", "0", *arguments], stdout=subprocess.PIPE, text=True)
    port = None
    ready = False
    for line in process.stdout:
        if line.startswith("listening on"):
            port = int(line.rsplit(":", 1)[1])
        ready = ready or line.startswith(("robot ready", "robot stopped"))
        if port and ready:
            break
    try:
        yield process, port
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@contextlib.contextmanager
def program(*arguments, until):
    """A process of takt; yields it and its output lines, up to the one that begins with `until`."""
    process = subprocess.Popen([TAKT, *arguments], stdout=subprocess.PIPE, text=True)
    lines = []
    for line in process.stdout:
        lines.append(line.strip())
        if line.startswith(until):
            break
    try:
        yield process, lines
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def loop_at(path, *arguments):
    return program("run", PATIENT_ARM, "--serve-at", path, *arguments, until="robot ready")


def server_of(path):
    return program("serve", PATIENT_ARM, "--loop", path, "--port", "0", until="listening on")


def port_of(lines):
    return int(lines[-1].rsplit(":", 1)[1])


def memory_of(process):
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def fill(pipe):
    """Fills the pipe. Opens it anew, because only this descriptor may be non-blocking."""
    with open(f"/proc/self/fd/{pipe}", "wb", buffering=0, opener=lambda *at: os.open(at[0], os.O_WRONLY | os.O_NONBLOCK)) as entry:
        while entry.write(b"x") is not None:
            pass


MOVE = {"move": {"joint_names": ["elbow_joint"], "positions": [1.2], "duration": 1}}


class TaktRun(unittest.TestCase):
    def check_well(self, port):
        """Checks that a new client can move the robot."""
        client = Client(port)
        kind, state = client.ask({"state": {}})
        self.assertEqual((kind, state["robot"]), ("state", "ready"), state)
        target = state["measured"][2] + (0.1 if state["measured"][2] < 1.0 else -0.1)
        kind, _ = client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [target]}})
        self.assertEqual(kind, "accepted")
        self.assertEqual(client.result()["state"], "succeeded")
        client.close()

    def test_a_python_client_of_ten_lines_moves_the_robot(self):
        with running() as (_, port):
            script = os.path.join(SOURCE, "examples", "move_robot.py")
            done = subprocess.run([sys.executable, script, "elbow_joint", "1.2", str(port)], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("succeeded", done.stdout)

    def test_a_log_tells_what_the_loop_did_and_lacks_its_end_after_a_kill(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.log")
            with running("--log", path) as (process, port):
                self.check_well(port)
                self.wait_for_line(path, "goal 1 succeeded")  # the lines come every 20 ms
                process.kill()
                process.wait()
            with running("--log", path) as (process, port):
                self.check_well(port)
            with open(path) as file:
                lines = [line.split(" ", 2)[2].rstrip() for line in file]
        begins = [number for number, line in enumerate(lines) if line.startswith("robot arm6 begins, process ")]
        self.assertEqual(len(begins), 2)
        self.assertEqual(begins[0], 0)
        self.assertEqual([line for line in lines if " ends: " in line], lines[-1:])
        for part in (lines[:begins[1]], lines[begins[1]:]):
            for line in ("robot ready", "goal 1 succeeded"):
                self.assertIn(line, part)
        self.assertIn("robot down", lines)

    def wait_for_line(self, path, text):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with open(path) as file:
                if text in file.read():
                    return
            time.sleep(0.02)
        self.fail(f"{path} has no line with {text}")

    def test_half_a_request_and_garbage_leave_the_loop_alone(self):
        with running() as (process, port):
            half = socket.create_connection(("127.0.0.1", port))
            half.sendall(b'{"trajectory":')
            half.close()
            dripping = socket.create_connection(("127.0.0.1", port))
            dripping.sendall(b'{"move')
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
            self.check_well(port)
            for connection in idle + [dripping]:
                connection.close()
            self.check_well(port)
            self.assertIsNone(process.poll())

    def test_ten_thousand_mutated_requests_leave_the_loop_alone(self):
        seeds = [json.dumps(request) for request in (
            MOVE, {"state": {}}, {"cancel": {}}, {"subscribe": {"rate": 0}},
            {"setpoint": {"joint_names": ["wrist_1_joint"], "positions": [-2.1], "timeout": 0.05}},
            {"id": 3, "trajectory": {"joint_names": ["wrist_3_joint"], "fit": True, "points": [
                {"time_from_start": 1.0, "positions": [-3.5]}, {"time_from_start": 2.0, "positions": [-3.6]}]}})]
        generator = random.Random(7)
        with running() as (process, port):
            client = Client(port)
            before = memory_of(process)
            for _ in range(10_000):
                text = bytearray(generator.choice(seeds).encode())
                for _ in range(generator.randint(1, 4)):
                    place = generator.randrange(len(text))
                    what = generator.randrange(3)
                    if what == 0:
                        text[place] = generator.randrange(256)
                    elif what == 1:
                        del text[place : place + generator.randint(1, 5)]
                    else:
                        text[place:place] = generator.choice([b"1e999", b"null", b'"', b"[[[[", b"-", b"}", b"\xff", b"NaN"])
                    if not text:
                        text = bytearray(b"x")
                try:
                    client.socket.sendall(bytes(text).replace(b"\n", b" ") + b"\n")
                    client.socket.setblocking(False)
                    with contextlib.suppress(BlockingIOError):
                        while client.socket.recv(1 << 16):
                            pass
                    client.socket.setblocking(True)
                except OSError:  # thrown out: come back as another client
                    client.close()
                    client = Client(port)
            client.close()
            time.sleep(0.2)
            recovering = Client(port)
            recovering.ask({"reset": {}})
            while True:  # a mutant may have been a true request; whatever moves is stopped, whatever is latched is reset
                recovering.ask({"cancel": {}})
                kind, state = recovering.ask({"state": {}})
                if kind == "state" and state["robot"] == "ready" and state["active_goals"] == 0:
                    break
                if kind == "state" and state["robot"] == "stopped":
                    recovering.ask({"reset": {}})
                time.sleep(0.05)
            recovering.close()
            self.check_well(port)
            self.assertIsNone(process.poll())
            self.assertLess(memory_of(process) - before, 64 * 1024, "kilobytes grown")

    def test_a_client_that_vanishes_in_mid_motion_stops_the_robot_unless_it_said_otherwise(self):
        for on_disconnect, stops in (("stop", True), ("continue", False)):
            with running() as (_, port):
                client = Client(port)
                kind, _ = client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [0.6], "duration": 2, "on_disconnect": on_disconnect}})
                self.assertEqual(kind, "accepted")
                time.sleep(0.5)
                client.close()
                watcher = Client(port)
                while True:
                    _, state = watcher.ask({"state": {}})
                    if state["active_goals"] == 0:
                        break
                    time.sleep(0.02)
                reached = abs(state["reference"][2] - 0.6) < 1e-6
                self.assertEqual(reached, not stops)
                self.assertEqual(state["reference_velocity"][2], 0)
                watcher.close()

    def test_sigterm_in_mid_motion_is_a_controlled_stop(self):
        with tempfile.TemporaryDirectory() as folder:
            recording = os.path.join(folder, "run.mcap")
            with running("--record", recording) as (process, port):
                client = Client(port)
                self.assertEqual(client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [99]}})[0], "rejected")
                client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [0.4], "duration": 3}})
                time.sleep(1)
                process.send_signal(signal.SIGTERM)
                result = client.result()
                self.assertEqual((result["state"], result["reason"]), ("aborted", "shutting_down"))
                output, _ = process.communicate(timeout=60)
                client.close()
                self.assertEqual(process.returncode, 0)
                self.assertIn("robot down", output)
                self.assertIn("0 dropped", output)
            report = subprocess.run([TAKT, "report", recording, "--out", os.path.join(folder, "report")], capture_output=True, text=True)
            self.assertEqual(report.returncode, 0, report.stderr)
            with open(os.path.join(folder, "report", "summary.json")) as file:
                summary = json.load(file)
            self.assertTrue(summary["recording"]["complete"])
            self.assertEqual(summary["whole"]["goal_events"]["rejected"], 1)
            self.assertEqual(summary["state_changes"][-1]["state"], "down")

    def test_a_terminal_that_goes_and_a_signal_to_quit_end_both_processes_as_they_should(self):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # our parent may ignore it; our programs must not
        for number in (signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "loop")
                with loop_at(path) as (loop, _), server_of(path) as (server, _):
                    for process, last_word in ((server, "not understood"), (loop, "robot down")):
                        process.send_signal(number)
                        self.assertIn(last_word, process.communicate(timeout=60)[0])
                        self.assertEqual(process.returncode, 0)

    def test_a_process_whose_output_nobody_reads_ends_when_it_is_told_to(self):
        for arguments in [(), ("--duration", "3")]:
            with self.subTest(arguments), tempfile.TemporaryDirectory() as folder:
                recording = os.path.join(folder, "recording")
                reader, writer = os.pipe()
                fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
                process = subprocess.Popen([TAKT, "run", PATIENT_ARM, "--port", "0", "--record", recording, *arguments], stdout=writer)
                said = ""
                while "listening on" not in said:
                    said += os.read(reader, 4096).decode()
                fill(writer)
                try:
                    if not arguments:
                        client = Client(int(said.split("listening on 127.0.0.1:")[1].split()[0]))
                        wait_for_state(client, lambda state: state["robot"] == "ready")
                        client.ask({"estop": {"category": 2}})  # which is something to be said
                        wait_for_state(client, lambda state: state["robot"] == "stopped")
                        time.sleep(0.1)
                        process.send_signal(signal.SIGTERM)
                        client.close()
                    self.assertEqual(process.wait(60), 0)
                finally:
                    process.kill()
                    process.wait()
                    os.close(reader)
                    os.close(writer)
                shown = subprocess.run([TAKT, "report", recording, "--out", os.path.join(folder, "report")], capture_output=True, timeout=60)
                self.assertEqual(shown.returncode, 0)

    def test_a_process_whose_reader_goes_stops_the_robot_and_says_so_by_its_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            path, recording = os.path.join(folder, "loop"), os.path.join(folder, "recording")
            with running("--record", recording) as (process, port):
                client = Client(port)
                client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [0.4], "duration": 30}})
                process.stdout.close()
                self.assertEqual(process.wait(60), 1)
                client.close()
                process.stdout = None
            shown = subprocess.run([TAKT, "report", recording, "--out", os.path.join(folder, "report")], capture_output=True, text=True, timeout=60)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            with open(os.path.join(folder, "report", "summary.json")) as file:
                self.assertEqual(json.load(file)["state_changes"][-1]["state"], "down")

            with loop_at(path) as (loop, _), server_of(path) as (server, _):
                server.stdout.close()
                self.assertEqual(server.wait(60), 1)  # with its loop well, and nothing to be said
                server.stdout = None

    def test_a_server_whose_output_nobody_reads_ends_when_it_is_told_to(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loop")
            reader, writer = os.pipe()
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
            with loop_at(path) as (loop, _):
                server = subprocess.Popen([TAKT, "serve", PATIENT_ARM, "--loop", path, "--port", "0"], stdout=writer)
                said = ""
                while "uses the loop" not in said:
                    said += os.read(reader, 4096).decode()
                client = Client(int(said.split("listening on 127.0.0.1:")[1].split()[0]))
                fill(writer)
            try:
                wait_for_state(client, lambda state: state["robot"] == "stopped")  # the loop is lost, which is something to be said
                time.sleep(0.1)
                server.send_signal(signal.SIGTERM)
                self.assertEqual(server.wait(60), 0)
                client.close()
            finally:
                server.kill()
                server.wait()
                os.close(reader)
                os.close(writer)

    def test_motions_that_queue_follow_each_other_and_one_that_rejects_does_not(self):
        with running() as (_, port):
            client = Client(port)
            here = client.ask({"state": {}})[1]["reference"][2]

            def ask(offset, when_busy):
                return client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [here + offset], "duration": 0.5,
                                            "when_busy": when_busy}})

            self.assertEqual(ask(0.03, "reject")[1]["goal"], 1)
            refused = ask(0.01, "reject")[1]
            self.assertEqual((refused["reason"], refused["joint"]), ("joint_busy", "elbow_joint"))
            for offset in (0.01, 0.02, -0.01):
                kind, accepted = ask(offset, "queue")
                self.assertEqual((kind, accepted["state"]), ("accepted", "pending"))
            results = [client.result() for _ in range(4)]
            self.assertEqual([result["state"] for result in results], ["succeeded"] * 4)
            self.assertEqual([result["goal"] for result in results], sorted(result["goal"] for result in results))
            self.assertAlmostEqual(client.ask({"state": {}})[1]["reference"][2], here - 0.01)
            client.close()

    def test_requests_of_megabytes_are_answered_while_others_are_served(self):
        with running() as (_, port):
            greedy, other = Client(port), Client(port)
            start = other.ask({"state": {}})[1]["reference"]
            points = [{"time_from_start": 0.01 * (i + 1), "positions": start} for i in range(10_000)]
            motion = {"trajectory": {"joint_names": greedy.greeting["takt"]["joints"], "points": points, "fit": True}}
            for space in (1, 1, 1, 80):  # the last one is a line of more than 6 MB
                greedy.socket.sendall((json.dumps(motion, separators=("," + space * " ", ":")) + "\n").encode())
                self.assertEqual(other.ask({"state": {}})[0], "state")
            for _ in range(4):
                self.assertEqual(greedy.wait_for("accepted", "rejected")[0], "accepted")
            with contextlib.suppress(OSError):  # of 9 MB: the server closes the connection
                greedy.socket.sendall((json.dumps(motion, separators=("," + 120 * " ", ":")) + "\n").encode())
            self.assertIn("at most 8388608 bytes", greedy.wait_for("error")[1]["message"])
            greedy.close()
            other.close()

    def test_an_emergency_stop_latches_until_reset(self):
        with running() as (_, port):
            client = Client(port)
            client.ask(MOVE)
            kind, _ = client.ask({"estop": {"category": 2}})
            self.assertEqual(kind, "accepted")
            self.assertEqual(client.result()["reason"], "emergency_stop")
            kind, why = client.ask(MOVE)
            self.assertEqual((kind, why["reason"]), ("rejected", "robot_not_ready"))
            while client.ask({"state": {}})[1]["robot"] != "stopped":
                time.sleep(0.02)
            self.assertEqual(client.ask({"reset": {}})[0], "accepted")
            while client.ask({"state": {}})[1]["robot"] != "ready":
                time.sleep(0.02)
            client.close()
            self.check_well(port)

    def test_at_1_khz_a_goal_succeeds_or_the_loop_was_late_and_says_so(self):
        with running(description=robot("arm6")) as (_, port):
            client = Client(port)
            kind, answer = client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [1.2], "duration": 1}})
            if kind == "accepted":
                answer = client.result()
            _, state = client.ask({"state": {}})
            while state["loop"]["overruns"] + 1 < answer.get("value", 0):  # the count follows in the next cycle
                _, state = client.ask({"state": {}})
            client.close()
        if answer.get("state") == "succeeded":
            self.assertAlmostEqual(state["measured"][2], 1.2, delta=0.02)
        else:  # the machine paused: that is never taken for a fault of a drive
            self.assertIn(answer["reason"], ("loop_overrun", "robot_not_ready"), answer)
            self.assertEqual(state["reason"], "loop_overrun")
            self.assertGreaterEqual(state["loop"]["overruns"], 20)

    def test_a_process_that_was_paused_says_so_or_catches_up_as_its_robot_file_says(self):
        for description, state, reason in ((robot("arm6"), "aborted", "loop_overrun"), (PATIENT_ARM, "succeeded", None)):
            with running(description=description) as (process, port):
                client = Client(port)
                kind, answer = client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [1.0], "duration": 2}})
                if kind == "rejected" and description != PATIENT_ARM:
                    self.assertEqual(answer["reason"], "robot_not_ready")  # the machine paused before
                    continue
                time.sleep(0.5)
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.5)
                process.send_signal(signal.SIGCONT)
                result = client.result()
                self.assertEqual((result["state"], result.get("reason")), (state, reason))
                client.close()

    def test_the_shell_client_sends_a_planned_trajectory(self):
        planned = os.path.join(SOURCE, "examples", "data", "ur_arm_planned.json")
        with running() as (_, port):
            def send(*arguments):
                return subprocess.run([TAKT, "send", planned, "--port", str(port), *arguments], capture_output=True, text=True, timeout=60)

            refused = send()
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("rest", refused.stdout + refused.stderr)
            state = subprocess.run([TAKT, "state", "--port", str(port)], capture_output=True, text=True, timeout=60)
            self.assertEqual(state.returncode, 0)
            self.assertIn("elbow_joint", state.stdout)
            client = Client(port)
            start = client.ask({"state": {}})[1]["time"] + 1
            client.close()
            ahead = send("--stop-at-end", "--start", str(start))
            self.assertEqual(ahead.returncode, 0, ahead.stderr)
            self.assertIn("accepted, waits", ahead.stdout)

    def test_a_client_that_ends_its_input_gets_all_its_answers(self):
        def kinds(text):
            return [next(iter(json.loads(line))) for line in text.splitlines()]

        with running() as (_, port):
            client = socket.create_connection(("127.0.0.1", port), timeout=60)
            client.sendall(b'{"id":1,"move":{"joint_names":["elbow_joint"],"positions":[1.2],"duration":1}}\n{"state":{}}')
            client.shutdown(socket.SHUT_WR)
            said = client.makefile().read()
            client.close()
            self.assertEqual(set(kinds(said)), {"takt", "accepted", "state", "feedback", "result"}, said)
            self.assertEqual(json.loads(said.splitlines()[-1])["result"]["state"], "succeeded")
            with open(os.path.join(SOURCE, "include", "takt", "motion", "PROTOCOL.md")) as manual:
                line = next(line for line in manual if "| nc -N" in line).replace("7470", str(port))
            if shutil.which("nc") and "-N" in subprocess.run(["nc", "-h"], capture_output=True, text=True).stderr:
                done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60)
                self.assertEqual(kinds(done.stdout)[-1], "result", done.stdout + done.stderr)
            self.check_well(port)

    def test_a_client_that_closes_its_connection_while_it_moves_has_vanished(self):
        with running() as (_, port):
            client = Client(port)
            _, accepted = client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [0.5], "duration": 20}})
            watcher = Client(port)
            state = watcher.ask({"state": {}})[1]
            self.assertEqual(state["goals"], [{"goal": accepted["goal"], "state": "active"}])
            client.close()
            wait_for_state(watcher, lambda state: "goals" not in state)
            watcher.close()

    def test_drives_are_not_blamed_for_a_pause_of_the_process(self):
        with running(description=robot("mhubo")) as (process, port):
            client = Client(port)
            for _ in range(10):
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.08)
                process.send_signal(signal.SIGCONT)
                time.sleep(0.2)
                state = client.ask({"state": {}})[1]
                if state["robot"] != "ready":  # the machine paused for longer
                    self.assertEqual(state["reason"], "loop_overrun", state)
                    self.assertIn("periods", state["message"])
                    self.assertGreater(state["value"], state["limit"])
                    break
            client.close()

    def test_a_robot_that_ends_in_a_fault_is_a_failure_and_one_that_came_back_is_none(self):
        for resets in (False, True):
            process = subprocess.Popen([TAKT, "run", robot("mhubo"), "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            port = None
            for line in process.stdout:
                if line.startswith("listening on"):
                    port = int(line.rsplit(":", 1)[1])
                if line.startswith(("robot ready", "robot stopped")):
                    break
            said = []
            reader = threading.Thread(target=lambda: [said.append(line) for line in process.stdout])
            reader.start()
            client = Client(port)
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            process.send_signal(signal.SIGCONT)
            state = wait_for_state(client, lambda state: state["robot"] == "stopped")
            self.assertEqual(state["reason"], "loop_overrun")
            kind, why = client.ask(MOVE)
            self.assertEqual((kind, why["reason"]), ("rejected", "unknown_joint"))
            kind, why = client.ask({"move": {"joint_names": ["RSP"], "positions": [0]}})
            self.assertIn("takt reset", why["message"])
            shown = subprocess.run([TAKT, "state", "--limits", "--port", str(port)], capture_output=True, text=True, timeout=60)
            self.assertIn("[loop_overrun]", shown.stdout)
            self.assertIn("takt reset", shown.stdout)
            self.assertRegex(shown.stdout, r"RSP +-3.14 +3.14 +2.5 +8 +200 +80  rad")
            # Waits for the message: a machine that pauses again may stop the robot before the client has read the
            # state "ready".
            end = time.monotonic() + 60
            while resets and not any(line.startswith("robot ready") for line in said) and time.monotonic() < end:
                if client.ask({"state": {}})[1]["robot"] != "ready":
                    client.ask({"reset": {}})
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            client.close()
            complaint = process.stderr.read()
            process.wait(60)
            reader.join()
            process.stdout.close()
            process.stderr.close()
            paused_again = "[loop_overrun]" in "".join(said).rpartition("robot ready")[2]
            if resets and not paused_again:
                self.assertEqual((process.returncode, complaint), (0, ""))
            else:
                self.assertEqual(process.returncode, 1, said)
                self.assertRegex(complaint, r"ended in a fault: the loop missed .* periods, .* s; .*\[loop_overrun\]")

    def test_a_motion_server_in_another_process_may_die_and_the_next_one_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loop")
            with loop_at(path) as (loop, _):
                with server_of(path) as (server, lines):
                    self.check_well(port_of(lines))
                    second = subprocess.run([TAKT, "serve", PATIENT_ARM, "--loop", path, "--port", "0"], capture_output=True, text=True)
                    self.assertEqual(second.returncode, 1)
                    self.assertIn("another motion server", second.stderr)
                    client = Client(port_of(lines))
                    client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [0.0], "duration": 30}})
                    wait_for_state(client, lambda state: abs(state["reference_velocity"][2]) > 0.01)
                    server.send_signal(signal.SIGKILL)
                    server.wait(60)
                    client.close()
                for line in loop.stdout:
                    if line.startswith("motion server lost"):
                        break
                with server_of(path) as (_, lines):
                    client = Client(port_of(lines))
                    state = wait_for_state(client, lambda state: not any(state["reference_velocity"]) and not any(state["goal"]))
                    self.assertGreater(state["reference"][2], 0.1)  # it came nowhere near its end
                    client.close()
                    self.check_well(port_of(lines))

    def test_a_recording_has_the_marks_and_refusals_of_a_server_in_another_process(self):
        with tempfile.TemporaryDirectory() as folder:
            path, recording = os.path.join(folder, "loop"), os.path.join(folder, "recording")
            with loop_at(path, "--record", recording):
                with server_of(path) as (_, lines):
                    client = Client(port_of(lines))
                    self.assertEqual(client.ask({"mark": {"text": "there"}})[0], "accepted")
                    self.assertEqual(client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [100]}})[0], "rejected")
                    client.close()
            out = os.path.join(folder, "report")
            subprocess.run([TAKT, "report", recording, "--out", out], capture_output=True, timeout=60)
            with open(os.path.join(out, "summary.json")) as summary, open(os.path.join(out, "events.csv")) as events:
                self.assertIn('"there"', summary.read())
                self.assertIn("rejected,position_limit,elbow_joint", events.read())

    def test_clients_hear_that_the_loop_is_gone_and_can_go_on_with_the_next_one(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loop")
            with loop_at(path) as (loop, _), server_of(path) as (_, lines):
                client = Client(port_of(lines))
                kind, accepted = client.ask({"move": {"joint_names": ["elbow_joint"], "positions": [0.0], "duration": 30}})
                self.assertEqual(kind, "accepted")
                loop.send_signal(signal.SIGKILL)
                loop.wait(60)
                result = client.result()
                self.assertEqual((result["goal"], result["state"], result["reason"]), (accepted["goal"], "aborted", "loop_lost"))
                kind, why = client.ask(MOVE)
                self.assertEqual((kind, why["reason"]), ("rejected", "robot_not_ready"))
                with loop_at(path):
                    wait_for_state(client, lambda state: state["robot"] == "ready")
                    self.check_well(port_of(lines))
                client.close()

    def test_a_server_of_another_robot_is_turned_away(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loop")
            with loop_at(path):
                done = subprocess.run([TAKT, "serve", robot("arm6"), "--loop", path, "--port", "0"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn("another robot", done.stderr)
                with server_of(path) as (_, lines):
                    self.check_well(port_of(lines))


if __name__ == "__main__":
    faulthandler.dump_traceback_later(280, exit=True)  # where it waits, before ctest ends it
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
