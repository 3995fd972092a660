// The CRC-32 of zlib, PNG and MCAP: polynomial 0xEDB88320, reflected, initial value and final exclusive-or
// 0xFFFFFFFF.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace takt::record {

namespace detail {

using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr CrcTables make_crc_tables() noexcept {
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
    tables[0][i] = crc;
  }
  for (std::size_t t = 1; t < tables.size(); ++t) {
    for (std::size_t i = 0; i < 256; ++i)
      tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xFF];
  }
  return tables;
}
inline constexpr CrcTables crc_tables = make_crc_tables();

}  // namespace detail

/// Adds up bytes in pieces. Takes eight bytes a step, by eight tables (M. Kounavis and F. Berry, "A
/// Systematic Approach to Building High Performance Software-Based CRC Generators", 2005).
class Crc32 {
 public:
  constexpr void add(std::span<const std::uint8_t> bytes) noexcept {
    std::uint32_t crc = state_;
    while (bytes.size() >= 8) {
      const std::uint32_t low = crc ^ word(bytes.data());
      const std::uint32_t high = word(bytes.data() + 4);
      crc = table(7, low) ^ table(6, low >> 8) ^ table(5, low >> 16) ^ table(4, low >> 24) ^  //
            table(3, high) ^ table(2, high >> 8) ^ table(1, high >> 16) ^ table(0, high >> 24);
      bytes = bytes.subspan(8);
    }
    for (const std::uint8_t byte : bytes) crc = crc >> 8 ^ table(0, crc ^ byte);
    state_ = crc;
  }
  [[nodiscard]] constexpr std::uint32_t value() const noexcept { return ~state_; }

 private:
  static constexpr std::uint32_t word(const std::uint8_t* bytes) noexcept {
    return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
           std::uint32_t{bytes[3]} << 24;
  }
  static constexpr std::uint32_t table(std::size_t which, std::uint32_t index) noexcept {
    return detail::crc_tables[which][index & 0xFF];
  }

  std::uint32_t state_ = 0xFFFFFFFF;
};

/// The CRC-32 of these bytes.
[[nodiscard]] constexpr std::uint32_t crc32(std::span<const std::uint8_t> bytes) noexcept {
  Crc32 crc;
  crc.add(bytes);
  return crc.value();
}

}  // namespace takt::record
