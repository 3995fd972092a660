#!/usr/bin/env python3
"""Checks that every #include obeys the floors. A room uses only rooms on lower floors, and floors 1 and 2 stay pure. Third-party
types stay out of public headers. A public header with floating-point numbers includes core/finite_math.hpp, directly or not.

    check_layers.py [ROOT]        prints each violation as FILE:LINE: reason; exit status 1 if there is any
    check_layers.py --self-test   plants one violation of each rule in a scratch tree and sees to it that each is caught
"""

import pathlib
import re
import sys
import tempfile

FLOORS = {
    "core": 1,
    "trajectory": 2, "control": 2, "mobile": 2, "can": 2, "dbc": 2, "secure": 2, "vehicle": 2, "shm": 2,
    "rt": 3,
    "component": 4,
    "robot": 5,
    "drives": 6, "controllers": 6, "motion": 6, "record": 6, "sim": 6,
    "app": 7,
}
# The allowed steps sideways. A vehicle uses control laws, kinematics and secure datagrams; a limit with braking distance uses stops.
# A drive's simulated twin uses plants and virtual buses. A database of messages uses signals and frames.
SIDEWAYS = {"dbc": {"can"}, "vehicle": {"control", "mobile", "secure"}, "control": {"trajectory"}, "drives": {"sim"}}
# What touches an operating system implements concepts of the lower floors, and nothing below the assembly knows it.
PLATFORM, PLATFORM_MAY_USE, PLATFORM_IS_KNOWN_TO = "platform", 3, {"app"}
# The texts of all rooms' errors, for the assembly and what stands above.
TEXTS = "describe.hpp"
# Sources shared by rooms, with no public header; what they may use is what the lowest room that uses them may.
INTERNAL = {"json": 4}
TOP = ("src/tools", "capi")

NOT_IN_PUBLIC_HEADERS = re.compile(r"(asio|boost|fmt|nlohmann|CLI)(/|\.hpp)")
# Floors 1 and 2 run on a microcontroller: no operating system, threads, streams or files.
NOT_ON_PURE_FLOORS = re.compile(
    r"(sys/|unistd\.h|pthread\.h|sched\.h|fcntl\.h|poll\.h|time\.h|signal\.h|linux/|netinet/|arpa/|"
    r"(iostream|istream|ostream|fstream|sstream|iomanip|cstdio|stdio\.h|thread|mutex|shared_mutex|condition_variable|future|"
    r"filesystem|regex|locale|random|typeinfo|any|exception|stdexcept)$)")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
FLOATING_POINT = re.compile(r"\b(float|double|Scalar)\b")
FINITE_MATH = "takt/core/finite_math.hpp"


def room_of(path):
    """The room of a file given relative to the root, or None for what stands above all floors."""
    text = path.as_posix()
    if text.startswith(TOP):
        return None
    parts = path.parts
    if text.startswith("include/takt/"):
        return parts[2] if len(parts) > 3 else None
    return parts[1] if len(parts) > 2 else None


def may_use(room, used):
    """Why `room` may not include `used`, or None if it may."""
    if used == room or (used in INTERNAL and FLOORS.get(room, 0) >= INTERNAL[used]):
        return None
    if used == PLATFORM and room in PLATFORM_IS_KNOWN_TO:
        return None
    if used == TEXTS and room in PLATFORM_IS_KNOWN_TO:
        return None
    if used == PLATFORM:
        return f"{room} must not know {PLATFORM}"
    if used not in FLOORS:
        return f"{room} must not include what is not a room: {used}"
    if room == PLATFORM:
        return None if FLOORS[used] <= PLATFORM_MAY_USE else f"{PLATFORM} must not know {used} (floor {FLOORS[used]})"
    if room in INTERNAL:
        return None if FLOORS[used] < INTERNAL[room] else f"{room} must not know {used}"
    if FLOORS[used] < FLOORS[room] or used in SIDEWAYS.get(room, ()):
        return None
    direction = "sideways" if FLOORS[used] == FLOORS[room] else "upwards"
    return f"{room} (floor {FLOORS[room]}) includes {direction}: {used} (floor {FLOORS[used]})"


def has_finite_math(root, header, seen=()):
    """Whether the header, given as it is included, refuses options that break the checks of numbers."""
    path = root / "include" / header
    if header == FINITE_MATH or header in seen or not path.exists():
        return header == FINITE_MATH
    seen = {*seen, header}
    included = (match[1] for match in map(INCLUDE.match, path.read_text(encoding="utf-8").splitlines()) if match)
    return any(has_finite_math(root, target, seen) for target in included if target.startswith("takt/"))


def violations_in(root):
    files = [p for top in ("include/takt", "src", "capi") for p in sorted((root / top).rglob("*.[hc]*"))
             if p.suffix in (".hpp", ".h", ".cpp", ".c")]
    for file in files:
        path = file.relative_to(root)
        room = room_of(path)
        public = path.parts[0] == "include"
        if room is not None and room != PLATFORM and room not in FLOORS and room not in INTERNAL:
            yield f"{path}:1: {room} is not a room of the design"
            continue
        text = file.read_text(encoding="utf-8")
        if public and FLOATING_POINT.search(COMMENT.sub("", text)) and not has_finite_math(root, path.relative_to("include").as_posix()):
            yield f"{path}:1: a header with floating-point numbers must include {FINITE_MATH}"
        for number, line in enumerate(text.splitlines(), start=1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match[1]
            reason = None
            if target.startswith("takt/"):
                used = target.split("/")[1]
                if room is not None and target != "takt/version.hpp":
                    reason = may_use(room, used)
            elif target.split("/")[0] in INTERNAL and not public and room is not None:
                reason = may_use(room, target.split("/")[0])
            elif target.startswith("tools/") and room is not None:
                reason = f"{room} must not know the programs"
            elif public and NOT_IN_PUBLIC_HEADERS.match(target):
                reason = f"a public header must not include {target}"
            elif public and FLOORS.get(room, 9) <= 2 and NOT_ON_PURE_FLOORS.match(target):
                reason = f"{room} (floor {FLOORS[room]}) is pure and must not include <{target}>"
            if reason:
                yield f"{path}:{number}: {reason}"


PLANTED = [  # file, include, words of the expected complaint
    ("include/takt/core/planted.hpp", "takt/can/frame.hpp", "upwards"),
    ("include/takt/can/planted.hpp", "takt/shm/spsc_ring.hpp", "sideways"),
    ("include/takt/can/planted.hpp", "takt/dbc/file.hpp", "sideways"),
    ("include/takt/secure/planted.hpp", "takt/vehicle/error.hpp", "sideways"),
    ("include/takt/motion/planted.hpp", "takt/record/format.hpp", "sideways"),
    ("src/rt/planted.cpp", "takt/robot/hardware.hpp", "upwards"),
    ("src/sim/planted.cpp", "takt/platform/steady_clock.hpp", "must not know platform"),
    ("include/takt/platform/planted.hpp", "takt/motion/goal.hpp", "must not know motion"),
    ("src/motion/planted.cpp", "tools/commands.hpp", "must not know the programs"),
    ("src/can/planted.cpp", "json/strict.hpp", "not a room"),
    ("src/sim/planted.cpp", "takt/drives/registry.hpp", "sideways"),
    ("src/drives/planted.cpp", "takt/app/bus.hpp", "upwards"),
    ("src/drives/planted.cpp", "takt/platform/serial_line.hpp", "must not know platform"),
    ("include/takt/motion/planted.hpp", "asio.hpp", "public header"),
    ("include/takt/platform/planted.hpp", "asio/ip/udp.hpp", "public header"),
    ("include/takt/record/planted.hpp", "nlohmann/json.hpp", "public header"),
    ("include/takt/rt/planted.hpp", "fmt/format.h", "public header"),
    ("include/takt/shm/planted.hpp", "sys/mman.h", "is pure"),
    ("include/takt/trajectory/planted.hpp", "iostream", "is pure"),
    ("src/attic/planted.cpp", "vector", "not a room of the design"),
]
OBEDIENT = [
    ("include/takt/vehicle/obedient.hpp", "takt/mobile/odometry.hpp"),
    ("include/takt/sim/obedient.hpp", "takt/robot/hardware.hpp"),
    ("include/takt/can/obedient.hpp", "array"),
    ("src/robot/obedient.cpp", "json/strict.hpp"),
    ("src/motion/obedient.cpp", "asio.hpp"),
    ("src/platform/obedient.cpp", "sys/mman.h"),
    ("src/drives/obedient.cpp", "takt/sim/servo_axis.hpp"),
    ("src/app/obedient.cpp", "takt/platform/serial_line.hpp"),
    ("src/app/obedient.cpp", "takt/drives/registry.hpp"),
    ("src/tools/obedient.cpp", "takt/platform/steady_clock.hpp"),
]


def complaints_about(file, include, code=""):
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / file
        path.parent.mkdir(parents=True)
        path.write_text(f"#include <{include}>\n{code}\n")
        return list(violations_in(pathlib.Path(scratch)))


def self_test():
    failures = []
    for file, include, expected in PLANTED:
        found = complaints_about(file, include)
        if len(found) != 1 or expected not in found[0]:
            failures.append(f"{file} including <{include}>: expected a complaint about '{expected}', got {found}")
    for file, include in OBEDIENT:
        found = complaints_about(file, include)
        if found:
            failures.append(f"{file} including <{include}> is allowed, yet: {found}")
    found = complaints_about("include/takt/can/planted.hpp", "array", "inline double x;")
    if len(found) != 1 or FINITE_MATH not in found[0]:
        failures.append(f"floating-point numbers without {FINITE_MATH}: {found}")
    for include, code in ((FINITE_MATH, "inline double x;"), ("array", "// a double\ninline int x;")):
        if complaints_about("include/takt/can/obedient.hpp", include, code):
            failures.append(f"{code!r} after including <{include}> is allowed")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        found = self_test()
        print(f"{len(PLANTED)} planted violations, {len(OBEDIENT)} obedient files")
    else:
        root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
        found = list(violations_in(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
