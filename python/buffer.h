// Memory of Python objects that is read without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fxjit::python {

// Memory of an object with the buffer protocol, for as long as this lives.
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

// Lets other threads have the interpreter's lock while this lives, where the
// work on a buffer takes longer than having it back from a busy thread does.
class UnlockedToRead {
 public:
  explicit UnlockedToRead(const Buffer& buffer) {
    if (buffer.bytes().size() > kShort) released_.emplace();
  }

 private:
  static constexpr size_t kShort = 1 << 14;
  std::optional<nanobind::gil_scoped_release> released_;
};

// Moves texts to the end of a list, as bytes. Takes the lock for that.
inline void append_bytes(nanobind::list& made,
                         std::vector<std::string_view>& texts) {
  const nanobind::gil_scoped_acquire locked;
  for (const std::string_view text : texts)
    made.append(nanobind::bytes(text.data(), text.size()));
  texts.clear();
}

}  // namespace fxjit::python
