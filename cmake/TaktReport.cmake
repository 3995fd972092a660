# Text that the pages of `takt report` contain, compiled into the program: its own script, and npm's uPlot (MIT) for plots that can be
# zoomed. Without npm or its registry, reports have pictures instead.
set(TAKT_REPORT_PLOTS AUTO CACHE STRING "Interactive plots in reports, by npm's uplot: AUTO (where it can be had), ON or OFF")
set_property(CACHE TAKT_REPORT_PLOTS PROPERTY STRINGS AUTO ON OFF)

# Gets one file of the package into `text`, if it is the file that was tried.
function(takt_read_uplot file hash text)
  set(path ${PROJECT_BINARY_DIR}/uplot/package/dist/${file})
  if(NOT EXISTS ${path})
    return()
  endif()
  file(SHA256 ${path} found)
  if(NOT found STREQUAL hash)
    message(WARNING "${path} is not the file that takt knows")
    return()
  endif()
  file(READ ${path} content)
  set(${text} "${content}" PARENT_SCOPE)
endfunction()

function(takt_fetch_uplot version)
  set(folder ${PROJECT_BINARY_DIR}/uplot)
  if(EXISTS ${folder}/uplot-${version}.tgz)
    return()
  endif()
  find_program(TAKT_NPM npm)
  if(NOT TAKT_NPM)
    return()
  endif()
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${TAKT_NPM} pack uplot@${version} --silent --prefer-offline --fetch-retries=0 --fetch-timeout=20000
                  WORKING_DIRECTORY ${folder} OUTPUT_QUIET ERROR_QUIET TIMEOUT 60)
  if(EXISTS ${folder}/uplot-${version}.tgz)
    file(ARCHIVE_EXTRACT INPUT ${folder}/uplot-${version}.tgz DESTINATION ${folder})
  endif()
endfunction()

set(uplot_script "")
set(uplot_style "")
if(TAKT_REPORT_PLOTS)
  takt_fetch_uplot(1.6.32)
  takt_read_uplot(uPlot.iife.min.js 19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f uplot_script)
  takt_read_uplot(uPlot.min.css df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04 uplot_style)
  if(uplot_script AND uplot_style)
    message(STATUS "Reports have interactive plots (uPlot 1.6.32)")
  elseif(TAKT_REPORT_PLOTS STREQUAL "ON")
    message(FATAL_ERROR "TAKT_REPORT_PLOTS is ON, but npm pack uplot@1.6.32 gave nothing: install npm, or look at the network")
  else()
    message(STATUS "Reports have pictures only: npm or its package uplot is not there")
  endif()
endif()

set(report_script ${PROJECT_SOURCE_DIR}/src/tools/report_page.js)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${report_script})
file(READ ${report_script} page_script)
set(takt_report_parts ${PROJECT_BINARY_DIR}/report_parts.cpp)
file(CONFIGURE OUTPUT ${takt_report_parts} @ONLY CONTENT [[
#include "tools/report_parts.hpp"
const std::string_view takt::tools::page_script = R"takt_part(@page_script@)takt_part";
const takt::tools::PlotLibrary takt::tools::bundled_plots{R"takt_part(@uplot_script@)takt_part", R"takt_part(@uplot_style@)takt_part"};
]])
