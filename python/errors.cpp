#include "python/errors.h"

#include "fxjit/error.h"
#include "fxjit/pt2.h"

namespace fxjit::python {
namespace {

PyObject* user_error = nullptr;
PyObject* missing_functions = nullptr;
PyObject* internal_error = nullptr;

PyObject* type_of(const Error& error) {
  const auto is = [&]<typename T>(const T*) {
    return dynamic_cast<const T*>(&error) != nullptr;
  };
  if (is(static_cast<TypeError*>(nullptr))) return PyExc_TypeError;
  if (is(static_cast<ValueError*>(nullptr))) return PyExc_ValueError;
  if (is(static_cast<IndexError*>(nullptr))) return PyExc_IndexError;
  if (is(static_cast<KeyError*>(nullptr))) return PyExc_KeyError;
  if (is(static_cast<AttributeError*>(nullptr))) return PyExc_AttributeError;
  if (is(static_cast<NotImplementedError*>(nullptr)))
    return PyExc_NotImplementedError;
  if (is(static_cast<AssertionError*>(nullptr))) return PyExc_AssertionError;
  if (is(static_cast<ZeroDivisionError*>(nullptr)))
    return PyExc_ZeroDivisionError;
  if (is(static_cast<OverflowError*>(nullptr))) return PyExc_OverflowError;
  if (is(static_cast<pt2::MissingFunctions*>(nullptr)))
    return missing_functions;
  if (is(static_cast<UserError*>(nullptr))) return user_error;
  if (is(static_cast<InternalError*>(nullptr))) return internal_error;
  return PyExc_RuntimeError;
}

}  // namespace

void register_errors(nanobind::module_& module) {
  namespace nb = nanobind;
  // Kept to the end of the process, as the translator is.
  user_error = nb::exception<UserError>(module, "UserError", PyExc_ValueError)
                   .release()
                   .ptr();
  missing_functions = nb::exception<pt2::MissingFunctions>(
                          module, "MissingFunctions", user_error)
                          .release()
                          .ptr();
  internal_error =
      nb::exception<InternalError>(module, "InternalError", PyExc_RuntimeError)
          .release()
          .ptr();
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) {
        try {
          std::rethrow_exception(thrown);
        } catch (const Error& error) {
          PyErr_SetString(type_of(error), error.what());
        }
      });
}

}  // namespace fxjit::python
