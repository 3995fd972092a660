#include "takt/describe.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/source_dir.hpp"

namespace {

bool known(std::string_view text) { return text.substr(0, 7) != "unknown"; }

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("an error is described by the room that it comes from") {
  CHECK(describe(takt::Error(takt::motion::Errc::velocity_limit)) ==
        describe(takt::motion::Errc::velocity_limit));
  CHECK(describe(takt::Error(takt::trajectory::Errc::not_finite)) ==
        describe(takt::trajectory::Errc::not_finite));
  CHECK(describe(takt::Error(takt::can::Errc::bad_layout)) == describe(takt::can::Errc::bad_layout));
  static_assert(describe(takt::Error(takt::rt::Errc::not_permitted)) ==
                describe(takt::rt::Errc::not_permitted));
}

TEST_CASE("a number that no room has given out is called unknown") {
  CHECK_FALSE(known(describe(takt::Error())));
  CHECK_FALSE(known(describe(takt::Error(takt::Room::motion, 0))));
  CHECK_FALSE(known(describe(takt::Error(takt::Room::motion, 65535))));
  CHECK_FALSE(known(describe(takt::Error(static_cast<takt::Room>(999), 1))));
}

TEST_CASE("every text of every room and code is whole: not empty, and a C string as it stands") {
  for (std::uint16_t room = 0; room < 32; ++room) {
    for (std::uint32_t code = 0; code < 65536; ++code) {
      const std::string_view text =
          describe(takt::Error(static_cast<takt::Room>(room), static_cast<std::uint16_t>(code)));
      if (text.empty() || text.data()[text.size()] != '\0') FAIL("room ", room, " code ", code);
    }
  }
}

TEST_CASE("no header with error codes is forgotten") {
  const std::filesystem::path include = std::filesystem::path(TAKT_SOURCE_DIR) / "include";
  const std::string dispatch = contents(include / "takt/describe.hpp");
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(include)) {
    if (entry.path().extension() != ".hpp") continue;
    const std::string text = contents(entry.path());
    if (text.find("\nenum class Errc : std::uint16_t {") == std::string::npos) continue;
    ++found;
    const std::string header = std::filesystem::relative(entry.path(), include).generic_string();
    CHECK_MESSAGE(dispatch.find('"' + header + '"') != std::string::npos, header,
                  " is not in takt/describe.hpp");
  }
  CHECK(found >= 5);
}
