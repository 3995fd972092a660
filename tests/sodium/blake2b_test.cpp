// Keyed BLAKE2b by libsodium against tags of another implementation: Python's hashlib, by the algorithm's
// authors. Also a secure channel with it.
#include "takt/platform/blake2b.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>

#include "support/rt_guard.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"

using namespace takt;
using platform::Blake2b;

namespace {

struct Vector {
  std::size_t size;
  std::string_view tag;
};
/// The key is 00 01 .. 1f, the message the bytes 0 .. size - 1.
constexpr std::array vectors = {
    Vector{0, "3daf97bce7888fd59773c66bf647459c"},   Vector{1, "cb0f7736a53974236661585b8842dd8c"},
    Vector{3, "194701a386811588a35d83be1f36769c"},   Vector{127, "1bd91774d74d27c31ebf3b9089a29219"},
    Vector{128, "45d43af02414a146c8803c3f7da3554d"}, Vector{129, "aab5517a7ade99ce990a81aa3d3ea27d"},
    Vector{255, "89cde4d1b8ea2dd5325db76af38ccb90"},
};

std::array<std::uint8_t, 32> counting(std::uint8_t first) {
  std::array<std::uint8_t, 32> bytes{};
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

std::string hex(const Tag& tag) {
  std::string text;
  for (const std::uint8_t byte : tag) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace

TEST_CASE("keyed BLAKE2b gives the tags of another implementation") {
  const Blake2b hash(counting(0));
  std::array<std::uint8_t, 256> message{};
  std::iota(message.begin(), message.end(), std::uint8_t{0});
  for (const Vector& vector : vectors) {
    CAPTURE(vector.size);
    CHECK(hex(hash.tag(std::span(message).first(vector.size))) == vector.tag);
  }
  CHECK(Blake2b(counting(1)).tag(message) != hash.tag(message));
}

TEST_CASE(
    "a secure channel is made with BLAKE2b as with any authenticator, and keeps the rules of the loop") {
  using namespace takt::secure;
  const SharedKey<Blake2b> key{7, counting(3)};
  auto commander = *ClientChannel<Blake2b>::make(key, counting(50));
  auto vehicle = *ServerChannel<Blake2b>::make(std::span(&key, 1), counting(60));
  std::array<std::uint8_t, 200> datagram{};
  const std::array<std::uint8_t, 20> payload{1, 2, 3};
  Time now{};
  bool ok = true;
  test::RtGuard guard;
  const auto pass = [&](const Result<std::size_t>& size, auto& receiver) {
    ok = ok && size && *size > 0 && receiver.open(std::span(datagram).first(*size), now);
    now += std::chrono::milliseconds(1);
  };
  pass(commander.poll_handshake(now, datagram), vehicle);
  pass(vehicle.poll_handshake(now, datagram), commander);
  pass(commander.poll_handshake(now, datagram), vehicle);
  pass(vehicle.poll_handshake(now, datagram), commander);
  for (int k = 0; k < 100; ++k) {
    pass(commander.seal(payload, Urgency::ordinary, now, datagram), vehicle);
    ok = ok && !vehicle.open(std::span(datagram).first(68), now);
    pass(vehicle.seal(payload, Urgency::ordinary, now, datagram), commander);
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}
