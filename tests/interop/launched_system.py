"""A system of components that a test runs by takt launch and asks by takt component.

The program's arguments: TAKT SOURCE_FOLDER MOTOR_PLUGIN ROBOT_PLUGIN ODD_PLUGIN FOREIGN_PLUGIN OTHER_ABI_PLUGIN NEWER_PLUGIN [unittest arguments]
"""
import faulthandler, json, os, random, shutil, subprocess, sys, tempfile, time, unittest

TAKT, SOURCE, MOTOR, ROBOT, ODD, FOREIGN, OTHER_ABI, NEWER = sys.argv[1:9]
SYSTEM = os.path.join(SOURCE, "examples", "10_component", "system.json")
ARM_SYSTEM = os.path.join(SOURCE, "examples", "10_component", "arm.json")
ROBOT_SYSTEM = os.path.join(SOURCE, "examples", "10_component", "robot.json")
PATIENCE = 60  # s
SEED = int(os.environ.get("TAKT_SEED") or random.SystemRandom().randrange(2**32))


def wait_until(is_true, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if is_true():
            return
        time.sleep(0.02)
    raise AssertionError("never: " + what)


class Folder(unittest.TestCase):
    """A test with a folder for its files and sockets."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.folder)
        self.name = "t%d_%d" % (os.getpid(), random.randrange(10**6))

    def file(self, system):
        path = os.path.join(self.folder, "system.json")
        with open(path, "w") as file:
            file.write(system if isinstance(system, str) else json.dumps(dict({"name": self.name}, **system)))
        return path

    def takt(self, *words):
        return subprocess.run([TAKT, *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)

    def mistakes(self, system):
        """The lines with which a system is refused, and its exit code."""
        done = self.takt("launch", "--check", self.file(system))
        return done.returncode, done.stderr.splitlines()


class Running(Folder):
    """A system that runs until the end of the test."""

    def launch(self, system):
        self.log = open(os.path.join(self.folder, "log"), "w+")
        self.addCleanup(self.log.close)
        self.process = subprocess.Popen([TAKT, "launch", self.file(system)], env=self.environment, stdout=self.log, stderr=self.log)
        self.addCleanup(self.end)
        wait_until(lambda: self.process.poll() is not None or self.ask("list") is not None, "the system answers")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(PATIENCE)

    def said(self):
        self.log.flush()
        with open(self.log.name) as file:
            return file.read()

    def ask(self, *words):
        """The answer of takt component, or None if it failed."""
        done = self.takt("component", "--system", self.name, *words, *(["--json"] if words == ("list",) else []))
        self.refusal = done.stderr
        return None if done.returncode else (json.loads(done.stdout) if done.stdout else {})

    def state(self, name):
        return {row["name"]: row["state"] for row in (self.ask("list") or {"components": []})["components"]}.get(name)

    def port(self, component, name):
        return next(port for port in self.ask("show", component)["ports"] if port["name"] == name)

    def processes_of(self, name):
        """The processes that run this part of the system."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if os.path.join(self.folder, "system.json").encode() in words and b"--process" in words and name.encode() in words:
                found.append(int(pid))
        return found


def main():
    faulthandler.enable()
    print("seed", SEED)
    unittest.main(argv=sys.argv[:1] + sys.argv[9:])
