# takt_add_dbc(TARGET <target> FILES <file.dbc>... [NAMESPACE <name space>] [NODE <node>] [PARTIAL])
#
# Makes a C++ header of typed CAN messages out of each DBC file (see takt/dbc/header.hpp), anew whenever the file changes.
# The target must exist and link takt::core. It finds the header of drive.dbc as "drive.hpp", and so do targets that link it. The
# header declares all in the name space `drive_dbc`, with NAMESPACE robot in `robot::drive`. With NODE, it has only the messages that this node
# sends or receives. Where messages or signals of the file cannot be in the header, the build fails and says why; PARTIAL accepts it.
#
#     find_package(takt REQUIRED)               # or add_subdirectory(), or FetchContent
#     add_executable(controller controller.cpp)
#     target_link_libraries(controller PRIVATE takt::core)
#     takt_add_dbc(TARGET controller FILES drive.dbc)
#
# A header with a NAMESPACE is also found as "robot/drive.hpp": of two files drive.dbc with two name spaces, that tells which.
# Without NAMESPACE, their folders tell files of one name apart. left/drive.dbc becomes "left/drive.hpp" with the name space
# left::drive, and right/drive.dbc becomes "right/drive.hpp" with right::drive.
#
# The program takt makes the headers: the one that TAKT_HOST_TOOL names, else that of the installed package. Beside takt's sources
# a small program is built for it, which needs fmt. For takt's own library needs headers before there is a program takt.
# A build for another machine must name one that runs on this machine: -DTAKT_HOST_TOOL=/usr/bin/takt.

# The command that makes headers, and the files that the headers depend on.
function(takt_find_dbc_tool result)
  set(usage "Set TAKT_HOST_TOOL to a program takt of this machine, such as -DTAKT_HOST_TOOL=/usr/bin/takt")
  if(TAKT_HOST_TOOL)
    if(NOT EXISTS "${TAKT_HOST_TOOL}")
      message(FATAL_ERROR "takt_add_dbc: the file ${TAKT_HOST_TOOL} does not exist. ${usage}")
    endif()
    set(tool ${TAKT_HOST_TOOL})
  elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(FATAL_ERROR "takt_add_dbc runs the program takt, and this build is for another machine. ${usage}")
  else()
    set(sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../src/tools/dbc2hpp)
    if(EXISTS ${sources})
      if(NOT TARGET takt_dbc2hpp)
        add_subdirectory(${sources} ${CMAKE_BINARY_DIR}/takt_dbc2hpp EXCLUDE_FROM_ALL)  # takt's headers alone
      endif()
      set(tool takt_dbc2hpp)
    elseif(TARGET takt::tool)
      set(tool takt::tool)
    else()
      message(FATAL_ERROR "takt_add_dbc needs the program takt, and takt was installed without it. ${usage}")
    endif()
  endif()
  set(${result} ${tool} PARENT_SCOPE)
endfunction()

function(takt_add_dbc)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PARTIAL" "TARGET;NAMESPACE;NODE" "FILES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_TARGET OR NOT arg_FILES)
    message(FATAL_ERROR "takt_add_dbc(TARGET <target> FILES <file.dbc>... [NAMESPACE <name space>] [NODE <node>] [PARTIAL])")
  endif()
  takt_find_dbc_tool(tool)
  set(for_all)
  if(arg_NODE)
    list(APPEND for_all --node ${arg_NODE})
  endif()
  if(arg_PARTIAL)
    list(APPEND for_all --partial)
  endif()

  set(stems)
  set(repeated)
  foreach(file IN LISTS arg_FILES)
    cmake_path(GET file STEM LAST_ONLY stem)
    if(stem IN_LIST stems)
      list(APPEND repeated ${stem})
    endif()
    list(APPEND stems ${stem})
  endforeach()

  set(root ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_dbc)
  foreach(file stem IN ZIP_LISTS arg_FILES stems)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    set(space ${arg_NAMESPACE})
    if(stem IN_LIST repeated)
      cmake_path(GET file PARENT_PATH parent)
      cmake_path(GET parent FILENAME parent)
      string(MAKE_C_IDENTIFIER ${parent} parent)
      list(APPEND space ${parent})
    endif()
    list(JOIN space :: space)
    set(options ${for_all})
    if(space)
      list(APPEND options --namespace ${space}::)
    endif()
    string(REPLACE :: / folder "${space}")
    cmake_path(APPEND root "${folder}" ${stem}.hpp OUTPUT_VARIABLE header)
    get_property(headers TARGET ${arg_TARGET} PROPERTY TAKT_DBC_HEADERS)
    if(header IN_LIST headers)
      message(FATAL_ERROR "takt_add_dbc: ${arg_TARGET} has a header ${folder}/${stem}.hpp already. Give ${file} another NAMESPACE")
    endif()
    set_property(TARGET ${arg_TARGET} APPEND PROPERTY TAKT_DBC_HEADERS ${header})
    cmake_path(GET header PARENT_PATH folder)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${tool} dbc2hpp ${file} -o ${header} ${options}
      DEPENDS ${file} ${tool}
      COMMENT "Making ${stem}.hpp of ${file}"
      VERBATIM)
    target_sources(${arg_TARGET} PRIVATE ${header})
  endforeach()

  get_target_property(type ${arg_TARGET} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(scope INTERFACE)
  endif()
  string(REPLACE :: / folder "${arg_NAMESPACE}")
  cmake_path(APPEND root "${folder}" OUTPUT_VARIABLE folder)
  target_include_directories(${arg_TARGET} ${scope} $<BUILD_INTERFACE:${root}> $<BUILD_INTERFACE:${folder}>)
endfunction()
