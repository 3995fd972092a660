#!/usr/bin/env python3
"""Tests the channels of the C API against a commander written in Python from the description, and against each
other.

    secure_test.py LIBRARY
"""

import os
import pathlib
import sys
import tempfile
import unittest
from ctypes import byref, c_int32, c_size_t, c_uint8, c_void_p, create_string_buffer, sizeof, string_at

from bindings import ChannelKey as Key
from bindings import ChannelLimits as Limits
from bindings import BAD_ARGUMENT, NULL_POINTER, OK, WRONG_STRUCT_SIZE, constants, initialise, takt
import channel_peer as peer

(NO_ROOM, OUT_OF_RANGE, WRONG_VERSION, UNEXPECTED_KIND, UNKNOWN_KEY, UNKNOWN_SESSION, BAD_TAG, REPLAYED, OVERTAKEN,
 TOO_OLD, CLOCK_JUMPED, NOT_ESTABLISHED, STALE_HANDSHAKE, BUSY, SEQUENCE_END, NO_KEY) = constants(
     "ERROR_SECURE", "NO_ROOM OUT_OF_RANGE WRONG_VERSION UNEXPECTED_KIND UNKNOWN_KEY UNKNOWN_SESSION BAD_TAG REPLAYED "
     "OVERTAKEN TOO_OLD CLOCK_JUMPED NOT_ESTABLISHED STALE_HANDSHAKE BUSY SEQUENCE_END NO_KEY")
NO_KEY_FILE, KEY_FILE_MODE, KEY_FILE_SIZE = constants("ERROR_PLATFORM", "NO_KEY_FILE KEY_FILE_MODE KEY_FILE_SIZE")
MS = 1_000_000
NEVER, AT_ONCE = (1 << 63) - 1, -(1 << 63)


def key(number):
    return Key(number, (c_uint8 * 16)(*range(number, number + 16)))


class Channel:
    def __init__(self, create, *arguments):
        self.handle = c_void_p()
        self.status = create(*arguments, byref(self.handle))

    def __del__(self):
        takt.takt_channel_destroy(self.handle)

    def open(self, datagram, now):
        """Returns (payload, stop), or a status."""
        payload, size, stop = c_void_p(), c_size_t(), c_int32()
        kept = create_string_buffer(datagram, len(datagram))
        code = takt.takt_channel_open(self.handle, kept, len(datagram), now, byref(payload), byref(size), byref(stop))
        return (string_at(payload, size.value), stop.value) if code == OK else code

    def seal(self, payload, now, stop=0, room=200):
        out, size = create_string_buffer(room), c_size_t()
        code = takt.takt_channel_seal(self.handle, payload, len(payload), stop, now, out, room, byref(size))
        return out.raw[:size.value] if code == OK else code

    def handshake(self, now, room=88):
        out, size = create_string_buffer(room), c_size_t()
        code = takt.takt_channel_poll_handshake(self.handle, now, out, room, byref(size))
        return out.raw[:size.value] if code == OK else code

    def established(self, now):
        return takt.takt_channel_established(self.handle, now)

    def next_handshake(self):
        return takt.takt_channel_next_handshake_ns(self.handle)

    def refused(self, code):
        return takt.takt_channel_refused(self.handle, code)


def vehicle(*keys, limits=None):
    return Channel(takt.takt_channel_create_vehicle, (Key * len(keys))(*keys), len(keys), limits)


def commander(one, limits=None):
    return Channel(takt.takt_channel_create_commander, one, limits)


class ChannelTest(unittest.TestCase):
    def test_siphash_of_the_peer_is_right(self):
        self.assertEqual(peer.siphash128(bytes(range(16)), bytes(range(63))).hex(), "5150d1772f50834a503e069a973fbd7c")

    def test_vehicle_believes_a_commander_written_from_the_description(self):
        ours = vehicle(key(2), key(3))
        theirs = peer.Commander(bytes(range(3, 19)), 3, os.urandom(16))
        there, here = 10**15, 77 * MS  # two unrelated clocks
        self.assertEqual(ours.next_handshake(), NEVER)
        self.assertEqual(ours.open(theirs.hello(there), here), (b"", 0))
        self.assertEqual(ours.next_handshake(), AT_ONCE)
        confirm = theirs.confirm(ours.handshake(here), there + MS)
        self.assertEqual(ours.open(confirm, here + MS), (b"", 0))
        self.assertEqual(theirs.telemetry(ours.handshake(here + MS)), b"")
        self.assertEqual(ours.established(here + MS), 1)
        self.assertEqual(ours.open(theirs.command(b"drive", there + 2 * MS), here + 3 * MS), (b"drive", 0))
        self.assertEqual(ours.open(theirs.command(b"stop", there + 3 * MS, peer.STOP), here + 3 * MS), (b"stop", 1))
        self.assertEqual(theirs.telemetry(ours.seal(b"status", here + 4 * MS)), b"status")

        replayed = theirs.command(b"once", there + 5 * MS)
        old = theirs.command(b"old", there + 5 * MS)
        self.assertEqual(ours.open(replayed, here + 5 * MS), (b"once", 0))
        self.assertEqual(ours.open(replayed, here + 5 * MS), REPLAYED)
        self.assertEqual(ours.open(old, here + 400 * MS), TOO_OLD)
        self.assertEqual(ours.open(old[:-1] + bytes([old[-1] ^ 1]), here + 5 * MS), BAD_TAG)
        self.assertEqual([ours.refused(code) for code in (REPLAYED, TOO_OLD, BAD_TAG, UNKNOWN_KEY, OK)], [1, 1, 1, 0, 0])
        self.assertEqual(ours.open(peer.Commander(bytes(16), 9, bytes(16)).hello(there), here), UNKNOWN_KEY)

    def test_both_ends_of_the_library(self):
        car, driver = vehicle(key(1)), commander(key(1))
        now = 0
        self.assertEqual(driver.next_handshake(), AT_ONCE)
        self.assertEqual(driver.seal(b"x", now), NOT_ESTABLISHED)
        self.assertEqual(driver.handshake(now, room=79), NO_ROOM)
        for _ in range(2):
            self.assertEqual(car.open(driver.handshake(now), now), (b"", 0))
            self.assertEqual(driver.open(car.handshake(now), now), (b"", 0))
            now += MS
        self.assertEqual((car.established(now), driver.established(now)), (1, 1))
        for stop in (0, 1):
            self.assertEqual(car.open(driver.seal(b"frame", now, stop), now), (b"frame", stop))
        self.assertEqual(driver.open(car.seal(b"news", now), now), (b"news", 0))
        self.assertEqual(driver.seal(b"frame", now, room=52), NO_ROOM)
        self.assertEqual(driver.handshake(now), b"")
        self.assertEqual(driver.next_handshake(), now + 500 * MS)
        self.assertEqual(driver.established(now + 70_000 * MS), 0)

    def test_any_time_is_borne(self):
        for first in (AT_ONCE, 0, NEVER):
            for second in (AT_ONCE, 0, NEVER):
                car, driver = vehicle(key(1)), commander(key(1))
                self.assertEqual(car.open(driver.handshake(first), first), (b"", 0))
                self.assertIn(driver.open(car.handshake(first), second), ((b"", 0), STALE_HANDSHAKE))
                if driver.next_handshake() == AT_ONCE:
                    car.open(driver.handshake(second), second)
                    driver.open(car.handshake(second), second)
                for now in (first, second):
                    self.assertEqual(isinstance(driver.seal(b"frame", now), bytes), driver.established(now) == 1)

    def test_plain_channel_passes_all(self):
        plain = Channel(takt.takt_channel_create_plain)
        self.assertEqual(plain.seal(b"frame", 0, stop=1), b"frame")
        self.assertEqual(plain.open(b"frame", 0), (b"frame", 0))
        self.assertEqual((plain.established(0), plain.next_handshake(), plain.handshake(0)), (1, NEVER, b""))
        self.assertEqual(plain.refused(BAD_TAG), 0)

    def test_nothing_is_made_without_a_key_or_of_bad_limits(self):
        self.assertEqual(vehicle().status, NO_KEY)
        self.assertEqual(vehicle(key(1), key(2), key(3)).status, NO_KEY)
        self.assertEqual(vehicle(key(1), key(1)).status, NO_KEY)
        self.assertEqual(commander(Key(1)).status, NO_KEY)
        self.assertEqual(commander(None).status, NULL_POINTER)
        limits = Limits()
        self.assertEqual(commander(key(1), limits).status, WRONG_STRUCT_SIZE)
        initialise(limits)
        self.assertEqual(limits.struct_size, sizeof(Limits))
        self.assertEqual(commander(key(1), limits).status, OK)
        limits.age_ns = 1
        self.assertEqual(commander(key(1), limits).status, OUT_OF_RANGE)
        self.assertEqual(vehicle(key(1), limits=limits).status, OUT_OF_RANGE)
        limits.age_ns, limits.reserved = 0, 1
        self.assertEqual(commander(key(1), limits).status, BAD_ARGUMENT)
        self.assertEqual(vehicle(key(1), limits=limits).status, BAD_ARGUMENT)

    def test_null_is_answered(self):
        takt.takt_channel_destroy(None)
        takt.takt_channel_limits_init(None, 0)
        self.assertEqual(takt.takt_channel_create_plain(None), NULL_POINTER)
        self.assertEqual(takt.takt_channel_open(None, b"", 0, 0, None, None, None), NULL_POINTER)
        self.assertEqual(takt.takt_channel_seal(None, b"", 0, 0, 0, None, 0, None), NULL_POINTER)
        self.assertEqual(takt.takt_channel_poll_handshake(None, 0, None, 0, None), NULL_POINTER)
        self.assertEqual(takt.takt_channel_key_read(None, 1, None, None, 0), NULL_POINTER)
        self.assertEqual((takt.takt_channel_established(None, 0), takt.takt_channel_refused(None, BAD_TAG)), (0, 0))
        self.assertEqual(takt.takt_channel_next_handshake_ns(None), NEVER)

    def test_key_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "key"
            read, why = Key(), create_string_buffer(20)
            self.assertEqual(takt.takt_channel_key_read(bytes(path), 4, read, why, 20), NO_KEY_FILE)
            self.assertEqual(why.value, (str(path) + ": No such file or directory").encode()[:19])
            path.write_bytes(bytes(range(16)))
            path.chmod(0o644)
            self.assertEqual(takt.takt_channel_key_read(bytes(path), 4, read, None, 0), KEY_FILE_MODE)
            self.assertEqual((read.id, bytes(read.bytes)), (0, bytes(16)))
            path.chmod(0o600)
            self.assertEqual(takt.takt_channel_key_read(bytes(path), 4, read, None, 0), OK)
            self.assertEqual((read.id, bytes(read.bytes)), (4, bytes(range(16))))
            path.write_bytes(bytes(17))
            self.assertEqual(takt.takt_channel_key_read(bytes(path), 4, read, None, 0), KEY_FILE_SIZE)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
