// The steps of a cycle as spans of a trace.
#pragma once

#include "takt/rt/tracer.hpp"

namespace takt::rt {

/// Runs a step of a cycle, as a span if there is a tracer. Without one it costs a comparison: no object with
/// a destructor lives while the step runs. Real-time safe, as the step is.
template <class Step>
inline void traced(Tracer* tracer, TextId name, Step&& step) noexcept {
  if (tracer == nullptr) [[likely]]
    return step();
  const TraceScope span(tracer, name);
  step();
}

}  // namespace takt::rt
