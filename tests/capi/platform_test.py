#!/usr/bin/env python3
"""The UDP sockets of the C API, with Python's own sockets as peers.

    platform_test.py LIBRARY
"""

import select
import socket
import sys
import time
import unittest
from ctypes import byref, c_size_t, c_uint8, c_void_p, create_string_buffer

from bindings import BAD_ARGUMENT, NULL_POINTER, OK, TIMEOUT, WRONG_STRUCT_SIZE, constants, initialise, takt
from vehicle_bindings import UdpCounters, UdpDatagram, UdpOptions
from vehicle_rig import Udp, changed
from vehicle_programs import PATIENCE

SEND_FAILED, BAD_ADDRESS, UDP_FAILED = constants("ERROR_PLATFORM", "SEND_FAILED BAD_ADDRESS UDP_FAILED")
MS, BATCH, NEVER, AT_ONCE = 1_000_000, 32, 2**63 - 1, -2**63


class UdpTest(unittest.TestCase):
    def setUp(self):
        self.peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.peer.close)
        self.peer.bind(("127.0.0.1", 0))
        self.peer.settimeout(PATIENCE)
        self.socket = Udp(self.peer.getsockname()[1])
        self.assertEqual(self.socket.status, OK)
        self.addCleanup(self.socket.close)

    def give(self, *datagrams):
        for datagram in datagrams:
            self.peer.sendto(datagram, ("127.0.0.1", self.socket.port()))

    def test_datagrams_go_both_ways(self):
        for datagram in (b"twelve bytes", b"", bytes(range(256)) * 4):
            self.assertEqual(self.socket.send(datagram), OK)
            self.assertEqual(self.peer.recvfrom(2000), (datagram, ("127.0.0.1", self.socket.port())))
            self.give(datagram)
            self.assertEqual(self.socket.receive(), datagram)
        self.assertEqual(self.socket.receive(0), TIMEOUT)
        self.assertEqual(self.socket.receive(AT_ONCE), TIMEOUT)
        self.assertEqual(self.socket.receive(MS), TIMEOUT)
        counters = self.socket.counters()
        self.assertEqual((counters.sent, counters.received, counters.refused, counters.dropped), (3, 3, 0, 0))

    def test_strangers_are_not_heard(self):
        stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(stranger.close)
        stranger.sendto(b"stranger", ("127.0.0.1", self.socket.port()))
        self.give(b"peer")
        self.assertEqual(self.socket.receive(), b"peer")
        self.assertEqual(self.socket.receive(0), TIMEOUT)

    def test_the_first_port_that_is_settled_on_stays_the_peers(self):
        any_port = Udp(0)
        self.addCleanup(any_port.close)
        others = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for other in others:
            self.addCleanup(other.close)
            other.bind(("127.0.0.1", 0))
        self.assertEqual(any_port.send(b"to whom?"), SEND_FAILED)
        self.assertEqual(takt.takt_udp_sender_port(any_port.handle), 0)
        for sender in (others[0], self.peer, others[1]):
            sender.sendto(b"from a port", ("127.0.0.1", any_port.port()))
        for sender in (others[0], self.peer):
            self.assertEqual(any_port.receive(), b"from a port")
            self.assertEqual(takt.takt_udp_sender_port(any_port.handle), sender.getsockname()[1])
        port = self.peer.getsockname()[1]
        self.assertEqual(takt.takt_udp_settle(any_port.handle, 0), BAD_ARGUMENT)
        self.assertEqual(takt.takt_udp_settle(any_port.handle, port), OK)
        self.assertEqual(takt.takt_udp_settle(any_port.handle, port), BAD_ARGUMENT)
        others[0].sendto(b"again", ("127.0.0.1", any_port.port()))
        self.peer.sendto(b"peer", ("127.0.0.1", any_port.port()))
        self.assertEqual(any_port.receive(), b"peer")
        self.assertEqual(any_port.receive(0), TIMEOUT)
        self.assertEqual(any_port.counters().foreign, 1)
        self.assertEqual(any_port.send(b"to the peer"), OK)
        self.assertEqual(self.peer.recv(100), b"to the peer")
        self.assertEqual(takt.takt_udp_settle(self.socket.handle, port), BAD_ARGUMENT)  # it has one already
        self.assertEqual(takt.takt_udp_settle(None, port), NULL_POINTER)
        self.assertEqual(takt.takt_udp_sender_port(None), 0)

    def test_what_does_not_fit_is_passed_over_and_counted(self):
        self.give(b"much too long", b"fits", b"")
        self.assertEqual(self.socket.receive(NEVER, 4), b"fits")
        self.assertEqual(self.socket.receive(NEVER, 0), b"")
        self.assertEqual(self.socket.counters().too_long, 1)
        self.assertEqual(self.socket.send(bytes(70000)), SEND_FAILED)
        self.assertEqual(self.socket.counters().refused, 1)

    def batch(self, count, size):
        buffers = [(c_uint8 * max(size, 1))() for _ in range(count)]
        return buffers, (UdpDatagram * max(count, 1))(*(UdpDatagram(buffer, size) for buffer in buffers))

    def test_a_batch_is_taken_at_once(self):
        sent = [bytes([number]) * (2 + number) for number in range(40)]
        self.give(*sent)
        buffers, datagrams = self.batch(40, 1000)
        came, got = c_size_t(), []
        while len(got) < 40:
            self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, NEVER, datagrams, 40, byref(came)), OK)
            self.assertIn(came.value, range(1, BATCH + 1))
            got += [bytes(one.buffer[:one.bytes]) for one in datagrams[:came.value]]
        self.assertEqual(got, sent)
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, 0, datagrams, 40, byref(came)), TIMEOUT)

    def test_of_a_batch_those_that_fit_come_first(self):
        self.give(b"a", b"long", b"b", b"long", b"c")
        buffers, datagrams = self.batch(8, 2)
        came = c_size_t()
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, NEVER, datagrams, 8, byref(came)), OK)
        self.assertEqual([bytes(one.buffer[:one.bytes]) for one in datagrams[:came.value]], [b"a", b"b", b"c"])
        addresses = {id(buffer) for buffer in buffers}
        self.assertEqual(len(addresses), 8)
        self.assertEqual(self.socket.counters().too_long, 2)

    def test_hostile_sizes_and_counts_are_borne(self):
        came, huge = c_size_t(), 2**64 - 1
        buffers, datagrams = self.batch(BATCH, 100)
        for one in datagrams:
            one.size = huge  # the size of a 64 KiB buffer: no longer datagram exists
        self.give(b"one", b"two")
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, NEVER, datagrams, huge, byref(came)), OK)
        self.assertEqual(bytes(datagrams[0].buffer[:datagrams[0].bytes]), b"one")
        self.assertEqual(datagrams[0].size, 65536)
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, 0, datagrams, 0, byref(came)), BAD_ARGUMENT)
        while takt.takt_udp_receive_batch(self.socket.handle, 0, datagrams, BATCH, byref(came)) == OK:
            pass
        datagrams[31].buffer = None
        self.assertEqual(takt.takt_udp_receive_batch(self.socket.handle, 0, datagrams, BATCH, byref(came)), NULL_POINTER)

    def test_a_peer_that_is_not_there_is_counted(self):
        self.peer.close()
        self.assertEqual(self.socket.send(b"anybody?"), OK)
        deadline = time.monotonic() + PATIENCE
        while self.socket.counters().unreachable == 0 and time.monotonic() < deadline:
            self.assertEqual(self.socket.receive(MS), TIMEOUT)
        self.assertGreater(self.socket.counters().unreachable, 0)

    def test_others_can_wait_for_its_descriptor(self):
        self.give(b"x")
        readable, _, _ = select.select([takt.takt_udp_descriptor(self.socket.handle)], [], [], PATIENCE)
        self.assertTrue(readable)
        self.assertEqual(self.socket.receive(0), b"x")

    def test_it_says_why_it_cannot_be_opened(self):
        for changes, error, why in (({"local_address": b"localhost"}, BAD_ADDRESS, b"localhost"),
                                    ({"peer_address": b"1.2.3"}, BAD_ADDRESS, b"1.2.3"),
                                    ({"local_port": self.peer.getsockname()[1]}, UDP_FAILED, b"in use"),
                                    ({"local_address": b"192.0.2.1"}, UDP_FAILED, b"192.0.2.1"),
                                    ({"peer_address": b"192.0.2.1"}, UDP_FAILED, b"a loopback address"),
                                    ({"struct_size": 8}, WRONG_STRUCT_SIZE, takt.takt_status_text(WRONG_STRUCT_SIZE)),
                                    ({"reserved": 1}, BAD_ARGUMENT, takt.takt_status_text(BAD_ARGUMENT))):
            refused = Udp(1, **changes)
            self.assertEqual(refused.status, error)
            self.assertIn(why, refused.why.value)
            self.assertIsNone(refused.handle.value)
        self.assertEqual(Udp(1, busy_poll=1, local_address=b"::1", peer_address=b"::1").status, OK)
        short = create_string_buffer(5)
        bad = changed(initialise(UdpOptions()), {"peer_address": b"nobody"})
        self.assertEqual(takt.takt_udp_open(byref(bad), byref(c_void_p()), short, len(short)), BAD_ADDRESS)
        self.assertEqual(len(short.value), 4)

    def test_null_pointers_are_errors(self):
        handle, size, buffer, one = self.socket.handle, c_size_t(), create_string_buffer(4), UdpDatagram()
        self.assertEqual(takt.takt_udp_open(None, byref(c_void_p()), None, 0), NULL_POINTER)
        why = create_string_buffer(b"left from before", 100)
        self.assertEqual(takt.takt_udp_open(None, byref(c_void_p()), why, 100), NULL_POINTER)
        self.assertEqual(why.value, takt.takt_status_text(NULL_POINTER))
        self.assertEqual(takt.takt_udp_open(byref(initialise(UdpOptions())), None, None, 0), NULL_POINTER)
        self.assertEqual(takt.takt_udp_send(None, b"x", 1), NULL_POINTER)
        self.assertEqual(takt.takt_udp_send(handle, None, 1), NULL_POINTER)
        for arguments in ((None, 0, buffer, 4, byref(size)), (handle, 0, None, 4, byref(size)), (handle, 0, buffer, 4, None)):
            self.assertEqual(takt.takt_udp_receive(*arguments), NULL_POINTER)
        for arguments in ((None, 0, byref(one), 1, byref(size)), (handle, 0, None, 1, byref(size)),
                          (handle, 0, byref(one), 1, None)):
            self.assertEqual(takt.takt_udp_receive_batch(*arguments), NULL_POINTER)
        self.assertEqual(takt.takt_udp_get_counters(None, byref(initialise(UdpCounters()))), NULL_POINTER)
        self.assertEqual(takt.takt_udp_get_counters(handle, None), NULL_POINTER)
        self.assertEqual(takt.takt_udp_get_counters(handle, byref(UdpCounters())), WRONG_STRUCT_SIZE)
        self.assertEqual((takt.takt_udp_local_port(None), takt.takt_udp_descriptor(None)), (0, -1))
        takt.takt_udp_options_init(None, 0)
        takt.takt_udp_counters_init(None, 0)
        takt.takt_udp_close(None)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
