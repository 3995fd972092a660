"""The commander's end of the secure channel, written from its description with Python's standard library:
SipHash-2-4-128, the key derivation (NIST SP 800-108, counter mode), the envelope and the handshake. It shares
no code with takt."""

import struct

HELLO, CHALLENGE, CONFIRM, SETPOINT, TELEMETRY, STOP = range(1, 7)
MASK = (1 << 64) - 1


def _rotated(word, bits):
    return (word << bits | word >> 64 - bits) & MASK


def _rounds(v, count):
    v0, v1, v2, v3 = v
    for _ in range(count):
        v0, v2 = v0 + v1 & MASK, v2 + v3 & MASK
        v1, v3 = _rotated(v1, 13) ^ v0, _rotated(v3, 16) ^ v2
        v0 = _rotated(v0, 32)
        v2, v0 = v2 + v1 & MASK, v0 + v3 & MASK
        v1, v3 = _rotated(v1, 17) ^ v2, _rotated(v3, 21) ^ v0
        v2 = _rotated(v2, 32)
    return [v0, v1, v2, v3]


def siphash128(key, message):
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]
    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) & 0xff])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        v = _rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xee
    v = _rounds(v, 4)
    low = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xdd
    v = _rounds(v, 4)
    return struct.pack("<QQ", low, v[0] ^ v[1] ^ v[2] ^ v[3])


def derived(key, label, context, size=16):
    blocks = (siphash128(key, bytes([i]) + label + b"\0" + context + struct.pack(">H", 8 * size)) for i in range(1, 2 + size // 16))
    return b"".join(blocks)[:size]


def wrapped(key, kind, key_id, session, sequence, now_ns, payload):
    head = struct.pack(">2sBBBBHQQq", b"TK", 1, kind, key_id, 0, len(payload), session, sequence, now_ns) + payload
    return head + siphash128(key, head)


def unwrapped(key, datagram):
    """Returns kind, key id, session, sequence, time and payload of a genuine datagram."""
    head, tag = datagram[:-16], datagram[-16:]
    assert siphash128(key, head) == tag, "not genuine"
    magic, version, kind, key_id, flags, length, session, sequence, now_ns = struct.unpack(">2sBBBBHQQq", head[:32])
    assert (magic, version, flags, length) == (b"TK", 1, 0, len(head) - 32)
    return kind, key_id, session, sequence, now_ns, head[32:]


class Commander:
    def __init__(self, key, key_id, challenge):
        self.key, self.key_id, self.challenge = key, key_id, challenge
        self.send = derived(key, b"takt handshake commander", bytes([key_id]))
        self.receive = derived(key, b"takt handshake vehicle", bytes([key_id]))
        self.session, self.sequence = 0, 0

    def hello(self, now_ns):
        return wrapped(self.send, HELLO, self.key_id, self.session, 0, now_ns, self.challenge + bytes(16))

    def confirm(self, answer, now_ns):
        """The answer to the vehicle's challenge; it establishes the session."""
        kind, key_id, _, _, challenged_ns, both = unwrapped(self.receive, answer)
        assert (kind, key_id, both[:16]) == (CHALLENGE, self.key_id, self.challenge)
        datagram = wrapped(self.send, CONFIRM, key_id, self.session, 0, now_ns, both + struct.pack(">q", challenged_ns))
        self.send, self.receive = derived(self.key, b"takt commander", both), derived(self.key, b"takt vehicle", both)
        (self.session,) = struct.unpack(">Q", derived(self.key, b"takt session", both, 8))
        return datagram

    def command(self, payload, now_ns, kind=SETPOINT):
        self.sequence += 1
        return wrapped(self.send, kind, self.key_id, self.session, self.sequence, now_ns, payload)

    def telemetry(self, datagram):
        kind, key_id, session, _, _, payload = unwrapped(self.receive, datagram)
        assert (kind, key_id, session) == (TELEMETRY, self.key_id, self.session)
        return payload
