"""Reads a recording with nothing but the standard library and the layout that the recording itself holds: what a reader in
any other language needs. Run on a small recording whose contents are known, it also pins the format."""
import json
import struct
import sys

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
                record[part] = []
                for _ in range(count):
                    entry, at = unpack(layout["then_for_each_" + part], data, at)
                    record[part].append(entry)
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


main()
