#!/usr/bin/env python3
"""Shared memory of the C API: a hub, motion processes of which one is killed, and every kind of exchange with a process in C++.

    shm_test.py LIBRARY PEER    (shm_peer.cpp)
    shm_test.py LIBRARY PEER move SEGMENT SLOT JOINTS    (a motion process, started by the test)
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
import unittest
from ctypes import byref, c_int32, c_size_t, c_void_p, create_string_buffer, sizeof

from bindings import *  # the library, named in the first argument, and its structures

JOINTS = 4
EXCHANGES = (Exchange * 3)(Exchange(b"joints", BROADCAST, 0, takt.takt_joint_image_schema()),
                           Exchange(b"joint_slots", JOINT_SLOTS, 4), Exchange(b"said", BYTE_RING, 4096))
POSE = b"position f64[6], stamp i64, mode u8, _ u8[7]"
POSES = (Exchange * 8)(*(Exchange(name, kind, 8, POSE) for names, kind in [
    ((b"ring_in", b"ring_out"), RING), ((b"latest_in", b"latest_out"), LATEST), ((b"value_in", b"value_out"), BROADCAST),
    ((b"stream_in", b"stream_out"), BROADCAST_RING)] for name in names))


def made(create, *arguments):
    handle = c_void_p()
    result = create(*arguments, byref(handle))
    if result != OK:
        raise ValueError(takt.takt_status_text(result).decode())
    return handle


def bits(mask):
    return [joint for joint in range(64) if mask >> joint & 1]


def move(name, slot, joints):
    """Moves the joints by 1 mrad in each of its cycles, until it is killed."""
    segment = made(takt.takt_segment_open, name)
    client = made(takt.takt_joint_client_create, segment, b"joints", b"joint_slots", slot)
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
        self.hub = made(takt.takt_joint_hub_create, self.segment, b"joints", b"joint_slots", safety, JOINTS, 1_000_000, 500)
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

    def start(self, slot, joints):
        process = subprocess.Popen([sys.executable, __file__, *sys.argv[1:3], "move", self.name, str(slot), str(joints)])
        self.processes.append(process)
        return process

    def test_a_process_that_is_killed_loses_its_joints_and_they_come_back(self):
        said = made(takt.takt_byte_consumer_create, self.robot.segment, b"said")
        process = self.start(1, 0b0101)
        image = self.robot.cycle_until(lambda image: image.position[2] > 0.02)
        self.assertEqual([image.owner[j] for j in range(JOINTS)], [1, NO_OWNER, 1, NO_OWNER])
        self.assertEqual(image.answer[1], ANSWER_GRANTED)
        self.assertEqual(image.position[1], 0)
        message, length = create_string_buffer(100), c_size_t()
        self.assertEqual(takt.takt_byte_consumer_read(said, message, 100, byref(length)), OK)
        self.assertEqual(message.raw[:length.value], b"I move")
        self.assertEqual(takt.takt_byte_consumer_read(said, message, 100, byref(length)), RING_EMPTY)
        with self.assertRaisesRegex(ValueError, "another process holds"):
            made(takt.takt_joint_client_create, self.robot.segment, b"joints", b"joint_slots", 1)

        process.send_signal(signal.SIGKILL)
        process.wait()
        before = self.robot.cycle_until(lambda image: image.owner[0] == NO_OWNER).position[0]
        image = self.robot.cycle()
        self.assertEqual(image.answer[1], ANSWER_SILENT)
        self.assertGreaterEqual(image.lost[1], 1)
        self.assertAlmostEqual(before - image.position[0], min(before, 2e-3))
        self.robot.cycle_until(lambda image: image.phase[0] == image.phase[2] == RESTING)
        self.assertEqual(self.robot.references[2].position, 0)

        self.start(1, 0b0001)  # in the same slot
        image = self.robot.cycle_until(lambda image: image.position[0] > 0.01)
        self.assertEqual(image.owner[0], 1)
        self.assertEqual(image.owner[2], NO_OWNER)
        takt.takt_byte_consumer_destroy(said)

    def test_what_belongs_to_another_is_refused(self):
        clients = [made(takt.takt_joint_client_create, self.robot.segment, b"joints", b"joint_slots", slot) for slot in (0, 3)]
        takt.takt_joint_client_want(clients[0], 0b0011)
        takt.takt_joint_client_want(clients[1], 0b0110)
        for _ in range(3):
            self.robot.cycle()
            for client in clients:
                self.assertEqual(takt.takt_joint_client_update(client, None), OK)
                self.assertEqual(takt.takt_joint_client_publish(client, 0), OK)
        self.assertEqual([takt.takt_joint_client_owned(client) for client in clients], [0b0011, 0])
        self.assertEqual([takt.takt_joint_client_answer(client) for client in clients], [ANSWER_GRANTED, ANSWER_REFUSED])
        self.assertEqual(takt.takt_joint_client_image(clients[1]).contents.refused_joint[3], 1)
        reference = JointReference(mode=MODE_POSITION)
        self.assertEqual(takt.takt_joint_client_set(clients[1], 1, byref(reference)), NOT_OWNER)
        reference.effort = float("nan")
        self.assertEqual(takt.takt_joint_client_set(clients[0], 1, byref(reference)), BAD_REFERENCE)
        for client in clients:
            takt.takt_joint_client_destroy(client)


class Pose(ctypes.Structure):
    _fields_ = [("position", ctypes.c_double * 6), ("stamp", ctypes.c_int64), ("mode", ctypes.c_uint8), ("_", ctypes.c_uint8 * 7)]

    @classmethod
    def of(cls, number):
        return cls((number, 0.5, 1, 2, 3, -number), number, number)


class Ends:
    """Both ends of exchanges with a peer that returns all elements."""

    def __init__(self, segment):
        self.made = []
        for name, ends in [("ring", "ring_producer ring_consumer"), ("latest", "value_writer value_reader"),
                           ("value", "value_writer value_reader"), ("stream", "stream_writer stream_reader")]:
            for side, end in zip(("in", "out"), ends.split()):
                handle = made(getattr(takt, f"takt_{end}_create"), segment, f"{name}_{side}".encode(), POSE)
                setattr(self, f"{name}_{side}", handle)
                self.made.append((end, handle))

    def close(self):
        for end, handle in self.made:
            getattr(takt, f"takt_{end}_destroy")(handle)


class ElementsTest(unittest.TestCase):
    """Elements with a schema here and with a type in the peer."""

    @contextlib.contextmanager
    def peer(self, how, path):
        """A process in C++; yields a function that lets it return all elements, and returns their number."""
        process = subprocess.Popen([sys.argv[2], how, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def ask():
            process.stdin.write("\n")
            process.stdin.flush()
            return int(process.stdout.readline())
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            yield ask
        finally:
            process.stdin.close()
            process.stdout.close()
            self.assertEqual(process.wait(timeout=60), 0)

    def pose_from(self, read, end, *more):
        pose = Pose.of(99)
        self.assertEqual(read(end, byref(pose), sizeof(pose), *more), OK)
        return bytes(pose)

    def check_exchanges(self, segment, ask):
        ends = Ends(segment)
        self.addCleanup(ends.close)
        freshness = c_int32()
        for name in ("latest_out", "value_out"):
            self.pose_from(takt.takt_value_reader_read, getattr(ends, name), byref(freshness))
            self.assertEqual(freshness.value, NONE)
        for number in range(20):
            pose = Pose.of(number)
            self.assertEqual(takt.takt_ring_producer_push(ends.ring_in, byref(pose), sizeof(pose)), OK)
            self.assertEqual(takt.takt_value_writer_write(ends.latest_in, byref(pose), sizeof(pose)), OK)
            self.assertEqual(takt.takt_value_writer_write(ends.value_in, byref(pose), sizeof(pose)), OK)
            self.assertEqual(takt.takt_stream_writer_write(ends.stream_in, byref(pose), sizeof(pose)), OK)
            self.assertEqual(ask(), 4)
            self.assertEqual(self.pose_from(takt.takt_ring_consumer_pop, ends.ring_out), bytes(pose))
            for name in ("latest_out", "value_out"):
                end = getattr(ends, name)
                for expected in (NEW, OLD):
                    self.assertEqual(self.pose_from(takt.takt_value_reader_read, end, byref(freshness)), bytes(pose))
                    self.assertEqual(freshness.value, expected)
            self.assertEqual(self.pose_from(takt.takt_stream_reader_read, ends.stream_out), bytes(pose))
        pose = Pose.of(99)
        self.assertEqual(takt.takt_ring_consumer_pop(ends.ring_out, byref(pose), sizeof(pose)), RING_EMPTY)
        self.assertEqual(takt.takt_stream_reader_read(ends.stream_out, byref(pose), sizeof(pose)), RING_EMPTY)

        many, count = (Pose * 12)(*map(Pose.of, range(12))), c_size_t()
        self.assertEqual(takt.takt_ring_producer_push_many(ends.ring_in, many, sizeof(Pose), 12, byref(count)), OK)
        self.assertEqual(count.value, 8)
        for pose in many:
            takt.takt_stream_writer_write(ends.stream_in, byref(pose), sizeof(pose))
        self.assertEqual(ask(), 8 + 6)  # of the stream, six of the eight slots: two are the writer's
        back = (Pose * 12)()
        self.assertEqual(takt.takt_ring_consumer_pop_many(ends.ring_out, back, sizeof(Pose), 12, byref(count)), OK)
        self.assertEqual([pose.stamp for pose in back[:count.value]], list(range(8)))
        for number in range(6, 12):
            self.assertEqual(self.pose_from(takt.takt_stream_reader_read, ends.stream_out), bytes(many[number]))
        self.assertEqual(takt.takt_stream_reader_missed(ends.stream_out), 0)
        for _ in range(2):  # the peer forwards more than the reader here has room for
            for pose in many[:6]:
                takt.takt_stream_writer_write(ends.stream_in, byref(pose), sizeof(pose))
            self.assertEqual(ask(), 6)
        self.assertEqual(self.pose_from(takt.takt_stream_reader_read, ends.stream_out), bytes(many[0]))
        self.assertEqual(takt.takt_stream_reader_missed(ends.stream_out), 6)

    def test_what_a_process_in_cpp_serves_is_shared_with_python(self):
        path = f"@takt-capi-py-{os.getpid()}"
        with self.peer("serve", path) as ask:
            segment = made(takt.takt_segment_receive, path.encode(), 30 * SECOND)
            self.addCleanup(takt.takt_segment_close, segment)
            handle = c_void_p()
            for end, name, schema, expected in [
                    ("ring_consumer", b"ring_in", POSE, SLOT_TAKEN), ("ring_producer", b"ring_out", POSE, SLOT_TAKEN),
                    ("value_writer", b"latest_out", POSE, SLOT_TAKEN), ("stream_writer", b"stream_out", POSE, SLOT_TAKEN),
                    ("ring_producer", b"ring_in", POSE + b" ", WRONG_SCHEMA), ("value_reader", b"value_out", b"x f64", WRONG_SCHEMA),
                    ("stream_reader", b"ring_out", POSE, WRONG_KIND), ("value_reader", b"stream_out", POSE, WRONG_KIND),
                    ("value_writer", b"nothing", POSE, NO_SUCH_EXCHANGE), ("value_writer", b"value_in", b"x", BAD_SCHEMA)]:
                self.assertEqual(getattr(takt, f"takt_{end}_create")(segment, name, schema, byref(handle)), expected, (end, name))
            self.assertIsNone(handle.value)
            self.check_exchanges(segment, ask)

    def test_what_python_serves_is_shared_with_a_process_in_cpp(self):
        path = f"@takt-capi-py2-{os.getpid()}"
        segment = made(takt.takt_segment_create_sealed, b"python", POSES, len(POSES))
        server = made(takt.takt_segment_server_create, segment, path.encode())
        self.addCleanup(takt.takt_segment_server_destroy, server)
        self.addCleanup(takt.takt_segment_close, segment)
        with self.peer("receive", path) as ask:
            self.check_exchanges(segment, ask)

    def test_nobody_serves_a_path_that_nobody_serves_and_named_memory_is_not_served(self):
        handle = c_void_p()
        self.assertEqual(takt.takt_segment_receive(b"@takt-capi-py-nobody", 0, byref(handle)), CONNECT_FAILED)
        name = b"takt-capi-py-elements-%d" % os.getpid()
        segment = made(takt.takt_segment_open_or_create, name, POSES, len(POSES))
        self.addCleanup(takt.takt_segment_remove, name)
        self.addCleanup(takt.takt_segment_close, segment)
        self.assertEqual(takt.takt_segment_server_create(segment, b"@takt-capi-py-named", byref(handle)), NOT_SEALED)
        self.assertIsNone(handle.value)

    def test_a_writer_that_is_gone_is_continued_by_another(self):
        name = b"takt-capi-py-elements-%d" % os.getpid()
        segment = made(takt.takt_segment_open_or_create, name, POSES, len(POSES))
        self.addCleanup(takt.takt_segment_remove, name)
        self.addCleanup(takt.takt_segment_close, segment)
        reader = made(takt.takt_stream_reader_create, segment, b"stream_in", POSE)
        for number in range(3):
            writer = made(takt.takt_stream_writer_create, segment, b"stream_in", POSE)
            pose = Pose.of(number)
            self.assertEqual(takt.takt_stream_writer_write(writer, byref(pose), sizeof(pose)), OK)
            takt.takt_stream_writer_destroy(writer)
            self.assertEqual(self.pose_from(takt.takt_stream_reader_read, reader), bytes(pose))
        takt.takt_stream_reader_destroy(reader)


if __name__ == "__main__":
    if sys.argv[3:4] == ["move"]:
        move(sys.argv[4].encode(), int(sys.argv[5]), int(sys.argv[6]))
    else:
        unittest.main(argv=sys.argv[:1])
