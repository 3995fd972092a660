# Orocos KDL, a peer where it is installed.
find_package(orocos_kdl QUIET)
if(orocos_kdl_FOUND)
  target_include_directories(trajectory_bench SYSTEM PRIVATE ${orocos_kdl_INCLUDE_DIRS})
  target_link_libraries(trajectory_bench PRIVATE ${orocos_kdl_LIBRARIES})
  target_compile_definitions(trajectory_bench PRIVATE TAKT_BENCH_KDL=1)
endif()
