"""Reads a recording with only the standard library and the layout in the recording's metadata, as a reader in any other
language would. Checks a small recording with known contents, so that a change of the format fails this test.

usage: read_recording.py KNOWN_RECORDING [TAKT ROBOT REQUESTS]
With the program takt, it also records a moving robot and reads that recording.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

MAGIC = b"\x89TAKT\r\n\x1a"
CODES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i64 ns": "q", "f64": "d"}


def unpack(fields, data, at):
    code = struct.Struct("<" + "".join(CODES[kind] for _, kind in fields))
    return dict(zip((name for name, _ in fields), code.unpack_from(data, at))), at + code.size


def read(data):
    magic, version, _, size = struct.unpack_from("<8sHHI", data)
    assert magic == MAGIC and version == 1
    metadata = json.loads(data[16:16 + size])
    layouts = {layout["type"]: (name, layout) for name, layout in metadata["layout"].items()}
    records, at = [], 16 + size
    while at < len(data):
        size, kind = struct.unpack_from("<II", data, at)
        at += 8
        end = at + size
        name, layout = layouts[kind]
        record, at = unpack(layout["fields"], data, at)
        for part, count in (("joint", len(metadata["joints"])), ("bus", len(metadata["buses"]))):
            if "then_for_each_" + part in layout:
                record[part] = [{} for _ in range(count)]
            for fields in ("then_for_each_" + part, "then_again_for_each_" + part):
                for entry in record[part] if fields in layout and at < end else []:
                    values, at = unpack(layout[fields], data, at)
                    entry.update(values)
        if "then_to_the_end" in layout:
            record["text"], at = data[at:end].decode(), end
        assert at == end, f"{name}: {end - at} bytes are not in the layout"
        records.append((name, record))
    return metadata, records


def main():
    with open(sys.argv[1], "rb") as file:
        metadata, records = read(file.read())
    assert metadata["joints"] == ["a", "b"] and metadata["buses"] == ["can0"]
    assert [name for name, _ in records] == ["cycle"] * 3 + ["event", "buses", "mark", "loop", "end"]
    assert [record["time"] for name, record in records if name == "cycle"] == [5000000, 10000000, 15000000]
    by_name = dict(records)
    assert len(by_name["cycle"]["joint"]) == 2
    assert by_name["buses"] == {"time": 1, "bus": [{"load": 0.5, "frames": 3, "refused": 0}]}
    assert by_name["mark"] == {"time": 2, "text": "10 Hz stream"}
    assert by_name["loop"] == {"time": 3, "cycles": 3, "overruns": 0}
    assert by_name["end"] == {"records": 7, "dropped": 0}
    if len(sys.argv) > 2:
        check_what_takt_records(*sys.argv[2:])


def check_what_takt_records(takt, robot, requests):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        subprocess.run([takt, "run", robot, "--virtual-time", "--requests", requests, "--record", path], check=True,
                       stdout=subprocess.DEVNULL)
        with open(path, "rb") as file:
            metadata, records = read(file.read())
    with open(robot) as file:
        joints = json.load(file)["joints"]
    for recorded, described in zip(metadata["limits"], joints, strict=True):
        limits = dict(described["limits"])
        if (positions := limits.pop("position", None)):
            limits |= {"position_min": positions[0], "position_max": positions[1]}
        assert recorded == limits, (recorded, limits)
    assert metadata["following_errors"] == [joint["following_error"] for joint in joints]
    efforts = [joint["measured_effort"] for name, record in records if name == "cycle" for joint in record["joint"]]
    assert 1 < max(map(abs, efforts)) < 150, "N m that the drives tell"


main()
