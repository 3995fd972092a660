#!/usr/bin/env python3
"""DBC files of the C API. Python's own struct computes the contents of the frames.

    dbc_test.py LIBRARY
"""

import math
import random
import struct
import sys
import unittest
from ctypes import byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_void_p, create_string_buffer, sizeof

from bindings import DbcMessage as Message
from bindings import DbcReading as Reading
from bindings import DbcSignal as Signal
from bindings import BAD_ARGUMENT, NULL_POINTER, OK, WRONG_STRUCT_SIZE, constants, initialise, takt

UNEXPECTED_ID, WRONG_LENGTH, NOT_FINITE, OUT_OF_RANGE, BAD_DBC, UNKNOWN_SELECTOR, WRONG_COUNT = constants(
    "ERROR_CAN", "UNEXPECTED_ID WRONG_LENGTH NOT_FINITE OUT_OF_RANGE BAD_DBC UNKNOWN_SELECTOR WRONG_COUNT")
REFUSE, CLAMP, WRAP = constants("OVERFLOW", "ERROR CLAMP WRAP")

# Messages that struct packs as "<hHbBf" and ">hIH", one with a selector, and one of J1939.
TEXT = """BU_: Drive Master
BO_ 256 Little: 10 Drive
 SG_ position : 0|16@1- (0.001,0) [0|0] "rad" Master
 SG_ current : 16|16@1+ (0.01,-100) [0|0] "A" Master
 SG_ offset : 32|8@1- (1,0) [-100|100] "" Master
 SG_ state : 40|8@1+ (1,0) [0|0] "" Master
 SG_ torque : 48|32@1- (1,0) [0|0] "N m" Master
BO_ 2147484160 Big: 8 Drive
 SG_ speed : 7|16@0- (0.5,0) [0|0] "rad/s" Master
 SG_ count : 23|32@0+ (1,0) [0|0] "" Master
 SG_ voltage : 55|16@0+ (0.1,2) [0|0] "°V" Master
BO_ 3 Paged: 3 Drive
 SG_ page M : 0|8@1+ (1,0) [0|0] "" Master
 SG_ a m0 : 8|16@1+ (1,0) [0|0] "" Master
 SG_ b m1 : 8|16@1- (1,0) [0|0] "" Master
BO_ 2364540158 EEC1: 8 Drive
 SG_ EngineSpeed : 24|16@1+ (0.125,0) [0|8031.875] "rpm" Master
 SG_ nonsense
BA_DEF_ BO_ "GenMsgCycleTime" INT 0 65535;
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","J1939PG","StandardCAN_FD";
BA_DEF_DEF_ "VFrameFormat" "StandardCAN";
BA_ "GenMsgCycleTime" BO_ 256 10;
BA_ "VFrameFormat" BO_ 256 2;
BA_ "VFrameFormat" BO_ 2364540158 1;
SIG_VALTYPE_ 256 torque : 1;
"""


VALUE, NOT_SELECTED, CUT_OFF, NOT_AVAILABLE, ERROR_INDICATOR, RESERVED = constants(
    "PRESENCE", "VALUE NOT_SELECTED CUT_OFF NOT_AVAILABLE ERROR_INDICATOR RESERVED")

# States beyond a range, and a label of a selector's number without signals.
STATES = """BU_: A
BO_ 1 Motor: 4 A
 SG_ page M : 0|8@1+ (1,0) [0|0] "" A
 SG_ speed : 15|8@0- (0.5,1) [-30|30] "rad/s" A
 SG_ first m0 : 16|16@1+ (1,0) [0|0] "" A
VAL_ 1 page 3 "idle" ;
VAL_ 1 speed -128 "error" 0 "standing" ;
"""


class StatesTest(unittest.TestCase):
    def setUp(self):
        self.dbc = c_void_p()
        text = STATES.encode()
        self.assertEqual(takt.takt_dbc_create(text, len(text), 1, None, 0, byref(self.dbc)), OK)

    def tearDown(self):
        takt.takt_dbc_destroy(self.dbc)

    def read(self, data, short=0, count=3):
        readings = (Reading * count)()
        result = takt.takt_dbc_read(self.dbc, 0, data, len(data), short, readings, count)
        return result, [(one.presence, one.number, None if one.label is None else one.label.decode()) for one in readings]

    def test_numbers_labels_and_presence_are_read(self):
        self.assertEqual(self.read(b"\0\x80\2\1"), (OK, [(VALUE, 0, ""), (VALUE, -128, "error"), (VALUE, 0x102, "")]))
        self.assertEqual(self.read(b"\3\0\2\1"), (OK, [(VALUE, 3, "idle"), (VALUE, 0, "standing"), (NOT_SELECTED, 0, "")]))
        self.assertEqual(self.read(b"\0\1\2", 1), (OK, [(VALUE, 0, ""), (VALUE, 1, ""), (CUT_OFF, 0, "")]))
        nothing = [(0, 0, None)] * 3
        self.assertEqual(self.read(b"\0\1\2"), (WRONG_LENGTH, nothing))
        self.assertEqual(self.read(b"\1\1\2\3"), (OK, [(VALUE, 1, ""), (VALUE, 1, ""), (NOT_SELECTED, 0, "")]))
        self.assertEqual(self.read(b"\0\1\2\3", 0, 2)[0], WRONG_COUNT)
        self.assertEqual(takt.takt_dbc_read(self.dbc, 0, None, 0, 0, None, 0), NULL_POINTER)

    def test_the_layout_is_described(self):
        said = initialise(Signal())
        for index, expected in enumerate(((0, 8, 0, 0, -1, 1), (15, 8, 1, 1, -1, 2), (16, 16, 0, 0, 0, 0))):
            self.assertEqual(takt.takt_dbc_describe_signal(self.dbc, 0, index, byref(said)), OK)
            self.assertEqual((said.start, said.bits, said.big_endian, said.number, said.selector, said.labels), expected)
        said.struct_size = Signal.start.offset  # of a program that was compiled with an older header
        said.bits = 99
        self.assertEqual(takt.takt_dbc_describe_signal(self.dbc, 0, 1, byref(said)), OK)
        self.assertEqual((said.maximum, said.bits), (30, 99))

    def test_value_tables_are_listed(self):
        number, label, value = c_int64(), c_char_p(), c_double()
        self.assertEqual(takt.takt_dbc_label_at(self.dbc, 0, 1, 0, byref(number), byref(label)), OK)
        self.assertEqual((number.value, label.value), (-128, b"error"))
        self.assertEqual(takt.takt_dbc_label_at(self.dbc, 0, 1, 2, byref(number), byref(label)), BAD_ARGUMENT)
        self.assertEqual(takt.takt_dbc_value_of(self.dbc, 0, 1, b"error", byref(value)), OK)
        self.assertEqual(value.value, -63)
        self.assertEqual(takt.takt_dbc_value_of(self.dbc, 0, 1, b"nothing", byref(value)), BAD_ARGUMENT)

    def explain(self, values):
        given, signal, why = (c_double * len(values))(*values), c_size_t(), create_string_buffer(200)
        result = takt.takt_dbc_explain(self.dbc, 0, given, len(values), REFUSE, byref(signal), why, 200)
        data = (c_uint8 * 4)()
        self.assertEqual(takt.takt_dbc_encode(self.dbc, 0, given, len(values), REFUSE, data, 4), result)
        return result, signal.value, why.value.decode()

    def test_a_state_is_sent_and_a_value_beyond_the_range_is_refused_by_name(self):
        none = 2 ** (8 * sizeof(c_size_t)) - 1
        self.assertEqual(self.explain([0, -63, 7])[:2], (OK, none))
        self.assertEqual(self.explain([0, -62.5, 7]), (
            OUT_OF_RANGE, 1, "message Motor, signal speed: -62.5 cannot be sent; allowed are -30 to 30 rad/s, or -63 (error)"))
        self.assertEqual(self.explain([0, math.nan, 7])[:2], (NOT_FINITE, 1))
        self.assertEqual(self.explain([1, 0, 7])[:2], (UNKNOWN_SELECTOR, 0))
        self.assertEqual(self.explain([3, 0, math.nan])[:2], (OK, none))
        self.assertEqual(self.explain([0, 0])[:2], (WRONG_COUNT, none))


class DbcTest(unittest.TestCase):
    def setUp(self):
        self.dbc = c_void_p()
        text = TEXT.encode()
        self.assertEqual(takt.takt_dbc_create(text, len(text), 0, None, 0, byref(self.dbc)), OK)

    def tearDown(self):
        takt.takt_dbc_destroy(self.dbc)

    def message(self, name):
        index = c_size_t(99)
        self.assertEqual(takt.takt_dbc_find_message(self.dbc, name.encode(), byref(index)), OK)
        return index.value

    def decode(self, name, data, count=5):
        values = (c_double * count)(*[7] * count)
        return takt.takt_dbc_decode(self.dbc, self.message(name), data, len(data), values, count), list(values)

    def encode(self, name, values, policy=REFUSE, size=10):
        data = (c_uint8 * size)(*[0xAA] * size)
        given = (c_double * max(len(values), 1))(*values)
        return takt.takt_dbc_encode(self.dbc, self.message(name), given, len(values), policy, data, size), bytes(data)

    def test_messages_are_described(self):
        self.assertEqual(takt.takt_dbc_messages(self.dbc), 4)
        said = initialise(Message())
        self.assertEqual(said.struct_size, sizeof(Message))
        self.assertEqual(takt.takt_dbc_describe_message(self.dbc, 0, byref(said)), OK)
        self.assertEqual((said.id, said.extended, said.fd, said.j1939, said.length, said.signals, said.cycle_ns, said.name,
                          said.sender), (256, 0, 1, 0, 10, 5, 10_000_000, b"Little", b"Drive"))
        self.assertEqual(takt.takt_dbc_describe_message(self.dbc, 3, byref(said)), OK)
        self.assertEqual((said.id, said.extended, said.j1939), (0x0CF004FE, 1, 1))
        self.assertEqual(takt.takt_dbc_describe_message(self.dbc, 4, byref(said)), BAD_ARGUMENT)
        said.struct_size = 4
        self.assertEqual(takt.takt_dbc_describe_message(self.dbc, 0, byref(said)), WRONG_STRUCT_SIZE)

    def test_signals_are_described(self):
        said = initialise(Signal())
        index = c_size_t()
        big = self.message("Big")
        self.assertEqual(takt.takt_dbc_find_signal(self.dbc, big, b"voltage", byref(index)), OK)
        self.assertEqual(takt.takt_dbc_describe_signal(self.dbc, big, index, byref(said)), OK)
        self.assertEqual((said.name, said.unit.decode(), said.scale, said.offset), (b"voltage", "°V", 0.1, 2))
        self.assertEqual(takt.takt_dbc_describe_signal(self.dbc, 2, 0, byref(said)), OK)
        self.assertEqual(said.is_selector, 1)
        self.assertEqual(takt.takt_dbc_describe_signal(self.dbc, 0, 5, byref(said)), BAD_ARGUMENT)
        self.assertEqual(takt.takt_dbc_find_signal(self.dbc, big, b"position", byref(index)), BAD_ARGUMENT)

    def test_frames_are_found(self):
        index = c_size_t(99)
        for number, extended, expected in ((256, 0, 0), (512, 1, 1), (3, 0, 2), (0x0CF004FE, 1, 3), (0x18F00401, 1, 3)):
            self.assertEqual(takt.takt_dbc_find(self.dbc, number, extended, byref(index)), OK)
            self.assertEqual(index.value, expected)
        for number, extended in ((257, 0), (256, 1), (0xFFFFFFFF, 1), (0xFFFFFFFF, 0)):
            self.assertEqual(takt.takt_dbc_find(self.dbc, number, extended, byref(index)), UNEXPECTED_ID)
        self.assertEqual(takt.takt_dbc_find_message(self.dbc, b"Small", byref(index)), BAD_ARGUMENT)

    def test_frames_hold_what_struct_says(self):
        numbers = random.Random(1)
        for _ in range(2000):
            data = numbers.randbytes(10)
            p, c, o, s, t = struct.unpack("<hHbBf", data)
            result, values = self.decode("Little", data)
            self.assertEqual(result, OK)
            self.assertEqual(values[:4], [p * 0.001, c * 0.01 + -100, o, s])
            self.assertTrue(values[4] == t or (math.isnan(values[4]) and math.isnan(t)))
            if -100 <= o <= 100 and math.isfinite(t):
                self.assertEqual(self.encode("Little", values), (OK, data))

            data = numbers.randbytes(8)
            v, n, u = struct.unpack(">hIH", data)
            result, values = self.decode("Big", data, 3)
            self.assertEqual((result, values), (OK, [v * 0.5, n, u * 0.1 + 2]))
            self.assertEqual(self.encode("Big", values, size=8), (OK, data))

    def test_values_are_rounded_to_even_and_overflow_as_asked(self):
        for number in (-2.5, -1.5, -0.5, 0.5, 1.5, 2.4999):
            _, data = self.encode("Big", [number * 0.5, 0, 2], size=8)
            self.assertEqual(data, struct.pack(">hIH", round(number), 0, 0))
        self.assertEqual(self.encode("Big", [0, -1, 2], size=8)[0], OUT_OF_RANGE)
        self.assertEqual(self.encode("Big", [0, -1, 2], CLAMP, 8), (OK, struct.pack(">hIH", 0, 0, 0)))
        self.assertEqual(self.encode("Big", [0, -1, 2], WRAP, 8), (OK, struct.pack(">hIH", 0, 2**32 - 1, 0)))
        for policy in (REFUSE, CLAMP, WRAP):
            self.assertEqual(self.encode("Big", [math.nan, 0, 2], policy, 8), (NOT_FINITE, b"\xaa" * 8))
        self.assertEqual(self.encode("Big", [0, 0, 2], 3, 8)[0], BAD_ARGUMENT)

    def test_selectors_choose(self):
        result, values = self.decode("Paged", b"\x01\xfe\xff", 3)
        self.assertEqual((result, values[0], values[2]), (OK, 1, -2))
        self.assertTrue(math.isnan(values[1]))
        result, values = self.decode("Paged", b"\x02\0\0", 3)  # a selector without signals
        self.assertEqual((result, values[0]), (OK, 2))
        self.assertTrue(math.isnan(values[1]) and math.isnan(values[2]))
        self.assertEqual(self.encode("Paged", [1, math.nan, -2], size=3), (OK, b"\x01\xfe\xff"))

    def test_what_j1939_says_instead_of_a_value_is_none(self):
        for word, is_value in ((0xFAFF, True), (0xFB00, False), (0xFEFF, False), (0xFFFF, False)):
            result, values = self.decode("EEC1", b"\0\0\0" + struct.pack("<H", word) + b"\0\0\0", 1)
            self.assertEqual((result, not math.isnan(values[0])), (OK, is_value))
        self.assertEqual(self.encode("EEC1", [math.nan], size=8), (OK, b"\xff" * 8))

    def test_a_counter_and_a_checksum_are_sent_and_checked(self):
        def crc8_j1850(data):
            crc = 0xFF
            for byte in data:
                crc ^= byte
                for _ in range(8):
                    crc = (crc << 1 ^ 0x1D) & 0xFF if crc & 0x80 else crc << 1
            return crc ^ 0xFF

        def protection(rule=b"Paged:page:low:crc8_j1850"):
            made, why = c_void_p(), create_string_buffer(200)
            result = takt.takt_dbc_protection_create(dbc, rule, why, 200, byref(made))
            return result, made, why.value.decode()

        dbc = c_void_p()
        text = b"BU_: A\nBO_ 1 Paged: 3 A\n" + b"".join(
            b' SG_ %s : %d|8@1+ (1,0) [0|0] "" A\n' % row for row in ((b"page", 0), (b"low", 8), (b"high", 16)))
        self.assertEqual(takt.takt_dbc_create(text, len(text), 1, None, 0, byref(dbc)), OK)
        (made, sender, _), (_, receiver, _) = protection(), protection()
        self.assertEqual(made, OK)
        verdict, seen = c_int32(), []
        for count in range(300):
            data = (c_uint8 * 3)(0xEE, 0xEE, count % 7)
            self.assertEqual(takt.takt_dbc_protect(sender, data, 3), OK)
            self.assertEqual(bytes(data), bytes([count % 256, crc8_j1850([count % 256, count % 7]), count % 7]))
            if count == 5:
                continue
            data[2] ^= count == 3
            self.assertEqual(takt.takt_dbc_check(receiver, data, 3, byref(verdict)), OK)
            seen.append(verdict.value)
        good, lost, wrong = constants("DBC", "GOOD FRAMES_LOST WRONG_CHECKSUM")
        self.assertEqual(seen, [good] * 3 + [wrong, lost, lost] + [good] * 293)
        self.assertEqual(takt.takt_dbc_protect(sender, data, 2), WRONG_LENGTH)
        self.assertEqual(takt.takt_dbc_protect(None, data, 3), NULL_POINTER)
        self.assertEqual(takt.takt_dbc_check(receiver, None, 3, byref(verdict)), NULL_POINTER)
        result, _, why = protection(b"Paged:page:lost:crc8_j1850")
        self.assertNotEqual(result, OK)
        self.assertIn("lost", why)
        for one in (sender, receiver, None):
            takt.takt_dbc_protection_destroy(one)
        takt.takt_dbc_destroy(dbc)

    def test_short_and_missing_arguments_are_refused(self):
        self.assertEqual(self.decode("Big", b"\0" * 7, 3), (WRONG_LENGTH, [7, 7, 7]))
        self.assertEqual(self.decode("Big", b"\0" * 8, 2), (WRONG_COUNT, [7, 7]))
        self.assertEqual(self.encode("Big", [0, 0, 2], size=7)[0], WRONG_LENGTH)
        self.assertEqual(takt.takt_dbc_decode(None, 0, b"", 0, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_dbc_decode(self.dbc, 9, b"", 0, None, 0), BAD_ARGUMENT)
        self.assertEqual(takt.takt_dbc_decode(self.dbc, 0, None, 0, None, 0), NULL_POINTER)
        takt.takt_dbc_destroy(None)

    def test_what_is_wrong_with_a_file_is_said(self):
        self.assertRegex(takt.takt_dbc_warnings(self.dbc).decode(), r"^line 19, column \d+: .*\n$")
        self.assertEqual(takt.takt_dbc_warnings(None), b"")
        none, why = c_void_p(), create_string_buffer(b"\xee" * 200)
        text = TEXT.encode()
        self.assertEqual(takt.takt_dbc_create(text, len(text), 1, why, 200, byref(none)), BAD_DBC)
        self.assertRegex(why.value.decode(), r"^line 19, column \d+: ")
        self.assertEqual(takt.takt_dbc_create(text, len(text), 1, why, 5, byref(none)), BAD_DBC)
        self.assertEqual(why.value, b"line")
        self.assertEqual(why.raw[5:6], b"1")  # beyond what was given, nothing was written
        self.assertIsNone(none.value)
        self.assertEqual(takt.takt_dbc_create(None, 0, 0, None, 0, byref(none)), NULL_POINTER)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
