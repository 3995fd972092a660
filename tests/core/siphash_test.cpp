// Tests SipHash-2-4-128 against the vectors of its authors, and the verification of tags: every wrong bit
// must be detected.
#include "takt/core/siphash.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>

#include "core/siphash_vectors.hpp"
#include "support/random.hpp"

using namespace takt;

namespace {

std::array<std::uint8_t, 16> counting_key() {
  std::array<std::uint8_t, 16> key{};
  std::iota(key.begin(), key.end(), std::uint8_t{0});
  return key;
}

std::string hex(const Tag& tag) {
  std::string text;
  for (const std::uint8_t byte : tag) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// Also when the compiler computes it.
constexpr std::array<std::uint8_t, 16> zero_key{};
static_assert(SipHash128(zero_key).tag({}) != Tag{});

}  // namespace

TEST_CASE("SipHash-2-4-128 gives the tags of its authors") {
  const SipHash128 hash(counting_key());
  std::array<std::uint8_t, 64> message{};
  std::iota(message.begin(), message.end(), std::uint8_t{0});
  for (std::size_t size = 0; size < test::siphash128_vectors.size(); ++size) {
    CAPTURE(size);
    CHECK(hex(hash.tag(std::span(message).first(size))) == test::siphash128_vectors[size]);
  }
}

TEST_CASE("a message's alignment does not matter to its tag") {
  const SipHash128 hash(counting_key());
  alignas(8) std::array<std::uint8_t, 80> memory{};
  const std::array<std::uint8_t, 64> message{1, 2, 3};
  for (std::size_t offset = 0; offset < 16; ++offset) {
    std::copy(message.begin(), message.end(), memory.begin() + static_cast<std::ptrdiff_t>(offset));
    CHECK(hash.tag(std::span(memory).subspan(offset, 64)) == hash.tag(message));
  }
}

TEST_CASE("a tag holds for its message and its key alone: no flipped bit of either passes") {
  auto random = test::generator(41);
  std::array<std::uint8_t, 41> message{};
  for (auto& byte : message) byte = static_cast<std::uint8_t>(random());
  auto key = counting_key();
  const Tag tag = SipHash128(key).tag(message);
  CHECK(verify(SipHash128(key), message, tag));
  for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
    message[bit / 8] = static_cast<std::uint8_t>(message[bit / 8] ^ 1U << bit % 8);
    CHECK_FALSE(verify(SipHash128(key), message, tag));
    message[bit / 8] = static_cast<std::uint8_t>(message[bit / 8] ^ 1U << bit % 8);
  }
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Tag wrong = tag;
    wrong[bit / 8] = static_cast<std::uint8_t>(wrong[bit / 8] ^ 1U << bit % 8);
    CHECK_FALSE(equal_in_constant_time(wrong, tag));
    CHECK_FALSE(verify(SipHash128(key), message, wrong));
    auto other = key;
    other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ 1U << bit % 8);
    CHECK_FALSE(verify(SipHash128(other), message, tag));
  }
  CHECK(verify(SipHash128(key), message, tag));
}
