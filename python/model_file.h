// A file that a model was loaded from, held open: models can be copied and
// pickled after the file was removed or replaced.
#pragma once

#include <string>

namespace fxjit::python {

class ModelFile {
 public:
  ModelFile() = default;
  // UserError with the system's reason.
  explicit ModelFile(const std::string& path);
  ~ModelFile();
  ModelFile(ModelFile&& other) noexcept;
  ModelFile& operator=(ModelFile&& other) noexcept;

  explicit operator bool() const { return descriptor_ >= 0; }
  // Under which this process can open it again.
  std::string path() const;
  // Where it was when it was opened, absolute; empty for none. UserError if another
  // file or none is there now.
  std::string place() const;
  // All of it. RuntimeError with the system's reason.
  std::string bytes() const;

 private:
  int descriptor_ = -1;
  std::string place_;
};

}  // namespace fxjit::python
