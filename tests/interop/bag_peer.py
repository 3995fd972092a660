#!/usr/bin/env python3
"""Writes a bag with ROS 1's own library: joint states of two joints and texts beside them. The joint states are in PATH.json, too.

usage: bag_peer.py PATH COMPRESSION SEED
"""
import json, random, sys

import rosbag
import rospy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

path, compression, seed = sys.argv[1:4]
numbers = random.Random(int(seed))
written = []
with rosbag.Bag(path, "w", compression=compression, chunk_threshold=4096) as bag:
    for i in range(1, 500):
        time = rospy.Time(1_700_000_000 + i // 100, i % 100 * 10_000_000)
        state = JointState(name=["shoulder", "elbow"])
        state.header.stamp, state.header.seq, state.header.frame_id = time, i, "base"
        state.position, state.velocity, state.effort = ([numbers.uniform(-3, 3) for _ in range(2)] for _ in range(3))
        bag.write("/chatter", String(f"text {i}"), time)
        bag.write("/arm/joint_states", state, time)
        written.append({"positions": state.position, "efforts": state.effort})
with open(path + ".json", "w") as file:
    json.dump(written, file)
