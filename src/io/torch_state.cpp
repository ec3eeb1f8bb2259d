// torch.save's format: a zip archive with a pickle of the dict, whose tensors
// refer to entries that hold their elements.
#include "fxjit/torch_state.h"

#include "fxjit/error.h"
#include "src/io/zip_writer.h"
#include "src/tensor/dtype_words.h"

namespace fxjit {
namespace {

// The few operations of pickle's protocol 2 that a dict of tensors needs.
class Pickle {
 public:
  Pickle() { text_ = "\x80\x02"; }
  void mark() { text_ += '('; }
  void tuple() { text_ += 't'; }
  void empty_tuple() { text_ += ')'; }
  void reduce() { text_ += 'R'; }
  void set_items() { text_ += 'u'; }
  void persistent_id() { text_ += 'Q'; }
  void boolean(bool value) { text_ += value ? '\x88' : '\x89'; }
  void global(std::string_view module, std::string_view name) {
    text_ += 'c';
    text_.append(module).append("\n").append(name).append("\n");
  }
  void string(std::string_view value) {
    text_ += 'X';
    number(value.size(), 4);
    text_ += value;
  }
  void integer(int64_t value) {
    text_ += "\x8a\x08";  // Eight bytes of two's complement.
    number(static_cast<uint64_t>(value), 8);
  }
  void dims(const Dims& values) {
    mark();
    for (const int64_t value : values) integer(value);
    tuple();
  }
  std::string finish() { return text_ + '.'; }

 private:
  void number(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      text_ += static_cast<char>((value >> (8 * i)) & 0xff);
  }

  std::string text_;
};

std::string storage_class(DType dtype) {
  return std::string(dtype_words(dtype).of_class) + "Storage";
}

void add_tensor(Pickle& pickle, const Tensor& tensor, const std::string& key) {
  pickle.global("torch._utils", "_rebuild_tensor_v2");
  pickle.mark();
  pickle.mark();
  pickle.string("storage");
  pickle.global("torch", storage_class(tensor.dtype()));
  pickle.string(key);
  pickle.string("cpu");
  pickle.integer(tensor.numel());
  pickle.tuple();
  pickle.persistent_id();
  pickle.integer(0);  // Offset.
  pickle.dims(tensor.sizes());
  pickle.dims(tensor.strides());
  pickle.boolean(false);  // requires_grad
  pickle.global("collections", "OrderedDict");
  pickle.empty_tuple();
  pickle.reduce();  // No hooks.
  pickle.tuple();
  pickle.reduce();
}

}  // namespace

void save_torch_state(const std::filesystem::path& path,
                      std::span<const std::pair<std::string, Tensor>> state) {
  std::vector<Tensor> tensors;
  Pickle pickle;
  pickle.global("collections", "OrderedDict");
  pickle.empty_tuple();
  pickle.reduce();
  pickle.mark();
  for (const auto& [name, tensor] : state) {
    if (!tensor.defined() || tensor.is_meta())
      throw UserError("[save_torch_state] " + name +
                      ": expected a tensor with data, got none");
    const std::string key = std::to_string(tensors.size());
    tensors.push_back(tensor.contiguous());
    pickle.string(name);
    add_tensor(pickle, tensors.back(), key);
  }
  pickle.set_items();

  io::ZipWriter zip(path);
  zip.add("archive/data.pkl", pickle.finish());
  zip.add("archive/byteorder", std::string_view("little"));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    zip.add("archive/data/" + std::to_string(i),
            {static_cast<const std::byte*>(tensor.data()),
             static_cast<size_t>(tensor.numel()) * tensor.item_size()});
  }
  zip.add("archive/version", std::string_view("3\n"));
  zip.finish();
}

}  // namespace fxjit
