"""An slcan adapter on a pseudo terminal, for tests from outside."""
import os, pty, select, threading, tty


class Adapter:
    """`answer` gives the bytes that it answers to a line. All lines so far are in `heard`."""

    def __init__(self, answer):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.path = os.ttyname(self.slave)
        self.answer = answer
        self.heard = []
        self.stop_read, self.stop_write = os.pipe()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        rest = b""
        while self.stop_read not in (ready := select.select([self.master, self.stop_read], [], [])[0]):
            *lines, rest = (rest + os.read(self.master, 4096)).split(b"\r")
            for line in lines:
                self.heard.append(line)
                os.write(self.master, self.answer(line))

    def close(self):
        os.close(self.stop_write)
        self.thread.join()
        for end in (self.master, self.slave, self.stop_read):
            os.close(end)
