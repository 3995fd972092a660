"""Robots for tests on a busy machine, and programs of takt that play them or run them."""
import contextlib
import json
import os
import re
import signal
import subprocess


def patient_mhubo(source):
    """The description of mhubo, whose boards speak classic CAN, with a slow and patient loop."""
    with open(os.path.join(source, "examples", "robots", "mhubo.json")) as file:
        robot = json.load(file)
    robot.update(rate=100, overrun="skip", overrun_limit=1_000_000, feedback_timeout=10, goal_time=30)
    for joint in robot["joints"]:
        joint["following_error"] = 3  # the boards are a process of their own, which may pause, too
    return robot


def patient_arm(source, protocol):
    """The description of an arm whose drives have this protocol on classic CAN, with a slow and patient loop."""
    with open(os.path.join(source, "examples", "robots", "mit_arm3.json" if protocol == "mit" else "odrive_arm.json")) as file:
        robot = json.load(file)
    if protocol == "mit":  # a cheetah is limp after 25 ms
        robot["joints"] = [joint for joint in robot["joints"] if joint["drive"]["vendor"] != "cheetah"]
    # Their watchdogs allow pauses of 40 s.
    robot.update(rate=100, overrun="skip", overrun_limit=4000, feedback_timeout=5, goal_time=30)
    robot["buses"][0]["protocol"] = protocol
    robot["groups"] = {"arm": [joint["name"] for joint in robot["joints"]]}
    for joint in robot["joints"]:
        joint["following_error"] = 3
        if protocol == "cia402":
            del joint["drive"]
            joint["counts_per_radian"] = 10_000
        elif protocol == "odrive":
            joint["drive"].pop("watchdog", None)
    return robot


@contextlib.contextmanager
def program(takt, *arguments, until, **options):
    """A process of takt, from the line that begins as the expression `until` says; ends it with SIGTERM unless it has ended."""
    process = subprocess.Popen([takt, *arguments], stdout=subprocess.PIPE, text=True, **options)
    process.lines = []
    for line in process.stdout:
        process.lines.append(line.strip())
        if re.match(until, line):
            break
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
