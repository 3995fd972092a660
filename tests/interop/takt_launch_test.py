#!/usr/bin/env python3
"""Checks and runs systems of components by takt launch, and commands them by takt component.

usage: takt_launch_test.py TAKT SOURCE_FOLDER MOTOR_PLUGIN ROBOT_PLUGIN ODD_PLUGIN FOREIGN_PLUGIN OTHER_ABI_PLUGIN NEWER_PLUGIN [unittest arguments]
"""
import json, os, re, shutil, subprocess, time
import xml.etree.ElementTree

from launched_system import TAKT, SOURCE, MOTOR, ROBOT, ODD, FOREIGN, OTHER_ABI, NEWER, SYSTEM, ARM_SYSTEM, ROBOT_SYSTEM, PATIENCE, Folder, Running, main, wait_until


class CheckTest(Folder):
    def test_the_example_has_no_mistakes(self):
        for system in (SYSTEM, ARM_SYSTEM, ROBOT_SYSTEM):
            done = self.takt("launch", "--check", "--folder", os.path.dirname(MOTOR), system)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_mistake_is_listed_with_its_pointer(self):
        code, lines = self.mistakes({
            "libraries": [MOTOR],
            "contexts": [{"name": "fast", "period_ms": 1}],
            "components": [
                {"name": "motor", "type": "Motor", "context": "fast", "parameters": {"inertia": -1, "mass": 3}},
                {"name": "other", "type": "Moter", "context": "fast"},
                {"name": "log", "type": "SpeedLog", "context": "fast"}],
            "connections": [
                {"from": "motor.torque", "to": "log.joint"},
                {"from": "log.mean_speed", "to": "log.joint"},
                {"from": "ghost.joint", "to": "log.joint"}]})
        self.assertEqual(code, 2)
        text = "\n".join(lines)
        for part in ["/components/0/parameters: motor.inertia: -1 is not in", "motor.mass: there is no such parameter",
                     "/components/1/type: \"Moter\" is not a component type; there are:", "Motor",
                     "/connections/0/from: \"motor.torque\": motor has no out-port \"torque\"",
                     "/connections/1: log.mean_speed has \"value f64\", and log.joint wants \"position f64, velocity f64\"",
                     "/connections/2/from: \"ghost.joint\": there is no component \"ghost\""]:
            self.assertIn(part, text)

    def test_a_component_that_is_not_made_is_one_mistake(self):
        code, lines = self.mistakes({
            "contexts": [{"name": "fast", "period_ms": 1}],
            "components": [{"name": "motor", "type": "Moter", "context": "fast"}, {"name": "log", "type": "Log", "context": "fast"}],
            "connections": [{"from": "motor.joint", "to": "log.joint"}],
            "services": [{"from": "motor.home", "to": "log.home"}, {"from": "motor.home", "to": "ghost.home"}],
            "processes": [{"name": "main", "record": {"file": "a.mcap", "ports": ["motor.joint", "ghost.joint"]}}]})
        self.assertEqual(code, 2)
        text = "\n".join(lines)
        for place in ["/components/0/type", "/components/1/type", "/services/1/to", "/processes/0/record/ports/1"]:
            self.assertIn(place, text)
        self.assertEqual(len(lines), 4, text)

    def test_a_wrong_structure_is_listed_whole(self):
        code, lines = self.mistakes({
            "contexts": [{"name": "fast", "period_ms": 0}, {"name": "fast", "events": True, "period_ms": 1}, {"name": "a b"}],
            "components": [{"name": "x", "type": "T", "context": "none", "divisor": 2, "phase": 2, "parameters": [1]},
                           {"name": "x", "type": "T", "context": "fast", "budget_us": "many", "colour": "red"},
                           {"name": "inner", "type": "Composite", "context": "inner"}],
            "connections": [{"from": "x.a", "to": "x.b", "buffering": "tape", "capacity": 10**9}],
            "processes": [{"name": "p", "restart": "sometimes"}]})
        self.assertEqual(code, 2)
        text = "\n".join(lines)
        for part in ["/contexts/0/period_ms", "/contexts/1/name", "/contexts/1: needs either", "/contexts/2/name", "/components/0/context",
                     "/components/0/phase", "/components/0/parameters", "/components/1/name", "/components/1/budget_us",
                     "/components/1/colour", "/components/2/context", "/connections/0/buffering", "/connections/0/capacity",
                     "/processes/0/restart", "/processes/0/name"]:
            self.assertIn(part, text)

    def test_other_files_are_refused(self):
        for text in ["", "{", "[]", "null", "{\"name\": 3}", "{\"name\": \"x\"}", "\x00\xff"]:
            code, lines = self.mistakes(text)
            self.assertEqual(code, 2, text)
            self.assertTrue(lines)

    def test_shared_objects_that_are_no_plug_ins_are_refused(self):
        text = os.path.join(self.folder, "text.so")
        with open(text, "w") as file:
            file.write("not a shared object\n" * 100)
        other = os.path.realpath(TAKT)
        for library, reason in [("missing.so", "there is no such file in:"), (os.path.join(self.folder, "none.so"), "No such file"),
                                (text, "invalid ELF header"), (self.folder, "is not a file"), (other, "dynamically load"),
                                (FOREIGN, "was built for another ABI: \"takt 0.0.1, another world\""),
                                (OTHER_ABI, "C++ ABI 999, ")]:
            code, lines = self.mistakes({"libraries": [library], "contexts": [{"name": "c", "period_ms": 1}]})
            self.assertEqual(code, 2)
            self.assertIn("/libraries/0", lines[0])
            self.assertIn(reason, lines[0])

    def test_a_shared_object_without_the_entry_point_is_refused(self):
        libraries = [line.split()[2] for line in subprocess.run(["ldd", TAKT], capture_output=True, text=True).stdout.splitlines()
                     if "libm.so" in line and "=>" in line]
        self.assertTrue(libraries)
        code, lines = self.mistakes({"libraries": libraries, "contexts": [{"name": "c", "period_ms": 1}]})
        self.assertEqual(code, 2)
        self.assertIn("has no entry point takt_plugin_v1()", lines[0])

    def test_a_type_that_two_plug_ins_bring_is_refused(self):
        copy = shutil.copy(ODD, os.path.join(self.folder, "copy.so"))
        code, lines = self.mistakes({"libraries": [ODD, copy], "contexts": [{"name": "c", "period_ms": 1}]})
        self.assertEqual(code, 2)
        self.assertIn("/libraries/1", lines[0])
        self.assertIn("brings the type \"Counter\", which %s brings already" % ODD, lines[0])

    def test_a_component_that_throws_in_its_constructor_is_a_mistake(self):
        code, lines = self.mistakes({"libraries": [ODD], "contexts": [{"name": "c", "period_ms": 1}],
                                     "components": [{"name": "t", "type": "Thrower", "context": "c"}]})
        self.assertEqual(code, 2)
        self.assertIn("/components/0/type: Thrower threw in its constructor: not today", lines[0])

    def test_the_picture_of_a_system_is_well_formed(self):
        path = os.path.join(self.folder, "graph.svg")
        done = self.takt("component", "graph", SYSTEM, "--svg", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = "".join(xml.etree.ElementTree.parse(path).getroot().itertext())
        for part in ["motor", "controller", "joint", "circular 64"]:
            self.assertIn(part, text)

    def test_virtual_time_gives_the_same_answer_each_time(self):
        answers = [self.takt("launch", SYSTEM, "--folder", os.path.dirname(MOTOR), "--virtual-time", "3").stdout for _ in range(2)]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual([row["cycles"] for row in json.loads(answers[0])["contexts"]], [3000, 150])


class CommandTest(Running):
    def setUp(self):
        super().setUp()
        self.launch({
            "libraries": [MOTOR, ODD],
            "contexts": [{"name": "fast", "period_ms": 1}, {"name": "slow", "period_ms": 5}, {"name": "events", "events": True}],
            "components": [
                {"name": "controller", "type": "Controller", "context": "fast", "order": 1, "sets": {"home": {"target": 0}}},
                {"name": "motor", "type": "Motor", "context": "fast", "order": 2},
                {"name": "log", "type": "SpeedLog", "context": "events", "active": False}],
            "connections": [{"from": "motor.joint", "to": "controller.joint"}, {"from": "controller.torque", "to": "motor.torque"}]})
        wait_until(lambda: self.state("motor") == "active", "the motor is active")

    def test_a_running_system_is_commanded_and_ends_in_order(self):
        self.assertEqual(self.state("log"), "inactive")
        self.assertIsNotNone(self.ask("start", "log"))
        self.assertEqual(self.state("log"), "active")
        self.assertIsNone(self.ask("start", "log"))
        self.assertIn("does not allow", self.refusal)
        self.assertIsNotNone(self.ask("connect", "motor.joint", "log.joint", "--buffering", "fifo", "--capacity", "1024"))
        wait_until(lambda: self.port("log", "joint")["read"] > 100, "the log reads")
        self.assertIsNotNone(self.ask("disconnect", "motor.joint", "log.joint"))
        self.assertEqual(self.port("log", "joint")["connections"], [])
        self.assertIsNone(self.ask("disconnect", "motor.joint", "log.joint"))
        self.assertIsNone(self.ask("connect", "log.mean_speed", "controller.joint"))
        self.assertIn("\"value f64\"", self.refusal)
        self.assertIsNotNone(self.ask("set", "controller", "target=0.5"))
        self.assertIsNotNone(self.ask("apply", "controller", "home"))
        shown = self.ask("show", "controller")
        self.assertEqual([(change["parameter"], change["after"], change["who"]) for change in shown["changes"]][-2:],
                         [("target", 0.5, "takt component"), ("target", 0.0, "takt component")])
        self.assertIsNone(self.ask("set", "controller", "target=99"))
        self.assertIn("99 is not in", self.refusal)
        self.assertIsNotNone(self.ask("migrate", "controller", "slow"))
        self.assertEqual(next(row["context"] for row in self.ask("list")["components"] if row["name"] == "controller"), "slow")
        contexts = {row["name"]: row for row in self.ask("list")["contexts"]}
        self.assertGreater(contexts["fast"]["busy_us"]["max"], 0)
        self.assertGreaterEqual(contexts["fast"]["lateness_us"]["max"], contexts["fast"]["lateness_us"]["median"])
        self.assertNotIn("busy_us", contexts["events"])
        self.assertIn("LATENESS us", self.takt("component", "--system", self.name, "list").stdout)
        self.assertIsNotNone(self.ask("stop", "controller"))
        self.assertEqual(self.state("controller"), "inactive")
        self.assertIsNone(self.ask("show", "nobody"))
        self.assertEqual(self.end(), 0)
        self.assertIn("has stopped", self.said())
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".sock")], [])

    def test_a_sensor_that_fails_leads_to_the_state_error_and_a_reset_leads_out(self):
        self.assertIsNotNone(self.ask("set", "motor", "sensor_works=false"))
        wait_until(lambda: self.state("controller") == "error", "the controller has failed")
        wait_until(lambda: "controller has failed" in self.said(), "it is reported")
        self.assertIsNotNone(self.ask("set", "motor", "sensor_works=true"))
        time.sleep(0.05)
        self.assertIsNotNone(self.ask("reset", "controller"))
        self.assertIsNotNone(self.ask("start", "controller"))
        self.assertEqual(self.state("controller"), "active")

    def test_a_second_system_of_the_name_is_refused(self):
        done = self.takt("launch", os.path.join(self.folder, "system.json"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("a system of this name is running", done.stderr)
        self.assertEqual(self.state("motor"), "active")


class OddTest(Running):
    def test_a_component_that_cannot_be_initialized_ends_the_start(self):
        self.launch({"libraries": [ODD], "contexts": [{"name": "c", "period_ms": 1}],
                     "components": [{"name": "counter", "type": "Counter", "context": "c"},
                                    {"name": "r", "type": "Refuser", "context": "c"}]})
        self.assertEqual(self.process.wait(PATIENCE), 1)
        self.assertIn("r: r threw in on_initialize(): no such device", self.said())

    def test_a_callback_that_never_returns_is_named_and_the_rest_goes_on(self):
        self.launch({"libraries": [ODD],
                     "contexts": [{"name": "good", "period_ms": 1}, {"name": "bad", "period_ms": 1, "stuck_after_ms": 100}],
                     "components": [{"name": "counter", "type": "Counter", "context": "good"},
                                    {"name": "sleeper", "type": "Sleeper", "context": "bad"},
                                    {"name": "failer", "type": "Failer", "context": "good"}]})
        wait_until(lambda: self.state("failer") == "error", "the failer has failed")
        self.assertIsNotNone(self.ask("set", "sleeper", "asleep=true"))
        wait_until(lambda: "bad: a callback of sleeper has not returned" in self.said(), "the sleeper is named")
        before = self.port("counter", "out")["written"]
        wait_until(lambda: self.port("counter", "out")["written"] > before + 100, "the counter goes on")
        self.assertIsNone(self.ask("stop", "sleeper"))  # bounded, also now
        self.process.terminate()
        self.assertEqual(self.process.wait(PATIENCE), 1)
        self.assertIn("is stuck in a callback, and ends without it", self.said())

    def test_a_process_whose_callback_never_returns_ends_and_starts_again_if_its_file_says_so(self):
        self.launch({"libraries": [ODD],
                     "contexts": [{"name": "good", "period_ms": 1},
                                  {"name": "bad", "period_ms": 1, "stuck_after_ms": 100, "when_stuck": "end-process", "process": "odd"}],
                     "components": [{"name": "counter", "type": "Counter", "context": "good"},
                                    {"name": "sleeper", "type": "Sleeper", "context": "bad"}],
                     "processes": [{"name": "odd", "restart": "on-failure", "delay_ms": 0}]})
        wait_until(lambda: self.state("sleeper") == "active", "the sleeper runs")
        self.assertIsNotNone(self.ask("set", "sleeper", "asleep=true"))
        wait_until(lambda: "odd ended with code 1; it is started again" in self.said(), "the process starts again")
        self.assertIn("bad: a callback of sleeper has not returned", self.said())
        wait_until(lambda: self.state("sleeper") == "active", "the sleeper runs again")
        self.assertEqual(self.state("counter"), "active")
        self.assertIsNotNone(self.ask("load", ODD), self.refusal)  # into both processes
        self.assertIsNone(self.ask("load", "none.so"))
        self.assertIn("process ", self.refusal)
        self.assertIn("none.so", self.refusal)
        self.assertEqual(self.end(), 0)


class RobotContextTest(Running):
    """A whole robot beside components, in one process."""

    FOLDER = os.path.dirname(ROBOT_SYSTEM)

    def system(self, **changes):
        with open(ROBOT_SYSTEM) as file:
            system = json.load(file)
        system["contexts"][0].update({"file": self.robot_file()}, **changes)
        return dict(system, libraries=[ROBOT], name=self.name)

    def robot_file(self):
        """The example's robot, but patient: a pause of the machine must not stop it."""
        with open(os.path.join(self.FOLDER, "mobile_arm.json")) as file:
            robot = json.load(file)
        robot.update({"rate": 100, "overrun": "catch_up", "overrun_limit": 10**6, "feedback_timeout": 10})
        for joint in robot["joints"]:
            del joint["drive"]["watchdog"]
        robot["vehicles"][0]["file"] = os.path.join(self.FOLDER, robot["vehicles"][0]["file"])
        path = os.path.join(self.folder, "mobile_arm.json")
        with open(path, "w") as file:
            json.dump(robot, file)
        return path

    def robot(self):
        return next(row for row in self.ask("list")["contexts"] if row["name"] == "robot")

    def start(self, **changes):
        """Launches the system, and returns the port of the robot's server."""
        self.launch(self.system(**changes))
        wait_until(lambda: self.robot()["state"] == "robot ready", "the robot is ready")
        return self.robot()["server"].rsplit(":", 1)[1]

    def value(self, port, name):
        rows = json.loads(self.takt("ctl", "--port", port, "--json", "interfaces").stdout)["interfaces"]
        return next(row["value"] for row in rows if row["name"] == name)

    def drives_on(self):
        sent = self.port("driver", "twist")["written"]
        wait_until(lambda: self.port("driver", "twist")["written"] > sent + 50, "the vehicle drives laps")

    def replays(self):
        replayed = self.takt("replay", os.path.join(self.folder, "run.mcap"))
        self.assertEqual(replayed.returncode, 0, replayed.stdout + replayed.stderr)
        self.assertIn("bit for bit", replayed.stdout)

    def test_components_move_an_arm_and_its_vehicle_and_all_is_replayed(self):
        port = self.start(record="run.mcap")
        self.drives_on()
        positions = set()

        def moves():
            positions.add(round(float(re.search(r"shoulder +(-?[\d.]+)", self.takt("state", "--port", port).stdout)[1]), 2))
            return len(positions) > 5

        wait_until(moves, "the shoulder swings")
        wait_until(lambda: self.port("robot/drive", "odometry")["written"] > 200, "the vehicle reports")
        self.assertEqual(self.ask("show", "robot/speed")["state"], "active")
        self.assertGreater(self.port("robot/speed", "setpoints")["read"], 5)
        self.assertIn(("swing.velocities", "robot/speed.setpoints"), [(one["from"], one["to"]) for one in self.ask("list")["connections"]])
        self.assertIsNone(self.ask("migrate", "robot/speed", "mind"))
        self.assertIn("robot/speed is a controller of a robot, for which there is no migrate", self.refusal)
        done = self.takt("component", "--system", self.name, "set", "robot/speed", "timeout=0.25")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(self.takt("ctl", "--port", port, "--json", "show", "speed").stdout)["show"]
        self.assertEqual([row["value"] for row in shown["parameters"] if row["name"] == "timeout"], [0.25])
        self.assertIsNotNone(self.ask("stop", "robot/speed"), self.refusal)
        self.assertEqual(self.ask("show", "robot/speed")["state"], "inactive")
        self.assertIsNone(self.ask("stop", "robot/nobody"))
        self.assertIn("nobody", self.refusal)
        self.assertEqual(self.takt("estop", "--port", port).returncode, 0)
        wait_until(lambda: self.ask("list")["processes"][0]["status"] == "error", "a stopped robot is told")
        self.assertEqual(self.end(), 0)
        self.assertIn("robot: robot down", self.said())
        self.replays()
        self.assertEqual(self.takt("report", os.path.join(self.folder, "run.mcap"), "--out", os.path.join(self.folder, "report")).returncode, 0)

    def test_a_vehicle_stands_without_twists_stops_with_its_robot_and_drives_on_after_a_reset(self):
        port = self.start(record="run.mcap")
        self.drives_on()
        self.assertIsNotNone(self.ask("disconnect", "driver.twist", "robot/drive.command"))
        wait_until(lambda: self.value(port, "drive/timed_out") == 1, "the command is too old")

        def drives():  # each sample lasts for the timeout of the controller
            self.assertIsNotNone(self.ask("write", "robot/drive.command", "forward=1"), self.refusal)
            return self.value(port, "base.odometry/twist.forward") > 0.05

        wait_until(drives, "it drives again")
        done = self.takt("ctl", "--port", port, "write", "drive.command", "forward=fast")
        self.assertIn("/write/value/forward: \"fast\" is no f64", done.stderr)
        self.assertEqual(self.takt("ctl", "--port", port, "write", "drive.command", "rotation=0.1").returncode, 0)
        self.assertIsNone(self.ask("write", "driver.odometry", "pose.x=1", "y=2"))
        self.assertIn("/y: ", self.refusal)
        self.assertIsNotNone(self.ask("write", "driver.odometry", "pose.x=1", "pose.y=0.1"), self.refusal)
        self.assertEqual(self.ask("show", "robot/drive")["state"], "active")
        self.assertIsNotNone(self.ask("connect", "driver.twist", "robot/drive.command"), self.refusal)
        self.drives_on()
        self.assertEqual(self.takt("estop", "--port", port).returncode, 0)
        wait_until(lambda: "stopped" in self.robot()["state"], "the robot has stopped")
        self.assertEqual(self.value(port, "base/moving"), 0)
        self.assertEqual(self.takt("reset", "--port", port).returncode, 0)
        wait_until(lambda: self.robot()["state"] == "robot ready", "the robot is ready again")
        self.drives_on()
        self.assertEqual(self.end(), 0)
        self.replays()

    def test_every_mistake_of_a_robots_file_is_listed_by_a_check(self):
        with open(os.path.join(self.folder, "bad.json"), "w") as file:
            file.write('{"name": "bad", "rate": -1, "joints": 3, "buses": []}')
        code, lines = self.mistakes(self.system(file=os.path.join(self.folder, "bad.json")))
        self.assertEqual(code, 2)
        self.assertGreater(len([line for line in lines if "bad.json: " in line]), 1, lines)

    def test_a_component_may_have_the_name_of_a_controller(self):
        system = self.system()
        system["components"].append({"name": "speed", "type": "Swing", "context": "mind", "active": False})
        self.launch(system)
        names = {row["name"] for row in self.ask("list")["components"]}
        self.assertLessEqual({"speed", "robot/speed"}, names)
        self.assertEqual(len(self.ask("list")["connections"]), 3)

    def test_mistakes_about_robots_are_listed_with_their_pointers(self):
        system = self.system(file="nowhere.json", period_ms=1)
        system["components"].append({"name": "other", "type": "Swing", "context": "robot"})
        code, lines = self.mistakes(system)
        self.assertEqual(code, 2)
        self.assertEqual(sum("/contexts/0: a robot has the rate of its file" in line for line in lines), 1, lines)
        self.assertEqual(sum("/components/2/context: \"robot\" is a robot" in line for line in lines), 1, lines)
        code, lines = self.mistakes(self.system(file="nowhere.json"))
        self.assertEqual(code, 2)
        self.assertIn("/contexts/0/file: ", lines[0])
        system = self.system()
        system["contexts"][1]["process"] = "other"
        self.assertIn("\"robot/drive.odometry\" is a port of a robot, which connects within its process", self.mistakes(system)[1][0])
        done = self.takt("launch", self.file(self.system()), "--virtual-time", "1")
        self.assertIn("robot is a robot, which runs in wall time only", done.stderr)


class ReplacementTest(Running):
    """The arm of components in examples/10_component."""

    def test_the_arm_follows(self):
        done = self.takt("launch", ARM_SYSTEM, "--folder", os.path.dirname(ROBOT), "--virtual-time", "100")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual({row["state"] for row in answer["components"]}, {"active"})

    def test_a_controller_library_is_replaced_while_the_arm_moves(self):
        library = shutil.copy(ROBOT, os.path.join(self.folder, "libarm.so"))
        with open(ARM_SYSTEM) as file:
            system = dict(json.load(file), name=self.name, libraries=[library])
        system["components"][0]["parameters"] = {"stiffness": 150}
        self.launch(system)
        wait_until(lambda: self.state("guard") == "active", "the guard is active")
        wait_until(lambda: self.port("guard", "command")["read"] > 600, "the arm moves")
        for newer in (NEWER, ROBOT) * 3:
            os.remove(library)
            shutil.copy(newer, library)
            self.assertIsNotNone(self.ask("load", library), self.refusal)
            done = self.takt("component", "--system", self.name, "replace", "controller")
            self.assertEqual(done.returncode, 0, done.stderr)
            version = "2.0.0" if newer == NEWER else "1.0.0"
            self.assertIn("controller is replaced by version " + version, done.stdout)
            self.assertEqual("parameter \"damping\"" in done.stdout, newer == ROBOT and "damping" in done.stdout)
            shown = self.ask("show", "controller")
            self.assertEqual(shown["version"], version)
            self.assertEqual(next(row["value"] for row in shown["parameters"] if row["name"] == "stiffness"), 150)
            read = self.port("guard", "command")["read"]
            wait_until(lambda: self.port("guard", "command")["read"] > read + 100, "the arm goes on")
        self.assertEqual(self.state("guard"), "active")  # the arm has followed all the time
        self.assertEqual(self.port("guard", "command")["missed"], 0)
        self.assertEqual(self.plugins_in_memory(), 1 + 1)  # arm and guard are of the first one
        # A controller that cannot start is refused, and the old one goes on.
        os.remove(library)
        shutil.copy(NEWER, library)
        self.assertIsNotNone(self.ask("load", library), self.refusal)
        self.assertIsNone(self.ask("replace", "controller", "LameController"))
        self.assertIn("was not replaced", self.refusal)
        self.assertEqual(self.state("controller"), "active")
        # Code comes from the folders of the system only.
        self.assertIsNone(self.ask("load", NEWER))
        self.assertIn("a command loads a file of the system's folders", self.refusal)
        # The check bites: one that forgets its state lets the arm jump, and the guard sees it.
        done = self.takt("component", "--system", self.name, "replace", "controller", "ForgetfulController")
        self.assertIn("not taken over: state \"progress\"", done.stdout)

        def forgets_again():
            """Near the start of its motion the arm hardly jumps, so it is replaced again on its way."""
            read = self.port("guard", "command")["read"]
            wait_until(lambda: self.state("guard") == "error" or self.port("guard", "command")["read"] > read + 1000, "it moves")
            if self.state("guard") == "active":
                done = self.takt("component", "--system", self.name, "replace", "controller", "ForgetfulController")
                self.assertEqual(done.returncode, 0, done.stderr)
            return self.state("guard") == "error"

        wait_until(forgets_again, "the guard has seen the jump")
        self.assertEqual(self.end(), 0)

    def plugins_in_memory(self):
        """The plug-ins that the process has loaded."""
        with open("/proc/%d/maps" % self.process.pid) as file:
            return len({line.split()[5] for line in file if "takt-plugin-" in line})


if __name__ == "__main__":
    main()
