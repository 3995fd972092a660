#include "takt/controllers/registry.hpp"

namespace takt::controllers {

std::span<const component::ComponentType> types() { return {}; }

}  // namespace takt::controllers
