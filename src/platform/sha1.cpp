#include "platform/sha1.hpp"

#include <bit>
#include <cstddef>

namespace takt::platform {
namespace {

using State = std::array<std::uint32_t, 5>;
constexpr std::size_t block_size = 64;

std::array<std::uint32_t, 80> schedule_of(std::string_view block) {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t i = 0; i < block_size; ++i)
    words[i / 4] = words[i / 4] << 8 | static_cast<std::uint8_t>(block[i]);
  for (std::size_t i = 16; i < words.size(); ++i)
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  return words;
}

/// The function and constant of FIPS 180-4, section 4, for round `i`.
std::uint32_t mixed(std::size_t i, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  if (i < 20) return ((b & c) | (~b & d)) + 0x5A827999;
  if (i < 40) return (b ^ c ^ d) + 0x6ED9EBA1;
  if (i < 60) return ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC;
  return (b ^ c ^ d) + 0xCA62C1D6;
}

void add_block(State& state, std::string_view block) {
  const auto words = schedule_of(block);
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t next = std::rotl(a, 5) + mixed(i, b, c, d) + e + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::array<std::uint8_t, 20> sha1(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % block_size != block_size - 8) padded += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xFF);

  State state{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  for (std::size_t at = 0; at < padded.size(); at += block_size)
    add_block(state, std::string_view(padded).substr(at, block_size));
  std::array<std::uint8_t, 20> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (at + i < bytes.size() ? bytes[at + i] : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += at + i <= bytes.size() ? letters[group >> (18 - 6 * i) & 0x3F] : '=';
  }
  return text;
}

}  // namespace takt::platform
