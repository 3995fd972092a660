"""Valid options and channels for tests of the vehicle in the C API."""

from ctypes import byref, c_uint8, c_void_p

from bindings import ChannelKey as Key
from bindings import OK, constants, initialise, takt
from bindings import OdometryEstimate as Estimate
from bindings import SimulatedVehicleState as Truth
from bindings import UdpCounters, UdpDatagram, UdpOptions
from bindings import VehicleClientCounters as Counters
from bindings import VehicleClientOptions as Options
from bindings import VehicleClientState as State
from bindings import VehicleDriveOptions as DriveOptions
from bindings import VehicleFaults as Faults
from bindings import VehicleUnits as Units

(DATAGRAM,) = constants("VEHICLE_CLIENT", "DATAGRAM")
LITTLE_ENDIAN, NETWORK = constants("BYTE_ORDER", "LITTLE_ENDIAN NETWORK")


def options(**changes):
    made = initialise(Options())
    made.units.speed = 0.01
    made.units.angle = made.units.odometer = made.units.steer = 0.001
    made.units.full_throttle = made.units.full_brake = 100
    made.byte_order = NETWORK
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def plain():
    channel = c_void_p()
    assert takt.takt_channel_create_plain(byref(channel)) == OK
    return channel


def commander():
    channel, key = c_void_p(), Key(1, (c_uint8 * 16)(*range(16)))
    assert takt.takt_channel_create_commander(byref(key), None, byref(channel)) == OK
    return channel
