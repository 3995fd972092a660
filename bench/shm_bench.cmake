# CMake searches for the peers, not the preprocessor. So a peer that is installed later triggers a new compilation.
find_path(BOOST_LOCKFREE_INCLUDE_DIR boost/lockfree/spsc_queue.hpp)
find_path(READERWRITERQUEUE_INCLUDE_DIR readerwriterqueue/readerwriterqueue.h)
target_compile_definitions(shm_bench PRIVATE $<$<BOOL:${BOOST_LOCKFREE_INCLUDE_DIR}>:HAVE_BOOST=1>
                                             $<$<BOOL:${READERWRITERQUEUE_INCLUDE_DIR}>:HAVE_MOODYCAMEL=1>)

# Optional peers that no distribution packages. Give the paths of their checkouts, for example:
#   cmake --preset release -DTAKT_BENCH_RIGTORP=/src/SPSCQueue -DTAKT_BENCH_REALTIME_TOOLS=/src/realtime_tools/realtime_tools
foreach(peer RIGTORP REALTIME_TOOLS)
  set(TAKT_BENCH_${peer} "" CACHE STRING "Sources of a peer to compare with, where they lie beside")
  if(TAKT_BENCH_${peer})
    target_include_directories(shm_bench SYSTEM PRIVATE ${TAKT_BENCH_${peer}}/include)
    target_compile_definitions(shm_bench PRIVATE TAKT_BENCH_${peer}=1)
  endif()
endforeach()
