#!/usr/bin/env python3
"""Watches the joints of the robot (robot.cpp): prints a line whenever one gets or loses its owner, or comes to rest. It only reads,
and needs no library: what lies where in the segment is written in the segment.

    watch.py [NAME [SECONDS]]
"""

import mmap
import re
import struct
import sys
import time

CODES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "f32": "f", "f64": "d"}
PHASES = ["resting", "returning", "granted", "driven"]


def find(memory, wanted):
    """Finds an exchange in the directory of a segment (shm/layout.hpp). Returns its offset, element size and schema."""
    magic, version, _, exchanges = struct.unpack_from("<4I", memory)
    if magic != 0x54414B31 or version != 1:
        sys.exit("that is no segment of takt, or not of this version")
    for record in range(64, 64 + 512 * exchanges, 512):
        name, _, size = struct.unpack_from("<32s2I", memory, record)
        length, _, offset = struct.unpack_from("<I2Q", memory, record + 60)
        if name.rstrip(b"\0").decode() == wanted:
            return offset, size, memory[record + 88:record + 88 + length].decode()
    sys.exit(f"the segment has no {wanted}")


def read(memory, offset, size):
    """The newest value of a BroadcastValue. Each of its two slots has a version, odd during a write, and a value."""
    slot = -(-(8 + size) // 64) * 64
    while True:
        versions = [struct.unpack_from("<I", memory, offset + i * slot)[0] for i in (0, 1)]
        whole = [i for i in (0, 1) if versions[i] != 0 and versions[i] % 2 == 0]
        if len(whole) == 2:  # versions wrap
            whole = [1] if (versions[1] - versions[0]) % 2**32 < 2**31 else [0]
        if whole:
            start = offset + whole[0] * slot
            value = memory[start + 8:start + 8 + size]
            if struct.unpack_from("<I", memory, start)[0] == versions[whole[0]]:
                return value
        time.sleep(0.001)


def columns(schema, value):
    """The fields of a value as tuples, given a schema such as "cycle u64, position f64[64]"."""
    fields = re.findall(r"(\w+) (\w+)(?:\[(\d+)\])?", schema)
    offset = 0
    result = {}
    for name, kind, count in fields:
        form = struct.Struct(f"<{count or 1}{CODES[kind]}")
        result[name] = form.unpack_from(value, offset)
        offset += form.size
    return result


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "robot"
    if name in ("--help", "-h"):
        print(__doc__)
        return
    until = time.monotonic() + float(sys.argv[2]) if len(sys.argv) > 2 else float("inf")
    try:
        with open(f"/dev/shm/takt.{name}", "rb") as file:
            memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}: is 05_shared_memory_robot {name} running?")
    offset, size, schema = find(memory, "joints")
    hub, before = None, {}
    while time.monotonic() < until:
        image = columns(schema, read(memory, offset, size))
        if hub != image["started"]:
            hub, before = image["started"], {}
            print(f"cycle {image['cycle'][0]}: a hub that began in cycle {hub[0]}", flush=True)
        for joint in range(image["joints"][0]):
            owner, phase = image["owner"][joint], PHASES[image["phase"][joint]]
            if before.get(joint) != (owner, phase):
                before[joint] = owner, phase
                whose = "nobody's" if owner == 255 else f"of owner slot {owner}"
                where = f"{image['position'][joint]:.3f} rad"
                print(f"cycle {image['cycle'][0]}: joint {joint} {whose}, {phase} at {where}", flush=True)
        time.sleep(0.002)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
