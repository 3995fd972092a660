// The words and bounds of the schema of robot files, shared by its reader and its writer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "takt/robot/description.hpp"

namespace takt::robot {

template <class Enum, std::size_t count>
using Words = std::array<std::pair<std::string_view, Enum>, count>;

inline constexpr Words<JointKind, 3> joint_kinds{
    {{"rotary", JointKind::rotary}, {"linear", JointKind::linear}, {"continuous", JointKind::continuous}}};
/// What JointDescription::safe and keep_commanding say together.
enum class SafeWord : std::uint8_t { hold, release, keep_commanding };
inline constexpr Words<SafeWord, 3> safe_words{{{"hold", SafeWord::hold},
                                                {"release", SafeWord::release},
                                                {"keep_commanding", SafeWord::keep_commanding}}};
inline constexpr Words<bool, 2> powers{{{"on", true}, {"off", false}}};
inline constexpr Words<rt::OverrunPolicy, 2> overrun_policies{
    {{"skip", rt::OverrunPolicy::skip}, {"catch_up", rt::OverrunPolicy::catch_up}}};
inline constexpr Words<DeviceVariant, 2> device_variants{
    {{"real", DeviceVariant::real}, {"simulated", DeviceVariant::simulated}}};
inline constexpr std::string_view recorded_devices = "recorded:";  ///< before a path
inline constexpr Words<TransmissionKind, 3> transmission_kinds{
    {{"simple", TransmissionKind::simple},
     {"differential", TransmissionKind::differential},
     {"four_bar", TransmissionKind::four_bar}}};

/// The word of a value; empty if it has none.
template <class Enum, std::size_t count>
[[nodiscard]] constexpr std::string_view word_of(const Words<Enum, count>& words, Enum value) noexcept {
  for (const auto& [word, meaning] : words) {
    if (meaning == value) return word;
  }
  return {};
}

inline constexpr std::size_t max_buses = 16;
inline constexpr std::size_t max_mimics = 256;

}  // namespace takt::robot
