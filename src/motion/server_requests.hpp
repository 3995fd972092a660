// Requests of the motion server to the loop.
#pragma once

#include <memory>

#include "takt/motion/request.hpp"

namespace takt::motion {

/// Makes a request without a motion.
inline std::unique_ptr<Request> command(RequestKind kind, GoalId goal = 0) {
  auto request = std::make_unique<Request>();
  request->kind = kind;
  request->goal = goal;
  return request;
}

}  // namespace takt::motion
