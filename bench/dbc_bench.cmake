# dbcppp, an optional peer: cmake --preset release -DTAKT_BENCH_DBCPPP=/src/dbcppp. It needs Boost's headers.
set(TAKT_BENCH_DBCPPP "" CACHE STRING "Sources of a peer to compare with, where they lie beside")
if(TAKT_BENCH_DBCPPP)
  file(GLOB dbcppp_sources ${TAKT_BENCH_DBCPPP}/src/*.cpp)
  list(FILTER dbcppp_sources EXCLUDE REGEX KCD2Network)
  add_library(bench_dbcppp STATIC ${dbcppp_sources})
  set_target_properties(bench_dbcppp PROPERTIES CXX_STANDARD 17)
  target_compile_options(bench_dbcppp PRIVATE -w)  # foreign code
  target_include_directories(bench_dbcppp SYSTEM PUBLIC ${TAKT_BENCH_DBCPPP}/include)
  target_sources(dbc_bench PRIVATE dbc_peers.cpp)
  target_link_libraries(dbc_bench PRIVATE bench_dbcppp)
endif()
