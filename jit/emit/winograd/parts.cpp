#include "jit/emit/winograd/parts.h"

#include "jit/emit/epilogue.h"
#include "jit/emit/winograd/transforms.h"

namespace fxjit::jit {
namespace {

using program::TileAccess;
using program::WinogradForm;
using program::WinogradNumber;

// A vector of channels' words. Integers are widened to 16 bits.
Value* load_pixel(const WinogradPart& part, Value* address) {
  VectorBuilder& b = part.b;
  if (!part.form.is_integer()) return b.load_raw(b.vec(b.f32()), address);
  const int channels = 2 * b.lanes();
  Value* bytes = b.load_raw(b.vec(b.i8(), channels), address);
  llvm::Type* wide = b.vec(b.i16(), channels);
  return part.form.input == DType::u8 ? b.ir().CreateZExt(bytes, wide)
                                      : b.ir().CreateSExt(bytes, wide);
}

// One vector of words, `offset` bytes from the pixels' first.
void emit_input_block(const WinogradPart& part, Value* offset, Value* out) {
  VectorBuilder& b = part.b;
  emit_winograd_input(
      b, part.form.tile,
      [&](int row, int column) {
        const int64_t at = row * part.form.places_row() + column;
        Value* address = b.load_raw(b.ptr(), b.offset(b.arg(1), b.ptr(), at));
        return load_pixel(part, b.offset_bytes(address, offset));
      },
      [&](int row, int column, Value* value) {
        part.store(value, out, (row * part.form.points() + column) * b.lanes());
      });
}

void emit_input(const WinogradPart& part) {
  VectorBuilder& b = part.b;
  // The last block may overlap the one before.
  Value* last = b.sub(part.number(WinogradNumber::words), b.i64(b.lanes()));
  Value* blocks = part.number(WinogradNumber::channel_blocks);
  Value* each = part.number(WinogradNumber::channel_block_floats);
  b.loop(b.i64(0), blocks, b.i64(1), [&](Value* block) {
    Value* word = b.min(part.times(block, b.lanes()), last);
    Value* out = b.offset(b.arg(2), b.f32(), b.mul(block, each));
    emit_input_block(part, part.times(word, part.form.is_integer() ? 2 : 4),
                     out);
  });
  b.ret();
}

class Output {
 public:
  Output(const WinogradPart& part, bool last_panel)
      : part_(part), last_panel_(last_panel) {
    Value* out_width = part.number(WinogradNumber::out_width);
    for (size_t i = 0; i < operands(); ++i) {
      const auto bytes = static_cast<int64_t>(dtype_size(access(i).dtype));
      pixel_bytes_.push_back(part.times(part.row_stride(i), bytes));
      row_bytes_.push_back(part.b.mul(pixel_bytes_[i], out_width));
    }
  }

  void emit() {
    VectorBuilder& b = part_.b;
    const auto pixels =
        static_cast<uint64_t>(part_.form.tile * part_.form.tile);
    kept_ = b.stack_slot(llvm::ArrayType::get(part_.sums_type(), pixels));
    Value* features = last_panel_ ? part_.number(WinogradNumber::last_features)
                                  : b.i64(part_.form.width());
    Value* whole = b.ir().CreateUDiv(features, b.i64(b.lanes()));
    b.loop(b.i64(0), whole, b.i64(1),
           [&](Value* v) { emit_vector(v, nullptr); });
    if (last_panel_ && part_.form.feature_rest) {
      Value* rest = b.sub(features, part_.times(whole, b.lanes()));
      emit_vector(whole, b.tail_mask(rest));
    }
    b.ret();
  }

 private:
  // How operand `i` is walked; extras come first.
  const TileAccess& access(size_t i) const {
    const size_t extras = part_.form.extras.size();
    return i < extras ? part_.form.extras[i] : part_.form.outputs[i - extras];
  }
  Value* argument(size_t i) { return part_.b.arg(static_cast<int>(2 + i)); }
  size_t operands() const {
    return part_.form.extras.size() + part_.form.outputs.size();
  }

  void emit_vector(Value* v, Value* mask) {
    VectorBuilder& b = part_.b;
    transform(b.offset(b.arg(1), b.f32(), part_.times(v, b.lanes())));
    Values first;
    for (size_t i = 0; i < operands(); ++i)
      first.push_back(b.offset(argument(i), b.memory_type(access(i).dtype),
                               part_.times(v, access(i).column * b.lanes())));
    b.loop(b.i64(0), argument(operands()), b.i64(1), first,
           [&](Value* y, const Values& row) {
             emit_row(y, row, mask);
             return advanced(row, row_bytes_);
           });
  }

  // From the pixels at `first`.
  void emit_row(Value* y, const Values& first, Value* mask) {
    VectorBuilder& b = part_.b;
    Value* kept =
        b.offset(kept_, b.vec(b.f32()), part_.times(y, part_.form.tile));
    b.loop(b.i64(0), argument(operands() + 1), b.i64(1), first,
           [&](Value* x, const Values& at) {
             emit_pixel(b.offset(kept, b.vec(b.f32()), x), at, mask);
             return advanced(at, pixel_bytes_);
           });
  }

  // Addresses, each of them moved on by its own number of bytes.
  Values advanced(const Values& addresses, const Values& bytes) const {
    Values next;
    for (size_t i = 0; i < addresses.size(); ++i)
      next.push_back(access(i).row != 0
                         ? part_.b.offset_bytes(addresses[i], bytes[i])
                         : addresses[i]);
    return next;
  }

  // All pixels of one vector of features, row by row into `kept_`.
  void transform(Value* sums) {
    const WinogradForm& form = part_.form;
    emit_winograd_output(
        part_.b, form.tile,
        [&](int row, int column) {
          return part_.load(sums,
                            (row * form.points() + column) * form.width());
        },
        [&](int row, int column, Value* value) {
          // Weights are four times as large.
          if (form.is_integer()) value = part_.b.ir().CreateAShr(value, 2);
          part_.store(value, kept_,
                      (row * form.tile + column) * part_.b.lanes());
        });
  }

  void emit_pixel(Value* kept, const Values& at, Value* mask) {
    const WinogradForm& form = part_.form;
    emit_tile_epilogue(
        part_.b, form.epilogue, form.extras, form.outputs,
        {{part_.load(kept, 0), mask, [&](size_t i) { return at[i]; }}});
  }

  const WinogradPart& part_;
  bool last_panel_;
  // Bytes of each operand from pixel to pixel and from row to row.
  Values pixel_bytes_, row_bytes_;
  Value* kept_ = nullptr;
};

}  // namespace

llvm::Function* make_winograd_part(
    VectorBuilder& b, const WinogradForm& form, const char* name, int pointers,
    int integers, llvm::function_ref<void(const WinogradPart&)> emit) {
  std::vector<llvm::Type*> types(static_cast<size_t>(1 + pointers), b.ptr());
  types.insert(types.end(), static_cast<size_t>(integers), b.i64());
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(b.context()), types, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                             b.function().getName() + "_" + name, b.module());
  function->addFnAttr(llvm::Attribute::NoInline);
  VectorBuilder inner(*function, b.level());
  emit({inner, form, inner.arg(0)});
  return function;
}

llvm::Function* make_winograd_input(VectorBuilder& b,
                                    const WinogradForm& form) {
  return make_winograd_part(b, form, "input", 2, 0, emit_input);
}

llvm::Function* make_winograd_output(VectorBuilder& b, const WinogradForm& form,
                                     bool last_panel) {
  const auto pointers =
      static_cast<int>(1 + form.extras.size() + form.outputs.size());
  return make_winograd_part(
      b, form, last_panel ? "last_output" : "output", pointers, 2,
      [&](const WinogradPart& part) { Output(part, last_panel).emit(); });
}

}  // namespace fxjit::jit
