#!/usr/bin/env python3
"""CAN frames of the C API. This test computes their bits on the wire one by one, and writes their texts by hand.

    can_test.py LIBRARY
"""

import random
import sys
import unittest
from ctypes import byref, c_size_t, c_uint8, c_uint32, c_void_p, create_string_buffer

from bindings import CanBits as Bits
from bindings import CandumpEntry as Entry
from bindings import CanFrame as Frame
from bindings import CanLoad as Load
from bindings import CanPlannedFrame as Planned
from bindings import SlcanItem as Item
from bindings import BAD_ARGUMENT, BUFFER_TOO_SMALL, J1939Id, NULL_POINTER, OK, constants, takt

WRONG_FORMAT, WRONG_LENGTH, BAD_VALUE, ID_TOO_LARGE, OUT_OF_RANGE, BAD_PLAN, BAD_LINE = constants(
    "ERROR_CAN", "WRONG_FORMAT WRONG_LENGTH BAD_VALUE ID_TOO_LARGE OUT_OF_RANGE BAD_PLAN BAD_LINE")
EXTENDED, REMOTE, ERROR, FD, SWITCH, PASSIVE = constants("CAN", "EXTENDED REMOTE ERROR FD BIT_RATE_SWITCH ERROR_STATE")
NOTHING, FRAME, DONE, TRANSMITTED, REFUSED, STATUS, COMMAND = constants(
    "SLCAN", "NOTHING FRAME DONE TRANSMITTED REFUSED STATUS COMMAND")


def frame(number, data=b"", flags=0, length=None, stamp_ns=0):
    return Frame(stamp_ns, number, flags, len(data) if length is None else length, 0, (c_uint8 * 64)(*data))


def said(given):
    return given.stamp_ns, given.id, given.flags, given.length, bytes(given.data[:given.length])


def classic_bits(number, extended, data):
    """The bits from start of frame to the end of the intermission, with checksum and stuff bits."""
    bits = "0"
    bits += f"{number >> 18:011b}11{number & 0x3FFFF:018b}000" if extended else f"{number:011b}000"
    bits += f"{len(data):04b}" + "".join(f"{byte:08b}" for byte in data)
    checksum = 0
    for bit in bits:
        top = checksum >> 14 ^ int(bit)
        checksum = checksum << 1 & 0x7FFF ^ (0x4599 if top else 0)
    bits += f"{checksum:015b}"
    run, last, stuffed = 0, "", 0
    for bit in bits:
        run = run + 1 if bit == last else 1
        last = bit
        if run == 5:
            stuffed += 1
            run, last = 1, "1" if bit == "0" else "0"
    return len(bits) + stuffed + 1 + 2 + 7 + 3


class CanFrameTest(unittest.TestCase):
    def bits_of(self, given):
        bits = Bits()
        return takt.takt_can_frame_bits(byref(given), byref(bits)), (bits.nominal, bits.data)

    def test_bits_are_those_of_a_sender_that_stuffs_them_one_by_one(self):
        numbers = random.Random(1)
        for _ in range(3000):
            extended = numbers.random() < 0.5
            number = numbers.getrandbits(29 if extended else 11)
            data = bytes(numbers.choice((0, 0xFF, numbers.getrandbits(8))) for _ in range(numbers.randrange(9)))
            result, bits = self.bits_of(frame(number, data, EXTENDED if extended else 0))
            self.assertEqual((result, bits), (OK, (classic_bits(number, extended, data), 0)))
        most = Bits()
        for length, flags, expected in ((8, 0, 135), (0, 0, 55), (8, EXTENDED, 160)):
            self.assertEqual(takt.takt_can_max_frame_bits(length, flags, byref(most)), OK)
            self.assertEqual((most.nominal, most.data), (expected, 0))
        nominal, fast = self.bits_of(frame(1, bytes(64), FD | SWITCH))[1]
        self.assertTrue(nominal < 40 and fast > 512)

    def test_frames_that_no_bus_carries_have_no_bits(self):
        for given, expected in (
                (frame(0x800), ID_TOO_LARGE), (frame(1 << 29, flags=EXTENDED), ID_TOO_LARGE), (frame(1, flags=ERROR), WRONG_FORMAT),
                (frame(1, flags=FD | REMOTE), WRONG_FORMAT), (frame(1, flags=SWITCH), WRONG_FORMAT),
                (frame(1, bytes(9)), WRONG_LENGTH), (frame(1, bytes(13), FD), WRONG_LENGTH), (frame(1, length=65), WRONG_LENGTH),
                (frame(1, length=0xFFFFFFFF), WRONG_LENGTH), (frame(1, flags=64), BAD_ARGUMENT)):
            self.assertEqual(self.bits_of(given)[0], expected)
        most = Bits()
        self.assertEqual(takt.takt_can_max_frame_bits(65, FD, byref(most)), WRONG_LENGTH)
        self.assertEqual(takt.takt_can_max_frame_bits(8, SWITCH, byref(most)), WRONG_FORMAT)
        self.assertEqual(takt.takt_can_max_frame_bits(8, REMOTE, byref(most)), BAD_ARGUMENT)
        self.assertEqual(takt.takt_can_frame_bits(None, byref(most)), NULL_POINTER)

    def test_a_plan_is_added_up(self):
        plan = (Planned * 2)(Planned(1_000_000, 40, 8, 0, 0), Planned(1_000_000, 1, 0, 0, 0))
        load = Load()
        self.assertEqual(takt.takt_can_bus_load(plan, 2, 1_000_000, 5_000_000, 1_000_000, byref(load)), OK)
        self.assertAlmostEqual(load.worst, (40 * 135 + 55) / 1000)
        self.assertTrue(load.least < load.mean < load.worst)
        for change, expected in ((("period_ns", 0), BAD_PLAN), (("length", 9), WRONG_LENGTH), (("length", 300), WRONG_LENGTH),
                                 (("flags", REMOTE), BAD_ARGUMENT), (("reserved", 1), BAD_ARGUMENT)):
            other = (Planned * 1)(Planned(1_000_000, 1, 8, 0, 0))
            setattr(other[0], *change)
            self.assertEqual(takt.takt_can_bus_load(other, 1, 1_000_000, 5_000_000, 1_000_000, byref(load)), expected)
        for rates in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
            self.assertEqual(takt.takt_can_bus_load(plan, 0, *rates, byref(load)), BAD_PLAN)

    def test_log_lines_are_read_and_written(self):
        for line, expected, interface, direction in (
                (b"(1795208238.156435) vcan0 123#DEADBEEF",
                 (1795208238_156435000, 0x123, 0, 4, b"\xde\xad\xbe\xef"), b"vcan0", 0),
                (b"(0000000001.000000) can1 1ABCDEF0#00 R", (10**9, 0x1ABCDEF0, EXTENDED, 1, b"\0"), b"can1", 1),
                (b"(0000000001.000000) can1 123#R4 T", (10**9, 0x123, REMOTE, 4, bytes(4)), b"can1", 2),
                (b"(0000000001.000000) can1 5A1##3112233", (10**9, 0x5A1, FD | SWITCH | PASSIVE, 3, b"\x11\x22\x33"), b"can1", 0),
                (b"(0000000001.000000) can1 20000040#0000000000000000", (10**9, 0x40, ERROR, 8, bytes(8)), b"can1", 0)):
            entry, column, text = Entry(), c_uint32(99), create_string_buffer(301)
            self.assertEqual(takt.takt_candump_parse(line, len(line), byref(entry), byref(column)), OK)
            self.assertEqual((said(entry.frame), entry.interface, entry.direction), (expected, interface, direction))
            self.assertEqual(column.value, 99)
            self.assertEqual(takt.takt_candump_format(byref(entry), 0, text, 301), OK)
            self.assertEqual(text.value, line)
            self.assertEqual(takt.takt_candump_format(byref(entry), 0, text, len(line)), BUFFER_TOO_SMALL)
            self.assertEqual(takt.takt_candump_format(byref(entry), 0, text, len(line) + 1), OK)
        entry.frame.stamp_ns = 123456789
        self.assertEqual(takt.takt_candump_format(byref(entry), 1, text, 301), OK)
        self.assertTrue(text.value.startswith(b"(0000000000.123456789) "))

    def test_a_line_of_the_screen_of_candump_is_read(self):
        entry, line = Entry(), b" (1.5)  can0  RX B -  5A1  [03]  11 22 33"
        self.assertEqual(takt.takt_candump_parse(line, len(line), byref(entry), None), OK)
        self.assertEqual((said(entry.frame), entry.direction), ((1_500_000_000, 0x5A1, FD | SWITCH, 3, b"\x11\x22\x33"), 1))

    def test_log_lines_that_are_none_say_where(self):
        entry, column = Entry(direction=7), c_uint32()
        for line, expected, at in ((b"(1.5) can0 123#0", BAD_LINE, 16), (b"", BAD_LINE, 1), (b"(1.5) can0 FFF#", ID_TOO_LARGE, 15),
                                   (b"(99999999999.0) can0 1FF#", OUT_OF_RANGE, 15)):
            self.assertEqual(takt.takt_candump_parse(line, len(line), byref(entry), byref(column)), expected, line)
            self.assertEqual(takt.takt_candump_parse(line, len(line), byref(entry), None), expected)
            self.assertEqual(column.value, at, line)
        self.assertEqual(entry.direction, 7)
        text = create_string_buffer(301)
        for change, expected in ((("interface", b""), BAD_VALUE), (("interface", b"a b"), BAD_VALUE),
                                 (("interface", b"0123456789abcdef"), BAD_VALUE), (("direction", 3), BAD_ARGUMENT),
                                 (("frame", frame(0x800)), ID_TOO_LARGE), (("frame", frame(1, stamp_ns=-1)), OUT_OF_RANGE)):
            entry = Entry(frame(1), b"can0")
            setattr(entry, *change)
            self.assertEqual(takt.takt_candump_format(byref(entry), 0, text, 301), expected)

    def test_a_serial_adapter_is_spoken_to_and_understood(self):
        text = create_string_buffer(144)
        for given, expected in ((frame(0x123, b"\xde\xad"), b"t1232DEAD\r"), (frame(0x1ABCDEF0, b"", EXTENDED), b"T1ABCDEF00\r"),
                                (frame(0x123, b"", REMOTE, 4), b"r1234\r"),
                                (frame(1, bytes(12), FD | SWITCH), b"b0019" + b"00" * 12 + b"\r")):
            self.assertEqual(takt.takt_slcan_encode(byref(given), text, 144), OK)
            self.assertEqual(text.value, expected)
            self.assertEqual(takt.takt_slcan_encode(byref(given), text, len(expected)), BUFFER_TOO_SMALL)
        self.assertEqual(takt.takt_slcan_encode(byref(frame(1, bytes(64), FD | EXTENDED)), text, 144), OK)
        self.assertEqual(takt.takt_slcan_encode(byref(frame(1, flags=ERROR)), text, 144), WRONG_FORMAT)

        decoder = c_void_p()
        self.assertEqual(takt.takt_slcan_decoder_create(byref(decoder)), OK)
        stream = b"t1232DEADEA5F\rnonsense\r\rz\r\aF81\rS6\rT1ABCDEF"
        items = []
        for piece in (stream[:5], stream[5:]):
            while True:
                used, item = c_size_t(), Item()
                self.assertEqual(takt.takt_slcan_decode(decoder, piece, len(piece), byref(used), byref(item)), OK)
                piece = piece[used.value:]
                if item.kind == NOTHING:
                    break
                items.append(item)
        self.assertEqual([item.kind for item in items], [FRAME, DONE, TRANSMITTED, REFUSED, STATUS, COMMAND])
        self.assertEqual(said(items[0].frame), (0, 0x123, 0, 2, b"\xde\xad"))
        self.assertEqual([item.adapter_ms for item in items[:2]], [0xEA5F, -1])
        self.assertEqual((items[4].argument, chr(items[5].command), items[5].argument), (0x81, "S", 6))
        self.assertEqual(takt.takt_slcan_decoder_malformed(decoder), 1)
        self.assertEqual(takt.takt_slcan_decode(decoder, None, 0, byref(c_size_t()), byref(Item())), NULL_POINTER)
        takt.takt_slcan_decoder_destroy(decoder)
        takt.takt_slcan_decoder_destroy(None)

    def test_identifiers_of_j1939_are_their_bits(self):
        decoded, number = J1939Id(), c_uint32()
        numbers = random.Random(2)
        for _ in range(2000):
            given = numbers.getrandbits(29)
            self.assertEqual(takt.takt_j1939_decode_id(given, byref(decoded)), OK)
            destined = given >> 16 & 0xFF < 240
            self.assertEqual((decoded.priority, decoded.source), (given >> 26, given & 0xFF))
            self.assertEqual(decoded.pgn, given >> 8 & (0x3FF00 if destined else 0x3FFFF))
            self.assertEqual(decoded.destination, given >> 8 & 0xFF if destined else 255)
            self.assertEqual(takt.takt_j1939_encode_id(byref(decoded), byref(number)), OK)
            self.assertEqual(number.value, given)
        for wrong, expected in ((J1939Id(0xEA01, 6, 1, 2), BAD_VALUE), (J1939Id(0xF004, 6, 1, 2), BAD_VALUE),
                                (J1939Id(0xF004, 8, 1, 255), OUT_OF_RANGE), (J1939Id(0x40000, 6, 1, 255), OUT_OF_RANGE),
                                (J1939Id(0xF004, 6, 256, 255), OUT_OF_RANGE), (J1939Id(0xF004, 6, 1, 511), OUT_OF_RANGE)):
            self.assertEqual(takt.takt_j1939_encode_id(byref(wrong), byref(number)), expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
