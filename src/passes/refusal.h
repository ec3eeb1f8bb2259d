// The error of a captured call that compiled graphs cannot hold.
#pragma once

#include <string>

#include "fxjit/error.h"
#include "fxjit/fx/node.h"

namespace fxjit::passes {

[[noreturn]] inline void refuse(const fx::Node& node, const char* why) {
  throw NotImplementedError("[" + std::string(node.target_name()) + " %" +
                                std::string(node.name()) +
                                "] cannot be compiled: the target " + why,
                            node.error_context());
}

[[noreturn]] inline void refuse_write(const fx::Node& node) {
  refuse(node, "changes in place what others may see");
}

}  // namespace fxjit::passes
