# The PID of ros-controls, an optional peer. No distribution packages it, so give the paths of its sources:
#   cmake --preset release -DTAKT_BENCH_CONTROL_TOOLBOX=/src/control_toolbox/control_toolbox \
#     "-DTAKT_BENCH_CONTROL_TOOLBOX_INCLUDE=/src/realtime_tools/realtime_tools/include;/opt/ros/jazzy/include"
# The second is a list of folders: realtime_tools, and rclcpp and rcpputils or replacements for their few used types.
set(TAKT_BENCH_CONTROL_TOOLBOX "" CACHE STRING "Sources of a peer to compare with, where they lie beside")
set(TAKT_BENCH_CONTROL_TOOLBOX_INCLUDE "" CACHE STRING "What the peer includes")
target_sources(control_bench PRIVATE control_peers.cpp)
if(TAKT_BENCH_CONTROL_TOOLBOX)
  set(peer ${TAKT_BENCH_CONTROL_TOOLBOX}/src/pid.cpp)
  set_source_files_properties(${peer} PROPERTIES COMPILE_OPTIONS -w)  # foreign code
  target_sources(control_bench PRIVATE ${peer})
  target_include_directories(control_bench SYSTEM PRIVATE ${TAKT_BENCH_CONTROL_TOOLBOX}/include
                             ${TAKT_BENCH_CONTROL_TOOLBOX_INCLUDE})
  target_compile_definitions(control_bench PRIVATE TAKT_BENCH_CONTROL_TOOLBOX=1)
endif()
