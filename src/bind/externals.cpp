#include "src/bind/externals.h"

#include "kernels/kernels.h"
#include "src/program/running/control_code.h"
#include "src/program/running/eager_code.h"
#include "src/program/running/pack_code.h"
#include "src/program/running/update_code.h"

namespace fxjit::bind {
namespace {

using Code = std::shared_ptr<const program::ExternCode>;

class Maker {
 public:
  Maker(const program::Step& step, const Surroundings& around)
      : step_(step), around_(around) {}

  Code operator()(const program::CallSpec& call) const {
    const kernels::CallRequest request{
        ops::get_op(call.op), call.args, constants_of(call),
        call.results,         level(),   &around_.packer};
    if (Code made = kernels::make_call_code(call.code, request, threads()))
      return made;
    return std::make_shared<program::EagerCode>(call);
  }
  Code operator()(const program::LibraryProduct& product) const {
    return kernels::make_library_product(product.tile, level(), threads());
  }
  Code operator()(const program::RunTimePack& pack) const {
    return std::make_shared<program::PackCode>(pack, level());
  }
  Code operator()(const program::UpdateSpec& update) const {
    return std::make_shared<program::UpdateCode>(update);
  }
  Code operator()(const program::WriteBack& copy) const {
    return std::make_shared<program::WriteBackCode>(copy);
  }
  Code operator()(const program::ControlCall& call) const {
    std::vector<std::shared_ptr<const program::Executable>> programs;
    for (const program::ControlCall::Body& body : call.bodies)
      programs.push_back(around_.bodies[static_cast<size_t>(body.program)]);
    return program::make_control_code(call, std::move(programs),
                                      around_.limits);
  }

 private:
  CpuLevel level() const { return around_.program.machine.level; }
  int threads() const { return around_.program.machine.threads; }

  // The tensors of the call that are constants as they are, not views of some.
  std::vector<Tensor> constants_of(const program::CallSpec& call) const {
    std::vector<Tensor> constants;
    for (const Value& arg : call.args)
      visit_leaves(arg, [&](const Value& leaf) {
        if (!leaf.is_tensor()) return;
        const program::OperandRef& ref = step_.operands[constants.size()];
        constants.push_back(constant_at(ref, leaf.as_tensor()));
      });
    return constants;
  }

  Tensor constant_at(const program::OperandRef& ref, const Tensor& meta) const {
    const program::Buffer& buffer =
        around_.program.buffers[static_cast<size_t>(ref.buffer)];
    if (buffer.home != program::Home::constant || ref.byte_offset != 0)
      return {};
    const Tensor& constant =
        around_.constants[static_cast<size_t>(buffer.index)];
    return spec_of(constant) == spec_of(meta) ? constant : Tensor();
  }

  const program::Step& step_;
  const Surroundings& around_;
};

}  // namespace

Code make_external(const program::Step& step, const Surroundings& around) {
  return std::visit(Maker(step, around),
                    std::get<program::ExternStep>(step.body).what);
}

}  // namespace fxjit::bind
