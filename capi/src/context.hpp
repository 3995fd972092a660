// A context of the C API: a thread that runs it, and its log.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "takt/component/context_thread.hpp"
#include "takt/component/execution_context.hpp"
#include "takt/platform/hybrid_clock.hpp"
#include "takt/record/log_writer.hpp"
#include "takt/rt/logger.hpp"

struct takt_context {
  explicit takt_context(takt::component::ContextConfig config) : context(std::move(config)) {}

  // The log ends when nothing runs that can log.
  std::unique_ptr<takt::rt::Logger> logger;
  std::optional<takt::record::LogWriter> log;
  takt::component::ExecutionContext context;
  takt::platform::HybridClock clock;
  std::unique_ptr<takt::component::ContextThread> thread;
};
