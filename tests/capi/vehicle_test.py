#!/usr/bin/env python3
"""The vehicle's frames of the C API against those of furbot_peer.py, as datagrams in both directions.

    vehicle_test.py LIBRARY
"""

import random
import socket
import struct
import sys
import unittest
from ctypes import byref, c_int64, c_size_t, c_uint8, c_void_p, string_at

from bindings import VehicleControl as Control
from bindings import VehicleField as Field
from bindings import VehicleSystem as System
from bindings import BAD_ARGUMENT, NULL_POINTER, OK, constants, takt
import furbot_peer as peer
from vehicle_bindings import LITTLE_ENDIAN, NETWORK

(TOO_SHORT, TOO_LONG, BAD_MAGIC, TRUNCATED, BAD_LEN, DUPLICATE, COUNT_MISMATCH, NO_ROOM, UNKNOWN_SYSTEM, UNKNOWN_FIELD,
 OUT_OF_RANGE, BAD_LAYOUT, NO_BLOCK, NO_BYTE_ORDER) = constants(
     "ERROR_VEHICLE", "TOO_SHORT TOO_LONG BAD_MAGIC TRUNCATED_TLV BAD_LEN DUPLICATE_SID COUNT_MISMATCH NO_ROOM "
     "UNKNOWN_SYSTEM UNKNOWN_FIELD OUT_OF_RANGE BAD_LAYOUT NO_BLOCK NO_BYTE_ORDER")
TRACTION, STEERING = constants("SYSTEM", "TRACTION STEERING")
(UNKNOWN_STATE,) = constants("SYSTEM_STATE", "UNKNOWN")
U8, U32, I16 = constants("FIELD", "U8 U32 I16")


def any_block(generator, system):
    """Random numbers for all fields of a system, from random bytes."""
    _, layout, names = peer.BLOCKS[system]
    return dict(zip(names, struct.unpack(layout, generator.randbytes(struct.calcsize(layout)))))


class StatusFrame:
    """takt's end."""

    def __init__(self, layouts=None):
        self.handle = c_void_p()
        assert takt.takt_vehicle_status_create(layouts, byref(self.handle)) == OK

    def __del__(self):
        takt.takt_vehicle_status_destroy(self.handle)

    def decode(self, frame):
        return takt.takt_vehicle_status_decode(self.handle, frame, len(frame))

    def encode(self):
        out, size = (c_uint8 * 256)(), c_size_t()
        assert takt.takt_vehicle_status_encode(self.handle, out, len(out), byref(size)) == OK
        return bytes(out[:size.value])

    def state(self, system):
        return takt.takt_vehicle_status_state(self.handle, system)

    def value(self, system, name):
        value = c_int64()
        result = takt.takt_vehicle_status_value(self.handle, system, name.encode(), byref(value))
        return value.value if result == OK else result

    def block(self, system):
        block, size = c_void_p(), c_size_t()
        result = takt.takt_vehicle_status_block(self.handle, system, byref(block), byref(size))
        return string_at(block, size.value) if result == OK else result

    def set(self, system, name, value):
        return takt.takt_vehicle_status_set_value(self.handle, system, name.encode(), value)

    def set_block(self, system, block):
        return takt.takt_vehicle_status_set_block(self.handle, system, block, len(block))


class Wire:
    """Two connected sockets on loopback."""

    def __enter__(self):
        self.ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for end in self.ends:
            end.bind(("127.0.0.1", 0))
            end.settimeout(10)
        for end, other in zip(self.ends, reversed(self.ends)):
            end.connect(other.getsockname())
        return self

    def __exit__(self, *_):
        for end in self.ends:
            end.close()

    def carry(self, datagram):
        self.ends[0].send(datagram)
        return self.ends[1].recv(65536)


class VehicleTest(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(1)

    def check_same(self, status, blocks):
        self.assertEqual(takt.takt_vehicle_status_present(status.handle), sum(1 << s for s, _ in blocks))
        for system, block in blocks:
            for name, value in block.items():
                if name == "rest":
                    self.assertEqual(status.block(system)[1:], value)
                else:
                    self.assertEqual(status.value(system, name), value, (system, name))
            self.assertEqual(status.state(system), block["state"] % 256)

    def test_status_frames_of_the_peer_are_understood(self):
        status = StatusFrame()
        with Wire() as wire:
            for _ in range(300):
                systems = self.random.sample(sorted(peer.BLOCKS), self.random.randint(0, 12))
                blocks = [(system, any_block(self.random, system)) for system in systems]
                stamp = self.random.getrandbits(32)
                frame = wire.carry(peer.encode_status(stamp, blocks))
                self.assertEqual(status.decode(frame), OK)
                self.assertEqual(takt.takt_vehicle_status_stamp(status.handle), stamp)
                self.check_same(status, blocks)
                self.assertEqual(status.encode(), frame)

    def test_status_frames_are_understood_by_the_peer(self):
        with Wire() as wire:
            for _ in range(300):
                status = StatusFrame()
                systems = self.random.sample(sorted(peer.BLOCKS), self.random.randint(0, 12))
                blocks = [(system, any_block(self.random, system)) for system in systems]
                stamp = self.random.getrandbits(32)
                self.assertEqual(takt.takt_vehicle_status_set_stamp(status.handle, stamp), OK)
                for system, block in blocks:
                    if "rest" in block:
                        self.assertEqual(status.set_block(system, bytes([0]) + block["rest"]), OK)
                    for name, value in block.items():
                        if name != "rest":
                            self.assertEqual(status.set(system, name, value), OK)
                self.assertEqual(peer.decode_status(wire.carry(status.encode())), (stamp, blocks))

    def test_a_whole_frame_has_132_bytes(self):
        frame = peer.encode_status(7, [(system, any_block(self.random, system)) for system in peer.BLOCKS])
        self.assertEqual(len(frame), 132)
        self.assertEqual(StatusFrame().decode(frame), OK)

    def test_what_is_wrong_has_a_name_and_changes_nothing(self):
        steering = (STEERING, any_block(self.random, STEERING))
        good = peer.encode_status(7, [steering])
        status = StatusFrame()
        self.assertEqual(status.decode(good), OK)
        for frame, error in (
                (good[:11], TOO_SHORT), (b"", TOO_SHORT), (bytes(257), TOO_LONG), (bytes(65507), TOO_LONG), (bytes(20), BAD_MAGIC),
                (good[:-1], TRUNCATED), (good + b"\3", TRUNCATED), (good + b"\3\xff", TRUNCATED),
                (peer.encode_status(7, [(STEERING, bytes(4))]), BAD_LEN),
                (peer.encode_status(7, [steering, steering]), DUPLICATE),
                (good[:8] + b"\2" + good[9:], COUNT_MISMATCH)):
            self.assertEqual(status.decode(frame), error)
            self.assertEqual(status.encode(), good)

    def test_every_truncation_and_bit_flip_is_judged_as_the_peer_does(self):
        names = {"short": TOO_SHORT, "magic": BAD_MAGIC, "truncated": TRUNCATED, "length": BAD_LEN, "duplicate": DUPLICATE,
                 "count": COUNT_MISMATCH}
        frame = peer.encode_status(7, [(system, any_block(self.random, system)) for system in peer.BLOCKS])
        flips = [frame[:i // 8] + bytes([frame[i // 8] ^ 1 << i % 8]) + frame[i // 8 + 1:] for i in range(8 * len(frame))]
        status = StatusFrame()
        for bad in [frame[:size] for size in range(len(frame))] + flips:
            try:
                peer.decode_status(bad)
                expected = OK
            except peer.BadFrame as why:
                expected = names[str(why)]
            self.assertEqual(status.decode(bad), expected)

    def test_unknown_systems_are_counted_and_missing_ones_said(self):
        status = StatusFrame()
        self.assertEqual(status.decode(peer.encode_status(7, [(12, b"abc"), (200, b""), (12, b"")])), OK)
        self.assertEqual(takt.takt_vehicle_status_unknown_blocks(status.handle), 3)
        self.assertEqual(takt.takt_vehicle_status_present(status.handle), 0)
        self.assertEqual(status.state(TRACTION), UNKNOWN_STATE)
        self.assertEqual(status.value(TRACTION, "speed"), NO_BLOCK)
        self.assertEqual(status.block(TRACTION), NO_BLOCK)
        self.assertEqual(status.value(12, "speed"), UNKNOWN_SYSTEM)
        self.assertEqual(status.value(2**32 - 1, "speed"), UNKNOWN_SYSTEM)
        self.assertEqual(status.value(TRACTION, "colour"), UNKNOWN_FIELD)

    def test_what_does_not_fit_is_refused(self):
        status = StatusFrame()
        self.assertEqual(status.set(STEERING, "current_angle", 32768), OUT_OF_RANGE)
        self.assertEqual(status.set(STEERING, "colour", 1), UNKNOWN_FIELD)
        self.assertEqual(status.set(12, "state", 1), UNKNOWN_SYSTEM)
        self.assertEqual(status.set_block(STEERING, bytes(6)), BAD_LEN)
        self.assertEqual(takt.takt_vehicle_status_encode(status.handle, (c_uint8 * 11)(), 11, byref(c_size_t())), NO_ROOM)
        self.assertEqual(takt.takt_vehicle_status_decode(None, b"", 0), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_status_state(None, TRACTION), UNKNOWN_STATE)

    def test_control_frames_go_both_ways_in_both_orders(self):
        with Wire() as wire:
            for i in range(300):
                little = i % 2
                bits = self.random.getrandbits
                numbers = bits(32), bits(32) - 2**31, bits(32) - 2**31, bits(32)
                control = Control()
                frame = wire.carry(peer.encode_control(*numbers, little))
                order = LITTLE_ENDIAN if little else NETWORK
                self.assertEqual(takt.takt_vehicle_control_decode(frame, len(frame), order, byref(control)), OK)
                self.assertEqual((control.stamp, control.steer, control.throttle, control.brake), numbers)
                out = (c_uint8 * 20)()
                self.assertEqual(takt.takt_vehicle_control_encode(byref(control), order, out, 20), OK)
                self.assertEqual(peer.decode_control(wire.carry(bytes(out)), little), numbers)

    def test_control_frames_that_are_none_are_refused(self):
        frame, control = peer.encode_control(1, 2, 3, 4), Control()
        for bad, error in ((frame[:19], TOO_SHORT), (frame + b"\0", BAD_LEN), (b"ATSF" + frame[4:], BAD_MAGIC)):
            self.assertEqual(takt.takt_vehicle_control_decode(bad, len(bad), NETWORK, byref(control)), error)
        self.assertEqual(takt.takt_vehicle_control_encode(byref(control), NETWORK, (c_uint8 * 19)(), 19), NO_ROOM)

    def test_no_byte_order_is_a_default(self):
        frame, control, out = peer.encode_control(1, 2, 3, 4), Control(), (c_uint8 * 20)()
        for order, error in ((0, NO_BYTE_ORDER), (3, BAD_ARGUMENT), (-1, BAD_ARGUMENT)):
            self.assertEqual(takt.takt_vehicle_control_decode(frame, len(frame), order, byref(control)), error)
            self.assertEqual(takt.takt_vehicle_control_encode(byref(control), order, out, 20), error)
        self.assertEqual((control.stamp, bytes(out)), (0, bytes(20)))

    def test_stamps_are_those_of_the_peer_and_find_their_turn(self):
        for _ in range(300):
            seconds = self.random.randint(0, 4 * 10**9)
            stamp = peer.stamp_of(seconds)
            self.assertEqual(takt.takt_vehicle_stamp(seconds * 10**9), stamp)
            receiver = seconds + self.random.randint(-24 * 86400, 24 * 86400)
            self.assertEqual(takt.takt_vehicle_stamp_unwrap_ns(stamp, receiver * 10**9), seconds * 10**9)
        self.assertEqual(takt.takt_vehicle_stamp_difference_ns(2, 2**32 - 3), 5_000_000)
        for end in (2**63 - 1, -2**63):
            self.assertLess(abs(takt.takt_vehicle_stamp_unwrap_ns(0, end) - end), 100 * 86400 * 10**9)


class LayoutsTest(unittest.TestCase):
    def make(self, *systems):
        """Each system: (id, bytes, (name, offset, type)...)."""
        rows = (System * len(systems))()
        for row, (system, size, *fields) in zip(rows, systems):
            table = (Field * len(fields))(*((name.encode(), offset, kind) for name, offset, kind in fields))
            row.system, row.bytes, row.fields, row.count = system, size, table, len(fields)
        layouts = c_void_p()
        return takt.takt_vehicle_layouts_create(rows, len(rows), byref(layouts)), layouts

    def test_a_table_of_ones_own_says_where_the_numbers_stand(self):
        result, layouts = self.make((STEERING, 6, ("target_angle", 0, I16), ("current_angle", 2, I16), ("state", 5, U8)),
                                    (31, 5, ("state", 0, U8), ("height", 1, U32)))
        self.assertEqual(result, OK)
        status = StatusFrame(layouts)
        takt.takt_vehicle_layouts_destroy(layouts)
        frame = peer.encode_status(7, [(31, struct.pack(">BI", 2, 2**32 - 1))])[:12]
        frame = frame[:8] + b"\2" + frame[9:] + struct.pack(">BBhhxB", 4, 6, -5, 300, 3) + struct.pack(">BBBI", 31, 5, 2, 2**32 - 1)
        self.assertEqual(status.decode(frame), OK)
        self.assertEqual(status.value(STEERING, "target_angle"), -5)
        self.assertEqual(status.value(STEERING, "current_angle"), 300)
        self.assertEqual(status.state(STEERING), 3)
        self.assertEqual(status.value(31, "height"), 2**32 - 1)
        self.assertEqual(status.value(TRACTION, "speed"), UNKNOWN_SYSTEM)
        self.assertEqual(status.encode(), frame)

    def test_tables_that_are_none_are_refused(self):
        state = ("state", 0, U8)
        for bad in ((32, 1, state), (2**32 - 1, 1, state), (20, 0, state), (20, 243, state), (20, 256, state), (20, 1),
                    (20, 1, ("state", 1, U8)), (20, 1, ("state", 256, U8)), (20, 1, ("state", 0, 3)), (20, 8, ("state", 0, I16)),
                    (STEERING, 5, state)):
            self.assertEqual(self.make(bad)[0], BAD_LAYOUT, bad)
        self.assertEqual(self.make((20, 1, state), (20, 1, state))[0], BAD_LAYOUT)
        self.assertEqual(self.make()[0], BAD_LAYOUT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
