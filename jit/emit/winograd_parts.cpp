#include "jit/emit/winograd_parts.h"

#include "jit/emit/kernel_function.h"
#include "jit/emit/tile_epilogue.h"
#include "jit/emit/winograd_transforms.h"

namespace fxjit::jit {
namespace {

using program::TileAccess;
using program::WinogradShape;
using program::WinogradStep;

// One vector of channels, `offset` bytes from the pixels' first. Groups of rows
// load the input again rather than keep more than the registers hold; stores
// between them keep LLVM from joining them.
void emit_input_block(const WinogradPart& part, Value* offset, Value* out) {
  VectorBuilder& b = part.b;
  const auto points = static_cast<int>(part.shape.points);
  const auto pixel = [&](int row, int column) {
    const int64_t at = row * part.shape.places_row + column;
    Value* address = b.load_raw(b.ptr(), b.offset(b.arg(0), b.ptr(), at));
    return b.load_raw(b.vec(b.f32()), b.offset_bytes(address, offset));
  };
  for (const auto& rows : winograd_input_groups(part.step.tile, b.level())) {
    std::vector<Values> columns;
    for (int column = 0; column < points; ++column)
      columns.push_back(winograd_input(b, part.step.tile, rows, [&](int row) {
        return pixel(row, column);
      }));
    std::vector<int> all;
    for (int column = 0; column < points; ++column) all.push_back(column);
    for (size_t r = 0; r < rows.size(); ++r) {
      const Values results = winograd_input(
          b, part.step.tile, all,
          [&](int column) { return columns[static_cast<size_t>(column)][r]; });
      for (int column = 0; column < points; ++column)
        part.store(results[static_cast<size_t>(column)], out,
                   (rows[r] * points + column) * b.lanes());
    }
  }
}

void emit_input(const WinogradPart& part) {
  VectorBuilder& b = part.b;
  // The last block may overlap the one before.
  const int64_t last = part.step.channels - b.lanes();
  b.loop(
      b.i64(0), b.i64(part.shape.channel_blocks), b.i64(1), [&](Value* block) {
        Value* channel = b.ir().CreateBinaryIntrinsic(
            llvm::Intrinsic::smin, part.times(block, b.lanes()), b.i64(last));
        Value* out =
            b.offset(b.arg(1), b.f32(),
                     part.times(block, part.shape.channel_block_floats()));
        emit_input_block(part, part.times(channel, 4), out);
      });
  b.ret();
}

class Output {
 public:
  Output(const WinogradPart& part, int64_t features)
      : part_(part), features_(features) {}

  void emit() {
    VectorBuilder& b = part_.b;
    const auto pixels =
        static_cast<uint64_t>(part_.step.tile * part_.step.tile);
    kept_ = b.stack_slot(llvm::ArrayType::get(b.vec(b.f32()), pixels));
    const int64_t whole = features_ / b.lanes();
    const int64_t rest = features_ % b.lanes();
    if (whole)
      b.loop(b.i64(0), b.i64(whole), b.i64(1),
             [&](Value* v) { emit_vector(v, nullptr); });
    if (rest) emit_vector(b.i64(whole), b.tail_mask(b.i64(rest)));
    b.ret();
  }

 private:
  Value* argument(size_t i) { return part_.b.arg(static_cast<int>(1 + i)); }
  size_t operands() const {
    return part_.step.extras.size() + part_.step.outputs.size();
  }

  void emit_vector(Value* v, Value* mask) {
    VectorBuilder& b = part_.b;
    transform(b.offset(b.arg(0), b.f32(), part_.times(v, b.lanes())));
    b.loop(b.i64(0), argument(operands()), b.i64(1), [&](Value* y) {
      b.loop(b.i64(0), argument(operands() + 1), b.i64(1),
             [&](Value* x) { emit_pixel(v, y, x, mask); });
    });
  }

  // All pixels of one vector of features, row by row into `kept_`.
  void transform(Value* sums) {
    VectorBuilder& b = part_.b;
    const int64_t tile = part_.step.tile;
    const auto points = static_cast<int>(part_.shape.points);
    const int64_t width = part_.shape.panels.width();
    for (const auto& rows : winograd_output_groups(tile, b.level())) {
      std::vector<Values> columns;
      for (int column = 0; column < points; ++column)
        columns.push_back(winograd_output(b, tile, rows, [&](int row) {
          return part_.load(sums, (row * points + column) * width);
        }));
      std::vector<int> all;
      for (int column = 0; column < tile; ++column) all.push_back(column);
      for (size_t r = 0; r < rows.size(); ++r) {
        const Values results = winograd_output(b, tile, all, [&](int column) {
          return columns[static_cast<size_t>(column)][r];
        });
        for (int column = 0; column < tile; ++column)
          part_.store(results[static_cast<size_t>(column)], kept_,
                      (rows[r] * tile + column) * b.lanes());
      }
    }
  }

  void emit_pixel(Value* v, Value* y, Value* x, Value* mask) {
    VectorBuilder& b = part_.b;
    Value* kept = b.offset(kept_, b.vec(b.f32()),
                           b.add(part_.times(y, part_.step.tile), x));
    Value* pixel = b.add(part_.times(y, part_.step.out_width), x);
    const auto address = [&](size_t operand, const TileAccess& access) {
      Value* elements = b.add(part_.times(pixel, access.row),
                              part_.times(v, access.column * b.lanes()));
      return b.offset(argument(operand), b.memory_type(access.dtype), elements);
    };
    const auto& extras = part_.step.extras;
    const auto& outputs = part_.step.outputs;
    const TileEpilogue epilogue{
        part_.step.epilogue, extras, outputs,
        [&](size_t i) { return address(i, extras[i]); },
        [&](size_t i) { return address(extras.size() + i, outputs[i]); }};
    emit_tile_epilogue(b, epilogue, part_.load(kept, 0), mask);
  }

  const WinogradPart& part_;
  int64_t features_;
  Value* kept_ = nullptr;
};

}  // namespace

llvm::Function* make_winograd_part(
    VectorBuilder& b, const char* name, int pointers, int integers,
    llvm::function_ref<void(VectorBuilder&)> emit) {
  std::vector<llvm::Type*> types(static_cast<size_t>(pointers), b.ptr());
  types.insert(types.end(), static_cast<size_t>(integers), b.i64());
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(b.context()), types, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                             b.function().getName() + "_" + name, b.module());
  set_kernel_attributes(*function, b.level());
  function->addFnAttr(llvm::Attribute::NoInline);
  VectorBuilder inner(*function, b.level());
  emit(inner);
  return function;
}

llvm::Function* make_winograd_input(VectorBuilder& b, const WinogradStep& step,
                                    const WinogradShape& shape) {
  return make_winograd_part(b, "input", 2, 0, [&](VectorBuilder& inner) {
    emit_input({inner, step, shape});
  });
}

llvm::Function* make_winograd_output(VectorBuilder& b, const WinogradStep& step,
                                     const WinogradShape& shape,
                                     int64_t features) {
  const auto pointers =
      static_cast<int>(1 + step.extras.size() + step.outputs.size());
  return make_winograd_part(b, "output", pointers, 2,
                            [&](VectorBuilder& inner) {
                              const WinogradPart part{inner, step, shape};
                              Output(part, features).emit();
                            });
}

}  // namespace fxjit::jit
