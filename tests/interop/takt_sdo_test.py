#!/usr/bin/env python3
"""Tests takt sdo from outside, with a device that was written from the standard (CiA 301) alone.

usage: takt_sdo_test.py TAKT SOURCE_FOLDER [unittest arguments]

The device is behind an slcan adapter on a pseudo terminal. It has expedited transfers and block transfers.
"""
import binascii, faulthandler, json, os, random, struct, subprocess, sys, tempfile, unittest

import robot_programs
from slcan_adapter import Adapter

TAKT = sys.argv[1]
SOURCE = sys.argv[2]
NODE = 5
TOO_LONG, BAD_SUM, NO_BLOCKS, ABSENT = 0x06070012, 0x05040004, 0x05040001, 0x06020000


class Device:
    """Objects by (index, subindex). `loses` is asked for each segment in both directions. It is not asked for the last
    one of a sub-block that the device sends: the client would notice that only by a silence. `most` is the number of
    segments in a sub-block of a download."""

    def __init__(self, objects, most=127, blocks=True, loses=lambda: False, error_in_sum=0):
        self.objects, self.most, self.blocks, self.loses, self.error_in_sum = objects, most, blocks, loses, error_in_sum
        self.step = self.idle
        self.requests = 0
        self.aborted = []  # codes that the client sent

    def __call__(self, line):
        """The adapter's answer to a line."""
        if line[:4] != b"t%03X" % (0x600 + NODE):
            return b"V1013\r" if line == b"V" else b"\r"
        self.requests += 1
        request = binascii.unhexlify(line[5:21])
        replies = self.answer(request)
        return b"z\r" + b"".join(b"t%03X8%s\r" % (0x580 + NODE, binascii.hexlify(reply.ljust(8, b"\0")).upper()) for reply in replies)

    def answer(self, request):
        if request[0] == 0x80:
            self.aborted.append(struct.unpack("<I", request[4:])[0])
            self.step = self.idle
            return []
        return self.step(request)

    def abort(self, code):
        self.step = self.idle
        return [struct.pack("<BHBI", 0x80, *self.address, code)]

    def idle(self, request):
        command, index, subindex, number = struct.unpack("<BHBI", request)
        self.address = index, subindex
        value = self.objects.get(self.address)
        if value is None:
            return self.abort(ABSENT)
        if command == 0x40 and len(value) <= 4:
            return [bytes([0x43 | 4 - len(value) << 2]) + request[1:4] + value]
        if command & 0xF3 == 0x23:
            self.objects[self.address] = request[4:8 - (command >> 2 & 3)]
            return [b"\x60" + request[1:4]]
        if not self.blocks or command not in (0xA4, 0xC6):
            return self.abort(NO_BLOCKS)
        if command == 0xA4:
            self.data, self.sent, self.size, self.step = value, 0, request[4], self.offered
            return [struct.pack("<BHBI", 0xC6, index, subindex, len(value))]
        self.data, self.next, self.step, self.announced = b"", 1, self.receives, number
        return [b"\xa4" + request[1:4] + bytes([self.most])]

    def receives(self, request):
        number, last = request[0] & 0x7F, request[0] & 0x80
        if number == self.next and not self.loses():
            self.data += request[1:]
            self.next += 1
            if last:
                self.step = self.received
        if not last and number != self.most:
            return []
        arrived, self.next = self.next - 1, 1
        return [bytes([0xA2, arrived, self.most])]

    def received(self, request):
        command, crc = struct.unpack("<BH", request[:3])
        assert command & 0xE3 == 0xC1, request
        data = self.data[:len(self.data) - (command >> 2 & 7)]
        if len(data) != self.announced:
            return self.abort(TOO_LONG)
        if binascii.crc_hqx(data, 0) != crc:
            return self.abort(BAD_SUM)
        self.objects[self.address] = data
        self.step = self.idle
        return [b"\xa1"]

    def offered(self, request):
        assert request[0] == 0xA3, request
        self.step = self.sends
        return self.sub_block()

    def sub_block(self):
        segments = []
        for number in range(1, self.size + 1):
            begin = self.sent + 7 * (number - 1)
            if begin >= len(self.data):
                break
            last = 0x80 if begin + 7 >= len(self.data) else 0
            segments.append(bytes([number | last]) + self.data[begin:begin + 7])
        self.segments = len(segments)
        return [segment for segment in segments[:-1] if not self.loses()] + segments[-1:]

    def sends(self, request):
        command, arrived, self.size = request[:3]
        assert command == 0xA2 and arrived <= self.segments and 1 <= self.size <= 127, request
        self.sent += 7 * arrived
        if self.sent < len(self.data):
            return self.sub_block()
        self.step = self.confirmed
        return [struct.pack("<BH", 0xC1 | (self.sent - len(self.data)) << 2, binascii.crc_hqx(self.data, 0) ^ self.error_in_sum)]

    def confirmed(self, request):
        assert request[0] == 0xA1, request
        self.step = self.idle
        return []


class TaktSdo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "object")
        self.data = random.randbytes(3001)

    def device(self, objects, **options):
        device = Device(objects, **options)
        adapter = Adapter(device)
        self.addCleanup(adapter.close)
        device.place = "slcan:" + adapter.path
        return device

    def sdo(self, place, *arguments, node=NODE, timeout=60):
        words = [place, str(node), *arguments, "--timeout", str(timeout)]  # patient: the machine may be busy
        return subprocess.run([TAKT, "sdo", *words], capture_output=True, text=True, timeout=120)

    def check_done(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def write_and_read(self, device):
        with open(self.file, "wb") as file:
            file.write(self.data)
        self.check_done(self.sdo(device.place, "write", "1F50:1", "--in", self.file, "--block"))
        self.assertEqual(device.objects[0x1F50, 1], self.data)
        requests = device.requests
        os.remove(self.file)
        self.check_done(self.sdo(device.place, "read", "0x1F50:1", "--out", self.file, "--block"))
        with open(self.file, "rb") as file:
            self.assertEqual(file.read(), self.data)
        self.assertEqual(device.aborted, [])
        return requests

    def test_numbers_and_texts_are_printed_and_written(self):
        device = self.device({(0x1018, 1): b"\x37\2\0\0", (0x6098, 0): b"\xfb", (0x1009, 0): b"A7", (0x100A, 0x1F): b"1.0"})
        for place, line in (("1018:1", "37 02 00 00 = 0x00000237 = 567"), ("0x6098", "fb = 0xfb = 251 or -5"),
                            ("100a:1F", '31 2e 30 = 0x302e31 = 3157553 "1.0"')):
            done = self.sdo(device.place, "read", place)
            self.check_done(done)
            self.assertEqual(done.stdout, line + "\n")
        for words, value in ((("-5", "--type", "i16"), b"\xfb\xff"), (("0x237", "--type", "u32"), b"\x37\2\0\0"),
                             (("ab", "--type", "text"), b"ab")):
            self.check_done(self.sdo(device.place, "write", "6098", *words))
            self.assertEqual(device.objects[0x6098, 0], value)

    def test_a_block_is_written_and_read_back(self):
        requests = self.write_and_read(self.device({(0x1F50, 1): b""}))
        self.assertEqual(requests, 1 + 429 + 1)

    def test_lost_segments_are_repeated(self):
        for most in (10, 127):
            count = iter(range(10**6))
            self.write_and_read(self.device({(0x1F50, 1): b""}, most=most, loses=lambda: next(count) % 11 == 5))

    def test_short_objects_go_in_a_block_too(self):
        device = self.device({(0x6060, 0): b"\0"})
        self.check_done(self.sdo(device.place, "write", "6060", "8", "--type", "u8", "--block"))
        self.assertEqual(device.objects[0x6060, 0], b"\x08")
        done = self.sdo(device.place, "read", "6060", "--block")
        self.assertEqual(done.stdout, "08 = 0x08 = 8\n")

    def test_a_wrong_checksum_is_an_error_on_both_sides(self):
        device = self.device({(0x1F50, 1): self.data}, error_in_sum=0x100)
        done = self.sdo(device.place, "read", "1F50:1", "--block", "--out", self.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn("wrong checksum (abort code 0x05040004)", done.stderr)
        self.assertEqual(device.aborted, [BAD_SUM])
        self.assertFalse(os.path.exists(self.file))

    def test_refusals_of_the_device_are_named(self):
        device = self.device({(0x1000, 0): b"\0\0\0\0"}, blocks=False)
        for place, words, reason in (("1000", ("--block",), "the command is unknown or not expected now (abort code 0x05040001)"),
                                     ("1001", (), "the object does not exist (abort code 0x06020000)")):
            done = self.sdo(device.place, "read", place, *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(reason, done.stderr)
        done = self.sdo(device.place, "read", "1000", node=NODE + 1, timeout=0.1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no answer came in time (abort code 0x05040000)", done.stderr)

    def test_wrong_arguments_send_nothing(self):
        device = self.device({(0x1000, 0): b"\0"})
        for words in (("read", "1000:100"), ("read", "10000"), ("read", "1000:"), ("read", ""), ("read", "1000", "1"), ("write", "1000"),
                      ("write", "1000", "1"), ("write", "1000", "256", "--type", "u8"), ("write", "1000", "-1", "--type", "u8"),
                      ("write", "1000", "1x", "--type", "u8"), ("write", "1000", "", "--type", "text"), ("write", "1000", "--in", "/nowhere"),
                      ("write", "1000", "--in", "/dev/null"), ("write", "1000", "1", "--type", "u8", "--in", "/dev/null"),
                      ("erase", "1000"), ("write", "1000", "1", "--type", "u9"), ("read", "1000", "--type", "u8")):
            with self.subTest(words):
                self.assertEqual(self.sdo(device.place, *words).returncode, 2)
        self.assertEqual(self.sdo(device.place, "read", "1000", node=128).returncode, 2)
        self.assertEqual(self.sdo("two words", "read", "1000").returncode, 2)
        self.assertEqual(device.requests, 0)

    def test_a_simulated_drive_has_blocks(self):
        robot, link = self.file + ".json", self.file + ".pty"
        with open(robot, "w") as file:
            json.dump(robot_programs.patient_arm(SOURCE, "cia402"), file)
        with robot_programs.program(TAKT, "simulate", robot, "--bus", "arm=pty:" + link, until="boards of bus arm"):
            for words in ((), ("--block",)):
                done = self.sdo("slcan:" + link, "read", "1008", *words, node=1)
                self.check_done(done)
                self.assertIn('"takt simulated drive"', done.stdout)
                self.check_done(self.sdo("slcan:" + link, "write", "1017", "250", "--type", "u16", *words, node=1))
            self.assertIn("250", self.sdo("slcan:" + link, "read", "1017", node=1).stdout)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(280, exit=True)  # where it waits, before ctest ends it
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
