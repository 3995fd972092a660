// Written by pid_tables.py: see there.
#pragma once

#include <array>

namespace takt::test::pid_tables {

// clang-format off
inline constexpr std::array<double, 14> errors{0x1.3333333333333p-2, 0x1.6666666666666p-1, -0x1.999999999999ap-3, 0x1.e666666666666p+0, 0x1.ccccccccccccdp+0, 0x1.b333333333333p+0, 0x1.999999999999ap-5, -0x1.3333333333333p-1, -0x1.0cccccccccccdp+1, -0x1.6666666666666p+0, 0x1.199999999999ap+0, 0x1.47ae147ae147bp-7, -0x1.47ae147ae147bp-7, 0x1.ccccccccccccdp-1};
inline constexpr std::array<double, 14> periods{0x1.47ae147ae147bp-7, 0x1.47ae147ae147bp-7, 0x1.47ae147ae147bp-6, 0x1.47ae147ae147bp-7, 0x1.eb851eb851eb8p-6, 0x1.47ae147ae147bp-7, 0x1.47ae147ae147bp-7, 0x1.999999999999ap-4, 0x1.47ae147ae147bp-7, 0x1.1eb851eb851ecp-4, 0x1.47ae147ae147bp-7, 0x1.47ae147ae147bp-7, 0x1.47ae147ae147bp-7, 0x1.3333333333333p-2};
inline constexpr std::array<double, 14> ros1{0x1.6bafb7e90ff97p+1, 0x1.252f1a9fbe76cp+2, -0x1.c0f27bb2fec57p+1, 0x1.37f5c28f5c290p+4, 0x1.26d3a06d3a06dp+2, 0x1.f47ae147ae145p+1, -0x1.57851eb851eb9p+3, -0x1.35fa43fe5c91cp+0, -0x1.e2141205bc01bp+3, -0x1.b5c28f5c28f5cp+1, 0x1.32147ae147ae1p+4, -0x1.10395810624dep+3, -0x1.1020c49ba5e36p+0, 0x1.7dbd194237fa8p+1};
inline constexpr std::array<double, 14> ros1_anti_windup{0x1.6bafb7e90ff97p+1, 0x1.252f1a9fbe76cp+2, -0x1.c0f27bb2fec57p+1, 0x1.37f5c28f5c290p+4, 0x1.26d3a06d3a06dp+2, 0x1.f47ae147ae145p+1, -0x1.57851eb851eb9p+3, -0x1.149ba5e353f7dp+1, -0x1.003dd97f62b6cp+4, -0x1.b5c28f5c28f5cp+1, 0x1.3516f0068db8cp+4, -0x1.0a266ba493c8ap+3, -0x1.bff2e48e8a71ep-1, 0x1.7dbd194237fa8p+1};
inline constexpr std::array<double, 14> ros1_anti_windup_negative{0x1.5e8db8bac710dp+1, 0x1.0f4bc6a7ef9dbp+2, -0x1.db367a0f9096cp+1, 0x1.2a47ae147ae14p+4, 0x1.80da740da740ep+1, 0x1.27ae147ae1479p+1, -0x1.8ab851eb851ecp+3, -0x1.b5810624dd2f1p+0, -0x1.db096bb98c7e4p+3, -0x1.d1eb851eb851cp+0, 0x1.48ab9f559b3d0p+4, -0x1.c6322291fb3fcp+2, 0x1.65460aa64c2f4p-2, 0x1.61e098ead65b8p+0};
inline constexpr std::array<double, 14> ros2{0x1.651eb851eb852p+1, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, 0x1.1333333333333p+2, 0x1.1333333333333p+2, 0x1.f47ae147ae145p+1, -0x1.8cccccccccccdp+1, -0x1.228f5c28f5c29p+0, -0x1.8cccccccccccdp+1, -0x1.8cccccccccccdp+1, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, -0x1.bff2e48e8a71ep-1, 0x1.9207eb3f3705ep+0};
inline constexpr std::array<double, 14> ros2_conditional{0x1.651eb851eb852p+1, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, 0x1.1333333333333p+2, 0x1.fa9ea6d7fee87p+1, 0x1.f47ae147ae145p+1, -0x1.8cccccccccccdp+1, -0x1.228f5c28f5c29p+0, -0x1.8cccccccccccdp+1, -0x1.6c49ba5e353f7p+1, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, -0x1.1020c49ba5e36p+0, 0x1.61e098ead65b8p+0};
inline constexpr std::array<double, 14> ros2_back_calculation{0x1.651eb851eb852p+1, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, 0x1.1333333333333p+2, 0x1.80da740da740ep+1, 0x1.9de00d1b71757p+1, -0x1.8cccccccccccdp+1, -0x1.228f5c28f5c29p+0, -0x1.8cccccccccccdp+1, -0x1.d1eb851eb851cp+0, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, -0x1.1020c49ba5e36p+0, 0x1.61e098ead65b8p+0};
inline constexpr std::array<double, 14> ros2_back_calculation_slow{0x1.651eb851eb852p+1, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, 0x1.1333333333333p+2, 0x1.030187f0bc3dep+2, 0x1.f47ae147ae145p+1, -0x1.8cccccccccccdp+1, -0x1.228f5c28f5c29p+0, -0x1.8cccccccccccdp+1, -0x1.7a1c044284dfcp+1, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, -0x1.1020c49ba5e36p+0, 0x1.61e098ead65b8p+0};
inline constexpr std::array<double, 14> ros2_back_calculation_without_derivative{0x1.6147ae147ae14p-1, 0x1.a94af4f0d844cp+0, -0x1.27ef9db22d0e4p-2, 0x1.1333333333333p+2, 0x1.1333333333333p+2, 0x1.1333333333333p+2, 0x1.a147ae147ae14p-1, -0x1.5c28f5c28f5c2p-1, -0x1.8cccccccccccdp+1, -0x1.8cccccccccccdp+1, 0x1.a147ae147ae14p+0, -0x1.60b780346dc5dp-1, -0x1.7844d013a92a3p-1, 0x1.5bac710cb295ep+0};
inline constexpr std::array<double, 14> dataspeed{0x1.651eb851eb852p+1, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, 0x1.1333333333333p+2, 0x1.fa9ea6d7fee87p+1, 0x1.0bd21ff2e48e7p+2, -0x1.8cccccccccccdp+1, -0x1.23a29c779a6b2p-1, -0x1.8cccccccccccdp+1, -0x1.23eab367a0f8fp+1, 0x1.1333333333333p+2, -0x1.8cccccccccccdp+1, -0x1.9972474538ef2p+0, 0x1.b03e0a6e5fa0bp-1};
// clang-format on

}  // namespace takt::test::pid_tables
