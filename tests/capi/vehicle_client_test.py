#!/usr/bin/env python3
"""The vehicle's client of the C API against furbot_peer.py as the vehicle, and without a vehicle.

    vehicle_client_test.py LIBRARY
"""

import math
import sys
import unittest
from ctypes import byref, c_int32, c_int64, c_size_t, c_uint8, c_void_p

from bindings import BAD_ARGUMENT, DriveCommand, NULL_POINTER, OK, WRONG_STRUCT_SIZE, constants, initialise, status, takt
import furbot_peer as peer
from vehicle_bindings import DATAGRAM, Counters, Key, State, Units, commander, options, plain

(NOT_FINITE, OUT_OF_RANGE, TOO_SHORT, UNKNOWN_SYSTEM, UNKNOWN_FIELD, NO_BLOCK, BOTH_PEDALS, NOT_READY,
 STOPPED, NOT_STANDING, CAUSE_REMAINS, LATE, DUPLICATE, IMPOSSIBLE) = constants(
     "ERROR_VEHICLE", "NOT_FINITE OUT_OF_RANGE TOO_SHORT UNKNOWN_SYSTEM UNKNOWN_FIELD NO_BLOCK BOTH_PEDALS "
     "NOT_READY STOPPED NOT_STANDING CAUSE_REMAINS LATE DUPLICATE IMPOSSIBLE_STAMP")
STARTING, READY, DRIVING, STOPPING, AT_STAND = constants("DRIVE", "STARTING READY DRIVING STOPPING STOPPED")
REQUESTED, COMMAND_TIMEOUT, DISCONNECTED, SILENT, STALE, NOT_RUNNING = constants(
    "STOP_CAUSE", "REQUESTED COMMAND_TIMEOUT DISCONNECTED TELEMETRY_SILENT SYSTEM_STALE SYSTEM_NOT_RUNNING")
TRACTION, HYDRAULICS = constants("SYSTEM", "TRACTION HYDRAULICS")
RUNNING, HALTED = constants("SYSTEM_STATE", "RUNNING HALTED")
MS = 1_000_000
(NO_ROOM,) = constants("ERROR_SECURE", "NO_ROOM")


class Link:
    """A client and a healthy vehicle that sends its status every 10 ms, on one clock."""

    def __init__(self, channel):
        self.client, self.channel, self.ms, self.speed, self.state, self.sent = c_void_p(), channel, 1000, 0, RUNNING, []
        assert takt.takt_vehicle_client_create(byref(options()), None, channel, byref(self.client)) == OK

    def close(self):
        takt.takt_vehicle_client_destroy(self.client)
        takt.takt_channel_destroy(self.channel)

    def status(self):
        return peer.steady_status(self.ms, self.state, speed=self.speed)

    def receive(self, datagram):
        return takt.takt_vehicle_client_receive(self.client, datagram, len(datagram), self.ms * MS)

    def poll(self):
        out, size = (c_uint8 * DATAGRAM)(), c_size_t()
        while True:
            assert takt.takt_vehicle_client_poll(self.client, self.ms * MS, out, DATAGRAM, byref(size)) == OK
            if size.value == 0:
                return
            self.sent.append(peer.decode_control(bytes(out[:size.value])))

    def drive(self, *command):
        return takt.takt_vehicle_client_drive(self.client, byref(DriveCommand(*command)), self.ms * MS)

    def run(self, duration, command=None, cut=False):
        for _ in range(duration // 10):
            if not cut:
                assert self.receive(self.status()) == OK
            if command is not None:
                assert self.drive(*command) == OK
            self.poll()
            self.ms += 10

    def get(self):
        state = initialise(State())
        assert takt.takt_vehicle_client_get_state(self.client, byref(state)) == OK
        return state

    def counters(self):
        counters = initialise(Counters())
        assert takt.takt_vehicle_client_get_counters(self.client, byref(counters)) == OK
        return counters


class VehicleClientTest(unittest.TestCase):
    def setUp(self):
        self.link = Link(plain())
        self.addCleanup(self.link.close)

    def test_it_drives_a_vehicle_that_is_well(self):
        link = self.link
        self.assertEqual(link.get().state, STARTING)
        self.assertEqual(link.drive(0, 0.1, 0), NOT_READY)
        link.run(50)
        self.assertEqual(link.get().state, READY)
        self.assertEqual(link.sent[-1][1:], (0, 0, 100))
        link.run(500, (0.1, 0.5, 0))
        self.assertEqual(link.get().state, DRIVING)
        self.assertEqual(link.sent[-1], (link.ms - 10, 100, 50, 0))
        self.assertEqual(len(link.sent), 55)
        self.assertEqual(takt.takt_vehicle_client_next_send_ns(link.client), link.ms * MS)
        counters = link.counters()
        self.assertEqual((counters.accepted, counters.sent, counters.commands, counters.stops), (55, 55, 50, 0))

    def test_silence_stops_it_and_it_goes_on_only_when_commanded(self):
        link = self.link
        link.run(100, (0.1, 0.5, 0))
        link.run(120, cut=True)
        state = link.get()
        self.assertEqual((state.state, state.cause, state.category), (STOPPING, SILENT, 1))
        self.assertEqual(link.drive(0, 0.1, 0), STOPPED)
        link.run(6000, cut=True)
        self.assertEqual(link.sent[-1][2:], (0, 100))
        self.assertEqual(takt.takt_vehicle_client_recover(link.client, link.ms * MS), CAUSE_REMAINS)
        link.speed = 50
        link.run(100)
        self.assertEqual(takt.takt_vehicle_client_recover(link.client, link.ms * MS), NOT_STANDING)
        link.speed = 0
        link.run(1000)
        self.assertEqual(link.get().state, AT_STAND)
        self.assertEqual(takt.takt_vehicle_client_recover(link.client, link.ms * MS), OK)
        self.assertEqual((link.get().state, link.get().category), (READY, -1))

    def test_commands_time_out_and_systems_halt(self):
        link = self.link
        link.run(100, (0.1, 0.5, 0))
        link.run(250)
        self.assertEqual((link.get().cause, link.counters().command_timeouts), (COMMAND_TIMEOUT, 1))
        link.run(2000)
        self.assertEqual(takt.takt_vehicle_client_recover(link.client, link.ms * MS), OK)
        link.state = HALTED
        link.run(20)
        self.assertEqual((link.get().cause, link.get().system), (NOT_RUNNING, 0))

    def test_stops_and_bad_commands(self):
        link = self.link
        link.run(100, (0.1, 0.5, 0))
        for command, error in (((math.nan, 0, 0), NOT_FINITE), ((0, 1.1, 0), OUT_OF_RANGE), ((0, 0.1, 0.1), BOTH_PEDALS)):
            self.assertEqual(link.drive(*command), error)
        self.assertEqual(link.counters().commands_refused, 3)
        self.assertEqual(takt.takt_vehicle_client_stop(link.client, 3, link.ms * MS), BAD_ARGUMENT)
        self.assertEqual(takt.takt_vehicle_client_stop(link.client, 0, link.ms * MS), OK)
        link.poll()
        self.assertEqual(link.sent[-1][2:], (0, 100))
        self.assertEqual((link.get().cause, link.get().category), (REQUESTED, 0))

    def test_what_is_known_has_an_age(self):
        link = self.link
        state, age, fresh, value = c_int32(), c_int64(), c_int32(), c_int64()

        def ask(system, ms):
            return takt.takt_vehicle_client_system(link.client, system, ms * MS, byref(state), byref(age), byref(fresh))
        self.assertEqual(ask(HYDRAULICS, 1000), OK)
        self.assertEqual((state.value, age.value, fresh.value), (255, 2**63 - 1, 0))
        self.assertEqual(takt.takt_vehicle_client_value(link.client, TRACTION, b"speed", byref(value)), NO_BLOCK)
        link.speed = -77
        link.receive(link.status())
        self.assertEqual(ask(HYDRAULICS, 1100), OK)
        self.assertEqual((state.value, age.value, fresh.value), (RUNNING, 100 * MS, 1))
        self.assertEqual(ask(HYDRAULICS, 1101), OK)
        self.assertEqual((state.value, age.value, fresh.value), (RUNNING, 101 * MS, 0))
        self.assertEqual(takt.takt_vehicle_client_value(link.client, TRACTION, b"speed", byref(value)), OK)
        self.assertEqual(value.value, -77)
        self.assertEqual(takt.takt_vehicle_client_value(link.client, TRACTION, b"colour", byref(value)), UNKNOWN_FIELD)
        self.assertEqual(ask(12, 1100), UNKNOWN_SYSTEM)
        self.assertEqual(ask(2**32 - 1, 1100), UNKNOWN_SYSTEM)
        self.assertEqual(link.receive(link.status()), DUPLICATE)
        self.assertEqual(link.receive(b""), OK)
        self.assertEqual(link.receive(b"ATSF"), TOO_SHORT)

    def test_any_time_is_borne(self):
        out, size, furthest = (c_uint8 * DATAGRAM)(), c_size_t(), 100 * 31556952 * 10**9
        for channel in (plain, commander):
            for first in (-2**63, 0, 2**63 - 1):
                link = Link(channel())
                for now in (first, 2**63 - 1):
                    size.value = 1
                    while size.value > 0:
                        self.assertEqual(takt.takt_vehicle_client_poll(link.client, now, out, DATAGRAM, byref(size)), OK)
                    due = takt.takt_vehicle_client_next_send_ns(link.client)
                    self.assertGreater(due, min(max(now, -furthest), furthest))
                link.close()

    def test_a_clock_that_was_set_ahead_for_good_needs_what_was_said_to_be_forgotten(self):
        link = self.link
        link.run(100)
        link.status = lambda: peer.steady_status(link.ms - 10_000, RUNNING)
        link.ms += 10_000
        link.run(2000)
        self.assertEqual(link.get().cause, SILENT)
        self.assertEqual(takt.takt_vehicle_client_recover(link.client, link.ms * MS), CAUSE_REMAINS)
        self.assertEqual(takt.takt_vehicle_client_forget(link.client, link.ms * MS), OK)
        link.run(1000)
        self.assertEqual(takt.takt_vehicle_client_recover(link.client, link.ms * MS), OK)
        self.assertEqual(takt.takt_vehicle_client_forget(None, 0), NULL_POINTER)

    def test_over_the_envelope_there_is_a_hello_and_nothing_else_without_an_answer(self):
        link = Link(commander())
        self.addCleanup(link.close)
        out, size = (c_uint8 * DATAGRAM)(), c_size_t()
        self.assertEqual(takt.takt_vehicle_client_poll(link.client, 0, out, DATAGRAM, byref(size)), OK)
        self.assertGreater(size.value, 20)
        self.assertEqual(takt.takt_vehicle_client_poll(link.client, 1, out, DATAGRAM, byref(size)), OK)
        self.assertEqual(size.value, 0)
        self.assertNotEqual(link.receive(link.status()), OK)
        self.assertEqual(link.counters().refused, 1)
        self.assertEqual(link.get().cause, DISCONNECTED)

    def test_bad_arguments_are_errors(self):
        client, size, channel, key = c_void_p(), c_size_t(), self.link.channel, Key(1, (c_uint8 * 16)(*range(16)))

        def error(**changes):
            return takt.takt_vehicle_client_create(byref(options(**changes)), None, channel, byref(client))
        self.assertEqual(error(struct_size=8), WRONG_STRUCT_SIZE)
        self.assertEqual(error(on_fault=3), BAD_ARGUMENT)
        self.assertEqual(error(byte_order=0), status(6, 15))
        self.assertEqual(error(byte_order=3), BAD_ARGUMENT)
        self.assertEqual(error(max_throttle=1.5), OUT_OF_RANGE)
        self.assertEqual(error(max_steering=math.inf), NOT_FINITE)
        self.assertEqual(error(required=1 << 12), UNKNOWN_SYSTEM)
        self.assertEqual(error(units=Units()), OUT_OF_RANGE)
        self.assertIsNone(client.value)
        self.assertEqual(takt.takt_vehicle_client_create(None, None, channel, byref(client)), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_client_create(byref(options()), None, None, byref(client)), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_client_create(byref(options()), None, channel, None), NULL_POINTER)
        vehicle = c_void_p()
        self.assertEqual(takt.takt_channel_create_vehicle(byref(key), 1, None, byref(vehicle)), OK)
        self.assertEqual(takt.takt_vehicle_client_create(byref(options()), None, vehicle, byref(client)), BAD_ARGUMENT)
        takt.takt_channel_destroy(vehicle)
        self.assertEqual(takt.takt_vehicle_client_receive(None, b"", 0, 0), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_client_drive(self.link.client, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_client_recover(None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_vehicle_client_poll(self.link.client, 0, None, 0, byref(size)), NO_ROOM)
        self.assertEqual(takt.takt_vehicle_client_get_state(self.link.client, byref(State())), WRONG_STRUCT_SIZE)
        self.assertEqual(takt.takt_vehicle_client_next_send_ns(None), 2**63 - 1)
        takt.takt_vehicle_client_destroy(None)
        takt.takt_vehicle_client_options_init(None, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
