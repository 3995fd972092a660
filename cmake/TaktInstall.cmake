# Installation: headers, libraries, the program and the robots that it knows by name, and what find_package(takt) and pkg-config
# need. Each component has an export file of its own. So a C program that asks for `c` alone needs neither Eigen nor a C++
# compiler.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(takt_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/takt)

function(takt_install_component component)
  install(TARGETS ${ARGN} EXPORT takt-${component}-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT takt-${component}-targets NAMESPACE takt:: DESTINATION ${takt_cmake_dir})
endfunction()

# Paths inside .pc files are relative to the file, so that an installed tree can be moved.
function(takt_install_pkg_config name)
  file(RELATIVE_PATH pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/packaging/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/takt ${PROJECT_BINARY_DIR}/include/takt
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
takt_install_component(core takt_core ${takt_room_targets_core})
# tl-expected has no .pc file that could be required: takt-core.pc names the folder of its header.
get_target_property(pc_expected tl::expected INTERFACE_INCLUDE_DIRECTORIES)
list(GET pc_expected 0 pc_expected)
takt_install_pkg_config(takt-core)
if(TARGET takt_takt)
  takt_install_component(takt takt_takt ${takt_room_targets_takt})
  set(pc_fmt)
  if(NOT TAKT_FMT_HEADER_ONLY)
    set(pc_fmt ", fmt >= 9")
  endif()
  takt_install_pkg_config(takt)
endif()
if(TARGET takt_c)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/capi/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h")
  install(FILES ${PROJECT_BINARY_DIR}/capi/takt.cdef DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  takt_install_component(c takt_c)
  takt_install_pkg_config(takt-c)
endif()
if(TARGET takt_sodium)
  takt_install_component(sodium takt_sodium)
  takt_install_pkg_config(takt-sodium)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindSodium.cmake DESTINATION ${takt_cmake_dir})
endif()
if(TARGET takt_zstd)
  takt_install_component(zstd takt_zstd)
  takt_install_pkg_config(takt-zstd)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindZstd.cmake DESTINATION ${takt_cmake_dir})
endif()
if(TARGET takt_urdf)
  takt_install_component(urdf takt_urdf)
  takt_install_pkg_config(takt-urdf)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindUrdfdom.cmake DESTINATION ${takt_cmake_dir})
endif()
if(TARGET takt_mujoco)
  takt_install_component(mujoco takt_mujoco)
  set(pc_pictures)
  if(takt_pictures)
    set(pc_pictures " -lEGL -lpng")
  endif()
  takt_install_pkg_config(takt-mujoco)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindMujoco.cmake DESTINATION ${takt_cmake_dir})
endif()
if(TARGET takt_tool)
  takt_install_component(tool takt_tool)
  # Where the program looks: beside the folder that it is in.
  cmake_path(SET takt_robots_dir NORMALIZE ${CMAKE_INSTALL_BINDIR}/../share/takt/robots)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/robots/ DESTINATION ${takt_robots_dir} FILES_MATCHING PATTERN "*.json"
          PATTERN "*.xml" PATTERN furbot.json EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/examples/robots/furbot.json DESTINATION ${takt_robots_dir}/../vehicles)
endif()

# Before 1.0, a new minor version may change interfaces.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/takt-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_package_config_file(cmake/packaging/takt-config.cmake.in ${PROJECT_BINARY_DIR}/takt-config.cmake
                              INSTALL_DESTINATION ${takt_cmake_dir})
install(FILES ${PROJECT_BINARY_DIR}/takt-config.cmake ${PROJECT_BINARY_DIR}/takt-config-version.cmake
        ${PROJECT_SOURCE_DIR}/cmake/TaktAddDbc.cmake ${PROJECT_SOURCE_DIR}/cmake/TaktAddPlugin.cmake DESTINATION ${takt_cmake_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
