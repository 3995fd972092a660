# Ruckig, as a library of trajectory_bench.cmake's making: that one is read later, a target's name is looked up at the end.
if(TAKT_BENCH_RUCKIG)
  target_sources(point_to_point_bench PRIVATE point_to_point_peers.cpp)
  target_link_libraries(point_to_point_bench PRIVATE bench_ruckig)
endif()
