# libzstd has no CMake package in older distributions: find its header, library and version. Also part of the installed package.
find_path(Zstd_INCLUDE_DIR NAMES zstd.h)
find_library(Zstd_LIBRARY NAMES zstd)
mark_as_advanced(Zstd_INCLUDE_DIR Zstd_LIBRARY)
if(Zstd_INCLUDE_DIR)
  set(Zstd_VERSION)
  foreach(_zstd_part IN ITEMS MAJOR MINOR RELEASE)
    file(STRINGS "${Zstd_INCLUDE_DIR}/zstd.h" _zstd_line REGEX "#define ZSTD_VERSION_${_zstd_part} ")
    string(REGEX MATCH "[0-9]+$" _zstd_number "${_zstd_line}")
    list(APPEND Zstd_VERSION "${_zstd_number}")
  endforeach()
  list(JOIN Zstd_VERSION "." Zstd_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Zstd REQUIRED_VARS Zstd_LIBRARY Zstd_INCLUDE_DIR VERSION_VAR Zstd_VERSION)

if(Zstd_FOUND AND NOT TARGET Zstd::zstd)
  add_library(Zstd::zstd UNKNOWN IMPORTED)
  set_target_properties(Zstd::zstd PROPERTIES
    IMPORTED_LOCATION "${Zstd_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Zstd_INCLUDE_DIR}")
endif()
