#!/usr/bin/env python3
"""Kills, stops and records the processes of systems that takt launch runs.

usage: takt_process_test.py TAKT SOURCE_FOLDER MOTOR_PLUGIN ROBOT_PLUGIN ODD_PLUGIN FOREIGN_PLUGIN OTHER_ABI_PLUGIN NEWER_PLUGIN [unittest arguments]
"""
import json, os, random, signal, socket, threading, time

from launched_system import MOTOR, ODD, SYSTEM, PATIENCE, SEED, Running, main, wait_until


def answer_once(server, answer):
    client, _ = server.accept()
    with client, client.makefile("rwb") as lines:
        lines.readline()
        lines.write(answer + b"\n")


class RecordTest(Running):
    def recorded(self, **record):
        with open(SYSTEM) as file:
            system = json.load(file)
        system.update(name=self.name, libraries=[MOTOR], processes=[
            {"name": "main", "restart": "on-failure", "record": dict({"file": "run.mcap"}, **record)}] + system["processes"])
        return system

    def report(self, name):
        """What `takt report` says of a recording."""
        done = self.takt("report", os.path.join(self.folder, name), "--out", os.path.join(self.folder, "report"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_process_records_its_ports_and_one_that_was_killed_lacks_the_end(self):
        self.launch(self.recorded())
        first, second = (os.path.join(self.folder, name) for name in ("run.mcap", "run.1.mcap"))
        # A second chunk begins after a second.
        wait_until(lambda: os.path.exists(first) and os.path.getsize(first) > 20_000, "a chunk is on the disk")
        os.kill(self.processes_of("main")[0], signal.SIGKILL)
        wait_until(lambda: os.path.exists(second), "the process that is started again records too")
        wait_until(lambda: self.state("recorder") == "active", "it records")
        self.assertEqual({port["name"] for port in self.ask("show", "recorder")["ports"]}, {"motor.joint", "controller.torque"})
        self.assertEqual(self.end(), 0)
        self.assertIn("the recording was cut off", self.report("run.mcap"))
        self.assertNotIn("cut off", self.report("run.1.mcap"))
        self.assertRegex(self.said(), r"recorded \d+ values in \S*/run.1.mcap, \d+ lost")

    def test_a_component_from_its_recording_feeds_the_others_and_another_gain_is_found(self):
        with open(SYSTEM) as file:
            system = json.load(file)
        system.update(libraries=[MOTOR], processes=[{"name": "main", "record": {"file": "first.mcap"}}])

        def run(name):
            system["processes"][0]["record"]["file"] = name
            done = self.takt("launch", self.file(system), "--virtual-time", "3")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout

        def compare(name):
            return self.takt("component", "compare", *(os.path.join(self.folder, file) for file in (name, "first.mcap")))

        run("first.mcap")
        motor = next(component for component in system["components"] if component["name"] == "motor")
        motor.update(type="Recording", file="first.mcap")
        del motor["parameters"]
        self.assertRegex(run("again.mcap"), r"played \d{4} values of \S*/first.mcap, 0 cycles late")
        done = compare("again.mcap")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"controller.torque +\d{4} values equal\nmotor.joint +\d{4} values equal\n$")

        next(component for component in system["components"] if component["name"] == "controller")["parameters"]["target"] = 0.9
        run("other.mcap")
        done = compare("other.mcap")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"controller.torque +\d+ values equal, then at [0-9.]+ s: value is [-0-9.]+, the other has [-0-9.]+\n")
        self.assertRegex(done.stdout, r"motor.joint +\d{4} values equal\n")

    def test_a_log_has_a_beginning_and_an_end_unless_its_process_was_killed(self):
        system = self.recorded()
        system["processes"][0].update(log="main.log")
        self.launch(system)
        wait_until(lambda: self.state("controller") == "active", "it runs")
        self.assertIsNotNone(self.ask("set", "controller", "target=0.5"), self.refusal)
        os.kill(self.processes_of("main")[0], signal.SIGKILL)
        path = os.path.join(self.folder, "main.log")
        wait_until(lambda: len(self.lines_of(path, " begins, process ")) == 2, "the process begins again")
        wait_until(lambda: self.state("recorder") == "active", "it runs")
        self.assertEqual(self.end(), 0)
        self.assertEqual(len(self.lines_of(path, " ends: ")), 1)
        self.assertEqual(len(self.lines_of(path, "info takt component: set controller ")), 1)
        with open(path) as file:
            for line in file:
                self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (info|warning) \S")

    @staticmethod
    def lines_of(path, text):
        try:
            with open(path) as file:
                return [line for line in file if text in line]
        except FileNotFoundError:
            return []

    def test_a_wrong_port_and_a_folder_that_is_missing_are_named(self):
        code, lines = self.mistakes(self.recorded(ports=["motor.speed"]))
        self.assertEqual(code, 2)
        self.assertIn("/processes/0/record/ports/0: \"motor.speed\": motor has no out-port \"speed\"; its ports: ", lines[0])
        system = self.recorded(file="none/run.mcap")
        done = self.takt("launch", self.file(system), "--virtual-time", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn(os.path.join(self.folder, "none/run.mcap"), done.stderr)


class AliveTest(Running):
    def rows(self):
        return {row["process"]: row for row in (self.ask("list") or {"processes": []})["processes"]}

    def two_processes(self, **log):
        with open(SYSTEM) as file:
            system = json.load(file)
        system.update(name=self.name, libraries=[MOTOR], processes=[
            {"name": "main", "alive_s": 0.1}, dict({"name": "log", "alive_s": 0.1, "restart": "on-failure"}, **log)])
        self.launch(system)
        wait_until(lambda: [row["status"] for row in self.rows().values()] == ["ok", "ok"], "both are alive")
        return self.processes_of("log")[0]

    def test_a_process_tells_who_it_is_and_that_it_is_alive_and_its_silence_is_told(self):
        pid = self.two_processes()
        row = self.rows()["log"]
        self.assertEqual((row["pid"], row["system"], row["reasons"], row["restarts"]), (pid, self.name, [], 0))
        self.assertRegex(row["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: "@log has not been heard of for 0." in self.said(), "its silence is told")
        wait_until(lambda: self.rows()["log"]["status"] == "silent", "the list shows it, and does not wait for it")
        os.kill(pid, signal.SIGCONT)
        wait_until(lambda: "@log is alive again, after " in self.said(), "its return is told")
        wait_until(lambda: self.rows()["log"]["status"] == "ok", "it is well")
        self.assertEqual(self.rows()["log"]["pid"], pid)
        self.assertIn("STATUS", self.takt("component", "--system", self.name, "list").stdout)
        self.assertEqual(self.end(), 0)

    def test_a_process_that_stays_silent_is_killed_and_started_again(self):
        pid = self.two_processes(silence_s=0.5)
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: "@log was killed by signal 9" in self.said(), "the silent process is killed")
        wait_until(lambda: self.rows().get("log", {}).get("status") == "ok", "it is well again")
        self.assertNotEqual(self.rows()["log"]["pid"], pid)
        self.assertEqual(self.rows()["log"]["restarts"], 1)
        self.assertEqual(self.end(), 0)

    def test_a_system_of_one_process_tells_its_status_and_names_what_failed(self):
        self.launch({
            "libraries": [ODD], "contexts": [{"name": "fast", "period_ms": 1}],
            "components": [{"name": "late", "type": "Failer", "context": "fast"}]})
        wait_until(lambda: self.rows()["main"]["status"] == "error", "it fails")
        row = self.rows()["main"]
        self.assertEqual((row["pid"], len(row["reasons"])), (self.process.pid, 1))
        self.assertTrue(row["reasons"][0].startswith("late: "), row)

    def test_a_silence_shorter_than_three_messages_is_a_mistake(self):
        with open(SYSTEM) as file:
            system = json.load(file)
        system["processes"][0].update(alive_s=2, silence_s=5)
        code, lines = self.mistakes(system)
        self.assertEqual(code, 2)
        self.assertIn("/processes/0/silence_s: is less than three times \"alive_s\"", "".join(lines))


class ProcessTest(Running):
    def test_one_of_three_processes_is_killed_100_times_and_the_others_never_notice(self):
        self.launch({
            "libraries": [MOTOR, ODD],
            "contexts": [{"name": "control", "period_ms": 1}, {"name": "log", "period_ms": 2, "process": "log"},
                         {"name": "count", "period_ms": 1, "process": "count"}],
            "components": [
                {"name": "controller", "type": "Controller", "context": "control", "order": 1},
                {"name": "motor", "type": "Motor", "context": "control", "order": 2},
                {"name": "log", "type": "SpeedLog", "context": "log"},
                {"name": "counter", "type": "Counter", "context": "count"}],
            "connections": [
                {"from": "motor.joint", "to": "controller.joint"}, {"from": "controller.torque", "to": "motor.torque"},
                {"from": "motor.joint", "to": "log.joint", "buffering": "fifo", "capacity": 256}],
            "processes": [{"name": "log", "restart": "on-failure", "delay_ms": 0, "most": 1000}]})
        wait_until(lambda: all(self.state(name) == "active" for name in ("controller", "motor", "log", "counter")), "all run")
        chance = random.Random(SEED)
        killed = 0
        while killed < 100:
            pids = self.processes_of("log")
            if not pids:
                time.sleep(0.005)
                continue
            time.sleep(chance.random() * 0.05)  # also while it starts
            try:
                os.kill(pids[0], signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                continue
            wait_until(lambda: pids[0] not in self.processes_of("log"), "it is gone")
        wait_until(lambda: self.state("log") == "active", "the log is back")
        read = self.port("log", "joint")["read"]
        wait_until(lambda: self.port("log", "joint")["read"] > read + 100, "it reads again")
        for name in ("controller", "motor", "counter"):
            self.assertEqual(self.state(name), "active")
        self.assertEqual(self.port("controller", "joint")["missed"], 0)
        self.assertGreaterEqual(self.said().count("it is started again"), 100)
        self.assertEqual(self.end(), 0)
        said = self.said()
        for process in ("main", "log", "count"):
            self.assertIn("%s@%s has stopped" % (self.name, process), said)
        self.assertNotIn("takt.takt-" + self.name, os.listdir("/dev/shm"))

    TWO_PROCESSES = {
        "libraries": [MOTOR],
        "contexts": [{"name": "control", "period_ms": 5},
                     {"name": "log", "events": True, "silence_ms": 3_600_000, "process": "log"}],
        "components": [
            {"name": "controller", "type": "Controller", "context": "control", "order": 1},
            {"name": "motor", "type": "Motor", "context": "control", "order": 2},
            {"name": "log", "type": "SpeedLog", "context": "log"}],
        "connections": [{"from": "motor.joint", "to": "controller.joint"}, {"from": "controller.torque", "to": "motor.torque"}],
        "processes": [{"name": "log", "restart": "on-failure", "delay_ms": 0, "most": 1000}]}

    def check_reads(self, count):
        wait_until(lambda: self.state("log") == "active", "the log runs")
        read = self.port("log", "joint")["read"]
        wait_until(lambda: self.port("log", "joint")["read"] > read + count, "each sample wakes the log")

    def test_each_sample_wakes_a_reader_in_another_process_also_after_its_restart(self):
        wire = {"from": "motor.joint", "to": "log.joint", "buffering": "fifo", "capacity": 64, "wakes": True}
        self.launch(dict(self.TWO_PROCESSES, connections=self.TWO_PROCESSES["connections"] + [wire]))
        self.check_reads(50)
        pid = self.processes_of("log")[0]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: pid not in self.processes_of("log"), "it is gone")
        self.check_reads(50)
        self.assertEqual(self.end(), 0)

    def test_ports_of_two_processes_are_connected_and_disconnected_while_they_run(self):
        self.launch(self.TWO_PROCESSES)
        wait_until(lambda: self.state("log") == "active" and self.state("motor") == "active", "all run")
        for buffering in ("latest", "circular", "fifo"):
            self.assertIsNotNone(self.ask("connect", "motor.joint", "log.joint", "--buffering", buffering, "--wakes"), self.refusal)
            self.check_reads(20)
            self.assertIsNotNone(self.ask("disconnect", "motor.joint", "log.joint"), self.refusal)
            self.assertEqual(self.port("log", "joint")["connections"], [])
        for words, reason in ((("motor.joint", "log.speed"), "log has no in-port"), (("motor.torque", "log.joint"), "motor has no out-port"),
                              (("controller.torque", "log.joint"), "the port needs samples"),
                              (("motor.joint", "ghost.joint"), "there is no component \"ghost\"")):
            self.assertIsNone(self.ask("connect", *words))
            self.assertIn(reason, self.refusal)
        self.assertEqual(len(self.port("controller", "torque")["connections"]), 1)
        self.assertEqual([file for file in os.listdir("/dev/shm") if self.name in file], [])
        self.assertEqual(self.end(), 0)

    def test_an_answer_without_sense_is_named_and_ends_no_launcher(self):
        self.launch(dict(self.TWO_PROCESSES, libraries=[MOTOR, ODD]))
        wait_until(lambda: self.state("log") == "active" and self.state("motor") == "active", "all run")
        path = os.path.join(self.folder, f"takt-{self.name}@log.sock")
        os.unlink(path)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
            server.listen()
            for answer in (b'{"ok": 3}', b'{"ok": false, "error": 7}', b'{"ok": {}, "error": []}', b"[true]", b"yes"):
                thread = threading.Thread(target=answer_once, args=(server, answer))
                thread.start()
                self.assertIsNone(self.ask("load", ODD))
                self.assertIn("process log: its answer is not understood", self.refusal)
                thread.join()
        self.assertEqual(self.end(), 0)

    def test_a_process_that_dies_without_restart_ends_the_system(self):
        self.launch({
            "libraries": [ODD],
            "contexts": [{"name": "a", "period_ms": 1}, {"name": "b", "period_ms": 1, "process": "b"}],
            "components": [{"name": "one", "type": "Counter", "context": "a"}, {"name": "two", "type": "Counter", "context": "b"}]})
        wait_until(lambda: self.state("two") == "active", "both run")
        os.kill(self.processes_of("b")[0], signal.SIGKILL)
        self.assertEqual(self.process.wait(PATIENCE), 1)
        self.assertIn("was killed by signal 9", self.said())


if __name__ == "__main__":
    main()
