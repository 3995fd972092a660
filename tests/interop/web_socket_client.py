"""A WebSocket client for tests, of Python's standard library. It also sends what no proper client sends."""
import json, os, socket, struct

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def request(host="127.0.0.1", protocol="foxglove.websocket.v1", more=""):
    return (f"GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {KEY}\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {protocol}\r\n{more}\r\n").encode()


def frame(opcode, payload=b"", final=True):
    mask = os.urandom(4)
    length = len(payload)
    size = bytes([0x80 | length]) if length < 126 else b"\xfe" + struct.pack(">H", length) if length < 65536 else \
        b"\xff" + struct.pack(">Q", length)
    return bytes([opcode | (0x80 if final else 0)]) + size + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


class WebSocketClient:
    def __init__(self, port, opening=None, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.file = self.socket.makefile("rb")
        self.socket.sendall(opening or request())
        self.status = self.file.readline().decode().split(" ", 2)[1] if opening != b"" else ""
        self.headers = {}
        while (line := self.file.readline().strip()):
            name, value = line.decode().split(": ", 1)
            self.headers[name.lower()] = value

    def send(self, message):
        self.socket.sendall(frame(TEXT, json.dumps(message).encode()))

    def receive(self):
        """The next frame: opcode and payload; None at the end of the stream."""
        head = self.file.read(2)
        if len(head) < 2:
            return None
        length = head[1]
        if length >= 126:
            length = int.from_bytes(self.file.read(2 if length == 126 else 8), "big")
        return head[0] & 15, self.file.read(length)

    def wait_for(self, wanted):
        """The first message for which `wanted(opcode, value)` holds; a text's value is what its JSON says."""
        while (received := self.receive()) is not None:
            opcode, payload = received
            value = json.loads(payload) if opcode == TEXT else payload
            if wanted(opcode, value):
                return value
        raise AssertionError("the server closed the connection")

    def close_code(self):
        while (received := self.receive()) is not None:
            if received[0] == CLOSE:
                return int.from_bytes(received[1][:2], "big")
        return None

    def close(self):
        self.file.close()
        self.socket.close()
