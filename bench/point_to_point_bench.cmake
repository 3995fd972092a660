# Ruckig, as the library of trajectory_bench.cmake. That file is read later, but CMake looks up the target at the end.
if(TAKT_BENCH_RUCKIG)
  target_sources(point_to_point_bench PRIVATE point_to_point_peers.cpp)
  target_link_libraries(point_to_point_bench PRIVATE bench_ruckig)
endif()
