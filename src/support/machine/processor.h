// Who made this machine's processor, for rules that were measured on both.
#pragma once

namespace fxjit::support {

bool host_is_intel();

}  // namespace fxjit::support
