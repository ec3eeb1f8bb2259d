#include "tests/ops/recorder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fxjit::testing {
namespace {

std::string leaf_name(const Value& leaf, const void*) {
  return leaf.as_proxy()->describe();
}

class RecordingProxy : public fx::ProxyBase {
 public:
  RecordingProxy(Recorder* recorder, std::string name)
      : recorder_(recorder), name_(std::move(name)) {}

  const void* tracer_id() const override { return recorder_; }

  Value record_function(const ops::Spelling& function, ValueList args,
                        Kwargs kwargs, SourceLocation source) override {
    return record("call_function " + function.name, args, kwargs, source);
  }

  Value record_method(std::string_view method, ValueList args, Kwargs kwargs,
                      SourceLocation source) override {
    return record("call_method " + std::string(method), args, kwargs, source);
  }

  bool to_bool(SourceLocation) override { throw TraceError("to_bool"); }
  std::string describe() const override { return name_; }

 private:
  Value record(const std::string& call, const ValueList& args,
               const Kwargs& kwargs, SourceLocation source) {
    ValueDict named(kwargs.begin(), kwargs.end());
    recorder_->calls.push_back(
        {call + " " + repr(Value::tuple(args), leaf_name) + " " +
             repr(Value::dict(std::move(named)), leaf_name),
         source});
    return recorder_->proxy("result");
  }

  Recorder* recorder_;
  std::string name_;
};

}  // namespace

Value Recorder::proxy(const std::string& name) {
  return Value::proxy(new RecordingProxy(this, name));
}

void expect_recorded(const std::string& file_name,
                     std::span<const Expression> expressions,
                     const std::string& source) {
  std::ifstream file(std::string(FXJIT_SOURCE_DIR) + "/tests/ops/" + file_name);
  ASSERT_TRUE(file);
  size_t i = 0;
  for (std::string line; std::getline(file, line); ++i) {
    ASSERT_LT(i, expressions.size()) << line;
    const size_t arrow = line.find(" -> ");
    ASSERT_EQ(line.substr(0, arrow), expressions[i].python);
    Recorder recorder;
    expressions[i].run(recorder.proxy("x"), recorder.proxy("y"));
    ASSERT_EQ(recorder.calls.size(), 1u) << line;
    EXPECT_EQ(recorder.calls[0].text, line.substr(arrow + 4)) << line;
    EXPECT_NE(recorder.calls[0].source.str().find(source), std::string::npos)
        << line;
  }
  EXPECT_EQ(i, expressions.size());
}

}  // namespace fxjit::testing
