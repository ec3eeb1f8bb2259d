#include "python/torch_exchange.h"

#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <string>

#include "fxjit/error.h"
#include "python/dtypes.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

constexpr uint32_t kMajor = 1;
constexpr const char* kCapsule = "dlpack_exchange_api";

struct TorchTypes {
  PyTypeObject* tensor = nullptr;
  PyTypeObject* parameter = nullptr;
  const dlpack::ExchangeApi* api = nullptr;
};

const dlpack::ExchangeApi* api_of(nb::handle type) {
  const nb::object capsule =
      nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), kCapsule)) return nullptr;
  const auto* const api = static_cast<const dlpack::ExchangeApi*>(
      PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  const bool usable = api->version.major == kMajor && api->to_object &&
                      api->view_object;
  return usable ? api : nullptr;
}

// The types stay for the rest of the process, as torch does.
TorchTypes find_torch() {
  const nb::object loaded =
      nb::borrow(PyImport_GetModuleDict())["torch"];
  TorchTypes types;
  types.api = api_of(loaded.attr("Tensor"));
  types.tensor = reinterpret_cast<PyTypeObject*>(
      nb::object(loaded.attr("Tensor")).release().ptr());
  types.parameter = reinterpret_cast<PyTypeObject*>(
      nb::object(loaded.attr("nn").attr("Parameter")).release().ptr());
  return types;
}

// Null as long as nobody has imported PyTorch.
const TorchTypes* torch_types() {
  static const TorchTypes* found = nullptr;
  if (!found) {
    PyObject* const torch =
        PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
    if (!torch || !PyObject_HasAttrString(torch, "nn")) return nullptr;
    found = new TorchTypes(find_torch());
  }
  return found;
}

// What a tensor made here keeps until PyTorch gives it back.
struct Given {
  dlpack::ManagedTensor managed;
  Tensor tensor;
  std::array<int64_t, kMaxRank> sizes{}, strides{};

  static void release(dlpack::ManagedTensor* self) {
    delete static_cast<Given*>(self->manager_ctx);
  }
};

std::unique_ptr<Given> given(const Tensor& tensor) {
  auto made = std::make_unique<Given>();
  made->tensor = tensor;
  for (int d = 0; d < tensor.dim(); ++d) {
    const auto at = static_cast<size_t>(d);
    made->sizes[at] = tensor.size(d);
    made->strides[at] = tensor.stride(d);
  }
  made->managed.manager_ctx = made.get();
  made->managed.deleter = Given::release;
  dlpack::Tensor& plain = made->managed.tensor;
  plain.data = tensor.data();
  plain.device = {nb::device::cpu::value, 0};
  plain.ndim = tensor.dim();
  plain.dtype = dlpack_type(tensor.dtype());
  plain.shape = made->sizes.data();
  plain.strides = made->strides.data();
  return made;
}

}  // namespace

const dlpack::ExchangeApi* exchange_of(nb::handle object) {
  const TorchTypes* const types = torch_types();
  if (!types) return nullptr;
  const PyTypeObject* const type = Py_TYPE(object.ptr());
  return type == types->tensor || type == types->parameter ? types->api
                                                           : nullptr;
}

nb::object resolved(nb::handle tensor) {
  static const nb::str kIsNeg = nb::steal<nb::str>(
      PyUnicode_InternFromString("is_neg"));
  static const nb::str kIsConj = nb::steal<nb::str>(
      PyUnicode_InternFromString("is_conj"));
  const auto says = [&](const nb::str& question) {
    const nb::object answer = nb::steal(PyObject_CallMethodObjArgs(
        tensor.ptr(), question.ptr(), nullptr));
    if (!answer.is_valid()) throw nb::python_error();
    return answer.is(nb::handle(Py_True));
  };
  const bool lazy = says(kIsNeg) || says(kIsConj);
  if (!lazy) return nb::borrow(tensor);
  return tensor.attr("resolve_conj")().attr("resolve_neg")();
}

dlpack::Tensor view_of_object(const dlpack::ExchangeApi& api,
                              nb::handle object, const char* where) {
  dlpack::Tensor tensor;
  if (api.view_object(object.ptr(), &tensor) == 0) return tensor;
  const nb::python_error error;
  const std::string text = nb::cast<std::string>(nb::str(error.value()));
  throw TypeError(std::string(where) + ": " +
                  text.substr(0, text.find('\n')));
}

nb::object torch_tensor_of(const Tensor& tensor) {
  const TorchTypes* const types = torch_types();
  if (!types || !types->api) return {};
  std::unique_ptr<Given> made = given(tensor);
  void* object = nullptr;
  if (types->api->to_object(&made->managed, &object) != 0)
    throw nb::python_error();
  static_cast<void>(made.release());  // The object's deleter frees it.
  return nb::steal(static_cast<PyObject*>(object));
}

}  // namespace fxjit::python
