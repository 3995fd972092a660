// The messages of dbc_bench.cpp and its peers: a DBC file, and random frames of its messages.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "takt/can/frame.hpp"

namespace takt::bench {

inline constexpr const char* dbc_text = R"(BU_: A
BO_ 1 Status: 8 A
 SG_ velocity : 0|16@1- (0.01,0) [0|0] "" A
 SG_ current : 16|12@1- (0.05,0) [0|0] "" A
 SG_ voltage : 28|10@1+ (0.1,0) [0|0] "" A
 SG_ temperature : 38|8@1+ (1,-40) [0|0] "" A
 SG_ state : 46|4@1+ (1,0) [0|0] "" A
 SG_ fault : 50|6@1+ (1,0) [0|0] "" A
 SG_ ready : 56|1@1+ (1,0) [0|0] "" A
 SG_ counter : 57|7@1+ (1,0) [0|0] "" A
BO_ 2 Command: 8 A
 SG_ position : 7|20@0- (0.001,0) [0|0] "" A
 SG_ velocity : 19|12@0- (0.05,0) [0|0] "" A
 SG_ torque : 39|10@0- (0.1,0) [0|0] "" A
 SG_ kp : 45|6@0+ (2,0) [0|0] "" A
 SG_ kd : 55|4@0+ (0.5,0) [0|0] "" A
 SG_ mode : 48|4@1+ (1,0) [0|0] "" A
 SG_ enable : 56|1@1+ (1,0) [0|0] "" A
 SG_ counter : 57|7@1+ (1,0) [0|0] "" A
BO_ 3 Diagnosis: 8 A
 SG_ page M : 0|8@1+ (1,0) [0|0] "" A
 SG_ hours m0 : 8|32@1+ (0.1,0) [0|0] "" A
 SG_ starts m0 : 40|24@1+ (1,0) [0|0] "" A
 SG_ winding m1 : 8|16@1- (0.1,0) [0|0] "" A
 SG_ bridge m1 : 39|16@0- (0.1,0) [0|0] "" A
 SG_ supply m2 : 8|16@1+ (0.01,0) [0|0] "" A
 SG_ version m2 : 31|16@0+ (1,0) [0|0] "" A
)";

constexpr std::size_t count = 1024;

inline std::vector<can::Frame> frames(std::uint32_t id, unsigned first_byte) {
  std::mt19937_64 random(1);
  std::vector<can::Frame> made(count);
  for (can::Frame& frame : made) {
    frame.id = id;
    frame.length = 8;
    for (std::size_t i = 0; i < 8; ++i) frame.data[i] = static_cast<std::uint8_t>(random());
    frame.data[0] = static_cast<std::uint8_t>(frame.data[0] % first_byte);
  }
  return made;
}

using Values = std::array<double, 8>;

}  // namespace takt::bench
