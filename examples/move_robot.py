#!/usr/bin/env python3
"""Moves a running robot with nothing but Python's standard library: one JSON object per line, over TCP.

usage: move_robot.py JOINT RADIANS [PORT]        for example: move_robot.py elbow_joint 1.2
"""
import json, socket, sys

joint, target, port = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 7470
with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rw") as lines:
    print("robot:", json.loads(lines.readline())["takt"]["robot"])
    lines.write(json.dumps({"move": {"joint_names": [joint], "positions": [target]}}) + "\n")
    lines.flush()
    for line in lines:
        print(line.strip())
        if not {"result", "rejected", "error"}.isdisjoint(reply := json.loads(line)):
            sys.exit(reply.get("result", {}).get("state") != "succeeded")
sys.exit("the server ended the connection")
