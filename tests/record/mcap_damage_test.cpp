// Each kind of damage of an MCAP file: what is read of the rest, and what the reader tells.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "record/crc32.hpp"
#include "record/mcap_files.hpp"
#include "takt/record/reader.hpp"

using namespace takt;
using namespace takt::record;
using namespace takt::test::mcap;

TEST_CASE("each kind of damage has its name and its byte") {
  const Bytes whole = file_of({{1, 5, "{}"}, {1, 6, "{}"}});
  const auto find = [&](McapOpcode opcode, std::size_t after = mcap_magic.size()) {
    std::size_t at = mcap_magic.size();
    while (at < after || whole[at] != static_cast<std::uint8_t>(opcode)) {
      std::uint64_t size = 0;
      std::memcpy(&size, &whole[at + 1], sizeof(size));
      at += mcap_prefix + size;
    }
    return at;
  };
  const auto with = [&](const std::function<void(Bytes&)>& change) {
    Bytes bytes = whole;
    change(bytes);
    const ReadBack back = read_back(bytes);
    REQUIRE((back.error || back.lost.size() == 1));
    return back.error ? *back.error : back.lost[0].reason;
  };
  const std::size_t chunk = find(McapOpcode::chunk);
  const std::size_t content = chunk + mcap_prefix;
  CHECK(with([](Bytes& b) { b[0] = 'T'; }).error == Errc::not_a_recording);
  const ReadBack database = read_back(as_bytes("SQLite format 3 and more"));
  CHECK(database.error->error == Errc::not_a_recording);
  CHECK(database.error->message.find("ros2 bag convert makes an MCAP file") != std::string::npos);
  CHECK(with([](Bytes& b) { b.push_back(0); }).error == Errc::data_after_end);
  CHECK(with([&](Bytes& b) { b[chunk + 8] = 1; }).error == Errc::bad_record);
  CHECK(with([&](Bytes& b) { b[content + 16 + 7] = 1; }).error == Errc::record_too_long);  // a bomb
  CHECK(with([&](Bytes& b) { ++b[content + 16]; }).error == Errc::bad_chunk);              // another size
  CHECK(with([&](Bytes& b) { ++b[content + 24]; }).error == Errc::checksum_mismatch);
  CHECK(with([&](Bytes& b) { ++b[find(McapOpcode::metadata) + mcap_prefix + 18]; }).error ==
        Errc::checksum_mismatch);
  CHECK(with([&](Bytes& b) { ++b[find(McapOpcode::data_end) + mcap_prefix]; }).error ==
        Errc::checksum_mismatch);
  const std::size_t message = content + 40;
  const auto in_chunk = [&](const std::function<void(Bytes&)>& change) {
    return with([&](Bytes& b) {
      change(b);
      put(b, content + 24, std::uint32_t{0});  // no checksum
      put(b, find(McapOpcode::data_end) + mcap_prefix, std::uint32_t{0});
    });
  };
  CHECK(in_chunk([&](Bytes& b) { b[message + mcap_prefix] = 9; }).error == Errc::unknown_channel);
  CHECK(in_chunk([&](Bytes& b) { put(b, message + 1, std::uint64_t{1} << 40); }).error == Errc::bad_chunk);
  CHECK(in_chunk([&](Bytes& b) { put(b, message + 1, std::uint64_t{3}); }).error == Errc::record_too_short);
  CHECK(in_chunk([&](Bytes& b) { b[message] = 6; }).error == Errc::bad_chunk);  // a chunk in a chunk
  CHECK(with([&](Bytes& b) { b[chunk + 8] = 1; }).message.find(fmt::format("byte {}: ", chunk)) == 0);

  Bytes twice = whole;  // the first schema again, with another name
  const std::size_t schema = find(McapOpcode::schema);
  const std::size_t next = find(McapOpcode::schema, schema + 1);
  Bytes copy(whole.begin() + static_cast<std::ptrdiff_t>(schema),
             whole.begin() + static_cast<std::ptrdiff_t>(next));
  copy[mcap_prefix + 6] = 'k';
  twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(chunk), copy.begin(), copy.end());
  CHECK(read_back(twice).error->error == Errc::definition_changed);
}

namespace {

/// A record of a file: where it begins, its opcode, and its size with the prefix.
struct Place {
  std::size_t at;
  McapOpcode opcode;
  std::size_t size;
};
std::vector<Place> places_of(const Bytes& file) {
  std::vector<Place> places;
  for (std::size_t at = mcap_magic.size(); at + mcap_prefix < file.size(); at += places.back().size) {
    std::uint64_t size = 0;
    std::memcpy(&size, &file[at + 1], sizeof(size));
    places.push_back({at, static_cast<McapOpcode>(file[at]), mcap_prefix + size});
  }
  return places;
}
std::vector<Place> chunks_of(const Bytes& file) {
  std::vector<Place> places = places_of(file);
  std::erase_if(places, [](const Place& place) { return place.opcode != McapOpcode::chunk; });
  return places;
}

/// Calls with the file for each wrong bit in `count` bytes from `at`.
void for_each_wrong_bit(Bytes file, std::size_t at, std::size_t count,
                        const std::function<void(const Bytes&)>& check) {
  for (std::size_t bit = 8 * at; bit < 8 * (at + count); ++bit) {
    CAPTURE(bit);
    const auto mask = static_cast<std::uint8_t>(1U << bit % 8);
    file[bit / 8] ^= mask;
    check(file);
    file[bit / 8] ^= mask;
  }
}

/// Whether the messages are those with the given times, each as it was written.
void check_messages(const std::vector<Message>& messages, const std::vector<std::uint64_t>& times) {
  std::vector<std::uint64_t> found;
  for (const Message& message : messages) {
    found.push_back(message.time);
    CHECK(message.data == fmt::format("{{\"q\":{}}}", message.time - 1000));
  }
  CHECK(found == times);
}

}  // namespace

TEST_CASE("a wrong bit anywhere in the head of a chunk costs that chunk at most") {
  std::vector<Message> messages;
  for (std::uint64_t i = 0; i < 50; ++i) messages.push_back({1, 1000 + i, fmt::format("{{\"q\":{}}}", i)});
  Twice twice;
  for (Compression* compression : {static_cast<Compression*>(nullptr), static_cast<Compression*>(&twice)}) {
    const Bytes whole = file_of(messages, compression);
    const std::vector<Place> chunks = chunks_of(whole);
    REQUIRE(chunks.size() == 5);
    const std::size_t head = mcap_prefix + 40 + (compression == nullptr ? 0 : compression->name().size());
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
      CAPTURE(chunk);
      std::vector<std::uint64_t> all;
      std::vector<std::uint64_t> others;
      for (std::uint64_t i = 0; i < 50; ++i) {
        all.push_back(1000 + i);
        if (i / 10 != chunk) others.push_back(1000 + i);
      }
      for_each_wrong_bit(whole, chunks[chunk].at, head, [&](const Bytes& bytes) {
        const ReadBack back = read_back(bytes, {&twice});
        CHECK_FALSE(back.error);
        CHECK_FALSE(back.truncated);
        REQUIRE(back.lost.size() == 1);
        const LostPart& lost = back.lost[0];
        // A wrong time is found by the checksum of the file alone.
        check_messages(back.messages, lost.chunk == 0 ? all : others);
        if (lost.chunk == 0) CHECK(lost.reason.error == Errc::checksum_mismatch);
        if (lost.chunk == 0) return;
        CHECK(lost.chunk == chunk + 1);
        CHECK(lost.size == chunks[chunk].size);
        CHECK(lost.messages == 10);
        CHECK(lost.reason.message.find(fmt::format("byte {}: ", chunks[chunk].at)) == 0);
      });
    }
  }
}

TEST_CASE("a wrong bit in the opcode or size of another record costs no message") {
  std::vector<Message> messages;
  for (std::uint64_t i = 0; i < 50; ++i)
    messages.push_back({2, i, joint_state({"elbow"}, {static_cast<double>(i)}, {})});
  const Bytes whole = file_of(messages);
  for (const Place& place : places_of(whole)) {
    if (place.opcode == McapOpcode::chunk) continue;
    CAPTURE(place.at);
    for_each_wrong_bit(whole, place.at, mcap_prefix, [&](const Bytes& bytes) {
      auto reader = Reader::from_bytes(bytes, {.pass_over_damage = true});
      REQUIRE(reader);
      std::int64_t rows = 0;
      for (auto record = reader->next(); record && *record != nullptr; record = reader->next()) ++rows;
      CHECK(rows == 50);
      const bool is_told = reader->truncated() || !reader->lost().empty();
      const bool is_index = place.at > places_of(whole)[0].at && place.opcode != McapOpcode::footer &&
                            place.at > chunks_of(whole).back().at + chunks_of(whole).back().size + 60;
      CHECK((is_told || is_index));
      for (const LostPart& lost : reader->lost()) CHECK(lost.chunk == 0);
    });
  }
}

TEST_CASE("records with more bytes than this version of MCAP gives them are read") {
  std::vector<Message> messages;
  for (std::uint64_t i = 0; i < 50; ++i) messages.push_back({1, 1000 + i, fmt::format("{{\"q\":{}}}", i)});
  const Bytes whole = file_of(messages);
  Bytes padded(whole.begin(), whole.begin() + mcap_magic.size());
  for (const Place& place : places_of(whole)) {
    const auto record = std::span(whole).subspan(place.at, place.size);
    const bool grows = place.opcode != McapOpcode::data_end && place.opcode != McapOpcode::footer;
    const std::size_t size = padded.size() + 1;
    append(padded, record);
    if (grows) append(padded, std::uint32_t{7});
    if (grows) put(padded, size, std::uint64_t{place.size - mcap_prefix + 4});
    if (place.opcode == McapOpcode::data_end) put(padded, padded.size() - 4, std::uint32_t{0});
  }
  append(padded, std::span<const std::uint8_t>(mcap_magic));
  const ReadBack back = read_back(padded);
  CHECK_FALSE(back.error);
  CHECK_FALSE(back.truncated);
  CHECK(back.lost.empty());
  CHECK(back.messages.size() == 50);
}

TEST_CASE("a wrong bit in the opcode or size of a message without a chunk costs that and the one before") {
  const Bytes chunked = file_of({});
  const std::vector<Place> places = places_of(chunked);
  const auto end = std::ranges::find(places, McapOpcode::data_end, &Place::opcode);
  Bytes file(chunked.begin(), chunked.begin() + static_cast<std::ptrdiff_t>(end->at));
  std::vector<std::size_t> begins;
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::string data = fmt::format("{{\"q\":{}}}", i);
    begins.push_back(file.size());
    append(file, static_cast<std::uint8_t>(McapOpcode::message));
    append(file, std::uint64_t{22} + data.size());
    append(file, std::uint16_t{1});
    append(file, std::uint32_t{0});
    for (int time = 0; time < 2; ++time) append(file, 1000 + i);
    append(file, std::string_view(data));
    all.push_back(1000 + i);
  }
  const std::uint32_t crc = crc32(file);
  append(file, static_cast<std::uint8_t>(McapOpcode::data_end));
  append(file, std::uint64_t{4});
  append(file, crc);
  append(file, static_cast<std::uint8_t>(McapOpcode::footer));
  append(file, std::uint64_t{20});
  for (int i = 0; i < 5; ++i) append(file, std::uint32_t{0});
  append(file, std::span<const std::uint8_t>(mcap_magic));
  check_messages(read_back(file).messages, all);
  for (std::size_t i = 1; i < begins.size(); ++i) {
    CAPTURE(i);
    for_each_wrong_bit(file, begins[i], mcap_prefix, [&](const Bytes& bytes) {
      const ReadBack back = read_back(bytes);
      CHECK_FALSE(back.error);
      CHECK_FALSE(back.truncated);
      CHECK_FALSE(back.lost.empty());
      std::vector<std::uint64_t> rest;
      for (const Message& message : back.messages) rest.push_back(message.time);
      std::vector<std::uint64_t> gone;
      std::ranges::set_difference(all, rest, std::back_inserter(gone));
      CHECK(std::ranges::includes(all, rest));
      CHECK(gone.size() <= 2);
      for (const std::uint64_t time : gone) CHECK((time == 1000 + i || time == 999 + i));
      check_messages(back.messages, rest);
    });
  }
}

TEST_CASE("a wrong bit in a chunk costs that chunk, and the reader tells what is lost") {
  std::vector<Message> messages;
  for (std::uint64_t i = 0; i < 50; ++i) messages.push_back({1, 1000 + i, fmt::format("{{\"q\":{}}}", i)});
  Twice twice;
  for (Compression* compression : {static_cast<Compression*>(nullptr), static_cast<Compression*>(&twice)}) {
    const Bytes whole = file_of(messages, compression);
    const std::vector<Place> chunks = chunks_of(whole);
    REQUIRE(chunks.size() == 5);
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
      Bytes bytes = whole;
      // Of two neighbours, both compressions use one.
      for (std::size_t i = 0; i < 2; ++i) bytes[chunks[chunk].at + chunks[chunk].size / 2 + i] ^= 4;
      const ReadBack back = read_back(bytes, {&twice});
      CHECK_FALSE(back.error);
      CHECK_FALSE(back.truncated);
      REQUIRE(back.messages.size() == 40);
      CHECK(back.messages[10 * chunk % 40].time == 1000 + (chunk == 4 ? 0 : 10 * (chunk + 1)));
      REQUIRE(back.lost.size() == 1);
      const LostPart& lost = back.lost[0];
      CHECK(lost.reason.message.find(fmt::format("byte {}: ", chunks[chunk].at)) == 0);
      CHECK(lost.size == chunks[chunk].size);
      CHECK(lost.chunk == chunk + 1);
      CHECK(lost.messages == 10);
      CHECK(lost.from == time_from_nanoseconds(static_cast<std::int64_t>(1000 + 10 * chunk)));
      CHECK(lost.until == time_from_nanoseconds(static_cast<std::int64_t>(1009 + 10 * chunk)));
    }
  }
}
