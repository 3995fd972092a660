// Output that must not block its caller.
#include "tools/printer.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

namespace {

using takt::tools::Printer;

constexpr std::size_t page = 4096;

/// A pipe with room for one page.
class Pipe {
 public:
  Pipe() {
    REQUIRE(pipe(ends_.data()) == 0);
    REQUIRE(fcntl(entry(), F_SETPIPE_SZ, page) == page);
  }
  ~Pipe() {
    for (const int end : ends_) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int entry() const { return ends_[1]; }
  /// Closes the reader; the other end keeps the descriptor's number in use.
  void lose_reader() const { REQUIRE(dup2(entry(), ends_[0]) == ends_[0]); }
  [[nodiscard]] std::string read(std::size_t size) const {
    std::string text;
    while (text.size() < size) text += read_some(size - text.size());
    return text;
  }
  /// Reads up to and including `last`.
  [[nodiscard]] std::string read_to(std::string_view last) const {
    std::string text;
    while (text.find(last) == std::string::npos) text += read_some(page);
    return text;
  }

 private:
  [[nodiscard]] std::string read_some(std::size_t most) const {
    std::string text(most, '\0');
    const ssize_t n = ::read(ends_[0], text.data(), most);
    REQUIRE(n > 0);
    text.resize(static_cast<std::size_t>(n));
    return text;
  }

  std::array<int, 2> ends_{};
};

TEST_CASE("prints are written in their order, errors separately") {
  const Pipe output;
  const Pipe errors;
  Printer printer(output.entry(), errors.entry());
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    printer.print(std::to_string(i) + "\n");
    expected += std::to_string(i) + "\n";
  }
  printer.print_error("bad\n");
  CHECK(output.read(expected.size()) == expected);
  CHECK(errors.read(4) == "bad\n");
}

TEST_CASE("without a reader no thread waits, and a later reader learns how much was dropped") {
  const Pipe output;
  Printer printer(output.entry(), output.entry());
  // One page is in the pipe, one is held by the thread that waits for room.
  for (std::size_t i = 0; i < Printer::max_waiting + 3; ++i) printer.print(std::string(page, 'x'));
  static_cast<void>(output.read(3 * page));
  printer.print("last\n");
  CHECK(output.read_to("last\n").find(" messages dropped because nobody read them)\nlast\n") !=
        std::string::npos);
}

TEST_CASE("the end does not wait for a reader who may never read") {
  const Pipe output;
  constexpr std::size_t pages = 10;
  {
    Printer printer(output.entry(), output.entry());
    for (std::size_t i = 0; i < pages; ++i) printer.print(std::string(page, 'x'));
  }
  CHECK(output.read(pages * page) == std::string(pages * page, 'x'));  // the pipe must exist until then
}

TEST_CASE("at the end is known what the output did not take, but not what the errors did not") {
  const Pipe output;
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  Printer complete(output.entry(), full);
  complete.print("read\n");
  complete.print_error("not written\n");
  CHECK(complete.end() == 0);
  Printer failed(full, output.entry());
  failed.print("not written\n");
  failed.print_error("read\n");
  CHECK(failed.end() == ENOSPC);
  CHECK(failed.has_reader());
  ::close(full);
}

TEST_CASE("a reader who goes is known by the next print, and no signal ends the program") {
  const Pipe output;
  const Pipe errors;
  Printer printer(output.entry(), errors.entry());
  printer.print("read\n");
  CHECK(output.read(5) == "read\n");
  errors.lose_reader();
  printer.print_error("not read\n");
  printer.print("read\n");
  CHECK(output.read(5) == "read\n");
  CHECK(printer.has_reader());
  output.lose_reader();
  printer.print("not read\n");
  while (printer.has_reader()) std::this_thread::yield();
}

}  // namespace
