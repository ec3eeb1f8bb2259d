#include "src/program/columns/as_rows.h"

#include <utility>

namespace fxjit::program {

RowStep to_rows(ColumnStep step) {
  RowStep rows;
  static_cast<Loops&>(rows) = std::move(step);
  rows.body = std::move(step.body);
  rows.outer.push_back(rows.inner);
  rows.inner = rows.reduce[0];
  rows.reduce = {};
  for (std::vector<Access>* accesses : {&rows.inputs, &rows.outputs})
    for (Access& access : *accesses) {
      access.outer.push_back(access.inner);
      access.inner = access.reduce[0];
      access.reduce = {};
    }
  return rows;
}

ColumnStep to_columns(RowStep step) {
  ColumnStep columns;
  static_cast<Loops&>(columns) = std::move(step);
  columns.body = std::move(step.body);
  const int last = columns.outer.size() - 1;
  columns.reduce = {columns.inner};
  columns.inner = columns.outer[last];
  columns.outer.erase(last);
  for (std::vector<Access>* accesses : {&columns.inputs, &columns.outputs})
    for (Access& access : *accesses) {
      access.reduce = {access.inner};
      access.inner = access.outer[last];
      access.outer.erase(last);
    }
  return columns;
}

}  // namespace fxjit::program
