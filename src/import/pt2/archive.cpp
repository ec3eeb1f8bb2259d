#include "src/import/pt2/archive.h"

#include <cstring>

#include "fxjit/error.h"
#include "src/io/map_storage.h"

namespace fxjit::import {
namespace {

constexpr std::string_view kFormatEntry = "archive_format";
constexpr std::string_view kFormat = "pt2";
constexpr std::string_view kModels = "models/";
constexpr std::string_view kJson = ".json";

// torch's numbers (ScalarType of its schema).
constexpr std::pair<int, const char*> kDTypes[] = {{1, "uint8"},
                                                   {2, "int8"},
                                                   {3, "int16"},
                                                   {4, "int32"},
                                                   {5, "int64"},
                                                   {6, "float16"},
                                                   {7, "float32"},
                                                   {8, "float64"},
                                                   {9, "complex32"},
                                                   {10, "complex64"},
                                                   {11, "complex128"},
                                                   {12, "bool"},
                                                   {13, "bfloat16"},
                                                   {28, "uint16"},
                                                   {29, "float8_e4m3fn"},
                                                   {30, "float8_e5m2"},
                                                   {31, "float8_e4m3fnuz"},
                                                   {32, "float8_e5m2fnuz"},
                                                   {33, "float8_e8m0fnu"},
                                                   {34, "uint32"},
                                                   {35, "uint64"}};
constexpr int kStrided = 7;  // torch's number of the layout.

std::span<const std::byte> bytes_of(const Storage& storage) {
  return {storage.data(), storage.bytes()};
}

// A size, stride or offset of a stored tensor is always a number.
int64_t read_known_size(const Field& field) {
  const auto [kind, value] = field.variant();
  if (kind != "as_int")
    field.fail("expected as_int: a stored size is a number");
  return value.size();
}

Dims read_sizes(const Field& field) {
  Dims sizes;
  const std::vector<Field> items = field.items();
  if (items.size() > static_cast<size_t>(kMaxRank))
    field.fail("expected at most " + std::to_string(kMaxRank) + " dims, got " +
               std::to_string(items.size()));
  for (const Field& item : items) sizes.push_back(read_known_size(item));
  return sizes;
}

StoredTensor read_stored(const Field& entry, const std::string& folder) {
  if (entry.at("use_pickle").boolean())
    entry.at("use_pickle")
        .fail(
            "pickled tensors are not read: export the model with plain "
            "tensors");
  const Field meta = entry.at("tensor_meta");
  StoredTensor stored{folder + entry.at("path_name").text(), {},   {}, 0,
                      read_dtype(meta.at("dtype")),          entry};
  stored.sizes = read_sizes(meta.at("sizes"));
  stored.strides = read_sizes(meta.at("strides"));
  stored.offset = read_known_size(meta.at("storage_offset"));
  if (stored.strides.size() != stored.sizes.size())
    meta.at("strides").fail("expected " + std::to_string(stored.sizes.size()) +
                            ", one for each size, got " +
                            std::to_string(stored.strides.size()));
  if (meta.at("layout").integer() != kStrided)
    meta.at("layout").fail("expected a strided tensor");
  return stored;
}

}  // namespace

DType read_dtype(const Field& field) {
  const int64_t number = field.integer();
  for (const auto& [known, name] : kDTypes) {
    if (known != number) continue;
    if (const auto dtype = dtype_from_name(name)) return *dtype;
    field.fail(std::string("dtype ") + name + " is not supported");
  }
  field.fail("unknown dtype " + std::to_string(number));
}

Pt2Archive::Pt2Archive(const std::string& path)
    : path_(path),
      storage_(io::map_storage(path)),
      zip_(bytes_of(*storage_), path),
      root_(find_root()),
      model_name_(find_model()),
      model_(open(std::string(kModels) + model_name_ + std::string(kJson))) {
  weights_document_ =
      read_table("data/weights/", "_weights_config.json", weights_);
  constants_document_ =
      read_table("data/constants/", "_constants_config.json", constants_);
}

void Pt2Archive::fail(const std::string& what) const {
  throw UserError("[pt2] " + path_ + ": " + what);
}

std::string Pt2Archive::find_root() const {
  for (const io::ZipEntry& entry : zip_.entries()) {
    const std::string_view name = entry.name;
    if (!name.ends_with(kFormatEntry)) continue;
    const std::string_view root =
        name.substr(0, name.size() - kFormatEntry.size());
    if (!root.empty() && root.find('/') != root.size() - 1) continue;
    if (zip_.text(entry) != kFormat)
      fail(entry.name + ": expected " + std::string(kFormat));
    return std::string(root);
  }
  refuse_other_layout();
}

void Pt2Archive::refuse_other_layout() const {
  for (const io::ZipEntry& entry : zip_.entries()) {
    const std::string_view name = entry.name;
    if (name.ends_with("serialized_exported_program.json"))
      fail("the layout of an older torch: export again with torch 2.13");
    if (name.ends_with("data.pkl"))
      fail(
          "a file of torch.save or torch.jit.save: expected one of "
          "torch.export.save(torch.export.export(module, (x,)), path)");
  }
  fail("no entry archive_format: not a program of torch.export.save");
}

std::unique_ptr<Document> Pt2Archive::open(const std::string& name) const {
  const io::ZipEntry* const entry = zip_.find(root_ + name);
  if (!entry) fail(root_ + name + ": missing entry");
  return std::make_unique<Document>(path_, entry->name, zip_.text(*entry));
}

std::string Pt2Archive::find_model() const {
  if (const io::ZipEntry* const order = zip_.find(root_ + "byteorder"))
    if (zip_.text(*order) != "little")
      fail(order->name + ": expected little, got another byte order");
  const std::string folder = root_ + std::string(kModels);
  std::string found;
  for (const io::ZipEntry& entry : zip_.entries()) {
    const std::string_view name = entry.name;
    if (!name.starts_with(folder) || !name.ends_with(kJson)) continue;
    if (!found.empty())
      fail(folder + ": expected one model, got " + found + " and others");
    found =
        name.substr(folder.size(), name.size() - folder.size() - kJson.size());
  }
  if (found.empty()) fail(folder + ": expected a model, got none");
  return found;
}

// An archive may come without tensors of a kind, and then without their table.
std::unique_ptr<Document> Pt2Archive::read_table(const std::string& folder,
                                                 const std::string& suffix,
                                                 Table& table) {
  const std::string name = folder + model_name_ + suffix;
  const std::string pickled = root_ + folder + model_name_ + ".pt";
  if (zip_.find(pickled))
    fail(pickled +
         ": pickled tensors, as older versions of torch wrote them: "
         "export again with torch 2.13");
  if (!zip_.find(root_ + name)) return nullptr;
  auto document = open(name);
  for (const auto& [key, entry] : Field(*document).at("config").members())
    table.emplace(key, read_stored(entry, root_ + folder));
  return document;
}

const StoredTensor* Pt2Archive::find_weight(const std::string& name) const {
  const auto found = weights_.find(name);
  return found == weights_.end() ? nullptr : &found->second;
}

const StoredTensor* Pt2Archive::find_constant(const std::string& name) const {
  const auto found = constants_.find(name);
  return found == constants_.end() ? nullptr : &found->second;
}

// The memory of this entry alone, so that a view ends with it.
std::shared_ptr<Storage> Pt2Archive::memory_of(const io::ZipEntry& entry,
                                               size_t item) const {
  const std::span<const std::byte> content = zip_.content(entry);
  if (entry.offset % item != 0) {
    auto copy = Storage::allocate(content.size());
    std::memcpy(copy->data(), content.data(), content.size());
    return copy;
  }
  auto memory = Storage::borrow(storage_->data() + entry.offset, content.size(),
                                storage_, /*read_only=*/true);
  memory->release_pages = [file = storage_.get(), start = entry.offset](
                              size_t at, size_t bytes) {
    file->release_pages(start + at, bytes);
  };
  return memory;
}

Tensor Pt2Archive::read(const StoredTensor& stored) {
  const io::ZipEntry* const entry = zip_.find(stored.entry);
  if (!entry) stored.place.fail("no entry " + stored.entry + " in the archive");
  const size_t item = dtype_size(stored.dtype);
  if (entry->bytes % item != 0)
    stored.place.fail(stored.entry + ": " + std::to_string(entry->bytes) +
                      " bytes are no whole number of " +
                      std::string(dtype_name(stored.dtype)));
  auto& memory = memories_[stored.entry];
  if (!memory) memory = memory_of(*entry, item);
  try {
    return Tensor::view(memory, stored.sizes, stored.dtype, stored.strides,
                        stored.offset);
  } catch (const UserError& error) {
    stored.place.fail(stored.entry + " of " + std::to_string(entry->bytes) +
                      " bytes does not hold the tensor: " + error.message());
  }
}

}  // namespace fxjit::import
