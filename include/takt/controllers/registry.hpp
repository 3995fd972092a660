// The list of all ready-made controllers.
#pragma once

#include <span>

#include "takt/component/plugin.hpp"

namespace takt::controllers {

/// The types of the ready-made controllers, in the order of their names. Any thread; not real-time safe.
[[nodiscard]] std::span<const component::ComponentType> types();

}  // namespace takt::controllers
