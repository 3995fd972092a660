#!/usr/bin/env python3
"""Components of the C API, written in Python: ports, services, parameters, contexts, and a switch.

    component_test.py LIBRARY
"""
import ctypes
import json
import math
import os
import sys
import tempfile
import threading
import unittest
from ctypes import byref, c_char_p, c_double, c_int32, c_int64, c_uint64, c_void_p, create_string_buffer, sizeof

from bindings import *  # the library, named in the first argument, and its structures

WRONG_TYPE, WRONG_STATE, BAD_VALUE, NO_SUCH_PARAMETER, ROLLED_BACK, BAD_NAME, NOT_CONNECTED = constants(
    "ERROR_COMPONENT", "WRONG_TYPE WRONG_STATE BAD_VALUE NO_SUCH_PARAMETER ROLLED_BACK BAD_NAME NOT_CONNECTED")
CREATED, INACTIVE, ACTIVE, ERROR = constants("COMPONENT", "CREATED INACTIVE ACTIVE ERROR")
NONE, OLD, NEW = constants("SAMPLE", "NONE OLD NEW")
LATEST, FIFO = constants("BUFFERING", "LATEST FIFO")
LOG_DEBUG, LOG_WARNING = constants("LOG", "DEBUG WARNING")
CANNOT_OPEN, ALREADY_RUNNING = constants("ERROR_RECORD", "CANNOT_OPEN ALREADY_RUNNING")
PERIOD = 1_000_000  # ns


class Component:
    """A component whose callbacks are methods of the same name."""

    type_name = b"Python"

    def __init__(self, name):
        self.type = initialise(ComponentType())
        self.type.type = self.type_name
        self.kept = []
        for callback in ("on_initialize", "on_check", "on_activate", "on_execute", "on_state_update", "on_reset"):
            self.bind(callback, answers=True)
        for callback in ("on_deactivate", "on_abort", "on_error", "on_parameters"):
            self.bind(callback, answers=False)
        self.handle = c_void_p()
        self.status = takt.takt_component_create(byref(self.type), name, None, byref(self.handle))

    def bind(self, callback, answers):
        method = getattr(self, callback, None)
        if method is None:
            return
        kind = dict(ComponentType._fields_)[callback]

        def call(_user, cycle=None):
            result = method(cycle.contents) if cycle else method()
            return (result or OK) if answers else None

        function = kind(call)
        self.kept.append(function)
        setattr(self.type, callback, function)

    def out_port(self, name, schema):
        port = c_void_p()
        assert takt.takt_component_add_out_port(self.handle, name, schema, byref(port)) == OK
        return port

    def in_port(self, name, schema):
        port = c_void_p()
        assert takt.takt_component_add_in_port(self.handle, name, schema, byref(port)) == OK
        return port

    def state(self):
        return takt.takt_component_get_state(self.handle)


class Counter(Component):
    def __init__(self, name):
        super().__init__(name)
        self.count = 0
        self.out = self.out_port(b"out", b"value f64")
        self.gain = c_void_p()
        assert takt.takt_component_add_number(self.handle, b"gain", 2, 0, 10, b"1", b"Of the count.", byref(self.gain)) == OK

    def on_execute(self, cycle):
        self.count += 1
        value = c_double(self.count * takt.takt_parameter_number(self.gain))
        return takt.takt_out_port_write(self.out, byref(value), sizeof(value), cycle.time_ns)

    def on_check(self):
        return BAD_VALUE if takt.takt_parameter_proposed_number(self.gain) == 7 else OK


class Sum(Component):
    def __init__(self, name):
        super().__init__(name)
        self.sum = 0
        self.port = self.in_port(b"in", b"value f64")
        self.answer = OK

    def on_execute(self, cycle):
        value = c_double()
        while takt.takt_in_port_read(self.port, byref(value), sizeof(value), None) == NEW:
            self.sum += value.value
        return self.answer

    def on_activate(self, cycle):
        return self.answer


class GripperTable(ctypes.Structure):
    """The interface Gripper/1, as both sides declare it."""
    _fields_ = [("user", c_void_p), ("close", ctypes.CFUNCTYPE(c_int32, c_void_p, c_double))]


ServiceCall = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p)


class Gripper(Component):
    """Provides Gripper/1, which refuses negative forces."""

    def __init__(self, name):
        super().__init__(name)
        self.calls = []

        def close(_user, force):
            self.calls.append((force, threading.get_ident()))
            return OK if force >= 0 else BAD_VALUE

        self.table, self.service = GripperTable(None, GripperTable._fields_[1][1](close)), c_void_p()
        self.provided = takt.takt_component_add_provided_service(self.handle, b"gripper", b"Gripper/1", byref(self.table),
                                                                 byref(self.service))


class Hand(Component):
    """Requires a service, and calls it directly in each cycle."""

    def __init__(self, name, interface=b"Gripper/1"):
        super().__init__(name)
        self.service, self.direct = c_void_p(), []
        self.required = takt.takt_component_add_required_service(self.handle, b"gripper", interface, byref(self.service))

    def on_execute(self, cycle):
        table = takt.takt_service_table(self.service)
        self.direct.append(ctypes.cast(table, ctypes.POINTER(GripperTable)).contents.close(None, 1.5) if table else None)

    def connect(self, gripper):
        text = create_string_buffer(1000)
        return takt.takt_service_connect(gripper.service, self.service, text, len(text)), text.value.decode()

    def call(self, force):
        call = ServiceCall(lambda table, _: ctypes.cast(table, ctypes.POINTER(GripperTable)).contents.close(None, force))
        return takt.takt_service_call(self.service, ctypes.cast(call, c_void_p), None)


class Context:
    def __init__(self, name, period=PERIOD):
        self.handle = c_void_p()
        assert takt.takt_context_create(name, period, byref(self.handle)) == OK
        self.now = 0

    def add(self, *components):
        for one in components:
            assert takt.takt_context_add(self.handle, one.handle, None, None, 0) == OK

    def run(self, cycles):
        assert takt.takt_context_start(self.handle, self.now) == OK
        for _ in range(cycles):
            takt.takt_context_run_cycle(self.handle, self.now, PERIOD)
            self.now += PERIOD
        takt.takt_context_stop(self.handle, self.now)


def connect(out, into, buffering=LATEST, capacity=0):
    connection, text = c_void_p(), create_string_buffer(1000)
    return takt.takt_connect(out, into, buffering, capacity, byref(connection), text, len(text)), connection, text.value.decode()


class ComponentTest(unittest.TestCase):
    def setUp(self):
        self.counter, self.sum = Counter(b"counter"), Sum(b"sum")
        self.context = Context(b"main")

    def tearDown(self):
        takt.takt_context_destroy(self.context.handle)
        takt.takt_component_destroy(self.counter.handle)
        takt.takt_component_destroy(self.sum.handle)

    def activate(self):
        self.context.add(self.counter, self.sum)
        for one in (self.counter, self.sum):
            self.assertEqual(takt.takt_context_activate(self.context.handle, one.handle), OK)

    def test_a_component_in_python_runs_and_feeds_another(self):
        status, connection, _ = connect(self.counter.out, self.sum.port, FIFO, 8)
        self.assertEqual(status, OK)
        self.assertEqual(self.counter.state(), CREATED)
        self.activate()
        self.context.run(10)
        self.assertEqual(self.counter.state(), ACTIVE)
        self.assertEqual(self.sum.sum, 2 * 55)
        self.assertEqual(takt.takt_context_cycles(self.context.handle), 10)
        takt.takt_connection_destroy(connection)
        self.context.run(1)
        self.assertEqual(self.sum.sum, 2 * 55)

    def test_parameters_change_whole_or_not_at_all(self):
        text = create_string_buffer(1000)
        setting = lambda values: takt.takt_component_set(self.counter.handle, values, b"test", text, len(text))
        self.assertEqual(setting(b'{"gain": 3}'), OK)
        self.assertEqual(takt.takt_parameter_number(self.counter.gain), 3)
        self.assertEqual(setting(b'{"gain": 11}'), BAD_VALUE)
        self.assertIn("counter.gain: 11 is not in [0, 10]", text.value.decode())
        self.assertEqual(setting(b'{"gain": 7}'), BAD_VALUE)  # on_check
        self.assertEqual(setting(b'{"mass": 7}'), NO_SUCH_PARAMETER)
        self.assertEqual(setting(b'{"gain": null}'), BAD_VALUE)
        self.assertEqual(setting(b'{'), BAD_VALUE)
        self.assertEqual(takt.takt_parameter_number(self.counter.gain), 3)
        self.assertTrue(math.isnan(takt.takt_parameter_number(None)))
        self.assertEqual(takt.takt_component_parameters(self.counter.handle, text, len(text)), OK)
        described = json.loads(text.value)
        self.assertEqual((described[0]["name"], described[0]["value"], described[0]["maximum"]), ("gain", 3, 10))

    def test_ports_of_other_types_do_not_connect(self):
        other = Component(b"other")
        port = other.in_port(b"in", b"x f64, y f64")
        status, _, text = connect(self.counter.out, port)
        self.assertEqual(status, WRONG_TYPE)
        self.assertIn('"value f64"', text)
        self.assertIn('"x f64, y f64"', text)
        takt.takt_component_destroy(other.handle)

    def test_reads_tell_none_new_and_old_with_stamp_and_number(self):
        value, info = c_double(), SampleInfo()
        read = lambda: takt.takt_in_port_read(self.sum.port, byref(value), sizeof(value), byref(info))
        self.assertEqual(connect(self.counter.out, self.sum.port)[0], OK)
        self.assertEqual(read(), NONE)
        for number in (5.0, 6.0):
            self.assertEqual(takt.takt_out_port_write(self.counter.out, byref(c_double(number)), 8, 42), OK)
        self.assertEqual(read(), NEW)
        self.assertEqual((value.value, info.stamp_ns, info.sequence), (6.0, 42, 2))
        self.assertEqual(read(), OLD)
        self.assertEqual(takt.takt_in_port_read(self.sum.port, byref(value), 4, None), -1)
        self.assertNotEqual(takt.takt_out_port_write(self.counter.out, byref(value), 4, 0), OK)

    def test_a_failure_leads_to_error_and_a_reset_leads_out(self):
        self.activate()
        self.sum.answer = WRONG_STATE
        self.context.run(3)
        self.assertEqual(self.sum.state(), ERROR)
        self.assertEqual(takt.takt_component_error(self.sum.handle), WRONG_STATE)
        self.sum.answer = OK
        self.assertEqual(takt.takt_context_reset(self.context.handle, self.sum.handle), OK)
        self.assertEqual(self.sum.state(), INACTIVE)

    def test_a_switch_is_applied_whole_or_rolled_back(self):
        self.context.add(self.counter, self.sum)
        both = (c_void_p * 2)(self.counter.handle, self.sum.handle)
        switch = lambda: takt.takt_context_switch(self.context.handle, None, 0, both, 2, None, 0, None)
        self.sum.answer = BAD_VALUE
        self.assertEqual(switch(), ROLLED_BACK)
        self.assertEqual((self.counter.state(), self.sum.state()), (INACTIVE, INACTIVE))
        self.sum.answer = OK
        self.assertEqual(switch(), OK)
        self.assertEqual((self.counter.state(), self.sum.state()), (ACTIVE, ACTIVE))

    def test_components_migrate_between_contexts(self):
        self.activate()
        slow = Context(b"slow", 5 * PERIOD)
        one = (c_void_p * 1)(self.counter.handle)
        self.assertEqual(takt.takt_context_switch(self.context.handle, None, 0, None, 0, one, 1, slow.handle), OK)
        self.context.run(5)
        self.assertEqual(self.counter.count, 0)
        slow.run(5)
        self.assertEqual(self.counter.count, 5)
        takt.takt_context_destroy(slow.handle)

    def test_a_context_runs_in_a_thread_of_its_own(self):
        self.activate()
        self.assertEqual(takt.takt_context_start_thread(self.context.handle), OK)
        while takt.takt_context_cycles(self.context.handle) < 20:
            pass
        self.assertEqual(takt.takt_context_deactivate(self.context.handle, self.counter.handle), OK)
        self.assertEqual(self.counter.state(), INACTIVE)
        self.assertEqual(takt.takt_context_stop_thread(self.context.handle), OK)
        self.assertGreaterEqual(self.counter.count, 1)

    def two_with_a_service(self):
        gripper, hand = Gripper(b"gripper"), Hand(b"hand")
        self.addCleanup(takt.takt_component_destroy, hand.handle)
        self.assertEqual((gripper.provided, hand.required), (OK, OK))
        self.assertEqual(hand.connect(gripper), (OK, ""))
        return gripper, hand

    def test_a_service_is_called_directly_in_the_cycle_of_the_client(self):
        gripper, hand = self.two_with_a_service()
        context = Context(b"hands")
        context.add(gripper, hand)
        self.assertEqual(takt.takt_context_activate(context.handle, hand.handle), OK)
        context.run(2)
        self.assertEqual(takt.takt_service_disconnect(hand.service), OK)
        context.run(1)
        self.assertEqual(hand.direct, [OK, OK, None])
        self.assertEqual([force for force, _ in gripper.calls], [1.5, 1.5])
        takt.takt_context_destroy(context.handle)
        takt.takt_component_destroy(gripper.handle)

    def test_a_deferred_call_runs_in_the_thread_of_the_provider_and_brings_its_status_back(self):
        gripper, hand = self.two_with_a_service()
        context = Context(b"hands")
        context.add(gripper)
        self.assertEqual(takt.takt_context_start_thread(context.handle), OK)
        while takt.takt_context_cycles(context.handle) == 0:  # until then the caller's thread would run the call
            pass
        self.assertEqual((hand.call(10), hand.call(-1)), (OK, BAD_VALUE))
        self.assertEqual([force for force, _ in gripper.calls], [10, -1])
        self.assertNotIn(threading.get_ident(), [thread for _, thread in gripper.calls])
        self.assertEqual(takt.takt_context_stop_thread(context.handle), OK)
        takt.takt_context_destroy(context.handle)
        takt.takt_component_destroy(gripper.handle)
        self.assertEqual(hand.call(10), NOT_CONNECTED)  # the provider has ended
        self.assertIsNone(takt.takt_service_table(hand.service))

    def test_services_of_other_interfaces_do_not_connect(self):
        gripper, hand = Gripper(b"gripper"), Hand(b"hand", b"Gripper/2")
        status, text = hand.connect(gripper)
        self.assertEqual(status, WRONG_TYPE)
        self.assertIn('"Gripper/1"', text)
        self.assertIn('"Gripper/2"', text)
        service, add = c_void_p(), takt.takt_component_add_required_service
        self.assertEqual(add(hand.handle, b"other", b"", byref(service)), BAD_NAME)
        self.assertEqual(add(hand.handle, b"gripper", b"Gripper/1", byref(service)), OK)
        context, text = Context(b"hands"), create_string_buffer(1000)
        self.assertEqual(takt.takt_context_add(context.handle, hand.handle, None, text, len(text)), BAD_NAME)  # two of one name
        context.add(gripper)
        self.assertEqual(add(gripper.handle, b"late", b"Gripper/1", byref(service)), WRONG_STATE)
        takt.takt_context_destroy(context.handle)
        for one in (gripper, hand):
            takt.takt_component_destroy(one.handle)

    def test_a_component_logs_from_its_cycle(self):
        class Hot(Component):
            def on_execute(self, cycle):
                for statement, numbers in ((self.hot, [80.5, 70]), (self.still, [])):
                    takt.takt_log(statement, (c_double * len(numbers))(*numbers))

        hot = Hot(b"motor")
        self.addCleanup(takt.takt_component_destroy, hot.handle)
        hot.hot, hot.still = c_void_p(), c_void_p()
        add = takt.takt_component_add_log_statement
        self.assertEqual(add(hot.handle, LOG_WARNING, b"it has {} degrees, at most {}", 2, byref(hot.hot)), OK)
        self.assertEqual(add(hot.handle, LOG_DEBUG, b"it works", 0, byref(hot.still)), OK)
        for level, text, count in ((0, b"", 0), (6, b"", 0), (LOG_DEBUG, b"{}", 0), (LOG_DEBUG, b"{}", 6), (LOG_DEBUG, b"{:x}", 1)):
            self.assertEqual(add(hot.handle, level, text, count, byref(c_void_p())), BAD_ARGUMENT)
        takt.takt_log(None, None)

        with tempfile.TemporaryDirectory() as folder:
            path, text = os.path.join(folder, "run.log"), create_string_buffer(1000)
            context = Context(b"fast")
            log_to = lambda name: takt.takt_context_log_to(context.handle, name, 0, text, len(text))
            self.assertEqual(log_to(b"/nowhere/run.log"), CANNOT_OPEN)
            self.assertIn(b"/nowhere/run.log", text.value)
            self.assertEqual((log_to(path.encode()), log_to(path.encode())), (OK, ALREADY_RUNNING))
            context.add(hot)
            self.assertEqual(takt.takt_context_activate(context.handle, hot.handle), OK)
            context.run(12)  # a statement has ten entries a second
            takt.takt_context_destroy(context.handle)
            with open(path) as file:
                lines = file.read().splitlines()
        self.assertEqual(lines[0], "0.000000 info fast begins")
        self.assertEqual(lines[1:3], ["0.000000 warning motor: it has 80.5 degrees, at most 70", "0.000000 debug motor: it works"])
        self.assertEqual(len([line for line in lines if "degrees" in line]), 10)
        self.assertIn("fast ends", lines[-1])

    def test_wrong_names_and_null_are_refused(self):
        self.assertNotEqual(takt.takt_component_add_provided_service(self.sum.handle, b"x", b"X/1", None, byref(c_void_p())), OK)
        self.assertNotEqual(takt.takt_service_call(None, None, None), OK)
        self.assertNotEqual(takt.takt_service_disconnect(None), OK)
        self.assertIsNone(takt.takt_service_table(None))
        self.assertEqual(Component(b"two words").status, BAD_NAME)
        handle = c_void_p()
        self.assertNotEqual(takt.takt_component_create(None, b"x", None, byref(handle)), OK)
        self.assertNotEqual(takt.takt_context_activate(None, None), OK)
        self.assertIsNone(takt.takt_plugin_make(None, 0))
        takt.takt_component_destroy(None)
        takt.takt_connection_destroy(None)
        takt.takt_context_destroy(None)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
