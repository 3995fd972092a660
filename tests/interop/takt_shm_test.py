#!/usr/bin/env python3
"""Tests takt shm from outside: its reports about segments of running and ended processes, and their removal.

usage: takt_shm_test.py TAKT PEER [unittest arguments]

PEER makes a segment and stays until its input ends (shm_peer.cpp).
"""
import contextlib, json, os, signal, subprocess, sys, tempfile, unittest

TAKT, PEER = sys.argv[1], sys.argv[2]
NAME = f"test-{os.getpid()}"
PATH = f"/dev/shm/takt.{NAME}"


def takt(*arguments, code=0):
    done = subprocess.run([TAKT, "shm", *arguments], capture_output=True, text=True, timeout=60)
    if done.returncode != code:
        raise AssertionError(f"takt shm {arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


@contextlib.contextmanager
def peer(kind="named", where=NAME):
    """A process with a segment; yields it."""
    process = subprocess.Popen([PEER, kind, where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        raise AssertionError("the peer did not start")
    try:
        yield process
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=60)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)


def listed():
    return {one["name"]: one for one in json.loads(takt("ls", "--json"))}


def exchanges_of(inspected):
    return {one["name"]: one for one in inspected["exchanges"]}


class TaktShm(unittest.TestCase):
    def tearDown(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(PATH)

    def test_a_segment_is_listed_with_its_owner_alive_and_dead(self):
        with peer() as process:
            one = listed()[NAME]
            self.assertEqual(one["owner"], {"pid": process.pid, "alive": True})
            self.assertEqual(one["exchanges"], ["references", "requests", "text", "goal", "state", "events", "own"])
            self.assertEqual(one["bytes"], os.stat(PATH).st_size)
            self.assertRegex(takt("ls"), rf"{NAME} .*{process.pid} alive .*state \(broadcast\)")
            kill(process)
            self.assertEqual(listed()[NAME]["owner"], {"pid": process.pid, "alive": False})

    def test_values_are_decoded_by_the_schema_that_the_segment_carries(self):
        with peer() as process:
            inspected = json.loads(takt("inspect", NAME, "--json"))
            exchanges = exchanges_of(inspected)
            self.assertEqual(exchanges["state"]["values"], [{"position": [0.25, -1.0], "stamp": 123456789012, "mode": 3}])
            self.assertEqual(exchanges["state"]["written"], 4)
            self.assertEqual(exchanges["goal"]["values"], [{"position": [1.0, 2.0], "stamp": -7, "mode": 1}])
            self.assertEqual(exchanges["goal"]["waiting"], 1)
            self.assertEqual((exchanges["references"]["written"], exchanges["references"]["waiting"]), (5, 5))
            self.assertEqual((exchanges["requests"]["written"], exchanges["requests"]["waiting"]), (3, 3))
            self.assertEqual(exchanges["text"]["waiting"], 16)
            self.assertEqual(exchanges["events"]["written"], 20)
            self.assertEqual(exchanges["references"]["schema"], "position f64[2], stamp i64, mode u8, _ u8[7]")
            owner_slots = {owner_slot["place"]: owner_slot for owner_slot in inspected["owner_slots"]}
            self.assertTrue(owner_slots["segment"]["alive"])
            self.assertTrue(owner_slots["references producer 0"]["alive"])
            self.assertEqual(owner_slots["references producer 0"]["pid"], process.pid)
            self.assertLess(owner_slots["references producer 0"]["heartbeat_age"], 60)
            self.assertIsNone(owner_slots["requests producer 0"]["heartbeat_age"])
            self.assertFalse(owner_slots["references consumer 0"]["alive"])
            text = takt("inspect", PATH)
            self.assertIn("stamp  123456789012", text)
            self.assertRegex(text, rf"references producer 0 +{process.pid} +alive +\d+ ms ago")
            self.assertRegex(text, r"references consumer 0 +- +free")
            kill(process)
            self.assertRegex(takt("inspect", NAME), rf"references producer 0 +{process.pid} +dead")
            # The last written value survives its writer.
            self.assertEqual(exchanges_of(json.loads(takt("inspect", NAME, "--json")))["state"]["values"][0]["mode"], 3)

    def test_a_sealed_segment_is_inspected_through_its_server_and_through_proc(self):
        with tempfile.TemporaryDirectory() as folder:
            with peer("sealed", os.path.join(folder, "socket")) as process:
                for where in [os.path.join(folder, "socket"), *self.memory_files(process.pid)]:
                    exchanges = exchanges_of(json.loads(takt("inspect", where, "--json")))
                    self.assertEqual(exchanges["state"]["values"][0]["position"], [0.25, -1.0])

    def memory_files(self, pid):
        files = [f"/proc/{pid}/fd/{fd}" for fd in os.listdir(f"/proc/{pid}/fd")]
        found = [file for file in files if "memfd:takt.peer" in os.readlink(file)]
        self.assertNotEqual(found, [])
        return found[:1]

    def test_clean_removes_what_nobody_has_and_nothing_else(self):
        with peer() as process:
            self.assertIn(f"{NAME}: kept: ", takt("clean"))
            kill(process)
            self.assertIn(f"{NAME}: would be removed, no process uses it", takt("clean", "--dry-run"))
            self.assertTrue(os.path.exists(PATH))
            self.assertIn(f"{NAME}: removed, no process uses it", takt("clean"))
            self.assertFalse(os.path.exists(PATH))

    def test_clean_removes_the_beginnings_of_one_who_died_and_keeps_what_is_not_takts(self):
        with open(PATH, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.truncate(8192)
        self.assertIn("has no layout yet", takt("ls"))
        self.assertIn(f"{NAME}: removed", takt("clean"))
        with open(PATH, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(b"something else")
        self.assertRegex(takt("clean"), f"{NAME}: kept: .*does not hold a takt segment")
        self.assertTrue(os.path.exists(PATH))

    def test_top_shows_fill_and_rates(self):
        with peer() as process:
            table = takt("top", "--once", "--rate", "100")
            self.assertRegex(table, rf"{NAME} +references +ring +0\.0 +5 of 16 +1 of 1 alive")
            self.assertRegex(table, rf"{NAME} +own +raw +- +- +0 of 1 alive")
            watching = subprocess.Popen([TAKT, "shm", "top", NAME, "--once", "--rate", "1"], stdout=subprocess.PIPE, text=True)
            for _ in range(100):  # for longer than it takes to start, and within its second
                process.stdin.write("x" * 1000)
                process.stdin.flush()
                if watching.poll() is not None:
                    break
                with contextlib.suppress(subprocess.TimeoutExpired):
                    watching.wait(timeout=0.05)
            table = watching.communicate(timeout=60)[0]
            self.assertRegex(table, r"events +broadcast_ring +[1-9]\d*\.\d")

    def test_what_cannot_be_opened_is_named(self):
        self.assertIn("there is no shared memory of this name", takt("inspect", NAME, code=1))
        self.assertIn("/nowhere/at/all", takt("inspect", "/nowhere/at/all", code=1))
        self.assertIn("not sealed", takt("inspect", "/etc/passwd", code=1))
        self.assertIn("letters, digits", takt("inspect", "a b", code=1))

    def test_random_bytes_in_a_segment_do_no_harm(self):
        with peer() as process:
            kill(process)
        with open(PATH, "r+b") as file:
            whole = file.read()
            seed = int.from_bytes(b"takt", "little")
            for _ in range(20):
                damaged = bytearray(whole)
                for _ in range(200):
                    seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
                    damaged[4 + seed // 2**40 % (len(damaged) - 4)] = seed >> 33 & 255
                # The directory stays, but its content is invalid.
                damaged[: 64 + 9 * 512] = whole[: 64 + 9 * 512]
                file.seek(0)
                file.write(damaged)
                file.flush()
                takt("inspect", NAME)
                json.loads(takt("inspect", NAME, "--json"))
                takt("top", NAME, "--once", "--rate", "100")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
