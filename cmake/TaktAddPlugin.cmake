# takt_add_plugin(<target> <source>...)
#
# Makes a plug-in of components in C++ (takt/component/plugin.hpp): lib<target>.so for `takt launch`. One of its sources ends
# with TAKT_PLUGIN(...).
#
#     find_package(takt REQUIRED)
#     takt_add_plugin(motor motor.cpp)
#
# g++ marks the static variables of templates as unique in a process. A shared object with such a variable stays loaded
# forever, also after its last component was replaced. So it is compiled without that mark.
function(takt_add_plugin target)
  add_library(${target} MODULE ${ARGN})
  target_link_libraries(${target} PRIVATE takt::takt)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
endfunction()
