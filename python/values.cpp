#include "python/values.h"

#include <nanobind/stl/string.h>

#include <string>

#include "fxjit/error.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

Value number_of(nb::handle object, const std::string& where) {
  int overflow = 0;
  const long long number =
      PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) throw OverflowError(where + ": a number beyond 64 bits");
  return int64_t{number};
}

ValueList items_of(nb::handle sequence, const std::string& where,
                   Arrays& arrays, Others others) {
  ValueList items;
  for (const nb::handle item : sequence) {
    const std::string place = where + "[" + std::to_string(items.size()) + "]";
    items.push_back(value_of(item, place, arrays, others));
  }
  return items;
}

ValueDict entries_of(nb::handle dict, const std::string& where, Arrays& arrays,
                     Others others) {
  ValueDict entries;
  for (const auto& [key, item] : nb::borrow<nb::dict>(dict)) {
    const auto name = nb::cast<std::string>(nb::repr(key));
    entries.emplace_back(
        value_of(key, where, arrays, others),
        value_of(item, where + "[" + name + "]", arrays, others));
  }
  return entries;
}

void note_array(nb::handle array, Arrays& arrays) {
  if (kind_of(array) == ArrayKind::numpy) {
    if (!arrays.kind) arrays.kind = ArrayKind::numpy;
    return;
  }
  static const nb::str kRequiresGrad =
      nb::steal<nb::str>(PyUnicode_InternFromString("requires_grad"));
  arrays.kind = ArrayKind::torch;
  const nb::object requires_grad = array.attr(kRequiresGrad);
  arrays.require_grad |= requires_grad.is(nb::handle(Py_True));
}

nb::object type_object(std::string_view name, ArrayKind kind) {
  if (kind == ArrayKind::numpy) return numpy_type(name);
  return nb::module_::import_("torch").attr(nb::str(name.data(), name.size()));
}

// An array whose type tensors carry in another.
Tensor carried_array(nb::handle array, const std::string& where,
                     const Arrays& arrays) {
  const std::string wanted(carried_name(arrays.type));
  const std::string type = type_name_of(array);
  if (type != wanted)
    throw TypeError(where + ": expected an array of " + wanted +
                    ", got one of " + (type.empty() ? "unknown type" : type) +
                    ": convert it first, by .astype(\"" + wanted +
                    "\") or .to(torch." + wanted + ")");
  const nb::object bits = array.attr("view")(
      type_object(dtype_name(bits_type_of(arrays.type)), kind_of(array)));
  const Tensor tensor = tensor_of(bits, where.c_str(), arrays.extent);
  return arrays.as_bits ? tensor : carried(tensor, arrays.type);
}

nb::object array_of_carried(const Tensor& tensor, ArrayKind kind,
                            CarriedType type) {
  const nb::object bits = array_of(bits_of(tensor, type), kind);
  return bits.attr("view")(type_object(carried_name(type), kind));
}

}  // namespace

Value value_of(nb::handle object, const std::string& where, Arrays& arrays,
               Others others) {
  if (object.is_none()) return None;
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  if (PyLong_Check(object.ptr())) return number_of(object, where);
  if (PyFloat_CheckExact(object.ptr())) return nb::cast<double>(object);
  if (PyUnicode_Check(object.ptr())) return nb::cast<std::string>(object);
  if (PyTuple_Check(object.ptr()))
    return Value::tuple(items_of(object, where, arrays, others));
  if (PyList_Check(object.ptr()))
    return Value::list(items_of(object, where, arrays, others));
  if (PyDict_Check(object.ptr()))
    return Value::dict(entries_of(object, where, arrays, others));
  if (others)
    if (std::optional<Value> known = others(object)) return *std::move(known);
  if (!is_array(object))
    throw TypeError(
        where + ": expected an array, a number or a container of these, got " +
        nb::cast<std::string>(nb::getattr(object.type(), "__name__")));
  note_array(object, arrays);
  if (arrays.type != CarriedType::none)
    return carried_array(object, where, arrays);
  return tensor_of(object, where.c_str(), arrays.extent);
}

nb::object object_of(const Value& value, ArrayKind kind, CarriedType type) {
  switch (value.kind()) {
    case Value::Kind::none:
      return nb::none();
    case Value::Kind::boolean:
      return nb::bool_(value.as_bool());
    case Value::Kind::integer:
      return nb::int_(value.as_int());
    case Value::Kind::floating:
      return nb::float_(value.as_double());
    case Value::Kind::string:
      return nb::str(std::string(value.as_string()).c_str());
    case Value::Kind::tensor:
      return type != CarriedType::none &&
                     value.as_tensor().dtype() == carrier_of(type)
                 ? array_of_carried(value.as_tensor(), kind, type)
                 : array_of(value.as_tensor(), kind);
    case Value::Kind::list: {
      nb::list items;
      for (const Value& item : value.as_sequence())
        items.append(object_of(item, kind, type));
      return items;
    }
    case Value::Kind::tuple:
      return nb::steal<nb::object>(PySequence_Tuple(
          object_of(Value::list(value.as_sequence()), kind, type).ptr()));
    case Value::Kind::dict: {
      nb::dict entries;
      for (const auto& [key, item] : value.as_dict())
        entries[object_of(key, kind)] = object_of(item, kind, type);
      return entries;
    }
    default:
      throw TypeError("a result of a kind that Python has no place for: " +
                      repr(value));
  }
}

}  // namespace fxjit::python
