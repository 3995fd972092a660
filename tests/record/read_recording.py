"""Reads a recording with only the standard library and the schemas in the file, as a reader in any other language would. Checks a
small recording with known contents, so that a change of the format fails this test.

usage: read_recording.py KNOWN_RECORDING [TAKT ROBOT REQUESTS]
With the program takt, it also records a moving robot and reads that recording.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

MAGIC = b"\x89MCAP0\r\n"
SCHEMA, CHANNEL, MESSAGE, CHUNK, METADATA = 3, 4, 5, 6, 12
CODES = {"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
         "float32": "f", "float64": "d"}


class Bytes:
    """MCAP's texts and numbers."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, code):
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def take(self, size):
        self.at += size
        assert self.at <= len(self.data)
        return self.data[self.at - size:self.at]

    def text(self):
        return self.take(self.number("I")).decode()

    def texts(self):
        entries, end = {}, self.number("I") + self.at
        while self.at < end:
            key = self.text()
            entries[key] = self.text()
        return entries

    def records(self):
        while self.at < len(self.data) and self.data[self.at:] != MAGIC:
            opcode = self.number("B")
            yield opcode, Bytes(self.take(self.number("Q")))


class Cdr:
    """Messages by a definition of ROS 2: alignment counts from the byte after the header."""

    def __init__(self, data):
        assert data[:4] == b"\0\1\0\0"
        self.data, self.at = data[4:], 0

    def number(self, kind):
        code = CODES[kind]
        size = struct.calcsize(code)
        self.at += -self.at % size
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += size
        return value

    def value(self, kind, types):
        kind, bracket, count = kind.partition("[")
        if bracket:
            size = self.number("uint32") if count == "]" else int(count[:-1])
            return [self.value(kind, types) for _ in range(size)]
        if kind == "string":
            size = self.number("uint32")
            self.at += size
            return self.data[self.at - size:self.at - 1].decode()
        if kind in CODES:
            return self.number(kind)
        return {name: self.value(part, types) for part, name in types[kind]}


def definitions(text):
    """The types of a schema: "" is the message itself."""
    types = {}
    for part in text.split("=" * 80):
        lines = part.strip().splitlines()
        name = lines.pop(0)[5:] if lines and lines[0].startswith("MSG: ") else ""
        fields = [line.partition("#")[0].strip() for line in lines]
        types[name] = [tuple(field.split()) for field in fields if field and "=" not in field]
    return types


def read(data):
    assert data[:8] == MAGIC and data[-8:] == MAGIC
    schemas, channels, metadata, messages = {}, {}, {}, []

    def take(opcode, content):
        if opcode == SCHEMA:
            number, name, encoding, text = content.number("H"), content.text(), content.text(), content.text()
            assert encoding == "ros2msg"
            schemas[number] = (name, definitions(text))
        elif opcode == CHANNEL:
            number, schema = content.number("H"), content.number("H")
            channels[number] = (content.text(), schemas[schema][1])
            assert content.text() == "cdr"
        elif opcode == METADATA:
            name = content.text()
            metadata[name] = content.texts()
        elif opcode == CHUNK:
            content.take(16)
            size, crc, compression = content.number("Q"), content.number("I"), content.text()
            records = content.take(content.number("Q"))
            assert compression == "" and len(records) == size and crc in (0, zlib.crc32(records))
            for inner in Bytes(records).records():
                take(*inner)
        elif opcode == MESSAGE:
            topic, types = channels[content.number("H")]
            content.number("I")
            time = content.number("Q")
            content.number("Q")
            cdr = Cdr(content.data[content.at:])
            types = types | {"": types[""]}
            message = {name: cdr.value(kind, types) for kind, name in types[""]}
            assert cdr.at == len(cdr.data), f"{topic}: {len(cdr.data) - cdr.at} bytes are not in the schema"
            messages.append((topic, time, message))

    for opcode, content in Bytes(data[8:]).records():
        if opcode == 15:  # the end of the data
            break
        take(opcode, content)
    return json.loads(metadata["takt"]["recording"]), messages, metadata


def main():
    with open(sys.argv[1], "rb") as file:
        metadata, messages, all_metadata = read(file.read())
    assert metadata["joints"] == ["a", "b"] and metadata["buses"] == ["can0"]
    cycle = ["/joints/measured", "/joints/reference", "/joints/command", "/cycle"]
    assert [topic for topic, _, _ in messages] == cycle * 3 + ["/events", "/buses/can0", "/marks", "/loop"]
    assert [time for topic, time, _ in messages if topic == "/cycle"] == [5000000, 10000000, 15000000]
    by_topic = {topic: message for topic, _, message in messages}
    measured = by_topic["/joints/measured"]
    assert measured["name"] == ["a", "b"] and measured["header"]["stamp"] == {"sec": 0, "nanosec": 15000000}
    assert measured["position"] == [3.5, 4.5] and measured["effort"] == [30, 40] and len(measured["velocity"]) == 2
    assert by_topic["/cycle"]["goals"] == [7, 0] and by_topic["/cycle"]["robot_state"] == 1
    assert by_topic["/buses/can0"] == {"time": 1, "load": 0.5, "frames": 3, "refused": 0}
    assert by_topic["/marks"] == {"time": 2, "text": "10 Hz stream"}
    assert by_topic["/loop"] == {"time": 3, "cycles": 3, "overruns": 0}
    assert all_metadata["takt_totals"] == {"records": "7", "dropped": "0"}
    if len(sys.argv) > 2:
        check_what_takt_records(*sys.argv[2:])


def check_what_takt_records(takt, robot, requests):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.mcap")
        command = [takt, "run", robot, "--virtual-time", "--requests", requests, "--record", path, "--uncompressed"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(path, "rb") as file:
            metadata, messages, _ = read(file.read())
    with open(robot) as file:
        joints = json.load(file)["joints"]
    for recorded, described in zip(metadata["limits"], joints, strict=True):
        limits = dict(described["limits"])
        if (positions := limits.pop("position", None)):
            limits |= {"position_min": positions[0], "position_max": positions[1]}
        assert recorded == limits, (recorded, limits)
    assert metadata["following_errors"] == [joint["following_error"] for joint in joints]
    efforts = [effort for topic, _, message in messages if topic == "/joints/measured" for effort in message["effort"] if effort == effort]
    first = next(message for topic, _, message in messages if topic == "/joints/measured")
    assert first["effort"] == [], "no drive has told an effort yet"
    assert all(position != position for position in first["position"]), "nor where it stands"
    assert 1 < max(map(abs, efforts)) < 150, "N m that the drives tell"


main()
