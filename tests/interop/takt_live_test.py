#!/usr/bin/env python3
"""Watches a running robot by Foxglove's WebSocket protocol and by PlotJuggler's datagrams.

usage: takt_live_test.py TAKT PATIENT_ARM CONTROLLER_PLUGIN NPM_FOLDER [unittest arguments]

Foxglove's own client comes from npm; without npm or a registry its test is skipped.
"""
import faulthandler, json, os, random, socket, struct, subprocess, sys, time, unittest

from npm_packages import npm_packages
from robot_programs import program
from web_socket_client import ACCEPT, BINARY, TEXT, WebSocketClient, frame, request

HERE = os.path.dirname(os.path.abspath(__file__))
TAKT, ARM, PLUGIN, NPM_FOLDER = map(os.path.abspath, sys.argv[1:5])
PATIENCE = 60  # s
SEED = int(os.environ.get("TAKT_SEED") or random.SystemRandom().randrange(2**32))
PACKAGES = ["ws@8", "@foxglove/ws-protocol@0.8.0", "@foxglove/rosmsg@5", "@foxglove/rosmsg2-serialization@3"]
MEASURED, REFERENCE, ROBOT, LOOP, BUSES = range(5)


class Running(unittest.TestCase):
    def run_robot(self, *arguments, until="controllers: "):
        robot = self.enterContext(program(TAKT, "run", ARM, "--port", "0", "--folder", os.path.dirname(PLUGIN), *arguments, until=until))
        places = {line.split(" ", 1)[0]: line.rsplit(":", 1)[1] for line in robot.lines if ":" in line}
        self.motion_port = places["listening"]
        self.port = int(places.get("Foxglove", 0))
        return robot

    def ctl(self, *words):
        done = subprocess.run([TAKT, "ctl", *words, "--port", self.motion_port, "--json"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)[words[0]]

    def load_tip(self):
        self.ctl("library", os.path.basename(PLUGIN))
        self.ctl("load", "Borrower", "tip", "joint=elbow_joint", "by=-0.1")

    def client(self, *arguments, **options):
        client = WebSocketClient(self.port, *arguments, **options)
        self.addCleanup(client.close)
        return client

    def next_message(self, client, channel=LOOP, number=1):
        """The next JSON message of a channel."""
        client.send({"op": "subscribe", "subscriptions": [{"id": number, "channelId": channel}]})
        head = struct.pack("<BI", 1, number)
        return json.loads(client.wait_for(lambda opcode, value: opcode == BINARY and value.startswith(head))[13:])

    def check_robot_is_well(self):
        """A new client sees the loop run on. It may have to wait until the server has let go of those before it."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                client = self.client()
                break
            except (ConnectionError, IndexError):
                self.assertLess(time.monotonic(), until)
                time.sleep(0.1)
        first = self.next_message(client)["cycles"]
        self.assertGreater(json.loads(client.wait_for(lambda opcode, value: opcode == BINARY and value[0] == 1)[13:])["cycles"], first)
        client.close()


class FoxgloveTest(Running):
    def test_foxglove_s_own_client_subscribes_decodes_and_sets_a_parameter(self):
        modules = npm_packages(NPM_FOLDER, PACKAGES, 2 * PATIENCE)
        if modules is None:
            self.skipTest("no npm packages")
        self.run_robot("--foxglove", "127.0.0.1:0")
        self.load_tip()
        peer = ["node", os.path.join(HERE, "foxglove_peer.js"), modules, f"ws://127.0.0.1:{self.port}", "tip.by", "0.05"]
        done = subprocess.run(peer, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        self.assertEqual(seen["statuses"], [])
        self.assertEqual(seen["topics"], ["/joints/measured", "/joints/reference", "/robot", "/loop", "/buses"])
        self.assertIn("time", seen["info"]["capabilities"])
        with open(ARM) as file:
            joints = [joint["name"] for joint in json.load(file)["joints"]]
        for topic in ("/joints/measured", "/joints/reference"):
            message = seen["messages"][topic]["message"]
            self.assertEqual(message["name"], joints)
            self.assertEqual((len(message["position"]), len(message["velocity"])), (len(joints), len(joints)))
            self.assertLess(abs(message["stamp"]["sec"] - time.time()), PATIENCE)
        self.assertEqual(len(seen["messages"]["/joints/measured"]["message"]["effort"]), len(joints))
        self.assertEqual(seen["messages"]["/robot"]["message"]["state"], "ready")
        self.assertGreater(seen["messages"]["/buses"]["message"]["arm"]["frames"], 0)
        self.assertIn({"name": "tip.by", "value": -0.1, "type": "float64"}, seen["parameters"])
        self.assertEqual(seen["set"], [{"name": "tip.by", "value": 0.05, "type": "float64"}])
        self.assertEqual(seen["update"], seen["set"])
        change = self.ctl("show", "tip")["changes"][-1]
        self.assertEqual((change["who"], change["parameter"], change["after"]), ("Foxglove", "by", 0.05))

    def test_both_subprotocols_are_spoken_and_parameters_that_break_a_rule_are_refused(self):
        self.run_robot("--foxglove", "127.0.0.1:0")
        self.load_tip()
        for protocol in ("foxglove.websocket.v1", "foxglove.sdk.v1"):
            client = self.client(request(protocol=protocol))
            self.assertEqual((client.status, client.headers["sec-websocket-accept"]), ("101", ACCEPT))
            self.assertEqual(client.headers["sec-websocket-protocol"], protocol)
            self.assertEqual(json.loads(client.receive()[1])["op"], "serverInfo")
            self.assertEqual(json.loads(client.receive()[1])["op"], "advertise")
        client.send({"op": "setParameters", "id": "1", "parameters": [{"name": "tip.by", "value": 7}]})
        status = client.wait_for(lambda opcode, value: opcode == TEXT and value["op"] == "status")
        self.assertIn("by: 7 is not in", status["message"])
        answer = client.wait_for(lambda opcode, value: opcode == TEXT and value["op"] == "parameterValues")
        self.assertEqual(answer["parameters"][0]["value"], -0.1)

    def test_pages_of_other_origins_and_names_of_other_hosts_are_refused(self):
        self.run_robot("--foxglove", "127.0.0.1:0", "--allow-origin", "http://localhost:8080")
        for opening, status in ((request(more="Origin: https://evil.example\r\n"), "403"), (request(host="robot.evil.example"), "403"),
                                (request(protocol="chat"), "400"), (request(more="Origin: https://app.foxglove.dev\r\n"), "101"),
                                (request(more="Origin: http://localhost:8080\r\n"), "101"), (b"GET / HTTP/1.1\r\n\r\n", "400")):
            with self.subTest(opening):
                self.assertEqual(self.client(opening).status, status)


class HostileTest(Running):
    def test_malformed_frames_end_the_connection_with_their_code(self):
        self.run_robot("--foxglove", "127.0.0.1:0")
        for bytes_, code in ((b"\x81\x05hello", 1002), (frame(3), 1002), (frame(TEXT, b"\xff"), 1007), (b"\x82\xfe\x00\x01\0\0\0\0x", 1002),
                             (b"\x82\xff" + struct.pack(">Q", 1 << 40) + b"\0\0\0\0", 1009), (frame(8, b"\x03\xe8"), 1000)):
            client = self.client()
            client.socket.sendall(bytes_)
            self.assertEqual(client.close_code(), code)
        self.check_robot_is_well()

    def test_garbage_after_and_instead_of_the_handshake_harms_nobody(self):
        self.run_robot("--foxglove", "127.0.0.1:0")
        generator = random.Random(SEED)
        for i in range(200):
            peer = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
            try:
                peer.sendall((request() if i % 2 else b"") + generator.randbytes(generator.randrange(1, 2000)))
            except OSError:
                pass  # it was dropped early
            peer.close()
        self.check_robot_is_well()

    def test_clients_by_the_hundred_and_clients_that_do_not_read_harm_nobody(self):
        self.run_robot("--foxglove", "127.0.0.1:0", "--live-rate", "1000")
        sleeper = self.client()
        everything = [{"id": i, "channelId": i % 5} for i in range(250)]
        sleeper.send({"op": "subscribe", "subscriptions": everything})
        crowd = [socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) for _ in range(200)]
        time.sleep(1)
        for peer in crowd:
            peer.close()
        time.sleep(0.5)  # until the server has seen it
        self.check_robot_is_well()

    def test_an_address_that_is_taken_or_wrong_is_reported_before_anything_runs(self):
        self.run_robot("--foxglove", "127.0.0.1:0")
        for address, code, part in ((f"127.0.0.1:{self.port}", 1, "cannot listen|in use"), ("nowhere:1", 1, "not a numeric address"),
                                    ("nowhere", None, "is not ADDRESS:PORT")):
            done = subprocess.run([TAKT, "run", ARM, "--port", "0", "--foxglove", address], capture_output=True, text=True, timeout=PATIENCE)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr + done.stdout, part)


class PlotJugglerTest(Running):
    def test_datagrams_are_json_with_time_joints_robot_loop_and_buses(self):
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(receiver.close)
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(PATIENCE)
        self.run_robot("--plotjuggler", "127.0.0.1:%d" % receiver.getsockname()[1])
        stamps = []
        while len(stamps) < 20:
            document = json.loads(receiver.recv(65536))
            stamps.append(document["timestamp"])
        self.assertEqual(stamps, sorted(set(stamps)))
        self.assertLess(abs(stamps[-1] - time.time()), PATIENCE)
        joints = document["joints"]
        self.assertEqual(set(joints), {"measured", "reference"})
        self.assertEqual(set(joints["measured"]["elbow_joint"]), {"position", "velocity", "effort"})
        self.assertEqual(set(document), {"timestamp", "joints", "robot", "loop", "buses"})
        self.assertEqual(set(document["buses"]["arm"]), {"load", "frames", "refused"})

    def test_without_a_receiver_the_robot_runs_on(self):
        self.run_robot("--foxglove", "127.0.0.1:0", "--plotjuggler", "127.0.0.1:9")
        self.check_robot_is_well()


if __name__ == "__main__":
    faulthandler.dump_traceback_later(280, exit=True)  # where it waits, before ctest ends it
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
