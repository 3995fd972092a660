"""A client of the motion server for tests from outside, of Python's standard library."""
import json, socket, time


class Client:
    """Sends lines of JSON, and any other bytes."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.lines = self.socket.makefile("r")
        self.kept = []
        self.greeting = self.receive()

    def send(self, message):
        self.socket.sendall((json.dumps(message) + "\n").encode())

    def receive(self):
        line = self.lines.readline()
        return json.loads(line) if line else None

    def wait_for(self, *kinds):
        """Returns the next message of one of these kinds: its kind and contents. Keeps other messages for later
        calls."""
        for message in self.kept:
            if (kind := next(iter(message))) in kinds:
                self.kept.remove(message)
                return kind, message[kind]
        while (message := self.receive()) is not None:
            if (kind := next(iter(message))) in kinds:
                return kind, message[kind]
            self.kept.append(message)
        return "closed", {}

    def result(self):
        return self.wait_for("result")[1]

    def ask(self, message):
        """The answer to a request."""
        self.send(message)
        return self.wait_for("accepted", "rejected", "error", "state")

    def close(self):
        self.lines.close()
        self.socket.close()


def wait_for_state(client, condition):
    """Repeats the query until the state is as wanted."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        kind, state = client.ask({"state": {}})
        if kind == "state" and condition(state):
            return state
        time.sleep(0.02)
    raise AssertionError(f"never came: last {state}")
