// Code that must not compile, with words that say why: behind "refused:" stands
// what the compiler has to say about a case (tests/refused/check.cmake counts
// them). Without FXJIT_REFUSED the rest of the file compiles.
#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"

namespace {

using namespace fxjit;

struct Good : nn::Custom<Good> {
  Good() : Custom("Good", {"x", "*", "scale"}) {}
  Value forward(Value x, const Value& scale) noexcept { return x * scale; }
};

// A dict, in any number of entries and depths.
[[maybe_unused]] Value good_dict(Value x) {
  return {{"a", x}, {"b", {{"c", x}}}};
}

[[maybe_unused]] void good_calls(Value x) {
  Good::create()(x, kw("scale", 2));
  fx::symbolic_trace([](Value a) { return a; }, {"a"});
  nn::lambda("M", {"x"}, [](nn::Module&, Value a) noexcept { return a; });
}

#ifdef FXJIT_REFUSED

// refused: nn::Custom: this class has no forward
struct NoForward : nn::Custom<NoForward> {
  NoForward() : Custom("NoForward", {"x"}) {}
};

// refused: forward must be one public function, neither overloaded nor
struct Overloaded : nn::Custom<Overloaded> {
  Overloaded() : Custom("Overloaded", {"x"}) {}
  Value forward(Value x) { return x; }
  Value forward(Value x, Value y) { return x + y; }
};

// refused: forward must be one public function, neither overloaded nor
struct Generic : nn::Custom<Generic> {
  Generic() : Custom("Generic", {"x"}) {}
  Value forward(auto x) { return x; }
};

// refused: forward must be one public function, neither overloaded nor
class Hidden : public nn::Custom<Hidden> {
 public:
  Hidden() : Custom("Hidden", {"x"}) {}

 private:
  Value forward(Value x) { return x; }
};

// refused: nn::Custom: forward returns nothing
struct Void : nn::Custom<Void> {
  Void() : Custom("Void", {"x"}) {}
  void forward(Value) {}
};

// refused: nn::Custom: a parameter of forward does not take a Value
struct TakesInt : nn::Custom<TakesInt> {
  TakesInt() : Custom("TakesInt", {"x"}) {}
  Value forward(int x) { return x; }
};

// refused: names of forward's arguments are missing behind the name
struct NoNames : nn::Custom<NoNames> {
  NoNames() : Custom("NoNames") {}
  Value forward(Value x) { return x; }
};

// refused: write a constructor `M() : Custom
struct NoConstructor : nn::Custom<NoConstructor> {
  Value forward(Value x) { return x; }
};

struct Other {};

void refused(Value x, fx::NodePtr node) {
  NoForward::create();
  Overloaded::create();
  Generic::create();
  Hidden::create();
  Void::create();
  TakesInt::create();
  NoNames::create();
  NoConstructor::create();

  // refused: this function is a generic lambda or has several operator()
  fx::symbolic_trace([](auto a) { return a; }, {"a"});
  // refused: this function is a generic lambda or has several operator()
  fx::Subgraph([](auto a) { return a; });
  // refused: this function is a generic lambda or has several operator()
  fx::wrap("f", [](auto a) { return a; });
  // refused: this function is a generic lambda or has several operator()
  fx::global_function("f", [](auto a) { return a; });
  // refused: this function is a generic lambda or has several operator()
  nn::lambda("M", {"a"}, [](auto a) { return a; });

  // refused: fx::symbolic_trace: the names of the function's arguments are
  fx::symbolic_trace([](Value a) { return a; });
  // refused: nn::lambda: the names of the function's arguments are missing
  nn::lambda("M", [](Value a) { return a; });

  // refused: fxjit: this function returns nothing
  fx::symbolic_trace([](Value) {}, {"a"});
  // refused: fxjit: a parameter of this function does not take a Value
  fx::symbolic_trace([](Value, int b) -> Value { return b; }, {"a", "b"});
  // refused: fxjit: what this function returns does not convert to Value
  fx::symbolic_trace([](Value) { return Other(); }, {"a"});

  // refused: fxjit: a Node is no operand
  node + x;
  // refused: fxjit: a Node is no value that functions take
  x + node;
  // refused: use of deleted function
  node + 1;
  // refused: use of deleted function
  node - node;
  // refused: use of deleted function
  node[1];
}

#endif

}  // namespace
