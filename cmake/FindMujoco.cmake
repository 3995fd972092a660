# MuJoCo's own package demands libqhull's headers, which no user of the library needs: find its header and library. Also part of the
# installed package.
find_path(Mujoco_INCLUDE_DIR NAMES mujoco/mujoco.h)
find_library(Mujoco_LIBRARY NAMES mujoco)
mark_as_advanced(Mujoco_INCLUDE_DIR Mujoco_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Mujoco REQUIRED_VARS Mujoco_LIBRARY Mujoco_INCLUDE_DIR)

if(Mujoco_FOUND AND NOT TARGET Mujoco::mujoco)
  add_library(Mujoco::mujoco UNKNOWN IMPORTED)
  set_target_properties(Mujoco::mujoco PROPERTIES
                        IMPORTED_LOCATION ${Mujoco_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Mujoco_INCLUDE_DIR})
endif()
