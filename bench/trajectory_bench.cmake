# Orocos KDL, a peer if it is installed.
find_package(orocos_kdl QUIET)
if(orocos_kdl_FOUND)
  target_include_directories(trajectory_bench SYSTEM PRIVATE ${orocos_kdl_INCLUDE_DIRS})
  target_link_libraries(trajectory_bench PRIVATE ${orocos_kdl_LIBRARIES})
  target_compile_definitions(trajectory_bench PRIVATE TAKT_BENCH_KDL=1)
endif()

# Optional peers that no distribution packages. Give the paths of their checkouts, for example:
#   cmake --preset release -DTAKT_BENCH_RUCKIG=/src/ruckig -DTAKT_BENCH_ROS_CONTROLLERS=/src/ros_controllers \
#     -DTAKT_BENCH_ROS2_CONTROLLERS=/src/ros2_controllers -DTAKT_BENCH_ROS2_INCLUDE=/opt/ros/jazzy/include
# The last one is a list of folders: rclcpp, trajectory_msgs and others, or replacements for their few used types.
foreach(peer RUCKIG ROS_CONTROLLERS ROS2_CONTROLLERS ROS2_INCLUDE)
  set(TAKT_BENCH_${peer} "" CACHE STRING "Sources of a peer to compare with, where they lie beside")
endforeach()
set(peers)
if(TAKT_BENCH_RUCKIG)
  file(GLOB ruckig_sources ${TAKT_BENCH_RUCKIG}/src/ruckig/*.cpp)
  list(FILTER ruckig_sources EXCLUDE REGEX cloud_client)
  add_library(bench_ruckig STATIC ${ruckig_sources})
  target_compile_features(bench_ruckig PUBLIC cxx_std_20)
  target_compile_options(bench_ruckig PRIVATE -w)  # foreign code
  target_include_directories(bench_ruckig SYSTEM PUBLIC ${TAKT_BENCH_RUCKIG}/include)
  target_link_libraries(trajectory_bench PRIVATE bench_ruckig)
endif()
if(TAKT_BENCH_ROS_CONTROLLERS)
  target_include_directories(trajectory_bench SYSTEM
                             PRIVATE ${TAKT_BENCH_ROS_CONTROLLERS}/joint_trajectory_controller/include)
endif()
if(TAKT_BENCH_ROS2_CONTROLLERS)
  set(ros2_controller ${TAKT_BENCH_ROS2_CONTROLLERS}/joint_trajectory_controller)
  list(APPEND peers ${ros2_controller}/src/trajectory.cpp)
  target_include_directories(trajectory_bench SYSTEM PRIVATE ${ros2_controller}/include ${TAKT_BENCH_ROS2_INCLUDE})
endif()
foreach(peer RUCKIG ROS_CONTROLLERS ROS2_CONTROLLERS)
  if(TAKT_BENCH_${peer})
    target_compile_definitions(trajectory_bench PRIVATE TAKT_BENCH_${peer}=1)
  endif()
endforeach()
set_source_files_properties(${peers} PROPERTIES COMPILE_OPTIONS -w)  # foreign code
target_sources(trajectory_bench PRIVATE trajectory_peers.cpp ${peers})
