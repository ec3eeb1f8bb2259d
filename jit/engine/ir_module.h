// A finished LLVM module together with its context, movable without LLVM's
// headers. Emitters make one through compiler_llvm.h, tests through parse_ir;
// jit::Compiler consumes it. Used by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace fxjit::jit {

class IrModule {
 public:
  struct Impl;

  explicit IrModule(std::unique_ptr<Impl> impl);
  IrModule(IrModule&&) noexcept;
  IrModule& operator=(IrModule&&) noexcept;
  ~IrModule();

  // The module's name: file stem of its dumps.
  std::string name() const;
  // The textual IR.
  std::string text() const;

  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Reads textual LLVM IR. Throws UserError with line and reason.
IrModule parse_ir(std::string_view text, std::string_view name);

}  // namespace fxjit::jit
