#!/usr/bin/env python3
"""Tests python-can as the peer on a serial CAN line, and as reader and writer of candump logs.

    python_can_test.py CAN_PEER

Needs Debian's python3-can and python3-serial, and Debian's interpreter; exits with 77 (skipped) without them.
"""
import contextlib, os, pty, random, select, subprocess, sys, tempfile, threading, tty, unittest

try:
    import can, serial  # noqa: F401
except ImportError as missing:
    print(f"SKIPPED: {missing} (Debian: python3-can python3-serial)")
    sys.exit(77)

PEER = sys.argv[1]


@contextlib.contextmanager
def two_ends():
    """Two pseudo terminals, connected as by a cable; yields their paths."""
    masters, slaves = zip(*(pty.openpty() for _ in range(2)))
    for slave in slaves:
        tty.setraw(slave)
    stop_read, stop_write = os.pipe()

    def carry():
        while True:
            ready = select.select([*masters, stop_read], [], [])[0]
            if stop_read in ready:
                return
            for end in ready:
                os.write(masters[1 - masters.index(end)], os.read(end, 4096))

    cable = threading.Thread(target=carry)
    cable.start()
    try:
        yield [os.ttyname(slave) for slave in slaves]
    finally:
        os.close(stop_write)
        cable.join()
        for end in (*masters, *slaves, stop_read):
            os.close(end)


def random_message(number):
    dice = random.Random(number)
    extended, remote = dice.random() < 0.5, dice.random() < 0.2
    length = dice.randrange(9)
    return can.Message(arbitration_id=dice.randrange(0, 0x1FFFFFFF if extended else 0x7FF), is_extended_id=extended,
                       is_remote_frame=remote, dlc=length, data=None if remote else dice.randbytes(length))


def essence(message):
    return (message.arbitration_id, message.is_extended_id, message.is_remote_frame, message.dlc, bytes(message.data),
            message.is_fd, message.bitrate_switch, message.error_state_indicator)


class PythonCan(unittest.TestCase):
    def test_frames_cross_a_serial_line_both_ways(self):
        with two_ends() as (ours, theirs):
            peer = subprocess.Popen([PEER, "echo", ours], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual(peer.stdout.readline(), "ready\n")
            with can.Bus(interface="slcan", channel=theirs, bitrate=1000000, sleep_after_open=0) as bus:
                for number in range(500):
                    sent = random_message(number)
                    bus.send(sent)
                    back = bus.recv(timeout=30)
                    while back is None:  # our own C, S, O, and z: no frames
                        back = bus.recv(timeout=30)
                    sent.arbitration_id += 1
                    self.assertEqual(essence(back), essence(sent))
            received, returned, malformed, commands = map(int, peer.communicate("", timeout=30)[0].split())
            self.assertEqual((received, returned, malformed), (500, 500, 0))
            self.assertIn(commands, (4, 5))  # C S8 O O, and C at the end if it came in time

    def copied(self, text, suffix=".log"):
        with tempfile.NamedTemporaryFile("w", suffix=suffix) as log:
            log.write(text)
            log.flush()
            return subprocess.run([PEER, "log", log.name], capture_output=True, text=True, timeout=30, check=True)

    def read_by_python(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
            log.write(text)
            log.flush()
            return list(can.LogReader(log.name))

    def written_by_python(self, messages, suffix=".log"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "written" + suffix)
            with can.Logger(path) as logger:
                for message in messages:
                    logger.on_message_received(message)
            with open(path) as log:
                return log.read()

    def test_a_log_of_python_can_is_read_and_written_as_it_was(self):
        messages = [random_message(number) for number in range(300)]
        for number, message in enumerate(messages):
            message.timestamp, message.channel, message.is_rx = 1e9 + number / 64, f"can{number % 3}", number % 2 == 0
        for length, (rate_switch, passive) in zip((0, 1, 12, 64), ((0, 0), (1, 0), (0, 1), (1, 1))):
            messages.append(can.Message(timestamp=2e9, arbitration_id=length, is_extended_id=False, is_fd=True, channel="can0",
                                        data=bytes(range(length)), bitrate_switch=rate_switch, error_state_indicator=passive))
        messages.append(can.Message(timestamp=2e9, is_error_frame=True, channel="can0"))
        text = self.written_by_python(messages)
        # python-can's own format loses the length of remote frames and the contents of error frames.
        result = self.copied(text)
        self.assertEqual(result.stdout, text)
        self.assertEqual(result.stderr, "")

    def test_what_we_write_is_read_by_python_can(self):
        lines = ["(1795208238.156435) vcan0 123#DEADBEEF", "(1795208238.156436) can1 1ABCDEF0#R4 T",
                 "(1795208239.000000) can1 5A1##3" + "A5" * 48 + " R", "(1795208239.500000) can0 20000080#0000000000000000"]
        copy = self.copied("\n".join(lines)).stdout
        self.assertEqual(copy.splitlines(), lines)
        data, remote, fd, error = self.read_by_python(copy)
        self.assertEqual(essence(data), (0x123, False, False, 4, b"\xde\xad\xbe\xef", False, False, False))
        self.assertEqual((round(data.timestamp, 6), data.channel), (1795208238.156435, "vcan0"))
        self.assertEqual(essence(remote), (0x1ABCDEF0, True, True, 4, b"", False, False, False))
        self.assertFalse(remote.is_rx)
        self.assertEqual(essence(fd), (0x5A1, False, False, 48, b"\xa5" * 48, True, True, True))
        self.assertTrue(error.is_error_frame)

    def test_a_log_of_vector_format_has_the_frames_of_python_can(self):
        messages = [random_message(number) for number in range(300)]
        for length in (0, 1, 8, 12, 64):
            for rate_switch, passive in ((0, 0), (1, 0), (0, 1), (1, 1)):
                messages.append(can.Message(arbitration_id=length, is_extended_id=length > 8, is_fd=True, data=bytes(range(length)),
                                            bitrate_switch=rate_switch, error_state_indicator=passive))
        for number, message in enumerate(messages):
            message.timestamp, message.channel, message.is_rx = 1e9 + number / 64, number % 3, number % 2 == 0
        error = can.Message(timestamp=2e9, is_error_frame=True, channel=0)
        result = self.copied(self.written_by_python([*messages, error], ".asc"), ".asc")
        self.assertEqual(result.stderr, "")
        read = self.read_by_python(result.stdout)
        self.assertEqual(len(read), len(messages))
        for number, (got, sent) in enumerate(zip(read, messages)):
            self.assertEqual(essence(got), essence(sent))
            self.assertAlmostEqual(got.timestamp, number / 64, places=5)
            self.assertEqual((got.channel, got.is_rx), (sent.channel + 1, sent.is_rx))

    def test_a_bad_line_is_named_and_the_rest_is_read(self):
        result = self.copied("(1.000000) can0 123#00\n(1.0) can0 123#0\n(2.000000) can0 124#01\n")
        self.assertEqual(len(result.stdout.splitlines()), 2)
        self.assertIn("line 2, column 16:", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
