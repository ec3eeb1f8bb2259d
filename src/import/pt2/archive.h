// The file of an exported program: a zip archive that holds a description of
// the graph and two tables of tensors, weights and constants. It is mapped;
// the tensors are views of the mapping.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "fxjit/tensor.h"
#include "src/import/field.h"
#include "src/io/zip_reader.h"

namespace fxjit::import {

// torch's number of a dtype. UserError for one that fxjit does not have.
DType read_dtype(const Field& field);

// A tensor of a table. Tensors of one entry share its memory, as tied weights
// do.
struct StoredTensor {
  std::string entry;  // Name of the archive's entry.
  Dims sizes, strides;
  int64_t offset = 0;
  DType dtype = DType::f32;
  Field place;  // In the table, for messages.

  friend bool operator==(const StoredTensor& a, const StoredTensor& b) {
    return a.entry == b.entry && a.sizes == b.sizes && a.strides == b.strides &&
           a.offset == b.offset && a.dtype == b.dtype;
  }
};

class Pt2Archive {
 public:
  // UserError naming file, entry and field: no archive, another layout, several
  // models.
  explicit Pt2Archive(const std::string& path);

  const std::string& path() const { return path_; }
  Field model() const { return Field(*model_); }

  // A weight (parameter or persistent buffer) or a constant by the name that
  // the program gives it. Null when absent.
  const StoredTensor* find_weight(const std::string& name) const;
  const StoredTensor* find_constant(const std::string& name) const;
  // In the mapped file, or a copy where the file is not aligned for its dtype.
  // UserError where the entry is missing or does not hold the tensor.
  Tensor read(const StoredTensor& stored);

 private:
  using Table = std::unordered_map<std::string, StoredTensor>;

  [[noreturn]] void fail(const std::string& what) const;
  std::string find_root() const;
  [[noreturn]] void refuse_other_layout() const;
  std::unique_ptr<Document> open(const std::string& name) const;
  std::string find_model() const;
  std::shared_ptr<Storage> memory_of(const io::ZipEntry& entry,
                                     size_t item) const;
  std::unique_ptr<Document> read_table(const std::string& folder,
                                       const std::string& suffix, Table& table);

  std::string path_;
  std::shared_ptr<Storage> storage_;
  io::ZipReader zip_;
  std::string root_;  // "name/" or nothing: in front of all entries.
  std::string model_name_;
  std::unique_ptr<Document> model_, weights_document_, constants_document_;
  Table weights_, constants_;
  // By entry: of the tensors read so far.
  std::unordered_map<std::string, std::shared_ptr<Storage>> memories_;
};

}  // namespace fxjit::import
