// Key files: a written key is read back, and each unsuitable file is rejected with its own error.
#include "takt/platform/key_file.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace takt;
using namespace takt::platform;

namespace {

/// A temporary folder, removed with its contents.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "takt_key_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string operator/(const char* name) const { return (path / name).string(); }

  std::filesystem::path path;
};

Error refusal(const std::string& path) {
  const auto key = read_key_file<16>(path);
  REQUIRE_FALSE(key);
  CHECK(key.error().message.find(path) == 0);  // the message names the file
  return key.error().error;
}

}  // namespace

TEST_CASE("a key that was written is read, by its owner alone") {
  const Folder folder;
  const auto key = *random_bytes<16>();
  REQUIRE(write_key_file(folder / "key", key));
  CHECK(*read_key_file<16>(folder / "key") == key);
  struct stat about {};
  REQUIRE(::stat((folder / "key").c_str(), &about) == 0);
  CHECK((about.st_mode & 07777) == 0600);
  REQUIRE(::chmod((folder / "key").c_str(), 0400) == 0);
  CHECK(*read_key_file<16>(folder / "key") == key);
  CHECK(write_key_file(folder / "key", key).error().error == Errc::key_file_exists);
  CHECK(write_key_file(folder / "nowhere/key", key).error().error == Errc::key_file_failed);
}

TEST_CASE("a key that is missing, open to others, of another size or no file is refused") {
  const Folder folder;
  const auto key = *random_bytes<16>();
  CHECK(refusal(folder / "key") == Errc::no_key_file);
  REQUIRE(write_key_file(folder / "key", key));
  for (const mode_t mode : {0644U, 0640U, 0604U, 0620U, 0602U, 0610U, 0601U, 0666U, 0777U}) {
    CAPTURE(mode);
    REQUIRE(::chmod((folder / "key").c_str(), mode) == 0);
    CHECK(refusal(folder / "key") == Errc::key_file_mode);
  }
  REQUIRE(::chmod((folder / "key").c_str(), 0600) == 0);
  CHECK(read_key_file<32>(folder / "key").error().error == Errc::key_file_size);
  CHECK(read_key_file<15>(folder / "key").error().error == Errc::key_file_size);
  REQUIRE(::symlink((folder / "key").c_str(), (folder / "link").c_str()) == 0);
  CHECK(refusal(folder / "link") == Errc::no_key_file);
  CHECK(refusal(folder.path.string()) == Errc::key_file_size);
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(refusal(folder / "pipe") == Errc::key_file_size);
  if (::geteuid() == 0) {  // only root can change a file's owner
    REQUIRE(::chown((folder / "key").c_str(), 65534, 65534) == 0);
    CHECK(refusal(folder / "key") == Errc::key_file_owner);
  }
}

TEST_CASE("a key of any of several sizes is read, and of no other") {
  const Folder folder;
  constexpr std::array<std::size_t, 2> sizes{16, 32};
  std::array<std::uint8_t, 32> read{};
  for (const std::size_t size : sizes) {
    const auto key = *random_bytes<32>();
    const std::string path = folder / (size == 16 ? "short" : "long");
    REQUIRE(write_key_file(path, std::span(key).first(size)));
    CHECK(read_key_file(path, read, sizes) == size);
    CHECK(std::equal(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(size), key.begin()));
    CHECK(std::all_of(read.begin() + static_cast<std::ptrdiff_t>(size), read.end(),
                      [](std::uint8_t byte) { return byte == 0; }));
  }
  REQUIRE(write_key_file(folder / "17", *random_bytes<17>()));
  const auto refused = read_key_file(folder / "17", read, sizes);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == Errc::key_file_size);
  CHECK(refused.error().message.find("has 17 bytes; a key has 16 or 32") != std::string::npos);
}

TEST_CASE("a refused key leaves zeros behind, which no channel takes") {
  const Folder folder;
  std::array<std::uint8_t, 16> key{1, 2, 3};
  CHECK_FALSE(read_key_file(folder / "key", key));
  CHECK(key == std::array<std::uint8_t, 16>{});
}

TEST_CASE("random bytes are others each time, however many") {
  CHECK(*random_bytes<32>() != *random_bytes<32>());
  const auto many = *random_bytes<4096>();
  for (std::size_t from = 0; from < many.size(); from += 64) {
    const auto first = many.begin() + static_cast<std::ptrdiff_t>(from);
    CHECK(std::any_of(first, first + 64, [](std::uint8_t byte) { return byte != 0; }));
  }
}
