#!/usr/bin/env python3
"""Shared memory from Python's standard library: a hub here, motion processes of their own, one of which is killed.

    capi_shm_test.py LIBRARY
    capi_shm_test.py LIBRARY move SEGMENT SEAT JOINTS    (a motion process, started by the test)
"""

import os
import signal
import subprocess
import sys
import time
import unittest
from ctypes import byref, c_size_t, c_void_p, create_string_buffer

from capi_bindings import *  # the library, named in the first argument, and its structures

JOINTS = 4
EXCHANGES = (Exchange * 3)(Exchange(b"joints", JOINT_IMAGE, 0), Exchange(b"joint_seats", JOINT_SEATS, 4),
                           Exchange(b"said", BYTE_RING, 4096))


def made(create, *arguments):
    handle = c_void_p()
    result = create(*arguments, byref(handle))
    if result != OK:
        raise ValueError(takt.takt_status_text(result).decode())
    return handle


def bits(mask):
    return [joint for joint in range(64) if mask >> joint & 1]


def move(name, seat, joints):
    """Moves the joints by 1 mrad in each of its cycles, until it is killed."""
    segment = made(takt.takt_segment_open, name)
    client = made(takt.takt_joint_client_create, segment, b"joints", b"joint_seats", seat)
    said = made(takt.takt_byte_producer_create, segment, b"said")
    takt.takt_segment_close(segment)  # the ends keep its memory
    takt.takt_joint_client_want(client, joints)
    reference = JointReference()
    greeted = False
    while True:
        takt.takt_joint_client_update(client, None)
        for joint in bits(takt.takt_joint_client_owned(client)):
            takt.takt_joint_client_reference(client, joint, byref(reference))
            reference.mode = MODE_POSITION
            reference.position += 1e-3
            assert takt.takt_joint_client_set(client, joint, byref(reference)) == OK
            if not greeted:
                takt.takt_byte_producer_write(said, b"I move", 6)
                greeted = True
        takt.takt_joint_client_publish(client, time.monotonic_ns())
        time.sleep(0.001)


class Robot:
    def __init__(self, name):
        self.segment = made(takt.takt_segment_open_or_create, name, EXCHANGES, len(EXCHANGES))
        safety = (JointSafety * JOINTS)(*(JointSafety(0, 0, 0.0, 2.0) for _ in range(JOINTS)))
        self.hub = made(takt.takt_joint_hub_create, self.segment, b"joints", b"joint_seats", safety, JOINTS, 1_000_000, 500)
        self.references = (JointReference * JOINTS)()
        self.measured = (JointMeasurement * JOINTS)()

    def cycle(self):
        assert takt.takt_joint_hub_take(self.hub, self.references, JOINTS) == OK
        for reference, measured in zip(self.references, self.measured):
            measured.position = reference.position
        assert takt.takt_joint_hub_publish(self.hub, time.monotonic_ns(), self.measured, JOINTS) == OK
        return takt.takt_joint_hub_image(self.hub).contents

    def cycle_until(self, condition):
        for _ in range(60_000):
            image = self.cycle()
            if condition(image):
                return image
            time.sleep(0.001)
        raise AssertionError("it never came to that")

    def close(self):
        takt.takt_joint_hub_destroy(self.hub)
        takt.takt_segment_close(self.segment)


class SharedMemoryTest(unittest.TestCase):
    def setUp(self):
        self.name = b"takt-capi-py-%d" % os.getpid()
        self.robot = Robot(self.name)
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.robot.close()
        takt.takt_segment_remove(self.name)

    def start(self, seat, joints):
        process = subprocess.Popen([sys.executable, __file__, sys.argv[1], "move", self.name, str(seat), str(joints)])
        self.processes.append(process)
        return process

    def test_a_process_that_is_killed_loses_its_joints_and_they_come_back(self):
        said = made(takt.takt_byte_consumer_create, self.robot.segment, b"said")
        process = self.start(1, 0b0101)
        image = self.robot.cycle_until(lambda image: image.position[2] > 0.02)
        self.assertEqual([image.owner[j] for j in range(JOINTS)], [1, NO_OWNER, 1, NO_OWNER])
        self.assertEqual(image.answer[1], SEAT_GRANTED)
        self.assertEqual(image.position[1], 0)
        message, length = create_string_buffer(100), c_size_t()
        self.assertEqual(takt.takt_byte_consumer_read(said, message, 100, byref(length)), OK)
        self.assertEqual(message.raw[:length.value], b"I move")
        self.assertEqual(takt.takt_byte_consumer_read(said, message, 100, byref(length)), RING_EMPTY)
        with self.assertRaisesRegex(ValueError, "somebody else"):
            made(takt.takt_joint_client_create, self.robot.segment, b"joints", b"joint_seats", 1)

        process.send_signal(signal.SIGKILL)
        process.wait()
        before = self.robot.cycle_until(lambda image: image.owner[0] == NO_OWNER).position[0]
        image = self.robot.cycle()
        self.assertEqual(image.answer[1], SEAT_SILENT)
        self.assertGreaterEqual(image.lost[1], 1)
        self.assertAlmostEqual(before - image.position[0], min(before, 2e-3))
        self.robot.cycle_until(lambda image: image.phase[0] == image.phase[2] == RESTING)
        self.assertEqual(self.robot.references[2].position, 0)

        self.start(1, 0b0001)  # in the same seat
        image = self.robot.cycle_until(lambda image: image.position[0] > 0.01)
        self.assertEqual(image.owner[0], 1)
        self.assertEqual(image.owner[2], NO_OWNER)
        takt.takt_byte_consumer_destroy(said)

    def test_what_belongs_to_another_is_refused(self):
        clients = [made(takt.takt_joint_client_create, self.robot.segment, b"joints", b"joint_seats", seat) for seat in (0, 3)]
        takt.takt_joint_client_want(clients[0], 0b0011)
        takt.takt_joint_client_want(clients[1], 0b0110)
        for _ in range(3):
            self.robot.cycle()
            for client in clients:
                self.assertEqual(takt.takt_joint_client_update(client, None), OK)
                self.assertEqual(takt.takt_joint_client_publish(client, 0), OK)
        self.assertEqual([takt.takt_joint_client_owned(client) for client in clients], [0b0011, 0])
        self.assertEqual([takt.takt_joint_client_answer(client) for client in clients], [SEAT_GRANTED, SEAT_REFUSED])
        self.assertEqual(takt.takt_joint_client_image(clients[1]).contents.refused_joint[3], 1)
        reference = JointReference(mode=MODE_POSITION)
        self.assertEqual(takt.takt_joint_client_set(clients[1], 1, byref(reference)), NOT_OWNER)
        reference.effort = float("nan")
        self.assertEqual(takt.takt_joint_client_set(clients[0], 1, byref(reference)), BAD_REFERENCE)
        for client in clients:
            takt.takt_joint_client_destroy(client)


if __name__ == "__main__":
    if sys.argv[2:3] == ["move"]:
        move(sys.argv[3].encode(), int(sys.argv[4]), int(sys.argv[5]))
    else:
        unittest.main(argv=sys.argv[:1])
