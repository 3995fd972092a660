# What takt::urdf needs: urdfdom with console_bridge, and tinyxml2. The CMake package of urdfdom in the distributions caches variables
# without a prefix, so this finds the headers and libraries itself. Also part of the installed package.
find_path(Urdfdom_INCLUDE_DIR NAMES urdf_parser/urdf_parser.h PATH_SUFFIXES urdfdom)
find_path(Urdfdom_HEADERS_INCLUDE_DIR NAMES urdf_model/model.h PATH_SUFFIXES urdfdom_headers)
find_path(Urdfdom_CONSOLE_INCLUDE_DIR NAMES console_bridge/console.h)
find_path(Urdfdom_XML_INCLUDE_DIR NAMES tinyxml2.h)
find_library(Urdfdom_LIBRARY NAMES urdfdom_model)
find_library(Urdfdom_CONSOLE_LIBRARY NAMES console_bridge)
find_library(Urdfdom_XML_LIBRARY NAMES tinyxml2)
set(_urdfdom_parts Urdfdom_LIBRARY Urdfdom_INCLUDE_DIR Urdfdom_HEADERS_INCLUDE_DIR Urdfdom_CONSOLE_INCLUDE_DIR Urdfdom_CONSOLE_LIBRARY
                   Urdfdom_XML_INCLUDE_DIR Urdfdom_XML_LIBRARY)
mark_as_advanced(${_urdfdom_parts})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Urdfdom REQUIRED_VARS ${_urdfdom_parts})

if(Urdfdom_FOUND AND NOT TARGET Urdfdom::urdfdom)
  add_library(Urdfdom::urdfdom UNKNOWN IMPORTED)
  set_target_properties(Urdfdom::urdfdom PROPERTIES
    IMPORTED_LOCATION "${Urdfdom_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES
      "${Urdfdom_INCLUDE_DIR};${Urdfdom_HEADERS_INCLUDE_DIR};${Urdfdom_CONSOLE_INCLUDE_DIR};${Urdfdom_XML_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${Urdfdom_CONSOLE_LIBRARY};${Urdfdom_XML_LIBRARY}")
endif()
unset(_urdfdom_parts)
