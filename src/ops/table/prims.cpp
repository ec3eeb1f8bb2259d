// Names and arities of the scalar primitives.
#include "fxjit/error.h"
#include "fxjit/scalar_body.h"

namespace fxjit {
namespace {

struct PrimInfo {
  const char* name;
  int arity;
};

PrimInfo info(Prim prim) {
  switch (prim) {
    case Prim::input:
      return {"input", 0};
    case Prim::constant:
      return {"constant", 0};
    case Prim::index:
      return {"index", 0};
    case Prim::add:
      return {"add", 2};
    case Prim::sub:
      return {"sub", 2};
    case Prim::mul:
      return {"mul", 2};
    case Prim::div:
      return {"div", 2};
    case Prim::floor_div:
      return {"floor_div", 2};
    case Prim::remainder:
      return {"remainder", 2};
    case Prim::fmod:
      return {"fmod", 2};
    case Prim::pow:
      return {"pow", 2};
    case Prim::neg:
      return {"neg", 1};
    case Prim::abs:
      return {"abs", 1};
    case Prim::minimum:
      return {"minimum", 2};
    case Prim::maximum:
      return {"maximum", 2};
    case Prim::sqrt:
      return {"sqrt", 1};
    case Prim::rsqrt:
      return {"rsqrt", 1};
    case Prim::floor:
      return {"floor", 1};
    case Prim::ceil:
      return {"ceil", 1};
    case Prim::round:
      return {"round", 1};
    case Prim::trunc:
      return {"trunc", 1};
    case Prim::exp:
      return {"exp", 1};
    case Prim::exp2:
      return {"exp2", 1};
    case Prim::expm1:
      return {"expm1", 1};
    case Prim::log:
      return {"log", 1};
    case Prim::log2:
      return {"log2", 1};
    case Prim::log10:
      return {"log10", 1};
    case Prim::log1p:
      return {"log1p", 1};
    case Prim::sin:
      return {"sin", 1};
    case Prim::cos:
      return {"cos", 1};
    case Prim::tan:
      return {"tan", 1};
    case Prim::asin:
      return {"asin", 1};
    case Prim::acos:
      return {"acos", 1};
    case Prim::atan:
      return {"atan", 1};
    case Prim::sinh:
      return {"sinh", 1};
    case Prim::cosh:
      return {"cosh", 1};
    case Prim::tanh:
      return {"tanh", 1};
    case Prim::erf:
      return {"erf", 1};
    case Prim::sigmoid:
      return {"sigmoid", 1};
    case Prim::silu:
      return {"silu", 1};
    case Prim::gelu:
      return {"gelu", 1};
    case Prim::gelu_tanh:
      return {"gelu_tanh", 1};
    case Prim::eq:
      return {"eq", 2};
    case Prim::ne:
      return {"ne", 2};
    case Prim::lt:
      return {"lt", 2};
    case Prim::le:
      return {"le", 2};
    case Prim::gt:
      return {"gt", 2};
    case Prim::ge:
      return {"ge", 2};
    case Prim::bit_and:
      return {"bit_and", 2};
    case Prim::bit_or:
      return {"bit_or", 2};
    case Prim::bit_xor:
      return {"bit_xor", 2};
    case Prim::bit_not:
      return {"bit_not", 1};
    case Prim::shift_left:
      return {"shift_left", 2};
    case Prim::shift_right:
      return {"shift_right", 2};
    case Prim::select:
      return {"select", 3};
    case Prim::cast:
      return {"cast", 1};
    case Prim::reduce_sum:
      return {"reduce_sum", 1};
    case Prim::reduce_prod:
      return {"reduce_prod", 1};
    case Prim::reduce_max:
      return {"reduce_max", 1};
    case Prim::reduce_min:
      return {"reduce_min", 1};
    case Prim::reduce_any:
      return {"reduce_any", 1};
    case Prim::reduce_all:
      return {"reduce_all", 1};
  }
  throw InternalError("scalar body: unknown primitive");
}

}  // namespace

int prim_arity(Prim prim) { return info(prim).arity; }
const char* prim_name(Prim prim) { return info(prim).name; }
bool is_reduction(Prim prim) { return prim >= Prim::reduce_sum; }

}  // namespace fxjit
