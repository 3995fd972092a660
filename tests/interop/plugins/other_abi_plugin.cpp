// A plug-in that another compiler might have made.
#undef __GXX_ABI_VERSION
#define __GXX_ABI_VERSION 999
#include "odd_plugin.cpp"
