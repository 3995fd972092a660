"""takt vehicle-sim and takt drive as processes, for tests from outside."""
import csv, os, pty, resource, socket, subprocess, termios, time

PATIENCE = 60  # s, for events without a deadline of their own


class Program:
    """One of the two programs, with its log; type() writes to its standard input."""

    def __init__(self, log, *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE):
        self.log = log
        if log is not None and os.path.exists(log):
            os.remove(log)  # rows of a program before this one
        self.process = subprocess.Popen(words, stdin=stdin, stdout=stdout, stderr=subprocess.STDOUT, text=True)

    def type(self, text):
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except BrokenPipeError:
            self.process.wait(PATIENCE)
            raise AssertionError(f"the program ended with {self.process.returncode} and said: {self.process.stdout.read()}") from None

    def rows(self):
        try:
            with open(self.log, newline="") as file:
                lines = file.read().split("\n")
        except FileNotFoundError:
            return []
        found = csv.DictReader(lines[:-1])  # the last one is empty, or not yet whole
        return [{key: number(value) for key, value in row.items()} for row in found]

    def memory(self):
        """Its resident memory in bytes; 0 after its end."""
        try:
            with open(f"/proc/{self.process.pid}/statm") as file:
                return int(file.read().split()[1]) * resource.getpagesize()
        except (FileNotFoundError, ProcessLookupError):
            return 0

    def wait_until(self, condition, what):
        """Waits until the condition holds for the last row, and returns this row."""
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


class TerminalProgram(Program):
    """A program at its own terminal, whose output is not read."""

    def __init__(self, log, *words):
        self.keyboard, self.terminal = pty.openpty()
        self.before = self.settings()
        super().__init__(log, *words, stdin=self.terminal, stdout=self.terminal)

    def type(self, text):
        os.write(self.keyboard, text.encode())

    def settings(self):
        return termios.tcgetattr(self.terminal)

    def end(self):
        super().end()
        for end in (self.keyboard, self.terminal):
            os.close(end)


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def own_address():
    """A loopback address for this process alone, so that tests that run at the same time cannot take each other's ports."""
    number = os.getpid()  # at most 22 bits on Linux
    return f"127.{64 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


OWN_ADDRESS = own_address()
PORTS = iter(range(20000, 30000))  # none twice, and below those that the system gives to sockets of its choice


def free_places(count):
    """ADDRESS:PORT of this process's address, skipping ports that a socket of all addresses has."""
    found = []
    for port in PORTS:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind((OWN_ADDRESS, port))
                found.append(f"{OWN_ADDRESS}:{port}")
            except OSError:
                continue
        if len(found) == count:
            return found
    raise AssertionError("no port is free")


def links():
    """The addresses of both programs, as options for each."""
    near, far = free_places(2)
    return ["--local", near, "--peer", far], ["--local", far, "--peer", near]


def wait_for(look, what):
    """Repeats the call until its result is true, and returns the result."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError(what)
