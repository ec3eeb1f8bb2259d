// Interpreters behind evaluation.h: one runs a graph in its own types and
// notes what the other needs, which runs it in double precision, exactly or
// disturbed.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "fxjit/fx/interpreter.h"
#include "src/check/graph_case.h"

namespace fxjit::checking {

// Distance of neighbouring numbers of a type, relative to them. That of float32
// for integers.
double ulp(DType type);

// What one call did in the graph's own types.
struct NarrowFact {
  bool fresh = true;  // No result is memory of an argument.
  // Of the first tensor among the results, or of what was written.
  DType dtype = DType::f32;
  Dims strides;
};
using NarrowFacts = std::vector<NarrowFact>;  // In order of the calls.

class RecordingInterpreter : public fx::Interpreter {
 public:
  explicit RecordingInterpreter(const fx::GraphModule& module)
      : Interpreter(module) {}
  Value call_function(const fx::Target& target, const ValueList& args,
                      const Kwargs& kwargs) override;
  Value call_method(const fx::Target& target, const ValueList& args,
                    const Kwargs& kwargs) override;
  Value call_module(const fx::Target& target, const ValueList& args,
                    const Kwargs& kwargs) override;

  NarrowFacts facts;

 private:
  Value note(Value result, const ValueList& args);
};

// Constants and inputs are to be float64 where the graph's are float32. Results
// share memory as in the graph's own types.
class WideInterpreter : public fx::Interpreter {
 public:
  // `seed` 0 disturbs nothing.
  WideInterpreter(const fx::GraphModule& module, const NarrowFacts& facts,
                  uint32_t seed);
  Value call_function(const fx::Target& target, const ValueList& args,
                      const Kwargs& kwargs) override;
  Value call_method(const fx::Target& target, const ValueList& args,
                    const Kwargs& kwargs) override;
  Value call_module(const fx::Target& target, const ValueList& args,
                    const Kwargs& kwargs) override;

  struct Called {
    const ops::Spelling* spelling = nullptr;  // Null outside of the table.
    bool sets_item = false;
    const nn::Module* module = nullptr;  // Of a call_module.

    const ops::Op* op() const { return spelling ? spelling->op : nullptr; }
  };

 private:
  using Call = std::function<Value(const ValueList& args)>;
  Value compute(const Called& called, const ValueList& args,
                const Kwargs& kwargs, const Call& call);
  Value computed(const ValueList& args, const Call& call);
  ValueList disturbed(const ValueList& args, double scale);
  void disturb(const Tensor& t, double scale, double offset = 0);

  const NarrowFacts& facts_;
  size_t next_ = 0;
  const bool disturbs_;
  std::mt19937 random_;
};

}  // namespace fxjit::checking
