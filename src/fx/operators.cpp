#include "fxjit/error.h"
#include "fxjit/functions.h"
#include "src/fx/builtins.h"

namespace fxjit::fx {
namespace {

void check_count(const char* name, const ValueList& args, const Kwargs& kwargs,
                 size_t count) {
  if (!kwargs.empty())
    throw TypeError(std::string(name) + "() takes no keyword arguments");
  if (args.size() != count)
    throw TypeError(std::string(name) + " expected " + std::to_string(count) +
                    " arguments, got " + std::to_string(args.size()));
}

// Of tensors the place is kept, as Python's augmented assignment does.
Value keep_place(const Value& old, Value result) {
  if (!old.is_tensor() || !result.is_tensor()) return result;
  old.as_tensor().copy_from(result.as_tensor());
  return old;
}

Value run_ilshift(const ValueList& args, const Kwargs& kwargs) {
  check_count("ilshift", args, kwargs, 2);
  return keep_place(args[0], args[0] << args[1]);
}

Value run_irshift(const ValueList& args, const Kwargs& kwargs) {
  check_count("irshift", args, kwargs, 2);
  return keep_place(args[0], args[0] >> args[1]);
}

// Tensors have no product in place: the name is bound to a new one.
Value run_imatmul(const ValueList& args, const Kwargs& kwargs) {
  check_count("imatmul", args, kwargs, 2);
  return operators::matmul(args[0], args[1]);
}

Value run_setitem(const ValueList& args, const Kwargs& kwargs) {
  check_count("setitem", args, kwargs, 3);
  return ops::call_method("__setitem__", args);
}

Value run_not(const ValueList& args, const Kwargs& kwargs) {
  check_count("not_", args, kwargs, 1);
  return !static_cast<bool>(args[0]);
}

}  // namespace

void visit_operator_functions(const DefineFunction& define) {
  define("_operator.ilshift", run_ilshift, ops::Purity::mutates);
  define("_operator.irshift", run_irshift, ops::Purity::mutates);
  define("_operator.imatmul", run_imatmul, ops::Purity::pure);
  define("_operator.setitem", run_setitem, ops::Purity::mutates);
  define("_operator.not_", run_not, ops::Purity::pure);
}

}  // namespace fxjit::fx
