// ATen's overloads: what a call of `aten.NAME.OVERLOAD` means here. Such a call
// binds by torch's own schema of the overload, whose order, names and defaults
// may be others than those of the op that serves it; overloads.inc says which
// op that is and where its arguments come from.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

// What overloads.inc and unserved.inc say of an overload.
struct OverloadRow {
  std::string name;       // "add.Tensor", "elu.default".
  std::string call;       // "add"; empty where nothing serves it.
  std::string functions;  // "torch.add": torch's, separated by blanks.
  std::string schema;     // "(Tensor self, Tensor other, ...) -> Tensor"
};

// Of all overloads, those that follow from others as well, sorted by name.
std::span<const OverloadRow> overload_rows();

struct Overload {
  // An argument of the op: one of the overload's, a list of some, or a value.
  struct Source {
    enum class Kind : uint8_t { parameter, list, value };
    Kind kind = Kind::value;
    size_t parameter = 0;
    std::vector<Source> items;
    Value value;
  };

  std::string name;                   // "elu.default"
  std::vector<Parameter> parameters;  // torch's.
  const Op* op = nullptr;
  std::vector<Source> sources;  // One for each parameter of the op.
  std::vector<bool> is_read;    // Which `parameters` some source reads.
};

// Null when the table has nothing that serves it. `name` without "aten.". The
// caller keeps what it gets: each call makes one anew.
std::unique_ptr<Overload> make_overload(std::string_view name);

// Whether its calls write their first argument because the table asks the op
// for it: "silu_" is the op "silu" with `inplace`. Other overloads that write
// are rows that write.
bool asks_for_write(const Overload& overload);

// By torch's schema alone: one Value for each of overload.parameters.
ValueList bind_torch(const Overload& overload, std::span<const Value> args,
                     const Kwargs& kwargs, SourceLocation source = {});

// The op's arguments from a call's, all defaults filled in. TypeError with
// Python's text for surplus, missing or unknown arguments; NotImplementedError
// that names the argument for one that nothing here serves, unless it has its
// default or cannot change a result (a device, a layout, a memory format).
ValueList bind(const Overload& overload, std::span<const Value> args,
               const Kwargs& kwargs, SourceLocation source = {});

}  // namespace fxjit::ops
