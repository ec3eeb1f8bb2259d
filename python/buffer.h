// Memory of a Python object with the buffer protocol, for as long as this
// lives.
#pragma once

#include <nanobind/nanobind.h>

#include <span>

namespace fxjit::python {

class Buffer {
 public:
  // Python's error where the object gives no contiguous memory, or none to
  // write to.
  explicit Buffer(nanobind::handle object, bool writable = false) {
    if (PyObject_GetBuffer(object.ptr(), &view_,
                           writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0)
      throw nanobind::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::span<char> bytes() const {
    return {static_cast<char*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_;
};

}  // namespace fxjit::python
