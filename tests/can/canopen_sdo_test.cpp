// Tests SDO transfers against frames of the standard, and client against server for every size. Also tests a
// client against servers that answer late, incorrectly, or with wrong sizes.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/can/canopen/configuration.hpp"
#include "takt/can/canopen/sdo_client.hpp"
#include "takt/can/canopen/sdo_server.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::canopen;
using namespace std::chrono_literals;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint8_t node = 9;
constexpr Address object{0x2001, 3};
constexpr Time start{};

Frame request(std::initializer_list<std::uint8_t> bytes) { return *make_frame(0x609, Bytes(bytes)); }
Frame reply(std::initializer_list<std::uint8_t> bytes) { return *make_frame(0x589, Bytes(bytes)); }

/// An object dictionary of byte strings.
struct Dictionary {
  std::map<std::uint32_t, Bytes> objects;
  SdoAbort refusal = SdoAbort::none;

  static std::uint32_t key(Address a) { return std::uint32_t{a.index} << 8 | a.subindex; }
  tl::expected<std::size_t, SdoAbort> read(Address a, std::span<std::uint8_t> room) noexcept {
    const auto found = objects.find(key(a));
    if (found == objects.end()) return tl::unexpected(SdoAbort::no_such_object);
    if (found->second.size() > room.size()) return tl::unexpected(SdoAbort::out_of_memory);
    std::copy(found->second.begin(), found->second.end(), room.begin());
    return found->second.size();
  }
  SdoAbort write(Address a, std::span<const std::uint8_t> data) noexcept {
    if (refusal != SdoAbort::none) return refusal;
    objects[key(a)] = Bytes(data.begin(), data.end());
    return SdoAbort::none;
  }
};

/// Carries frames between client and server until the client is done.
template <class Client, class Server>
int transfer(Client& client, Server& server, Dictionary& dictionary) {
  int frames = 0;
  while (client.state() == SdoState::busy) {
    const auto frame = client.poll(start);
    REQUIRE(frame.has_value());
    ++frames;
    const auto answer = server.receive(*frame, dictionary);
    REQUIRE(answer.has_value());
    if (*answer) CHECK(client.receive(**answer).has_value());
  }
  return frames;
}

/// Runs an upload of the client against given answers; returns how it ended.
SdoAbort upload_against(std::initializer_list<Frame> answers, std::size_t room_size = 64) {
  SdoClient client(node, 10ms);
  Bytes room(room_size);
  client.upload(object, room);
  for (const Frame& answer : answers) {
    CHECK(client.poll(start).has_value());
    CHECK(client.receive(answer).has_value());
  }
  if (client.state() == SdoState::busy) return SdoAbort::none;
  if (client.state() == SdoState::aborted) {
    const auto frame = client.poll(start);
    if (frame) {
      CHECK(frame->data[0] == 0x80);
      CHECK(load_little<4>(frame->data.data() + 4) == static_cast<std::uint32_t>(client.abort()));
    }
    CHECK_FALSE(client.poll(start).has_value());
  }
  return client.abort();
}

}  // namespace

TEST_CASE("expedited transfers are the bytes of the standard") {
  SdoClient client(node, 10ms);
  CHECK(client.state() == SdoState::idle);
  CHECK_FALSE(client.poll(start).has_value());
  REQUIRE(client.download(ObjectWrite{{0x6060, 0}, 8, 1}));
  CHECK(*client.poll(start) == request({0x2F, 0x60, 0x60, 0, 8, 0, 0, 0}));
  CHECK_FALSE(client.poll(start).has_value());
  CHECK(client.receive(reply({0x60, 0x60, 0x60, 0, 0, 0, 0, 0})));
  CHECK(client.state() == SdoState::done);

  for (const auto& [bytes, command] : {std::pair<std::uint8_t, int>{2, 0x2B}, {3, 0x27}, {4, 0x23}}) {
    REQUIRE(client.download(ObjectWrite{{0x1400, 1}, 0x0403'0201, bytes}));
    const Frame frame = *client.poll(start);
    CHECK(frame.data[0] == command);
    CHECK(frame.data[3U + bytes] == bytes);
    CHECK((bytes == 4 || frame.data[4U + bytes] == 0));
  }
  Bytes room(4);
  client.upload({0x6041, 0}, room);
  CHECK(*client.poll(start) == request({0x40, 0x41, 0x60, 0, 0, 0, 0, 0}));
  CHECK(client.receive(reply({0x4B, 0x41, 0x60, 0, 0x37, 0x02, 0xEE, 0xEE})));
  CHECK(client.state() == SdoState::done);
  CHECK(client.received().size() == 2);
  CHECK(client.number() == 0x237);
  CHECK(client.download(object, {}).error() == Errc::wrong_length);
  CHECK(client.download(ObjectWrite{object, 0, 5}).error() == Errc::wrong_length);
}

TEST_CASE("segmented transfers are the bytes of the standard") {
  const Bytes text = {'t', 'a', 'k', 't', ' ', 'd', 'r', 'i', 'v'};
  SdoClient client(node, 10ms);
  REQUIRE(client.download({0x1008, 0}, text));
  CHECK(*client.poll(start) == request({0x21, 0x08, 0x10, 0, 9, 0, 0, 0}));
  CHECK(client.receive(reply({0x60, 0x08, 0x10, 0, 0, 0, 0, 0})));
  CHECK(*client.poll(start) == request({0x00, 't', 'a', 'k', 't', ' ', 'd', 'r'}));
  CHECK(client.receive(reply({0x20, 0, 0, 0, 0, 0, 0, 0})));
  CHECK(*client.poll(start) == request({0x1B, 'i', 'v', 0, 0, 0, 0, 0}));
  CHECK(client.receive(reply({0x30, 0, 0, 0, 0, 0, 0, 0})));
  CHECK(client.state() == SdoState::done);

  Bytes room(16);
  client.upload({0x1008, 0}, room);
  CHECK(*client.poll(start) == request({0x40, 0x08, 0x10, 0, 0, 0, 0, 0}));
  CHECK(client.receive(reply({0x41, 0x08, 0x10, 0, 9, 0, 0, 0})));
  CHECK(*client.poll(start) == request({0x60, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(client.receive(reply({0x00, 't', 'a', 'k', 't', ' ', 'd', 'r'})));
  CHECK(*client.poll(start) == request({0x70, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(client.receive(reply({0x1B, 'i', 'v', 0, 0, 0, 0, 0})));
  CHECK(client.state() == SdoState::done);
  CHECK(Bytes(client.received().begin(), client.received().end()) == text);
}

TEST_CASE("client and server carry objects of any size, in as few frames as there can be") {
  auto random = test::generator(70);
  SdoClient client(node, 10ms);
  SdoServer<256> server(node);
  Dictionary dictionary;
  for (std::size_t size = 1; size <= 256; ++size) {
    CAPTURE(size);
    Bytes data(size);
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
    const int expected = size <= 4 ? 1 : 1 + static_cast<int>((size + 6) / 7);
    REQUIRE(client.download(object, data));
    CHECK(transfer(client, server, dictionary) == expected);
    CHECK(client.state() == SdoState::done);
    CHECK(dictionary.objects[Dictionary::key(object)] == data);

    Bytes room(size);
    client.upload(object, room);
    CHECK(transfer(client, server, dictionary) == expected);
    CHECK(client.state() == SdoState::done);
    CHECK(room == data);
    if (size > 1) {  // the room is too small
      Bytes less(size - 1);
      client.upload(object, less);
      transfer(client, server, dictionary);
      CHECK(client.abort() == SdoAbort::out_of_memory);
    }
  }
  REQUIRE(client.download(object, Bytes(257)));
  transfer(client, server, dictionary);
  CHECK(client.abort() == SdoAbort::out_of_memory);
}

TEST_CASE("a server says why not, by name") {
  SdoClient client(node, 10ms);
  SdoServer<16> server(node);
  Dictionary dictionary;
  Bytes room(4);
  client.upload(object, room);
  transfer(client, server, dictionary);
  CHECK(client.state() == SdoState::aborted);
  CHECK(client.abort() == SdoAbort::no_such_object);
  CHECK(describe(client.abort()) == "the object does not exist");
  CHECK_FALSE(client.poll(start).has_value());  // the server already knows of the abort
  dictionary.refusal = SdoAbort::value_too_high;
  REQUIRE(client.download(ObjectWrite{object, 1, 4}));
  transfer(client, server, dictionary);
  CHECK(client.abort() == SdoAbort::value_too_high);
  CHECK(describe(static_cast<SdoAbort>(1)) == "an abort code that the standard does not define");
}

TEST_CASE("a wrong size, toggle bit or step aborts the transfer with its abort code") {
  const Frame nine = reply({0x41, 0x01, 0x20, 3, 9, 0, 0, 0});
  const Frame seven_more = reply({0x00, 1, 2, 3, 4, 5, 6, 7});
  CHECK(upload_against({nine, reply({0x10, 1, 2, 3, 4, 5, 6, 7})}) == SdoAbort::toggle);
  CHECK(upload_against({nine, seven_more, seven_more}) == SdoAbort::toggle);
  CHECK(upload_against({nine, seven_more, reply({0x11, 1, 2, 3, 4, 5, 6, 7})}) == SdoAbort::too_long);
  CHECK(upload_against({nine, seven_more, reply({0x1D, 1, 0, 0, 0, 0, 0, 0})}) == SdoAbort::wrong_length);
  CHECK(upload_against({nine, seven_more, reply({0x1B, 1, 2, 0, 0, 0, 0, 0})}) == SdoAbort::none);
  CHECK(upload_against({nine}, 8) == SdoAbort::out_of_memory);
  CHECK(upload_against({reply({0x41, 0x01, 0x20, 3, 0xFF, 0xFF, 0xFF, 0xFF})}) == SdoAbort::out_of_memory);
  CHECK(upload_against({reply({0x40, 0x01, 0x20, 3, 0, 0, 0, 0}), seven_more}, 6) == SdoAbort::out_of_memory);
  CHECK(upload_against({nine, reply({0x0E, 0, 0, 0, 0, 0, 0, 0})}) == SdoAbort::unknown_command);
  CHECK(upload_against({nine, reply({0x60, 0x01, 0x20, 3, 0, 0, 0, 0})}) == SdoAbort::unknown_command);
  CHECK(upload_against({reply({0x60, 0x01, 0x20, 3, 0, 0, 0, 0})}) == SdoAbort::unknown_command);
  CHECK(upload_against({reply({0x43, 0x01, 0x20, 3, 1, 2, 3, 4})}, 2) == SdoAbort::out_of_memory);
  CHECK(upload_against({reply({0x42, 0x01, 0x20, 3, 1, 2, 3, 4})}, 2) == SdoAbort::none);  // without a size
}

TEST_CASE("a silent server is given up with an abort, and its late answers are ignored") {
  SdoClient client(node, 10ms);
  REQUIRE(client.download(ObjectWrite{object, 1, 4}));
  CHECK(client.poll(start).has_value());
  CHECK_FALSE(client.poll(start + 10ms - 1ns).has_value());
  CHECK(client.state() == SdoState::busy);
  const auto frame = client.poll(start + 10ms);
  REQUIRE(frame.has_value());
  CHECK(*frame == request({0x80, 0x01, 0x20, 3, 0, 0, 0x04, 0x05}));
  CHECK(client.abort() == SdoAbort::timeout);
  CHECK(client.receive(reply({0x60, 0x01, 0x20, 3, 0, 0, 0, 0})));
  CHECK(client.state() == SdoState::aborted);

  Bytes room(4);
  client.upload({0x6041, 0}, room);
  CHECK(client.receive(reply({0x43, 0x41, 0x60, 0, 1, 2, 3, 4})));  // before the request
  CHECK(client.state() == SdoState::busy);
  CHECK(client.poll(start + 20ms).has_value());
  CHECK(client.receive(reply({0x60, 0x01, 0x20, 3, 0, 0, 0, 0})));
  CHECK(client.receive(reply({0x80, 0x01, 0x20, 3, 0, 0, 0x02, 0x06})));
  CHECK(client.receive(reply({0x30, 0, 0, 0, 0, 0, 0, 0})));
  CHECK(client.state() == SdoState::busy);
  CHECK(client.receive(reply({0x4F, 0x41, 0x60, 0, 7, 0, 0, 0})));
  CHECK(client.number() == 7);
}

TEST_CASE("frames of another shape or node are refused by both sides") {
  SdoClient client(node, 10ms);
  SdoServer<16> server(node);
  Dictionary dictionary;
  const auto both = [&](auto change, Errc expected) {
    Frame to_client = reply({0x60, 0x01, 0x20, 3, 0, 0, 0, 0});
    Frame to_server = request({0x40, 0x01, 0x20, 3, 0, 0, 0, 0});
    change(to_client);
    change(to_server);
    CHECK(client.receive(to_client).error() == expected);
    CHECK(server.receive(to_server, dictionary).error() == expected);
  };
  both([](Frame& frame) { frame.length = 7; }, Errc::wrong_length);
  both([](Frame& frame) { frame.length = 255; }, Errc::wrong_length);
  both([](Frame& frame) { frame.fd = true; }, Errc::wrong_format);
  both([](Frame& frame) { frame.remote = true; }, Errc::wrong_format);
  both([](Frame& frame) { frame.extended = true; }, Errc::wrong_format);
  both([](Frame& frame) { ++frame.id; }, Errc::unexpected_id);
  both([](Frame& frame) { frame.id -= node; }, Errc::unexpected_id);
}

TEST_CASE("a server refuses segments out of order and survives a malicious client") {
  SdoServer<16> server(node);
  Dictionary dictionary;
  const auto answer = [&](std::initializer_list<std::uint8_t> bytes) {
    return server.receive(request(bytes), dictionary).value().value_or(Frame{});
  };
  const auto code = [](const Frame& frame) {
    return frame.data[0] == 0x80 ? static_cast<SdoAbort>(load_little<4>(frame.data.data() + 4))
                                 : SdoAbort::none;
  };
  CHECK(code(answer({0x00, 1, 2, 3, 4, 5, 6, 7})) == SdoAbort::unknown_command);
  CHECK(code(answer({0x60, 0, 0, 0, 0, 0, 0, 0})) == SdoAbort::unknown_command);
  CHECK(code(answer({0xE0, 1, 0x20, 3, 0, 0, 0, 0})) == SdoAbort::unknown_command);
  CHECK(answer({0x80, 1, 0x20, 3, 0, 0, 0, 0}) == Frame{});
  CHECK(code(answer({0x21, 1, 0x20, 3, 5, 0, 0, 0})) == SdoAbort::none);
  CHECK(code(answer({0x10, 1, 2, 3, 4, 5, 6, 7})) == SdoAbort::toggle);
  CHECK(code(answer({0x21, 1, 0x20, 3, 5, 0, 0, 0})) == SdoAbort::none);
  CHECK(code(answer({0x01, 1, 2, 3, 4, 5, 6, 7})) == SdoAbort::too_long);
  CHECK(code(answer({0x21, 1, 0x20, 3, 9, 0, 0, 0})) == SdoAbort::none);
  CHECK(code(answer({0x01, 1, 2, 3, 4, 5, 6, 7})) == SdoAbort::wrong_length);
  CHECK(code(answer({0x20, 1, 0x20, 3, 0, 0, 0, 0})) == SdoAbort::none);
  CHECK(code(answer({0x00, 1, 2, 3, 4, 5, 6, 7})) == SdoAbort::none);
  CHECK(code(answer({0x10, 1, 2, 3, 4, 5, 6, 7})) == SdoAbort::none);
  CHECK(code(answer({0x00, 1, 2, 3, 4, 5, 6, 7})) == SdoAbort::out_of_memory);
  CHECK(dictionary.objects.empty());
}

TEST_CASE(
    "a configuration is written in its order, stops at the first refusal, and excuses what is optional") {
  SdoServer<16> server(node);
  Dictionary dictionary;
  const std::vector<ObjectWrite> writes = {
      {{0x1017, 0}, 100, 2}, {{0x60C2, 1}, 5, 1, true}, {{0x6060, 0}, 8, 1}};
  Configurator configurator(node, 10ms);
  CHECK(configurator.state() == SdoState::idle);
  configurator.start(writes);
  CHECK(transfer(configurator, server, dictionary) == 3);
  CHECK(configurator.state() == SdoState::done);
  CHECK(configurator.current() == nullptr);
  CHECK(dictionary.objects.size() == 3);

  dictionary.refusal = SdoAbort::no_such_object;
  configurator.start(std::span(writes).subspan(1));
  CHECK(transfer(configurator, server, dictionary) == 2);
  CHECK(configurator.state() == SdoState::aborted);
  CHECK(configurator.abort() == SdoAbort::no_such_object);
  REQUIRE(configurator.current() != nullptr);
  CHECK(configurator.current()->object == Address{0x6060, 0});

  dictionary.refusal = SdoAbort::value_too_high;  // not excused, even for an optional object
  configurator.start(std::span(writes).subspan(1));
  CHECK(transfer(configurator, server, dictionary) == 1);
  CHECK(configurator.state() == SdoState::aborted);
  configurator.start({});
  CHECK(configurator.state() == SdoState::done);
}

TEST_CASE("any answer ends a transfer or leaves it waiting, and nothing is written beyond the buffer") {
  auto random = test::generator(71);
  for (std::size_t run = 0; run < test::count(2000); ++run) {
    SdoClient client(node, 10ms);
    std::array<std::uint8_t, 24> memory{};
    memory.fill(0xA5);
    const std::size_t size = random() % 17;
    const Bytes data(1 + random() % 20, 1);
    if (random() % 2 == 0) {
      client.upload(object, std::span(memory).first(size));
    } else {
      REQUIRE(client.download(object, data));
    }
    for (int i = 0; i < 40; ++i) {
      (void)client.poll(start);
      Frame frame = reply({0, 0, 0, 0, 0, 0, 0, 0});
      for (auto& byte : frame.data) byte = static_cast<std::uint8_t>(random());
      frame.data[0] &= static_cast<std::uint8_t>(random() % 2 == 0 ? 0xFF : 0x7F);
      if (random() % 2 == 0) store_little<3>(frame.data.data() + 1, Dictionary::key(object) >> 8 | 3U << 16);
      CHECK(client.receive(frame));
      CHECK(client.received().size() <= size);
    }
    for (std::size_t i = size; i < memory.size(); ++i) CHECK(memory[i] == 0xA5);
  }
}

TEST_CASE("a transfer keeps the rules of the loop") {
  SdoClient client(node, 10ms);
  SdoServer<64> server(node);
  struct Fixed {
    std::array<std::uint8_t, 40> bytes{};
    tl::expected<std::size_t, SdoAbort> read(Address, std::span<std::uint8_t> room) noexcept {
      std::copy(bytes.begin(), bytes.end(), room.begin());
      return bytes.size();
    }
    SdoAbort write(Address, std::span<const std::uint8_t>) noexcept { return SdoAbort::none; }
  } dictionary;
  std::array<std::uint8_t, 40> room{};
  test::RtGuard guard;
  for (int run = 0; run < 100; ++run) {
    client.upload(object, room);
    while (client.state() == SdoState::busy) {
      const auto frame = client.poll(start);
      const auto answer = server.receive(*frame, dictionary);
      (void)client.receive(**answer);
    }
  }
  CHECK(guard.report() == "");
  CHECK(client.state() == SdoState::done);
}
