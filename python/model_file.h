// A file that a model was loaded from. It is held open, so that the model can
// be copied and pickled after the file was removed or replaced.
#pragma once

#include <string>

namespace fxjit::python {

class ModelFile {
 public:
  ModelFile() = default;
  // Throws UserError with the system's reason if the file cannot be opened.
  explicit ModelFile(const std::string& path);
  ~ModelFile();
  ModelFile(ModelFile&& other) noexcept;
  ModelFile& operator=(ModelFile&& other) noexcept;

  explicit operator bool() const { return descriptor_ >= 0; }
  // A path by which this process can open the file again, whatever happened to
  // its name.
  std::string path() const;
  // The absolute path at which the file was opened; empty for no file. Throws
  // UserError if another file, or none, is there now.
  std::string place() const;
  // The whole content. Throws RuntimeError with the system's reason.
  std::string bytes() const;

 private:
  int descriptor_ = -1;
  std::string place_;
};

}  // namespace fxjit::python
