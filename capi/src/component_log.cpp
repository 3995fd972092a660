// Lines that components of the C API log, and the files of a context's log.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "boundary.hpp"
#include "component.hpp"
#include "context.hpp"
#include "takt/describe.hpp"

namespace record = takt::record;
namespace rt = takt::rt;
using takt::fail;
using takt::Status;
using takt::Time;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_duration;
using takt::capi::told;

namespace {

/// The statement of this kind, if the text fits.
template <class... Numbers>
[[nodiscard]] std::unique_ptr<takt_log_statement> make(takt_component& owner, rt::LogLevel level,
                                                       std::string_view text) {
  const auto parsed = rt::LogText<sizeof...(Numbers)>::parse(text);
  if (!parsed) return nullptr;
  return std::make_unique<takt_log_statement>(
      takt_log_statement{&owner, rt::LogStatement<Numbers...>(level, *parsed)});
}

template <class... Numbers>
void log(takt_component& by, rt::LogStatement<Numbers...>& statement, const double* numbers) noexcept {
  const auto log_all = [&]<std::size_t... index>(std::index_sequence<index...>) noexcept {
    by.log(statement, numbers[index]...);
  };
  log_all(std::index_sequence_for<Numbers...>{});
}

}  // namespace

std::int32_t takt_component_add_log_statement(takt_component* owner, std::int32_t level, const char* text,
                                              std::size_t count, takt_log_statement** statement) {
  return guarded([&]() -> Status {
    if (owner == nullptr || text == nullptr || statement == nullptr) return fail(Errc::null_pointer);
    if (level < TAKT_LOG_DEBUG || level > TAKT_LOG_FATAL || count > TAKT_MAX_LOG_NUMBERS)
      return fail(Errc::bad_argument);
    using Make = std::unique_ptr<takt_log_statement> (*)(takt_component&, rt::LogLevel, std::string_view);
    using N = double;
    static constexpr std::array<Make, TAKT_MAX_LOG_NUMBERS + 1> makers{
        make<>, make<N>, make<N, N>, make<N, N, N>, make<N, N, N, N>, make<N, N, N, N, N>};
    auto made = makers[count](*owner, static_cast<rt::LogLevel>(level), text);
    if (!made) return fail(Errc::bad_argument);
    owner->log_statements.push_back(std::move(made));
    *statement = owner->log_statements.back().get();
    return {};
  });
}

void takt_log(takt_log_statement* statement, const double* numbers) {
  if (statement == nullptr || (numbers == nullptr && statement->statement.index() != 0)) return;
  std::visit([&](auto& of) noexcept { log(*statement->component, of, numbers); }, statement->statement);
}

std::int32_t takt_context_log_to(takt_context* context, const char* path, std::int64_t epoch_ns, char* text,
                                 std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (context == nullptr || path == nullptr) return fail(Errc::null_pointer);
    if (context->log || context->context.is_running()) return fail(record::Errc::already_running);
    // First, because the log refers to it, also if its thread cannot be started.
    context->logger = std::make_unique<rt::Logger>();
    auto& log = context->log.emplace(
        record::LogOptions{context->context.name(), {path}, to_duration(epoch_ns), takt::describe});
    log.add(*context->logger);
    const Time now = epoch_ns != 0 ? context->clock.now() : Time{};
    if (const auto opened = log.open(now); !opened) {
      context->log.reset();
      return told(opened, text, size);
    }
    log.start();
    context->context.set_logger(context->logger.get());
    return {};
  });
}
