#include "python/torch_exchange.h"

#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <string>

#include "fxjit/error.h"
#include "python/borrowed.h"
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
  nb::handle as_strided, empty;  // Functions of torch.
};

const dlpack::ExchangeApi* api_of(nb::handle type) {
  const nb::object capsule =
      nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), kCapsule)) return nullptr;
  const auto* const api = static_cast<const dlpack::ExchangeApi*>(
      PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  const bool usable =
      api->version.major == kMajor && api->to_object && api->view_object;
  return usable ? api : nullptr;
}

// The types stay for the rest of the process, as torch does.
TorchTypes find_torch() {
  const nb::object loaded = nb::borrow(PyImport_GetModuleDict())["torch"];
  TorchTypes types;
  types.api = api_of(loaded.attr("Tensor"));
  types.tensor = reinterpret_cast<PyTypeObject*>(
      nb::object(loaded.attr("Tensor")).release().ptr());
  types.parameter = reinterpret_cast<PyTypeObject*>(
      nb::object(loaded.attr("nn").attr("Parameter")).release().ptr());
  types.as_strided = nb::object(loaded.attr("as_strided")).release();
  types.empty = nb::object(loaded.attr("empty")).release();
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

nb::object exchanged(const dlpack::ExchangeApi& api, const Tensor& tensor) {
  std::unique_ptr<Given> made = given(tensor);
  void* object = nullptr;
  if (api.to_object(&made->managed, &object) != 0) throw nb::python_error();
  static_cast<void>(made.release());  // The object's deleter frees it.
  return nb::steal(static_cast<PyObject*>(object));
}

nb::tuple numbers_of(const Dims& dims) {
  nb::list numbers;
  for (const int64_t number : dims) numbers.append(number);
  return nb::tuple(numbers);
}

// A tensor with the storage of `owner`, in which it begins as far from the
// first element of `owner` as its memory does. Changes of the result's own
// sizes do not reach `owner`, nor do gradients.
nb::object view_of_owner(const TorchTypes& types, nb::handle owner,
                         const Tensor& tensor) {
  const dlpack::Tensor seen = view_of_object(*types.api, owner, "a result");
  const auto from = reinterpret_cast<intptr_t>(seen.data) +
                    static_cast<intptr_t>(seen.byte_offset);
  const intptr_t bytes = reinterpret_cast<intptr_t>(tensor.data()) - from;
  const nb::object sizes = numbers_of(tensor.sizes());
  const nb::object strides = numbers_of(tensor.strides());
  const int64_t before = nb::cast<int64_t>(owner.attr("storage_offset")());
  const auto item = static_cast<int64_t>(tensor.item_size());
  if (dtype_of(seen.dtype) == tensor.dtype()) {
    const nb::object plain = nb::cast<bool>(owner.attr("requires_grad"))
                                 ? owner.attr("detach")()
                                 : nb::borrow(owner);
    return types.as_strided(plain, sizes, strides, before + bytes / item);
  }
  const int64_t start = before * static_cast<int64_t>(seen.dtype.bits / 8);
  const nb::object dtype = nb::module_::import_("torch").attr(
      std::string(dtype_name(tensor.dtype())).c_str());
  return types.empty(0, nb::arg("dtype") = dtype)
      .attr("set_")(owner.attr("untyped_storage")(), (start + bytes) / item,
                    sizes, strides);
}

// A tensor that does not begin with its storage: PyTorch gets all of it.
nb::object view_of_storage(const TorchTypes& types, const Tensor& tensor) {
  const auto count =
      static_cast<int64_t>(tensor.storage()->bytes() / tensor.item_size());
  const Tensor whole =
      Tensor::view(tensor.storage(), {count}, tensor.dtype(), {1}, 0);
  return types.as_strided(
      exchanged(*types.api, whole), numbers_of(tensor.sizes()),
      numbers_of(tensor.strides()), static_cast<int64_t>(tensor.offset()));
}

}  // namespace

bool is_torch_loaded() { return torch_types(); }

const dlpack::ExchangeApi* exchange_of(nb::handle object) {
  const TorchTypes* const types = torch_types();
  if (!types) return nullptr;
  const PyTypeObject* const type = Py_TYPE(object.ptr());
  return type == types->tensor || type == types->parameter ? types->api
                                                           : nullptr;
}

nb::object resolved(nb::handle tensor) {
  static const nb::str kIsNeg =
      nb::steal<nb::str>(PyUnicode_InternFromString("is_neg"));
  static const nb::str kIsConj =
      nb::steal<nb::str>(PyUnicode_InternFromString("is_conj"));
  const auto says = [&](const nb::str& question) {
    const nb::object answer = nb::steal(
        PyObject_CallMethodObjArgs(tensor.ptr(), question.ptr(), nullptr));
    if (!answer.is_valid()) throw nb::python_error();
    return answer.is(nb::handle(Py_True));
  };
  const bool lazy = says(kIsNeg) || says(kIsConj);
  if (!lazy) return nb::borrow(tensor);
  return tensor.attr("resolve_conj")().attr("resolve_neg")();
}

dlpack::Tensor view_of_object(const dlpack::ExchangeApi& api, nb::handle object,
                              const char* where) {
  dlpack::Tensor tensor;
  if (api.view_object(object.ptr(), &tensor) == 0) return tensor;
  const nb::python_error error;
  const std::string text = nb::cast<std::string>(nb::str(error.value()));
  throw TypeError(std::string(where) + ": " + text.substr(0, text.find('\n')));
}

nb::object torch_tensor_of(const Tensor& tensor) {
  const TorchTypes* const types = torch_types();
  if (!types || !types->api) return {};
  if (const nb::handle owner = owner_of(*tensor.storage()))
    return view_of_owner(*types, owner, tensor);
  return tensor.offset() == 0 ? exchanged(*types->api, tensor)
                              : view_of_storage(*types, tensor);
}

PlaceInStorage place_in_storage(nb::handle tensor) {
  const nb::object storage = tensor.attr("untyped_storage")();
  return {nb::cast<int64_t>(tensor.attr("storage_offset")()),
          nb::cast<size_t>(storage.attr("nbytes")())};
}

}  // namespace fxjit::python
