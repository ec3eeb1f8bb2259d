#include "src/program/driver/form.h"

namespace fxjit::program {

std::string form_key(const DriverForm& form) {
  std::string key = "driver ";
  for (const StepBy by : form.steps) key += "kpr"[static_cast<int>(by)];
  for (const CallOperand& operand : form.operands) {
    key += operand.output ? " o" : " i";
    key += std::to_string(operand.index) + ":" + std::to_string(operand.slot);
  }
  for (const CallArgument& argument : form.arguments)
    key += " a" + std::to_string(argument.step) + ":" +
           std::to_string(argument.argument) + ":" +
           std::to_string(argument.slot);
  return key;
}

}  // namespace fxjit::program
