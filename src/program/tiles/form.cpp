#include "src/program/tiles/form.h"

namespace fxjit::program {

std::string form_key(const TileForm& form) {
  std::string text = "tile";
  for (int number : {form.rows, form.vectors, int{form.masked}, form.panels,
                     form.depth_parts, int{form.prefetches},
                     int{form.has_window}, int{form.packs}})
    text += " " + std::to_string(number);
  text += std::string(" ") + weights::format_name(form.weights);
  if (const weights::Blocks& b = form.blocks; b.size > 0)
    for (const int64_t number :
         {b.size, int64_t{b.bits}, int64_t{b.has_zeros}, int64_t{b.has_halves}})
      text += " " + std::to_string(number);
  for (DType dtype : {form.lhs, form.sums})
    text += " " + std::string(dtype_name(dtype));
  return text + form.epilogue_key();
}

}  // namespace fxjit::program
