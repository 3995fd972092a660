# Tests of the C API: from C99, from C++, from Python's ctypes, and of the symbols of the shared library.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Compiled as a C user does, with takt.h only.
add_executable(takt_capi_c99 capi_c99.c)
set_target_properties(takt_capi_c99 PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_compile_options(takt_capi_c99 PRIVATE -Wall -Wextra -Wpedantic -pedantic-errors -Wstrict-prototypes -Werror)
target_link_libraries(takt_capi_c99 PRIVATE takt::c m)
if(TAKT_SANITIZE)
  # The C compiler does not link clang's sanitizer parts for C++, which the library needs.
  set_target_properties(takt_capi_c99 PROPERTIES LINKER_LANGUAGE CXX)
endif()
add_test(NAME capi_c99 COMMAND takt_capi_c99 ${takt_patient_arm})

add_executable(takt_capi_test capi_test.cpp capi_shm_test.cpp capi_vehicle_test.cpp)
target_link_libraries(takt_capi_test PRIVATE takt_test_main takt::c)
target_include_directories(takt_capi_test PRIVATE ${PROJECT_SOURCE_DIR}/capi/src)
add_test(NAME capi COMMAND takt_capi_test)

add_test(NAME capi_header COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_header_test.py
         $<TARGET_FILE:takt_c> ${CMAKE_NM} ${PROJECT_SOURCE_DIR})
# Other programs unload libraries, but threads of this one may still run.
add_test(NAME capi_stays_loaded COMMAND ${CMAKE_READELF} --dynamic --wide $<TARGET_FILE:takt_c>)
set_tests_properties(capi_stays_loaded PROPERTIES PASS_REGULAR_EXPRESSION "FLAGS_1.*NODELETE")
add_test(NAME capi_ctypes COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_ctypes_test.py
         $<TARGET_FILE:takt_c>)
add_test(NAME capi_can COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_can_test.py
         $<TARGET_FILE:takt_c>)
add_test(NAME capi_can_frame COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_can_frame_test.py
         $<TARGET_FILE:takt_c>)
add_test(NAME capi_vehicle COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_vehicle_test.py
         $<TARGET_FILE:takt_c>)
add_test(NAME capi_channel COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_channel_test.py
         $<TARGET_FILE:takt_c>)
add_test(NAME capi_vehicle_client COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_vehicle_client_test.py
         $<TARGET_FILE:takt_c>)
add_executable(takt_capi_shm_peer capi_shm_peer.cpp)
target_link_libraries(takt_capi_shm_peer PRIVATE takt::takt takt_build)
add_test(NAME capi_shm COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_shm_test.py
         $<TARGET_FILE:takt_c> $<TARGET_FILE:takt_capi_shm_peer>)
# Against the real-time process if it is built, and always against misbehaving servers.
set(robot_to_talk_to "")
set(vehicle_to_drive "")
if(TARGET takt_tool)
  set(vehicle_to_drive $<TARGET_FILE:takt_tool>)
  set(robot_to_talk_to $<TARGET_FILE:takt_tool> ${takt_patient_arm})
endif()
add_test(NAME capi_client COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_client_test.py
         $<TARGET_FILE:takt_c> ${robot_to_talk_to})
add_test(NAME capi_udp COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_udp_test.py
         $<TARGET_FILE:takt_c>)
add_test(NAME capi_simulated_vehicle COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_simulated_vehicle_test.py
         $<TARGET_FILE:takt_c>)
add_test(NAME capi_vehicle_drive COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_vehicle_drive_test.py
         $<TARGET_FILE:takt_c> ${PROJECT_SOURCE_DIR}/examples/robots/furbot.json ${vehicle_to_drive})
set_tests_properties(capi_vehicle_drive PROPERTIES TIMEOUT 400)
if(TARGET takt_tool)
  add_test(NAME capi_drive COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_drive_test.py
           $<TARGET_FILE:takt_c> $<TARGET_FILE:takt_tool>)
  add_test(NAME capi_app COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/capi_app_test.py
           $<TARGET_FILE:takt_c> $<TARGET_FILE:takt_tool> ${PROJECT_SOURCE_DIR})
  set_tests_properties(capi_drive capi_app PROPERTIES TIMEOUT 300)
  set(capi_with_programs capi_drive capi_app)
endif()
set(capi_python_tests capi_header capi_ctypes capi_can capi_can_frame capi_vehicle capi_channel capi_vehicle_client
    capi_udp capi_simulated_vehicle capi_vehicle_drive capi_shm capi_client ${capi_with_programs})

# An interpreter without sanitizer can load a sanitized library if the sanitizer is loaded first. This does not work with
# the thread sanitizer, or with clang's sanitizers, which are linked into programs. There, capi and capi_c99 are the tests.
# The only threads of the C API are those of the rooms, which have their own tests.
if(TAKT_SANITIZE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so
                  OUTPUT_VARIABLE runtime_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(TAKT_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND IS_ABSOLUTE "${runtime_library}")
    # The interpreter's own leaks are ignored; capi_c99 finds leaks of the library.
    set_tests_properties(${capi_python_tests} PROPERTIES
      ENVIRONMENT "LD_PRELOAD=${runtime_library};ASAN_OPTIONS=detect_leaks=0")
  else()
    set_tests_properties(${capi_python_tests} PROPERTIES DISABLED TRUE)
  endif()
endif()
