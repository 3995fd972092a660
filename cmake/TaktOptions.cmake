# Build options and the two interface targets that every compiled target of this tree links:
#   takt_warnings  warnings, errors only where TAKT_WERROR says so (the dev preset)
#   takt_build     warnings + the sanitizer of TAKT_SANITIZE
# In a project that adds takt (add_subdirectory, FetchContent) nothing is built that it does not link, and nothing installed.
include(CMakeDependentOption)
option(TAKT_CORE_ONLY "Only takt::core: headers that need no more than Eigen and tl::expected" OFF)
option(TAKT_INSTALL "Install takt" ${PROJECT_IS_TOP_LEVEL})
cmake_dependent_option(TAKT_BUILD_TOOLS "Build the program takt" ${PROJECT_IS_TOP_LEVEL} "NOT TAKT_CORE_ONLY" OFF)
cmake_dependent_option(TAKT_BUILD_CAPI "Build the C API takt::c" ${PROJECT_IS_TOP_LEVEL} "NOT TAKT_CORE_ONLY" OFF)
cmake_dependent_option(TAKT_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL} "NOT TAKT_CORE_ONLY" OFF)
cmake_dependent_option(TAKT_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL} "NOT TAKT_CORE_ONLY" OFF)
cmake_dependent_option(TAKT_BUILD_BENCH "Build the benchmarks" OFF "NOT TAKT_CORE_ONLY" OFF)
option(TAKT_BUILD_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(TAKT_WERROR "Treat warnings as errors" OFF)
# Common headers are then compiled for eleven sources at once: a whole build takes a third of the time.
option(TAKT_UNITY "Compile the libraries in a few pieces" ON)
# Users need no fmt then. The presets that only build and test link it: each of sixty sources would take three seconds longer.
option(TAKT_FMT_HEADER_ONLY "Compile fmt into the library" ON)
set(TAKT_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them: address,undefined or thread")

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(TAKT_CCACHE ccache)
  if(TAKT_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${TAKT_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${TAKT_CCACHE})
  endif()
endif()

# Finds a package, unless the project that adds takt has its target already.
macro(takt_find_package target package)
  if(NOT TARGET ${target})
    find_package(${package} ${ARGN} REQUIRED)
  endif()
endmacro()

add_library(takt_build INTERFACE)
target_compile_options(takt_build INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align -Wundef
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast>)
# So that a program or library links only the functions that it calls.
target_compile_options(takt_build INTERFACE "$<$<CONFIG:Release>:-ffunction-sections;-fdata-sections>")
if(TAKT_WERROR)
  target_compile_options(takt_build INTERFACE -Werror)
endif()
if(TAKT_SANITIZE)
  # PUBLIC to everything below this folder, so that the library itself is instrumented, not only the tests.
  add_compile_options(-fsanitize=${TAKT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TAKT_SANITIZE})
endif()
if(TAKT_BUILD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Compiles the sources of a library that match `match`, except those that match `except`, in pieces of `size` with the
# further options. The pieces name them from the project's folder on, so two checkouts share a compiler cache. CMake's own unity builds
# name them by absolute paths.
function(takt_join_sources library name size match except)
  get_target_property(sources ${library} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/.*[.]cpp$")
  list(FILTER sources EXCLUDE REGEX "^${PROJECT_BINARY_DIR}/")  # generated
  list(FILTER sources INCLUDE REGEX "${match}")
  list(FILTER sources EXCLUDE REGEX "${except}")
  if(NOT TAKT_UNITY)
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${ARGN}")
    return()
  endif()
  set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY ON)
  list(LENGTH sources left)
  set(number 0)
  while(left GREATER 0)
    list(SUBLIST sources 0 ${size} joined)
    list(REMOVE_ITEM sources ${joined})
    list(LENGTH sources left)
    set(text "")
    foreach(source IN LISTS joined)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    set(piece ${CMAKE_CURRENT_BINARY_DIR}/pieces/${name}_${number}.cpp)
    file(CONFIGURE OUTPUT ${piece} CONTENT "${text}" @ONLY)
    target_sources(${library} PRIVATE ${piece})
    set_source_files_properties(${piece} PROPERTIES COMPILE_OPTIONS "${ARGN}")
    math(EXPR number "${number} + 1")
  endwhile()
  target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR})
  # g++ takes the anonymous namespace of a source for that of a header.
  target_compile_options(${library} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Compiles a library in pieces. In a Release build, -O2 makes them an eighth smaller than -O3, and as fast; only the kernels have more of
# -O3. The sources that match `set_up` run no cycle, or wait for the kernel of the system: -Os makes them half as large.
function(takt_in_few_pieces library set_up)
  set(kernels "/kernels_[a-z0-9]*[.]cpp$")
  takt_join_sources(${library} ${library} 11 "." "${kernels}|${set_up}" $<$<CONFIG:Release>:-O2>)
  takt_join_sources(${library} ${library}_set_up 11 "${set_up}" "${kernels}" $<$<CONFIG:Release>:-Os>)
endfunction()
