# cantools, an optional peer. If the program cantools is installed, CMake generates its C files. Otherwise:
#   cantools generate_c_source --output-directory /src/c bench/can_message_bench.dbc
#   cmake --preset release -DTAKT_BENCH_CANTOOLS=/src/c
set(TAKT_BENCH_CANTOOLS "" CACHE STRING "Folder with the C files that cantools made of can_message_bench.dbc")
find_program(TAKT_CANTOOLS_PROGRAM cantools)
set(cantools_folder ${TAKT_BENCH_CANTOOLS})
if(NOT cantools_folder AND TAKT_CANTOOLS_PROGRAM)
  set(cantools_folder ${CMAKE_CURRENT_BINARY_DIR}/cantools)
  execute_process(COMMAND ${TAKT_CANTOOLS_PROGRAM} generate_c_source --output-directory ${cantools_folder}
                          ${CMAKE_CURRENT_SOURCE_DIR}/can_message_bench.dbc
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endif()
if(cantools_folder)
  enable_language(C)
  add_library(bench_cantools STATIC ${cantools_folder}/can_message_bench.c)
  target_compile_options(bench_cantools PRIVATE -w)  # foreign code
  target_include_directories(bench_cantools SYSTEM PUBLIC ${cantools_folder})
  target_sources(can_message_bench PRIVATE can_message_peers.cpp)
  target_link_libraries(can_message_bench PRIVATE bench_cantools)
endif()
