// Chooses the loops for a row: the part of grouped_row.cpp above its loops,
// included once per CPU level after the loops of each vector width.

inline void grouped_places(const GroupedRow& row) {
  constexpr int kLanes = sizeof(wide::Vector) / sizeof(float);
  constexpr int kRegisters = kLanes == 16 ? 32 : 16;
  const auto with = [&]<int kInputs>() {
    if constexpr (kInputs <= kLanes)
      return row.stride * row.span == 1
                 ? wide::some_places<kInputs, 1, kRegisters>(row)
                 : wide::some_places<kInputs, 2, kRegisters>(row);
  };
  switch (row.inputs) {
#define FXJIT_CASE(inputs) \
  case inputs:             \
    return with.template operator()<inputs>();
    FXJIT_CASE(2)
    FXJIT_CASE(3)
    FXJIT_CASE(4)
    FXJIT_CASE(5)
    FXJIT_CASE(6)
    FXJIT_CASE(7)
    FXJIT_CASE(8)
    FXJIT_CASE(12)
#undef FXJIT_CASE
    default:
      throw InternalError("no loops for groups of this size");
  }
}
