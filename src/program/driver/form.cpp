#include "src/program/driver/form.h"

namespace fxjit::program {

std::string form_key(const DriverForm& form) {
  std::string key = "driver ";
  for (const StepBy by : form.steps) key += by == StepBy::kernel ? 'k' : 'r';
  for (const CallOperand& operand : form.operands) {
    key += operand.output ? " o" : " i";
    key += std::to_string(operand.index) + ":" + std::to_string(operand.slot);
  }
  return key;
}

}  // namespace fxjit::program
