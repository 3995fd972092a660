-- The C API from LuaJIT, which reads the installed takt.cdef.
--
--     luajit luajit_test.lua LIBRARY

local ffi = require("ffi")
local path = arg[1]
local file = assert(io.open((path:gsub("[^/]*$", "")) .. "takt.cdef"))
local cdef = file:read("*a")
file:close()
ffi.cdef(cdef)
local takt = ffi.load(path)

-- Every declared function is in the library.
assert(takt.takt_abi_version() == takt.TAKT_ABI_VERSION)
local functions = 0
for name in cdef:gmatch("(takt_[a-z0-9_]+)%([^;]*%);") do
  assert(takt[name], name)
  functions = functions + 1
end
assert(functions > 200, functions)

-- Constants are numbers, and statuses have texts.
assert(takt.TAKT_ERROR_CAPI_NULL_POINTER == -(16 * 65536 + 1))
assert(takt.TAKT_MAX_JOINTS == 64)
assert(ffi.string(takt.takt_status_text(takt.TAKT_OK)) == "success")

-- A PID in memory of the caller: half a second of an error of 2, and the feed-forward.
local gains = ffi.new("takt_pid_gains")
takt.takt_pid_gains_init(gains, ffi.sizeof(gains))
assert(gains.struct_size == ffi.sizeof("takt_pid_gains"))
gains.integral = 1
local size, align = tonumber(takt.takt_pid_size()), tonumber(takt.takt_pid_align())
local memory = ffi.new("uint8_t[?]", size + align)
local address = memory + (-tonumber(ffi.cast("uintptr_t", memory)) % align)
local pid, output = ffi.new("takt_pid*[1]"), ffi.new("double[1]")
assert(takt.takt_pid_init_in(address, size, gains, pid) == takt.TAKT_OK)
assert(takt.takt_pid_step(pid[0], 2, 0, 500000000, 0.25, output) == takt.TAKT_OK)
assert(output[0] == 1.25)

-- A trajectory reaches its last waypoint.
local waypoints, trajectory = ffi.new("takt_waypoints"), ffi.new("takt_trajectory*[1]")
local times, positions = ffi.new("int64_t[2]", 0, 1000000000), ffi.new("double[2]", 0, 1.5)
takt.takt_waypoints_init(waypoints, ffi.sizeof(waypoints))
waypoints.joints, waypoints.count, waypoints.times_ns, waypoints.positions = 1, 2, times, positions
assert(takt.takt_trajectory_create(waypoints, trajectory) == takt.TAKT_OK)
local cursor, position = ffi.new("takt_cursor"), ffi.new("double[1]")
local duration = takt.takt_trajectory_duration_ns(trajectory[0])
assert(takt.takt_trajectory_sample(trajectory[0], cursor, duration, 1, position, nil, nil) == takt.TAKT_OK)
assert(position[0] == 1.5)
takt.takt_trajectory_destroy(trajectory[0])
