#include "src/passes/fusing/apart.h"

namespace fxjit::passes {

std::string_view apart_text(Apart apart) {
  switch (apart) {
    case Apart::none:
      break;
    case Apart::switched_off:
      return "the pass that would fuse them is switched off";
    case Apart::full_group:
      return "the step has as many nodes as fit into registers";
    case Apart::other_shape:
      return "the loops of the two run over different shapes";
    case Apart::other_rows:
      return "the rows of the two consist of different dims";
    case Apart::other_order:
      return "it is read through a view, in another order";
    case Apart::leaves_and_back:
      return "another step stands between them on a second path";
    case Apart::second_product:
      return "the step already ends another product or reduction";
    case Apart::cheaper_again:
      return "what reads the result computes it again for less from what the "
             "product stores anyway";
    case Apart::positions:
      return "the values depend on their positions, which these loops do not "
             "count";
    case Apart::read_by_others:
      return "the value is also read by another step";
    case Apart::unfit_epilogue:
      return "the tiles of the product cannot address or compute it";
    case Apart::no_epilogue:
      return "what computes the value takes no work on its results";
    case Apart::product_operand:
      return "a product reads each element many times, so the value is stored "
             "first";
    case Apart::picked:
      return "elements are picked by an index, so all of them must be stored "
             "first";
    case Apart::routine_operand:
      return "a routine reads finished values from memory";
  }
  return "";
}

}  // namespace fxjit::passes
