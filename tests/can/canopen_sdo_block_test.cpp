// Tests SDO block transfers against frames of the standard, and client against server for many sizes, block
// sizes and lost frames.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "can/sdo_block_rig.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::test::sdo_block;

TEST_CASE("the CRC is that of the standard") {
  constexpr std::string_view text = "123456789";
  CHECK(canopen::detail::block_crc(0, Bytes(text.begin(), text.end())) == 0x31C3);
  auto random = test::generator(72);
  const Bytes data = random_bytes(random, 100);
  unsigned sum = 0;  // bit by bit
  for (const std::uint8_t byte : data) {
    sum ^= unsigned{byte} << 8;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 0x8000U) != 0 ? (sum << 1 ^ 0x1021U) : sum << 1;
    sum &= 0xFFFFU;
  }
  CHECK(canopen::detail::block_crc(canopen::detail::block_crc(0, std::span(data).first(40)),
                                   std::span(data).subspan(40)) == sum);
}

TEST_CASE("block transfers are the bytes of the standard") {
  const Bytes text = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  SdoClient client(node, patience, 20);
  REQUIRE(client.download_block({0x1008, 0}, text));
  CHECK(*client.poll(start) == request({0xC6, 0x08, 0x10, 0, 9, 0, 0, 0}));
  CHECK_FALSE(client.poll(start).has_value());
  CHECK(client.receive(reply({0xA4, 0x08, 0x10, 0, 127, 0, 0, 0})));
  CHECK(*client.poll(start) == request({0x01, '1', '2', '3', '4', '5', '6', '7'}));
  CHECK(*client.poll(start) == request({0x82, '8', '9', 0, 0, 0, 0, 0}));
  CHECK_FALSE(client.poll(start).has_value());
  CHECK(client.receive(reply({0xA2, 2, 127, 0, 0, 0, 0, 0})));
  CHECK(*client.poll(start) == request({0xD5, 0xC3, 0x31, 0, 0, 0, 0, 0}));
  CHECK(client.receive(reply({0xA1, 0, 0, 0, 0, 0, 0, 0})));
  CHECK(client.state() == SdoState::done);
  CHECK(client.received().empty());

  Bytes room(16);
  client.upload_block({0x1008, 0}, room);
  CHECK(*client.poll(start) == request({0xA4, 0x08, 0x10, 0, 20, 28, 0, 0}));
  CHECK(client.receive(reply({0xC6, 0x08, 0x10, 0, 9, 0, 0, 0})));
  CHECK(*client.poll(start) == begins);
  CHECK(client.receive(reply({0x01, '1', '2', '3', '4', '5', '6', '7'})));
  CHECK_FALSE(client.poll(start).has_value());
  CHECK(client.receive(reply({0x82, '8', '9', 0, 0, 0, 0, 0})));
  CHECK(*client.poll(start) == request({0xA2, 2, 20, 0, 0, 0, 0, 0}));
  CHECK(client.receive(reply({0xD5, 0xC3, 0x31, 0, 0, 0, 0, 0})));
  CHECK(client.state() == SdoState::busy);  // until the server can know
  CHECK(*client.poll(start) == request({0xA1, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(client.state() == SdoState::done);
  CHECK(Bytes(client.received().begin(), client.received().end()) == text);
  CHECK(client.download_block(object, {}).error() == Errc::wrong_length);
}

TEST_CASE("client and server carry blocks of any size, in as few frames as there can be") {
  auto random = test::generator(73);
  for (std::size_t run = 0; run < test::count(200); ++run) {
    const auto size = static_cast<std::size_t>(test::uniform_int(random, 1, 5000));
    const auto segments = static_cast<std::uint8_t>(test::uniform_int(random, 1, 127));
    CAPTURE(size);
    CAPTURE(segments);
    SdoClient client(node, patience, segments);
    SdoServer<5000> server(node, segments);
    Dictionary dictionary;
    const Bytes data = random_bytes(random, size);
    const std::size_t pieces = (size + 6) / 7;
    const std::size_t sub_blocks = (pieces + segments - 1) / segments;

    Link down{client, server, dictionary};
    REQUIRE(client.download_block(object, data));
    REQUIRE(down.run() == SdoAbort::none);
    CHECK(dictionary.value == data);
    CHECK(down.requests == pieces + 2);
    CHECK(down.replies == sub_blocks + 2);

    Link up{client, server, dictionary};
    Bytes room(size);
    client.upload_block(object, room);
    REQUIRE(up.run() == SdoAbort::none);
    CHECK(room == data);
    CHECK(client.received().size() == size);
    if (size > canopen::detail::block_threshold) {
      CHECK(up.requests == sub_blocks + 3);
      CHECK(up.replies == pieces + 2);
    } else {
      CHECK(up.requests + up.replies <= 2 * (1 + pieces));  // the server has chosen segments
    }
    Bytes less(size - 1);
    client.upload_block(object, less);
    CHECK(up.run() == SdoAbort::out_of_memory);
  }
}

TEST_CASE("lost segments are sent again, and a transfer is whole or aborted") {
  auto random = test::generator(74);
  std::size_t complete = 0;
  std::size_t lost = 0;
  const std::size_t runs = test::count(300);
  for (std::size_t run = 0; run < runs; ++run) {
    const auto segments = static_cast<std::uint8_t>(test::uniform_int(random, 1, 127));
    SdoClient client(node, patience, segments);
    SdoServer<5000> server(node, segments);
    const Bytes data = random_bytes(random, static_cast<std::size_t>(test::uniform_int(random, 29, 5000)));
    const double loss = test::uniform(random, 0, 0.2);
    const bool loses_all_kinds = random() % 2 == 0;
    Dictionary dictionary;
    Link link{client, server, dictionary};
    link.passes = [&](const Frame& frame) {
      const bool passes = test::uniform(random, 0, 1) >= loss || (!loses_all_kinds && !is_segment(frame));
      lost += passes ? 0 : 1;
      return passes;
    };
    if (run % 2 == 0) {
      REQUIRE(client.download_block(object, data));
      link.run();
      if (client.state() == SdoState::done) CHECK(dictionary.value == data);
    } else {
      dictionary.value = data;
      Bytes room(data.size());
      client.upload_block(object, room);
      link.run();
      if (client.state() == SdoState::done) CHECK(room == data);
    }
    if (client.state() == SdoState::done)
      ++complete;
    else
      CHECK((client.abort() == SdoAbort::timeout || client.abort() == SdoAbort::sequence_number ||
             client.abort() == SdoAbort::unknown_command));

    // The next transfer is not harmed. Only a server that missed the abort takes its request for a segment.
    link.passes = [](const Frame&) { return true; };
    dictionary.value.clear();
    REQUIRE(client.download_block(object, data));
    if (link.run() != SdoAbort::none && loses_all_kinds) {
      REQUIRE(client.download_block(object, data));
      link.run();
    }
    CHECK(client.state() == SdoState::done);
    CHECK(dictionary.value == data);
  }
  if (runs >= 100) {
    CHECK(complete > runs / 20);
    CHECK(lost > runs);
  }
}

TEST_CASE("a lost segment costs one more sub-block, wherever it is") {
  for (std::size_t gap = 1; gap <= 20; ++gap) {
    CAPTURE(gap);
    SdoClient client(node, patience);
    SdoServer<140> server(node);
    Dictionary dictionary{Bytes(140, 7)};
    std::size_t count = 0;
    const auto loses_one = [&](const Frame& frame) { return !is_segment(frame) || ++count != gap; };
    Link up{client, server, dictionary};
    up.passes = loses_one;
    Bytes room(140);
    client.upload_block(object, room);
    CHECK(up.run() == SdoAbort::none);  // the client acknowledges after a silence, too
    CHECK(room == dictionary.value);
    CHECK(up.requests == 5);

    count = 0;
    Link down{client, server, dictionary};
    down.passes = loses_one;
    REQUIRE(client.download_block(object, room));
    CHECK(down.run() == (gap < 20 ? SdoAbort::none : SdoAbort::timeout));  // the server has no clock
    CHECK(down.requests == (gap < 20 ? 2 + 20 + 21 - gap : 22));
  }
}

TEST_CASE("an early acknowledge, as some servers send at a gap, ends the sub-block") {
  SdoClient client(node, patience);
  const Bytes data(70, 5);
  REQUIRE(client.download_block(object, data));
  CHECK(client.poll(start));
  CHECK(client.receive(reply({0xA4, 0x01, 0x20, 3, 10, 0, 0, 0})));
  for (int i = 0; i < 5; ++i) CHECK(client.poll(start));
  CHECK(client.receive(reply({0xA2, 3, 4, 0, 0, 0, 0, 0})));
  for (unsigned number = 1; number <= 4; ++number) CHECK(client.poll(start)->data[0] == number);
  CHECK_FALSE(client.poll(start).has_value());
}

TEST_CASE("a client follows a server that answers a block upload with segments or one frame") {
  SdoClient client(node, patience);
  Bytes room(8);
  client.upload_block(object, room);
  CHECK(client.poll(start));
  CHECK(client.receive(reply({0x4B, 0x01, 0x20, 3, 0x37, 0x02, 0, 0})));
  CHECK(client.state() == SdoState::done);
  CHECK(client.number() == 0x237);

  client.upload_block(object, room);
  CHECK(client.poll(start));
  CHECK(client.receive(reply({0x41, 0x01, 0x20, 3, 8, 0, 0, 0})));
  CHECK(*client.poll(start) == request({0x60, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(client.receive(to_client(0x00)));
  CHECK(*client.poll(start) == request({0x70, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(client.receive(reply({0x1D, 9, 0, 0, 0, 0, 0, 0})));
  CHECK(client.state() == SdoState::done);
  CHECK(room == Bytes{1, 2, 3, 4, 5, 6, 7, 9});
}

TEST_CASE("a server keeps the client's threshold for the change of the protocol") {
  SdoServer<16> server(node);
  Dictionary dictionary{Bytes(14)};
  const auto answer = [&](std::uint8_t threshold) {
    return server.receive(request({0xA4, 0x01, 0x20, 3, 2, threshold, 0, 0}), dictionary)->value().data[0];
  };
  CHECK(answer(0) == 0xC6);  // no change
  CHECK(answer(13) == 0xC6);
  CHECK(answer(14) == 0x41);
  dictionary.value.resize(4);
  CHECK(answer(3) == 0xC6);
  CHECK(answer(4) == 0x43);
}

TEST_CASE("an object without bytes takes one empty segment, by segments and in a block") {
  SdoServer<8> server(node);
  Dictionary dictionary;
  Bytes room(8);
  SdoClient client(node, patience);
  client.upload_block(object, room);
  Link link{client, server, dictionary};
  CHECK(link.run() == SdoAbort::none);
  CHECK(client.received().empty());

  CHECK(**server.receive(upload_14, dictionary) == reply({0xC6, 0x01, 0x20, 3, 0, 0, 0, 0}));
  CHECK_FALSE(server.receive(begins, dictionary)->has_value());
  CHECK(*server.poll() == reply({0x81, 0, 0, 0, 0, 0, 0, 0}));
  CHECK_FALSE(server.poll().has_value());
  CHECK(**server.receive(request({0xA2, 1, 2, 0, 0, 0, 0, 0}), dictionary) == end_of(0x589, 0, 7));
  const Frame empty = reply({0xC6, 0x01, 0x20, 3, 0, 0, 0, 0});
  CHECK(upload_against({empty, to_client(0x81), end_of(0x589, 0, 7)}, 0) == SdoAbort::none);
  CHECK(upload_against({empty, to_client(0x81), end_of(0x589, 0, 6)}, 0) == SdoAbort::too_long);
}

TEST_CASE("a transfer that replaces a block makes the server drop it first") {
  SdoClient client(node, patience);
  SdoServer<64> server(node, 4);
  Dictionary dictionary;
  const Bytes data(60, 9);
  REQUIRE(client.download_block({0x2002, 1}, data));
  client_against(client, {**server.receive(*client.poll(start), dictionary)});
  CHECK(client.poll(start)->data[0] == 1);  // in the midst of a sub-block
  REQUIRE(client.download(object, data));
  REQUIRE(client.download(object, data));
  CHECK(*client.poll(start) == request({0x80, 0x02, 0x20, 1, 0, 0, 0, 0x08}));
  Link link{client, server, dictionary};
  REQUIRE(client.state() == SdoState::busy);
  CHECK(server.receive(request({0x80, 0x02, 0x20, 1, 0, 0, 0, 0x08}), dictionary));
  CHECK(link.run() == SdoAbort::none);
  CHECK(dictionary.value == data);
}

TEST_CASE("a pause of the caller within a sub-block is no silence of the server") {
  SdoClient client(node, patience);
  const Bytes data(14);
  REQUIRE(client.download_block(object, data));
  client_against(client, {acceptance});
  CHECK(client.poll(start)->data[0] == 1);
  CHECK(client.poll(start + 1s)->data[0] == 0x82);
  CHECK_FALSE(client.poll(start + 1009ms).has_value());
  CHECK(code_of(*client.poll(start + 1010ms)) == SdoAbort::timeout);
}

TEST_CASE("a silence in an upload is judged from the last segment") {
  SdoClient client(node, patience, 3);
  Bytes room(64);
  client.upload_block(object, room);
  client_against(client, {open_offer});
  CHECK(*client.poll(start) == begins);
  CHECK(client.receive(to_client(1)));
  CHECK_FALSE(client.poll(start + 9ms).has_value());
  CHECK_FALSE(client.poll(start + 13ms).has_value());
  CHECK(*client.poll(start + 14ms) == request({0xA2, 1, 3, 0, 0, 0, 0, 0}));
  CHECK_FALSE(client.wants_to_send(start + 23ms));
  CHECK(client.wants_to_send(start + 24ms));
  CHECK(code_of(*client.poll(start + 24ms)) == SdoAbort::timeout);
}

TEST_CASE("a block transfer keeps the rules of the loop") {
  SdoClient client(node, patience);
  SdoServer<640> server(node);
  struct Fixed {
    std::array<std::uint8_t, 640> bytes{};
    tl::expected<std::size_t, SdoAbort> read(Address, std::span<std::uint8_t> room) noexcept {
      std::copy(bytes.begin(), bytes.end(), room.begin());
      return bytes.size();
    }
    SdoAbort write(Address, std::span<const std::uint8_t>) noexcept { return SdoAbort::none; }
  } dictionary;
  std::array<std::uint8_t, 640> room{};
  test::RtGuard guard;
  for (int run = 0; run < 20; ++run) {
    if (run % 2 == 0)
      client.upload_block(object, room);
    else
      (void)client.download_block(object, room);
    while (client.state() == SdoState::busy) {
      const auto frame = client.poll(start);
      if (!frame) break;
      const auto answer = server.receive(*frame, dictionary);
      if (*answer) (void)client.receive(**answer);
      while (const auto segment = server.poll()) (void)client.receive(*segment);
    }
  }
  CHECK(guard.report() == "");
  CHECK(client.state() == SdoState::done);
}

static_assert([] {
  // A block goes through a constant expression.
  struct Fixed {
    std::size_t size = 0;
    constexpr tl::expected<std::size_t, SdoAbort> read(Address, std::span<std::uint8_t>) noexcept {
      return 0;
    }
    constexpr SdoAbort write(Address, std::span<const std::uint8_t> data) noexcept {
      size = data.size();
      return SdoAbort::none;
    }
  } dictionary;
  const std::array<std::uint8_t, 30> data{};
  SdoClient client(node, Duration(1));
  SdoServer<30> server(node, 3);
  if (!client.download_block(object, data)) return false;
  while (client.state() == SdoState::busy) {
    const auto frame = client.poll(Time{});
    if (!frame) return false;
    const auto answer = server.receive(*frame, dictionary);
    if (*answer && !client.receive(**answer)) return false;
  }
  return client.state() == SdoState::done && dictionary.size == 30;
}());
