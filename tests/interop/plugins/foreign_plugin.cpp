// A plug-in of another build of takt, for the tests of `takt launch`.
#include "takt/component/plugin.hpp"

extern "C" __attribute__((visibility("default"))) const takt::component::PluginTable* takt_plugin_v1() {
  static const takt::component::ComponentType type;
  static const takt::component::PluginTable table{sizeof(takt::component::PluginTable), 1,
                                                  "takt 0.0.1, another world", &type};
  return &table;
}
