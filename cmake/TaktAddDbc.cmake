# takt_add_dbc(TARGET <target> FILES <file.dbc>... [NAMESPACE <name space>] [NODE <node>])
#
# Makes a C++ header of typed CAN messages out of each DBC file (see takt/can/dbc_header.hpp), anew whenever the file changes.
# The target, which must exist and link takt::core, and what links it find the header of drive.dbc as "drive.hpp"; it declares
# all in the name space `drive_dbc`, with NAMESPACE robot in `robot::drive`. With NODE, it has only the messages that this node
# sends or receives.
#
#     find_package(takt REQUIRED)
#     add_executable(controller controller.cpp)
#     target_link_libraries(controller PRIVATE takt::core)
#     takt_add_dbc(TARGET controller FILES drive.dbc)
function(takt_add_dbc)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;NAMESPACE;NODE" "FILES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_TARGET OR NOT arg_FILES)
    message(FATAL_ERROR "takt_add_dbc(TARGET <target> FILES <file.dbc>... [NAMESPACE <name space>] [NODE <node>])")
  endif()
  if(NOT TARGET takt::tool)
    message(FATAL_ERROR "takt_add_dbc needs the program takt, which was not built or installed (TAKT_BUILD_TOOLS)")
  endif()
  set(options)
  if(arg_NAMESPACE)
    list(APPEND options --namespace ${arg_NAMESPACE}::)
  endif()
  if(arg_NODE)
    list(APPEND options --node ${arg_NODE})
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_dbc)
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET file STEM LAST_ONLY name)
    set(header ${folder}/${name}.hpp)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND takt::tool dbc2hpp ${file} -o ${header} ${options}
      DEPENDS ${file} takt::tool
      COMMENT "Making ${name}.hpp of ${file}"
      VERBATIM)
    target_sources(${arg_TARGET} PRIVATE ${header})
  endforeach()

  get_target_property(type ${arg_TARGET} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(scope INTERFACE)
  endif()
  target_include_directories(${arg_TARGET} ${scope} $<BUILD_INTERFACE:${folder}>)
endfunction()
