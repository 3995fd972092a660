"""The frames of the Furbot by Python's struct alone, written from the protocol's description and not from takt's
code."""

import struct

STATUS_PORT, CONTROL_PORT = 18003, 18004
EPOCH = 1_531_000_000  # Unix seconds of time stamp 0

# id: (name, format behind the first byte, names of its numbers); blocks of unknown content are bytes.
BLOCKS = {
    0: ("communication", ">B", ["state"]),
    1: ("battery", ">BBHHBB", ["state", "charge", "current", "voltage", "highest_temperature", "lowest_temperature"]),
    2: ("motion_control", ">B6s", ["state", "rest"]),
    3: ("traction", ">bbhhhhhbi", ["state", "mode", "speed", "left_speed", "right_speed", "throttle", "brake", "reverse",
                                   "odometer"]),
    4: ("steering", ">bhh", ["state", "current_angle", "target_angle"]),
    5: ("hydraulics", ">B7s", ["state", "rest"]),
    6: ("suspension_rear_left", ">B6s", ["state", "rest"]),
    7: ("suspension_rear_right", ">B6s", ["state", "rest"]),
    8: ("suspension_front_left", ">B6s", ["state", "rest"]),
    9: ("suspension_front_right", ">B6s", ["state", "rest"]),
    10: ("rear_fork", ">B10s", ["state", "rest"]),
    11: ("front_fork", ">B10s", ["state", "rest"]),
}


class BadFrame(ValueError):
    pass


def stamp_of(unix_seconds):
    return int((unix_seconds - EPOCH) * 1000) % 2**32


def encode_status(stamp, blocks):
    """Encodes a status frame; `blocks` is a list of (id, {name: number}) or (id, bytes)."""
    frame = struct.pack(">4sIB3x", b"ATSF", stamp, len(blocks))
    for system, block in blocks:
        if not isinstance(block, bytes):
            _, layout, names = BLOCKS[system]
            block = struct.pack(layout, *(block[name] for name in names))
        frame += struct.pack("BB", system, len(block)) + block
    return frame


def steady_status(stamp, state, **traction):
    """A status of a vehicle whose systems are all in this state. All numbers are zero except the given ones of its
    traction."""
    blocks = [(system, bytes([state]) + bytes(struct.calcsize(layout) - 1)) for system, (_, layout, _) in BLOCKS.items()]
    blocks[3] = (3, {**dict.fromkeys(BLOCKS[3][2], 0), "state": state, **traction})
    return encode_status(stamp, blocks)


def decode_status(frame):
    """Returns the stamp and a list as for encode_status(), with bytes for unknown systems."""
    if len(frame) < 12:
        raise BadFrame("short")
    magic, stamp, count = struct.unpack_from(">4sIB", frame)
    if magic != b"ATSF":
        raise BadFrame("magic")
    blocks, at = [], 12
    while at < len(frame):
        if at + 2 > len(frame) or at + 2 + frame[at + 1] > len(frame):
            raise BadFrame("truncated")
        system, length = frame[at], frame[at + 1]
        block = frame[at + 2:at + 2 + length]
        if system in BLOCKS:
            _, layout, names = BLOCKS[system]
            if length != struct.calcsize(layout):
                raise BadFrame("length")
            if system in (known for known, _ in blocks):
                raise BadFrame("duplicate")
            block = dict(zip(names, struct.unpack(layout, block)))
        blocks.append((system, block))
        at += 2 + length
    if count != len(blocks):
        raise BadFrame("count")
    return stamp, blocks


def encode_control(stamp, steer, throttle, brake, little=False):
    return b"FSTA" + struct.pack(">I", stamp) + struct.pack("<iiI" if little else ">iiI", steer, throttle, brake)


def decode_control(frame, little=False):
    """Returns (stamp, steer, throttle, brake)."""
    if len(frame) != 20:
        raise BadFrame("length")
    if frame[:4] != b"FSTA":
        raise BadFrame("magic")
    return struct.unpack_from(">I", frame, 4) + struct.unpack_from("<iiI" if little else ">iiI", frame, 8)
