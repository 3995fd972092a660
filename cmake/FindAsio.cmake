# Standalone Asio has neither a CMake package nor a pkg-config file in the distributions: find its header and version.
find_path(Asio_INCLUDE_DIR NAMES asio.hpp)
mark_as_advanced(Asio_INCLUDE_DIR)
if(Asio_INCLUDE_DIR)
  file(STRINGS "${Asio_INCLUDE_DIR}/asio/version.hpp" _asio_version_line REGEX "#define ASIO_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" _asio_version "${_asio_version_line}")
  math(EXPR _asio_major "${_asio_version} / 100000")
  math(EXPR _asio_minor "${_asio_version} / 100 % 1000")
  math(EXPR _asio_patch "${_asio_version} % 100")
  set(Asio_VERSION "${_asio_major}.${_asio_minor}.${_asio_patch}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio REQUIRED_VARS Asio_INCLUDE_DIR VERSION_VAR Asio_VERSION)

if(Asio_FOUND AND NOT TARGET Asio::asio)
  find_package(Threads REQUIRED)
  add_library(Asio::asio INTERFACE IMPORTED)
  set_target_properties(Asio::asio PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Asio_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "ASIO_STANDALONE;ASIO_NO_DEPRECATED"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
