// Both ends of an SDO block transfer for tests: a dictionary, a bus that loses frames, frames written out.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <random>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "takt/can/canopen/sdo_client.hpp"
#include "takt/can/canopen/sdo_server.hpp"

namespace takt::test::sdo_block {

using namespace takt::can;
using namespace takt::can::canopen;
using namespace std::chrono_literals;

using Bytes = std::vector<std::uint8_t>;
inline constexpr std::uint8_t node = 9;
inline constexpr Address object{0x2001, 3};
inline constexpr Duration patience = 10ms;
inline constexpr Time start{};

inline Frame request(std::initializer_list<std::uint8_t> bytes) { return *make_frame(0x609, Bytes(bytes)); }
inline Frame reply(std::initializer_list<std::uint8_t> bytes) { return *make_frame(0x589, Bytes(bytes)); }

inline Frame segment(std::uint32_t id, unsigned number) {
  const auto byte = static_cast<std::uint8_t>(number);
  return *make_frame(id, Bytes{byte, 1, 2, 3, 4, 5, 6, 7});
}
inline Frame to_client(unsigned number) { return segment(0x589, number); }
inline Frame to_server(unsigned number) { return segment(0x609, number); }

/// The CRC of `count` segments as above, whose last one has `unused` bytes too many.
inline std::uint16_t crc_of(std::size_t count, std::size_t unused = 0) {
  Bytes data;
  for (std::size_t i = 0; i < count; ++i) data.insert(data.end(), {1, 2, 3, 4, 5, 6, 7});
  data.resize(data.size() - unused);
  return canopen::detail::block_crc(0, data);
}
inline Frame end_of(std::uint32_t id, std::uint16_t crc, unsigned unused = 0) {
  return *make_frame(id, Bytes{static_cast<std::uint8_t>(0xC1U | unused << 2), static_cast<std::uint8_t>(crc),
                               static_cast<std::uint8_t>(crc >> 8), 0, 0, 0, 0, 0});
}

inline Bytes random_bytes(std::mt19937_64& random, std::size_t size) {
  Bytes data(size);
  for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
  return data;
}

/// A dictionary with one object.
struct Dictionary {
  Bytes value;
  SdoAbort refusal = SdoAbort::none;

  tl::expected<std::size_t, SdoAbort> read(Address, std::span<std::uint8_t> room) noexcept {
    if (refusal != SdoAbort::none) return tl::unexpected(refusal);
    if (value.size() > room.size()) return tl::unexpected(SdoAbort::out_of_memory);
    std::copy(value.begin(), value.end(), room.begin());
    return value.size();
  }
  SdoAbort write(Address, std::span<const std::uint8_t> data) noexcept {
    if (refusal == SdoAbort::none) value.assign(data.begin(), data.end());
    return refusal;
  }
};

/// A bus between a client and a server. `passes` is asked for each frame; false loses it.
template <class Server>
struct Link {
  SdoClient& client;
  Server& server;
  Dictionary& dictionary;
  std::function<bool(const Frame&)> passes = [](const Frame&) { return true; };
  std::size_t requests = 0;
  std::size_t replies = 0;
  Time now = start;

  void answer(const Frame& frame) {
    ++replies;
    if (passes(frame)) CHECK(client.receive(frame));
  }
  /// Until the client has ended. Returns how.
  SdoAbort run() {
    for (int i = 0; client.state() == SdoState::busy; ++i) {
      REQUIRE(i < 20'000);
      std::optional<Frame> frame = client.poll(now);
      if (!frame) {
        now += patience;
        frame = client.poll(now);
      }
      if (!frame) continue;
      ++requests;
      if (!passes(*frame)) continue;
      const auto reply = server.receive(*frame, dictionary);
      REQUIRE(reply);
      if (*reply) answer(**reply);
      while (const auto segment = server.poll()) answer(*segment);
    }
    return client.abort();
  }
};
template <class Server>
Link(SdoClient&, Server&, Dictionary&) -> Link<Server>;

inline bool is_segment(const Frame& frame) {
  const unsigned command = frame.data[0];
  return command != 0x80 && command != 0xC6 && (command & 0xE3) != 0xC1 && (command < 0xA0 || command > 0xA4);
}

/// How the client ends after these answers; an answer follows each frame until the client has none to send.
inline SdoAbort client_against(SdoClient& client, std::initializer_list<Frame> answers) {
  for (const Frame& answer : answers) {
    while (client.poll(start)) {
    }
    CHECK(client.receive(answer));
  }
  return client.abort();
}
inline SdoAbort upload_against(std::initializer_list<Frame> answers, std::size_t room = 64,
                               std::uint8_t segments = 4) {
  SdoClient client(node, patience, segments);
  Bytes memory(room);
  client.upload_block(object, memory);
  return client_against(client, answers);
}
inline SdoAbort download_against(std::initializer_list<Frame> answers, std::size_t size = 30) {
  SdoClient client(node, patience);
  const Bytes data(size);
  REQUIRE(client.download_block(object, data));
  return client_against(client, answers);
}
inline SdoAbort code_of(const Frame& frame) {
  return frame.data[0] == 0x80 ? static_cast<SdoAbort>(load_little<4>(frame.data.data() + 4))
                               : SdoAbort::none;
}
/// The abort code in the last answer of the server to these frames.
template <class Server>
inline SdoAbort server_against(Server& server, Dictionary& dictionary,
                               std::initializer_list<Frame> requests) {
  SdoAbort last = SdoAbort::none;
  for (const Frame& frame : requests) {
    CHECK(last == SdoAbort::none);
    const auto answer = server.receive(frame, dictionary);
    REQUIRE(answer);
    last = *answer ? code_of(**answer) : SdoAbort::none;
    while (server.poll()) {
    }
  }
  return last;
}

inline const Frame offer = reply({0xC6, 0x01, 0x20, 3, 14, 0, 0, 0});          // 14 bytes, with CRC
inline const Frame open_offer = reply({0xC4, 0x01, 0x20, 3, 0, 0, 0, 0});      // any size, with CRC
inline const Frame acceptance = reply({0xA4, 0x01, 0x20, 3, 2, 0, 0, 0});      // two segments in a sub-block
inline const Frame two_arrived = reply({0xA2, 2, 2, 0, 0, 0, 0, 0});           // of two
inline const Frame upload_14 = request({0xA4, 0x01, 0x20, 3, 2, 0, 0, 0});     // two segments in a sub-block
inline const Frame download_14 = request({0xC6, 0x01, 0x20, 3, 14, 0, 0, 0});  // with CRC
inline const Frame begins = request({0xA3, 0, 0, 0, 0, 0, 0, 0});

}  // namespace takt::test::sdo_block
