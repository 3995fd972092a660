"""takt vehicle-sim and takt drive as processes, for the tests that look at them from outside."""
import csv, random, subprocess, time

PATIENCE = 60  # s, for whatever must happen some time


class Program:
    """One of the two, with its log; what is typed goes to its standard input."""

    def __init__(self, log, *words):
        self.log = log
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def type(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def rows(self):
        try:
            with open(self.log, newline="") as file:
                lines = file.read().split("\n")
        except FileNotFoundError:
            return []
        found = csv.DictReader(lines[:-1])  # the last one is empty, or not yet whole
        return [{key: number(value) for key, value in row.items()} for row in found]

    def wait_until(self, condition, what):
        """Until it holds for the last row, which is returned."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if (rows := self.rows()) and condition(rows[-1]):
                return rows[-1]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"{what}: {self.rows()[-1:]}")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        output = self.process.communicate(timeout=PATIENCE)[0]
        return output


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def links():
    """Where the one and the other are, for the two of them."""
    ports = random.sample(range(20000, 30000), 2)
    near, far = (f"127.0.0.1:{port}" for port in ports)
    return ["--local", near, "--peer", far], ["--local", far, "--peer", near]


def wait_for(look, what):
    """What it returns as soon as that is something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError(what)
