// Registers the protocol of a folder: one line at the end of its protocol.cpp. CMake lists the folders.
#pragma once

#include <type_traits>

#include "takt/robot/drive_protocol.hpp"

/// Registers class `Type` as the protocol of the folder `folder`, inside namespace takt::drives.
#define TAKT_DRIVE_PROTOCOL(folder, Type)             \
  const robot::DriveProtocol& registered_##folder();  \
  const robot::DriveProtocol& registered_##folder() { \
    static const Type protocol;                       \
    return protocol;                                  \
  }                                                   \
  static_assert(std::is_base_of_v<robot::DriveProtocol, Type>, #folder)
