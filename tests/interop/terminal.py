"""A program in a pseudo-terminal, for tests that type and read the screen."""
import fcntl, os, pty, struct, subprocess, termios, threading

from vehicle_programs import PATIENCE


class Terminal:
    def __init__(self, *words, columns=80, rows=24):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = self.settings()
        self.process = subprocess.Popen(words, stdin=self.slave, stdout=self.slave, stderr=subprocess.DEVNULL)
        self.text = ""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        while True:
            try:
                self.text += os.read(self.master, 4096).decode()
            except OSError:  # the program and this test have let go of it
                return

    def type(self, keys):
        os.write(self.master, keys.encode())

    def settings(self):
        return termios.tcgetattr(self.slave)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.slave)
        self.reader.join(PATIENCE)
        os.close(self.master)
