// Text form of steps, used as a key: every field that changes the generated
// code, and nothing else.
#include "src/program/steps/steps.h"

namespace fxjit::program {
namespace {

class KeyWriter {
 public:
  explicit KeyWriter(const char* kind) : text_(kind) {}

  KeyWriter& add(int64_t value) {
    text_ += ' ';
    text_ += std::to_string(value);
    return *this;
  }
  KeyWriter& add(const Dims& dims) {
    text_ += ' ';
    text_ += dims.str();
    return *this;
  }
  KeyWriter& add(const Access& access) {
    text_ += '|';
    text_ += dtype_name(access.dtype);
    add(access.outer).add(access.reduce).add(access.inner);
    if (access.gather_slot >= 0)
      add(access.gather_slot)
          .add(access.gather_stride)
          .add(access.gather_limit);
    return *this;
  }
  KeyWriter& add(const ScalarBody& body) {
    text_ += '\n';
    text_ += body.str();
    return *this;
  }
  template <typename T>
  KeyWriter& add(const std::vector<T>& items) {
    text_ += " (";
    for (const T& item : items) add(item);
    text_ += ')';
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string step_key(const RowStep& step) {
  KeyWriter key(step.strict ? "strict row" : "row");
  key.add(step.outer).add(step.inner).add(step.inputs);
  return key.add(step.outputs).add(step.body).take();
}

std::string step_key(const ColumnStep& step) {
  KeyWriter key("column");
  key.add(step.outer).add(step.reduce).add(step.inner);
  return key.add(step.inputs).add(step.outputs).add(step.body).take();
}

}  // namespace fxjit::program
