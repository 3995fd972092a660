// Datagrams as completions of an io_context: callbacks, futures, coroutines, cancellation, and skipped
// datagrams.
#include "takt/platform/asio_udp.hpp"

#include <doctest/doctest.h>

#include <array>
#include <asio/awaitable.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <future>
#include <optional>
#include <vector>

#include "support/udp_pair.hpp"

using namespace takt;
using namespace takt::platform;

using Bytes = std::vector<std::uint8_t>;

TEST_CASE("a datagram completes a callback and a future, whether it came before or comes after") {
  asio::io_context context;
  auto pair = test::udp_pair();
  AsioUdp wire(context, std::move(pair.near));
  std::array<std::uint8_t, 8> buffer{};
  std::optional<std::size_t> size;
  wire.async_receive(buffer, [&](std::error_code error, std::size_t got) {
    CHECK(!error);
    size = got;
  });
  context.poll();
  CHECK(!size.has_value());
  CHECK(pair.far.send(Bytes{1, 2, 3}));
  context.run_one();
  context.run();
  REQUIRE(size.has_value());
  CHECK(*size == 3);
  CHECK(buffer[2] == 3);

  CHECK(pair.far.send(Bytes{}));
  std::future<std::size_t> empty = wire.async_receive(buffer, asio::use_future);
  context.restart();
  context.run();
  CHECK(empty.get() == 0);
}

#ifdef ASIO_HAS_CO_AWAIT  // missing in clang 14 with this standard library
TEST_CASE("a coroutine answers each datagram") {
  asio::io_context context;
  auto pair = test::udp_pair();
  AsioUdp wire(context, std::move(pair.near));
  constexpr int rounds = 100;
  asio::co_spawn(
      context,
      [](AsioUdp& udp) -> asio::awaitable<void> {
        std::array<std::uint8_t, 8> buffer{};
        for (int i = 0; i < rounds; ++i) {
          const std::size_t size = co_await udp.async_receive(buffer, asio::use_awaitable);
          udp.send(std::span(buffer).first(size));
        }
      }(wire),
      asio::detached);
  std::array<std::uint8_t, 8> answer{};
  for (std::uint8_t i = 0; i < rounds; ++i) {
    CHECK(pair.far.send(Bytes{i, 7}));
    std::optional<std::size_t> size;
    while (!size) {
      context.run_one_for(std::chrono::milliseconds(1));
      size = pair.far.receive(answer, Duration(0));
    }
    CHECK(*size == 2);
    CHECK(answer[0] == i);
  }
  CHECK(wire.counters().sent == rounds);
}
#endif

TEST_CASE("a datagram that does not fit is skipped, and the next one that fits is received") {
  asio::io_context context;
  auto pair = test::udp_pair();
  AsioUdp wire(context, std::move(pair.near));
  std::array<std::uint8_t, 4> buffer{};
  for (int i = 0; i < 100; ++i) CHECK(pair.far.send(Bytes(5)));
  CHECK(pair.far.send(Bytes{42}));
  std::future<std::size_t> next = wire.async_receive(buffer, asio::use_future);
  context.run();
  CHECK(next.get() == 1);
  CHECK(buffer[0] == 42);
  CHECK(wire.counters().too_long == 100);
}

TEST_CASE("waiting ends with the wire, or when it is cancelled") {
  asio::io_context context;
  auto pair = test::udp_pair();
  std::array<std::uint8_t, 4> buffer{};
  int aborted = 0;
  const auto count = [&aborted](std::error_code error, std::size_t) {
    if (error == asio::error::operation_aborted) ++aborted;
  };
  {
    AsioUdp wire(context, std::move(pair.near));
    wire.async_receive(buffer, count);
    context.poll();
    wire.cancel();
    context.run();
    CHECK(aborted == 1);
    wire.async_receive(buffer, count);
  }
  context.restart();
  context.run();
  CHECK(aborted == 2);
}

TEST_CASE("a wire that ends before its handler runs reports an abort") {
  asio::io_context context, application;
  auto pair = test::udp_pair();
  std::array<std::uint8_t, 4> buffer{};
  std::optional<std::error_code> told;
  {
    AsioUdp wire(context, std::move(pair.near));
    wire.async_receive(buffer, asio::bind_executor(application, [&](std::error_code error, std::size_t size) {
                         CHECK(size == 0);
                         told = error;
                       }));
    CHECK(pair.far.send(Bytes{1, 2, 3}));
    context.run_one();
    CHECK(!told.has_value());
  }
  application.run();
  CHECK(told == asio::error::operation_aborted);
}
