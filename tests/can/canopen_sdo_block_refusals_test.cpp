// Tests each end of an SDO block transfer against one that answers incorrectly, late or without end.
#include <doctest/doctest.h>

#include <array>
#include <initializer_list>

#include "can/sdo_block_rig.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::test::sdo_block;

TEST_CASE("a server without block transfers ends them by its abort") {
  const Frame unknown = reply({0x80, 0x01, 0x20, 3, 0x01, 0, 0x04, 0x05});
  CHECK(upload_against({unknown}) == SdoAbort::unknown_command);
  CHECK(download_against({unknown}) == SdoAbort::unknown_command);
  CHECK(download_against({acceptance, reply({0x80, 0x01, 0x20, 3, 0x22, 0, 0, 0x08})}) ==
        SdoAbort::wrong_device_state);
}

TEST_CASE("a client aborts an upload with wrong numbers, sizes or CRC") {
  const auto end = [](std::uint16_t crc, unsigned unused = 0) { return end_of(0x589, crc, unused); };
  CHECK(upload_against({offer, to_client(1), to_client(0x82), end(crc_of(2))}) == SdoAbort::none);
  CHECK(upload_against({offer, to_client(1), to_client(0x82), end(crc_of(2) ^ 1)}) == SdoAbort::checksum);
  CHECK(upload_against({offer, to_client(1), to_client(0x82), end(crc_of(2, 1), 1)}) ==
        SdoAbort::wrong_length);
  CHECK(upload_against({offer, to_client(0x81), end(crc_of(1))}) == SdoAbort::wrong_length);
  CHECK(upload_against({offer, to_client(1), to_client(2), to_client(3)}) == SdoAbort::too_long);
  CHECK(upload_against({offer, to_client(1), to_client(2), to_client(0x83), end(crc_of(3))}) ==
        SdoAbort::too_long);
  CHECK(upload_against({offer, to_client(1), to_client(2), to_client(0x83), end(crc_of(2), 7)}) ==
        SdoAbort::none);  // the last segment may be empty
  CHECK(upload_against({open_offer, to_client(1), to_client(2), to_client(3)}, 20) ==
        SdoAbort::out_of_memory);
  CHECK(upload_against({open_offer, to_client(1), to_client(2), to_client(0x83), end(crc_of(3), 0)}, 20) ==
        SdoAbort::out_of_memory);
  CHECK(upload_against({open_offer, to_client(1), to_client(2), to_client(0x83), end(crc_of(3, 1), 1)}, 20) ==
        SdoAbort::none);
  CHECK(upload_against({offer}, 13) == SdoAbort::out_of_memory);
  CHECK(upload_against({reply({0xC6, 0x01, 0x20, 3, 0xFF, 0xFF, 0xFF, 0xFF})}) == SdoAbort::out_of_memory);
  CHECK(upload_against({offer, to_client(0)}) == SdoAbort::sequence_number);
  CHECK(upload_against({offer, to_client(5)}) == SdoAbort::sequence_number);
  CHECK(upload_against({offer, to_client(0xFF)}) == SdoAbort::sequence_number);
  CHECK(upload_against({offer, to_client(1), to_client(0x82), to_client(1)}) == SdoAbort::unknown_command);
  CHECK(upload_against({offer, to_client(1), to_client(0x82), reply({0xA1, 0, 0, 0, 0, 0, 0, 0})}) ==
        SdoAbort::unknown_command);
  // Without a CRC of the server there is none to check.
  CHECK(upload_against({reply({0xC2, 0x01, 0x20, 3, 7, 0, 0, 0}), to_client(0x81), end(0x1234)}) ==
        SdoAbort::none);
}

TEST_CASE("a client aborts a download with wrong block sizes, acknowledges or steps") {
  const auto accepts = [](std::uint8_t segments) { return reply({0xA4, 0x01, 0x20, 3, segments, 0, 0, 0}); };
  const auto arrived = [](std::uint8_t number, std::uint8_t segments) {
    return reply({0xA2, number, segments, 0, 0, 0, 0, 0});
  };
  CHECK(download_against({accepts(0)}) == SdoAbort::block_size);
  CHECK(download_against({accepts(128)}) == SdoAbort::block_size);
  CHECK(download_against({accepts(127)}) == SdoAbort::none);
  CHECK(download_against({acceptance, arrived(2, 0)}) == SdoAbort::block_size);
  CHECK(download_against({acceptance, arrived(1, 255)}) == SdoAbort::block_size);
  CHECK(download_against({acceptance, arrived(3, 2)}) == SdoAbort::sequence_number);
  CHECK(download_against({acceptance, two_arrived, two_arrived, two_arrived}) == SdoAbort::sequence_number);
  CHECK(download_against({acceptance, two_arrived, two_arrived, arrived(1, 0)}) == SdoAbort::none);
  CHECK(download_against({acceptance, reply({0xA1, 0, 0, 0, 0, 0, 0, 0})}) == SdoAbort::unknown_command);
  CHECK(download_against({acceptance, reply({0x20, 0, 0, 0, 0, 0, 0, 0})}) == SdoAbort::unknown_command);
  CHECK(download_against({accepts(5), arrived(5, 5), arrived(0, 5)}) == SdoAbort::unknown_command);
  CHECK(download_against({offer}) == SdoAbort::unknown_command);
  CHECK(download_against({reply({0x60, 0x01, 0x20, 3, 0, 0, 0, 0})}) == SdoAbort::unknown_command);
  CHECK(upload_against({acceptance}) == SdoAbort::unknown_command);
}

TEST_CASE("a transfer without progress ends") {
  SdoClient client(node, patience, 2);
  const Bytes data(30);
  REQUIRE(client.download_block(object, data));
  CHECK(client_against(client, {acceptance}) == SdoAbort::none);
  int count = 0;
  for (; client.state() == SdoState::busy && count < 100; ++count)
    client_against(client, {reply({0xA2, 0, 2, 0, 0, 0, 0, 0})});
  CHECK(client.abort() == SdoAbort::sequence_number);
  CHECK(count == 5);

  Bytes room(30);
  client.upload_block(object, room);
  client_against(client, {open_offer});
  for (count = 0; client.state() == SdoState::busy && count < 100; ++count)
    client_against(client, {to_client(2)});
  CHECK(client.abort() == SdoAbort::sequence_number);
  CHECK(count == 5);

  // Segments that repeat do not put off the timeout, and the client asks for the rest.
  SdoClient patient(node, patience, 3);
  patient.upload_block(object, room);
  client_against(patient, {open_offer});
  Time now = start;
  for (count = 0; patient.state() == SdoState::busy && count < 1000; ++count) {
    if (count % 100 == 0) now += patience;
    (void)patient.poll(now);
    CHECK(patient.receive(to_client(count == 50 ? 1 : 2)));
  }
  CHECK(patient.state() == SdoState::aborted);
  CHECK(count < 1000);

  SdoServer<64> server(node, 2);
  Dictionary dictionary{Bytes(20)};
  REQUIRE(server.receive(upload_14, dictionary));
  REQUIRE(server.receive(begins, dictionary));
  SdoAbort code = SdoAbort::none;
  for (count = 0; code == SdoAbort::none && count < 100; ++count)
    code = server_against(server, dictionary, {request({0xA2, 0, 2, 0, 0, 0, 0, 0})});
  CHECK(code == SdoAbort::sequence_number);
  CHECK(server_against(server, dictionary, {download_14}) == SdoAbort::none);
  for (count = 0, code = SdoAbort::none; code == SdoAbort::none && count < 100; ++count)
    code = server_against(server, dictionary, {to_server(2)});
  CHECK(code == SdoAbort::sequence_number);
}

TEST_CASE("a server refuses downloads with wrong numbers, sizes or CRC, and writes none of them") {
  SdoServer<16> server(node, 2);
  Dictionary dictionary;
  const auto end = [](std::uint16_t crc, unsigned unused = 0) { return end_of(0x609, crc, unused); };
  const auto against = [&](std::initializer_list<Frame> frames) {
    return server_against(server, dictionary, frames);
  };
  const Frame open = request({0xC4, 0x01, 0x20, 3, 0, 0, 0, 0});
  CHECK(against({request({0xC6, 0x01, 0x20, 3, 17, 0, 0, 0})}) == SdoAbort::out_of_memory);
  CHECK(against({download_14, to_server(0)}) == SdoAbort::sequence_number);
  CHECK(against({download_14, to_server(3)}) == SdoAbort::sequence_number);
  CHECK(against({download_14, to_server(1), to_server(2), to_server(1), to_server(2)}) == SdoAbort::too_long);
  CHECK(against({open, to_server(1), to_server(2), to_server(1), to_server(2)}) == SdoAbort::out_of_memory);
  CHECK(against({open, to_server(1), to_server(2), to_server(0x81), end(crc_of(3, 4), 4)}) ==
        SdoAbort::out_of_memory);
  CHECK(against({download_14, to_server(1), to_server(0x82), end(crc_of(2) ^ 0x100)}) == SdoAbort::checksum);
  CHECK(against({download_14, to_server(1), to_server(0x82), end(crc_of(2, 1), 1)}) ==
        SdoAbort::wrong_length);
  CHECK(against({download_14, to_server(0x81), end(crc_of(1))}) == SdoAbort::wrong_length);
  CHECK(against({end(0)}) == SdoAbort::unknown_command);
  CHECK(against({download_14, to_server(1), to_server(0x82), to_server(1)}) == SdoAbort::unknown_command);
  CHECK(against({download_14, request({0x80, 0x01, 0x20, 3, 0, 0, 0, 8}), end(0)}) ==
        SdoAbort::unknown_command);
  CHECK(dictionary.value.empty());
  dictionary.refusal = SdoAbort::read_only;
  CHECK(against({download_14, to_server(1), to_server(0x82), end(crc_of(2))}) == SdoAbort::read_only);
  dictionary.refusal = SdoAbort::none;
  // Without a CRC of the client there is none to check.
  CHECK(against({request({0xC2, 0x01, 0x20, 3, 7, 0, 0, 0}), to_server(0x81), end(0x1234)}) ==
        SdoAbort::none);
  CHECK(dictionary.value.size() == 7);
  CHECK(against({open, to_server(1), to_server(2), to_server(0x81), end(crc_of(3, 5), 5)}) == SdoAbort::none);
  CHECK(dictionary.value.size() == 16);
}

TEST_CASE("a server refuses uploads with wrong block sizes, acknowledges or steps") {
  SdoServer<64> server(node);
  Dictionary dictionary{Bytes(64)};
  const auto against = [&](std::initializer_list<Frame> frames) {
    return server_against(server, dictionary, frames);
  };
  const auto arrived = [](std::uint8_t number, std::uint8_t segments) {
    return request({0xA2, number, segments, 0, 0, 0, 0, 0});
  };
  CHECK(against({request({0xA4, 0x01, 0x20, 3, 0, 0, 0, 0})}) == SdoAbort::block_size);
  CHECK(against({request({0xA4, 0x01, 0x20, 3, 128, 0, 0, 0})}) == SdoAbort::block_size);
  CHECK(against({upload_14, begins, arrived(2, 0)}) == SdoAbort::block_size);
  CHECK(against({upload_14, begins, arrived(2, 128)}) == SdoAbort::block_size);
  CHECK(against({upload_14, begins, arrived(3, 2)}) == SdoAbort::sequence_number);
  CHECK(against({upload_14, arrived(0, 2)}) == SdoAbort::unknown_command);
  CHECK(against({upload_14, begins, begins}) == SdoAbort::unknown_command);
  CHECK(against({upload_14, begins, request({0xA1, 0, 0, 0, 0, 0, 0, 0})}) == SdoAbort::unknown_command);
  CHECK(against({begins}) == SdoAbort::unknown_command);
  dictionary.refusal = SdoAbort::no_such_object;
  CHECK(against({upload_14}) == SdoAbort::no_such_object);
  dictionary.refusal = SdoAbort::none;
  CHECK(against({upload_14, begins, request({0x40, 0x01, 0x20, 3, 0, 0, 0, 0}), arrived(2, 2)}) ==
        SdoAbort::unknown_command);  // the new transfer has ended the block
  CHECK_FALSE(server.poll().has_value());
}

TEST_CASE("answers of an earlier transfer do not harm a block") {
  SdoClient client(node, patience);
  Bytes room(64);
  client.upload_block(object, room);
  CHECK(client.poll(start));
  for (const Frame& late :
       {to_client(1), to_client(0x7F), to_client(0x81), end_of(0x589, 0), two_arrived,
        reply({0xC6, 0x02, 0x20, 3, 9, 0, 0, 0}), reply({0x80, 0x02, 0x20, 3, 0, 0, 0, 0}),
        reply({0xA4, 0x02, 0x20, 3, 9, 0, 0, 0})})
    CHECK(client.receive(late));
  CHECK(client.state() == SdoState::busy);
  CHECK(client.receive(offer));
  CHECK(*client.poll(start) == begins);
}

TEST_CASE("any frames end a block transfer or leave it waiting, and nothing is written beyond the buffer") {
  auto random = test::generator(75);
  for (std::size_t run = 0; run < test::count(3000); ++run) {
    std::array<std::uint8_t, 48> memory{};
    memory.fill(0xA5);
    const std::size_t size = random() % 33;
    const Bytes data(1 + random() % 40, 1);
    SdoClient client(node, patience, static_cast<std::uint8_t>(1 + random() % 4));
    SdoServer<24> server(node, static_cast<std::uint8_t>(1 + random() % 4));
    Dictionary dictionary{Bytes(random() % 30)};
    const bool uploads = random() % 2 == 0;
    if (uploads)
      client.upload_block(object, std::span(memory).first(size));
    else
      REQUIRE(client.download_block(object, data));
    const std::array<std::uint8_t, 12> commands = {1,    2,    3,    0x81, 0x82, 0xA1,
                                                   0xA2, 0xA3, 0xA4, 0xC1, 0xC4, 0xC6};
    for (int i = 0; i < 60; ++i) {
      (void)client.poll(start + i * 1ms);
      Frame frame = reply({0, 0x01, 0x20, 3, 0, 0, 0, 0});
      frame.data[0] =
          random() % 4 == 0 ? static_cast<std::uint8_t>(random()) : commands[random() % commands.size()];
      if (random() % 2 == 0) frame.data[1] = static_cast<std::uint8_t>(random() % 5);
      for (std::size_t k = 4; k < 8; ++k) frame.data[k] = static_cast<std::uint8_t>(random() % 3 * 7);
      CHECK(client.receive(frame));
      CHECK(client.received().size() <= size);
      frame.id = 0x609;
      CHECK(server.receive(frame, dictionary));
      for (int k = 0; server.poll(); ++k) REQUIRE(k < 127);
      CHECK(dictionary.value.size() <= 30);
    }
    for (std::size_t i = uploads ? size : 0; i < memory.size(); ++i) CHECK(memory[i] == 0xA5);
  }
}
