#!/usr/bin/env python3
"""Recordings written and read by the C API. The records in the files are the given ones, byte by byte.

    record_test.py LIBRARY
"""
import os
import struct
import tempfile
import unittest
from ctypes import byref, c_char_p, c_void_p, create_string_buffer, string_at

from bindings import *  # the library, named in the first argument, and its structures

END, CYCLE, GOAL, MARK, VALUE = constants("RECORD", "END CYCLE GOAL MARK VALUE")
BAD_TOPIC, BAD_METADATA, CANNOT_OPEN, NOT_A_RECORDING, CHECKSUM_MISMATCH = constants(
    "ERROR_RECORD", "BAD_TOPIC BAD_METADATA CANNOT_OPEN NOT_A_RECORDING CHECKSUM_MISMATCH")
PERIOD = 1_000_000  # ns
CDR = b"\0\1\0\0"


def options(joints=(), topics=(), **others):
    made = initialise(RecorderOptions())
    made.joint_count, made.topic_count = len(joints), len(topics)
    made.joints = (c_char_p * len(joints))(*joints)
    made.topics = (Topic * len(topics))(*topics)
    for name, value in others.items():
        setattr(made, name, value)
    return made


def refusal(path, asked):
    """The number and the text with which a recording is refused."""
    handle, text = c_void_p(), create_string_buffer(1000)
    result = takt.takt_recorder_create(path, byref(asked), byref(handle), text, len(text))
    assert handle.value is None
    return result, text.value.decode()


class Recorder:
    def __init__(self, path, asked):
        self.handle = c_void_p()
        assert takt.takt_recorder_create(path.encode(), byref(asked), byref(self.handle), None, 0) == OK

    def cycle(self, index, *joints):
        cycle = CycleSample(index * PERIOD, 1000 + index, 2000, READY, 3)
        samples = (JointSample * len(joints))(*joints)
        return takt.takt_recorder_cycle(self.handle, byref(cycle), samples, len(joints))

    def sample(self, topic, time_ns, value):
        return takt.takt_recorder_sample(self.handle, topic, time_ns, value, len(value))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        takt.takt_recorder_destroy(self.handle)

    def finish(self):
        totals, text = RecorderTotals(), create_string_buffer(1000)
        result = takt.takt_recorder_finish(self.handle, byref(totals), text, len(text))
        return result, totals.records, totals.dropped


class Recording:
    """The records of a file, as tuples."""

    def __init__(self, path):
        self.handle, self.text = c_void_p(), create_string_buffer(1000)
        self.status = takt.takt_recording_open(path.encode(), byref(self.handle), self.text, len(self.text))
        self.joints = [takt.takt_recording_joint_name(self.handle, i) for i in range(takt.takt_recording_joint_count(self.handle))]

    def next(self):
        record = initialise(Record())
        self.status = takt.takt_recording_next(self.handle, byref(record), self.text, len(self.text))
        return record if self.status == OK else None

    def __iter__(self):
        while (record := self.next()) and record.kind != END:
            yield self.plain(record)

    @staticmethod
    def plain(record):
        if record.kind == CYCLE:
            joints = [tuple(getattr(record.joints[i], name) for name, _ in JointSample._fields_) for i in range(record.joint_count)]
            return CYCLE, record.time_ns, record.cycle.lateness_ns, record.cycle.state, record.cycle.active_goals, joints
        if record.kind == VALUE:
            return VALUE, record.time_ns, record.name, string_at(record.message, record.message_size)
        return record.kind, record.time_ns, record.name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        takt.takt_recording_close(self.handle)


class RecordTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "run.mcap")

    def record(self, cycles, **others):
        """A joint with position i in cycle i, and a value beside it. Returns the records."""
        topics = (b"/gripper", b"gripper/msg/State", b"force f64, closed u8, _ u8[7]"), (b"/raw", b"my/msg/Raw", None)
        given = []
        with Recorder(self.path, options([b"elbow"], topics, **others)) as recorder:
            self.assertEqual(takt.takt_recorder_mark(recorder.handle, 0, b"lifting"), OK)
            given.append((MARK, 0, b"lifting"))
            for i in range(1, cycles + 1):
                sample = (0.5, float(i), 0.25, -float(i), 0.125, i, 1.5)
                self.assertEqual(recorder.cycle(i, sample), OK)
                given.append((CYCLE, i * PERIOD, 1000 + i, READY, 3, [sample]))
                state = struct.pack("<dB7x", 0.1 * i, i % 2)
                self.assertEqual(recorder.sample(0, i * PERIOD, state), OK)
                given.append((VALUE, i * PERIOD, b"/gripper", CDR + state[:9]))
            self.assertEqual(recorder.sample(1, i * PERIOD, b"any"), OK)
            given.append((VALUE, i * PERIOD, b"/raw", CDR + b"\3\0\0\0any"))
            self.assertEqual(recorder.finish()[::2], (OK, 0))
        return given

    def test_what_is_recorded_is_read_again(self):
        for uncompressed in (0, 1):
            given = self.record(500, uncompressed=uncompressed, robot=b"arm", period_ns=PERIOD)
            with Recording(self.path) as recording:
                self.assertEqual((recording.status, recording.joints), (OK, [b"elbow"]))
                read = list(recording)
                self.assertEqual(recording.status, OK, recording.text.value)
                self.assertEqual(read, given)
                self.assertEqual(takt.takt_recording_truncated(recording.handle), 0)
                self.assertEqual((recording.next().kind, recording.next().kind), (END, END))

    def test_a_file_that_was_cut_is_read_up_to_its_last_chunk(self):
        given = self.record(20000, uncompressed=1)
        os.truncate(self.path, os.path.getsize(self.path) * 2 // 3)
        with Recording(self.path) as recording:
            read = list(recording)
            self.assertEqual(recording.status, OK)
            self.assertGreater(len(read), len(given) // 3)
            self.assertEqual(read, given[:len(read)])
            self.assertEqual(takt.takt_recording_truncated(recording.handle), 1)

    def test_a_damaged_file_is_named(self):
        self.record(500, uncompressed=1)
        with open(self.path, "r+b") as file:
            file.seek(os.path.getsize(self.path) // 2)
            byte = file.read(1)[0]
            file.seek(-1, 1)
            file.write(bytes([byte ^ 1]))
        with Recording(self.path) as recording:
            list(recording)
            self.assertEqual(recording.status, CHECKSUM_MISMATCH)
            self.assertIn(self.path, recording.text.value.decode())
            self.assertIsNone(recording.next())
        with open(self.path, "wb") as file:
            file.write(b"no recording")
        with Recording(self.path) as recording:
            self.assertEqual((recording.status, recording.handle.value, recording.joints), (NOT_A_RECORDING, None, []))

    def test_what_a_full_ring_refuses_is_counted(self):
        with Recorder(self.path, options(topics=[(b"/raw", b"my/msg/Raw", None)], ring_bytes=4096)) as recorder:
            results = []
            while results.count(RING_FULL) < 10:  # the thread empties the ring every 20 ms
                results.append(recorder.sample(0, 1, bytes(2000)))
            result, records, dropped = recorder.finish()
            self.assertEqual((result, dropped), (OK, 10))
        with Recording(self.path) as recording:
            self.assertEqual(len(list(recording)), results.count(OK))

    def test_a_recording_that_goes_on_in_further_files_is_read_as_one(self):
        given = self.record(20000, uncompressed=1, rotate_bytes=1_500_000)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "run.1.mcap")))
        self.assertLess(os.path.getsize(self.path), 1_500_000)
        with Recording(self.path) as recording:
            self.assertEqual(list(recording), given)

    def test_what_makes_no_sense_is_refused(self):
        path = self.path.encode()
        result, text = refusal(path, options(topics=[(b"/gripper", b"gripper/msg/State", b"force f65")]))
        self.assertEqual(result, BAD_TOPIC)
        self.assertIn("/gripper", text)
        for taken in (b"/cycle", b"/joints/measured"):  # takt's own
            self.assertEqual(refusal(path, options(topics=[(taken, b"my/msg/Raw", None)]))[0], BAD_TOPIC)
        result, text = refusal(b"/nowhere/run.mcap", options())
        self.assertEqual(result, CANNOT_OPEN)
        self.assertIn("/nowhere/run.mcap", text)
        self.assertEqual(refusal(path, options([b"j" * 257]))[0], BAD_METADATA)
        for wrong in (options([b"j%d" % i for i in range(65)]), options(period_ns=-1), options(uncompressed=2),
                      options(rotate_after_ns=-1)):
            self.assertEqual(refusal(path, wrong)[0], BAD_ARGUMENT)
        self.assertEqual(refusal(path, options(struct_size=3))[0], WRONG_STRUCT_SIZE)
        self.assertEqual(refusal(path, options([None]))[0], NULL_POINTER)
        self.assertEqual(refusal(path, options(topics=[(None, b"x/msg/X", None)]))[0], NULL_POINTER)
        self.assertEqual(refusal(None, options())[0], NULL_POINTER)
        with Recorder(self.path, options([b"elbow"], [(b"/gripper", b"gripper/msg/State", b"force f64")])) as recorder:
            self.assertEqual(recorder.cycle(1), BAD_ARGUMENT)  # no sample of the joint
            elbow = (0.0,) * 5 + (0, 0.0)
            self.assertEqual((recorder.cycle(2, elbow), recorder.cycle(2, elbow), recorder.cycle(1, elbow)), (OK, BAD_ARGUMENT, BAD_ARGUMENT))
            unix_time = 1_800_000_000 * SECOND  # which belongs into epoch_ns
            self.assertEqual(recorder.cycle(unix_time // PERIOD, elbow), BAD_ARGUMENT)
            self.assertEqual(recorder.sample(0, unix_time, bytes(8)), BAD_ARGUMENT)
            self.assertEqual(takt.takt_recorder_mark(recorder.handle, unix_time, b"late"), BAD_ARGUMENT)
            self.assertEqual(recorder.sample(0, 1, b"short"), BAD_ARGUMENT)
            self.assertEqual(recorder.sample(1, 1, bytes(8)), BAD_ARGUMENT)
            self.assertEqual(takt.takt_recorder_mark(recorder.handle, 0, None), NULL_POINTER)
        takt.takt_recorder_destroy(None)
        takt.takt_recording_close(None)
        takt.takt_recorder_options_init(None, 0)
        takt.takt_record_init(None, 0)
        self.assertEqual(takt.takt_recording_next(None, None, None, 0), NULL_POINTER)
        self.assertIsNone(takt.takt_recording_joint_name(None, 0))


if __name__ == "__main__":
    unittest.main(argv=["record_test.py"], verbosity=2)
