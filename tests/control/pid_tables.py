#!/usr/bin/env python3
"""Writes pid_tables.hpp: the outputs of the PIDs of ROS 1, ROS 2 and the Dataspeed controller for a fixed sequence of errors.

The formulas follow the code of those projects statement by statement, and are independent of takt's. Python's numbers are the same
IEEE doubles, and each operation rounds once. Run it in its own folder; the repository contains the result.
"""
import math

ERRORS = [0.3, 0.7, -0.2, 1.9, 1.8, 1.7, 0.05, -0.6, -2.1, -1.4, 1.1, 0.01, -0.01, 0.9]
PERIODS = [0.01, 0.01, 0.02, 0.01, 0.03, 0.01, 0.01, 0.1, 0.01, 0.07, 0.01, 0.01, 0.01, 0.3]
P, I, D = 2.3, 17.1, 0.07
NEGATIVE_I = -17.1
I_MIN, I_MAX = -0.9, 0.7
U_MIN, U_MAX = -3.1, 4.3
DEAD_BAND = 0.02


def clamp(value, low, high):
    return min(max(value, low), high)


def ros1(antiwindup, i_gain=I):
    last, total = 0.0, 0.0  # reset() after construction marks the last error as valid
    for error, dt in zip(ERRORS, PERIODS):
        error_dot = (error - last) / dt
        last = error
        total += dt * error
        if antiwindup and i_gain != 0:
            bounds = sorted([I_MIN / i_gain, I_MAX / i_gain])
            total = clamp(total, *bounds)
        i_term = i_gain * total
        if not antiwindup:
            i_term = clamp(i_term, I_MIN, I_MAX)
        yield P * error + i_term + D * error_dot


def ros2(strategy, tracking_time=0.0, d=D):
    last, i_term = 0.0, 0.0
    if tracking_time == 0.0:
        tracking_time = math.sqrt(d / I) if d != 0 else P / I
    for error, dt in zip(ERRORS, PERIODS):
        slope = (error - last) / dt
        last = error
        unsaturated = P * error + i_term + d * slope
        command = clamp(unsaturated, U_MIN, U_MAX)
        if not abs(error) <= DEAD_BAND:
            if strategy == "back_calculation":
                i_term += dt * (I * error + 1 / tracking_time * (command - unsaturated))
            elif strategy == "conditional_integration":
                if not (unsaturated - command != 0 and error * unsaturated > 0):
                    i_term += dt * I * error
            else:
                i_term += dt * I * error
        i_term = clamp(i_term, I_MIN, I_MAX)
        yield command


def dataspeed():
    last, total = 0.0, 0.0
    for error, dt in zip(ERRORS, PERIODS):
        integral = total + error * dt
        derivative = (error - last) / dt
        y = P * error + I * total + D * derivative
        if y > U_MAX:
            y = U_MAX
        elif y < U_MIN:
            y = U_MIN
        else:
            total = integral
        last = error
        yield y


TABLES = {
    "ros1": ros1(False),
    "ros1_anti_windup": ros1(True),
    "ros1_anti_windup_negative": ros1(True, NEGATIVE_I),
    "ros2": ros2("none"),
    "ros2_conditional": ros2("conditional_integration"),
    "ros2_back_calculation": ros2("back_calculation"),
    "ros2_back_calculation_slow": ros2("back_calculation", 0.5),
    "ros2_back_calculation_without_derivative": ros2("back_calculation", 0.0, 0.0),
    "dataspeed": dataspeed(),
}


def array(name, numbers):
    numbers = ", ".join(number.hex() for number in numbers)
    return f"inline constexpr std::array<double, {len(ERRORS)}> {name}{{{numbers}}};\n"


with open("pid_tables.hpp", "w") as out:
    out.write("// Written by pid_tables.py: see there.\n#pragma once\n\n#include <array>\n\nnamespace takt::test::pid_tables {\n\n")
    out.write("// clang-format off\n")
    for name, numbers in [("errors", ERRORS), ("periods", PERIODS), *TABLES.items()]:
        out.write(array(name, map(float, numbers)))
    out.write("// clang-format on\n\n}  // namespace takt::test::pid_tables\n")
