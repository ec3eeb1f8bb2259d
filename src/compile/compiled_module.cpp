#include "src/compile/compiled_module.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <utility>

#include "fxjit/log.h"
#include "kernels/kernels.h"
#include "src/compile/background.h"
#include "src/compile/input_key.h"
#include "src/support/errors/exception_text.h"
#include "src/support/machine/cache_sizes.h"
#include "src/support/machine/cpu_quota.h"
#include "src/support/machine/dot_products.h"
#include "src/support/machine/processor.h"
#include "src/support/machine/tile_products.h"
#include "src/support/threads/own_stack.h"

namespace fxjit {
namespace {

// Free output blocks that a module keeps for its next calls, beside the cap of
// its programs but in proportion to it.
size_t kept_output_bytes(size_t memory_cap) {
  constexpr size_t kMost = size_t{64} << 20;
  constexpr size_t kShare = 8;
  return std::min(kMost, memory_cap / kShare);
}

// The share of the cap that graphs of named sizes may take.
size_t most_kind_bytes(size_t memory_cap) { return memory_cap / 4; }

ValueList signature_of(std::span<const Value> inputs) {
  ValueList metas;
  for (const Value& input : inputs)
    metas.push_back(map_leaves(input, [](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const Tensor& t = leaf.as_tensor();
      return Tensor::meta(t.sizes(), t.dtype(), t.strides());
    }));
  return metas;
}

bool have_data(std::span<const Value> inputs) {
  bool all = true;
  for (const Value& input : inputs)
    visit_leaves(input, [&](const Value& leaf) {
      all = all && !(leaf.is_tensor() && leaf.as_tensor().is_meta());
    });
  return all;
}

// For FXJIT_DEBUG: one line for each program, at the second level its steps.
void tell(const CompiledShape& shape) {
  if (log_level() > LogLevel::info) return;
  const Profile& t = shape.timings();
  std::array<char, 80> times;
  std::snprintf(times.data(), times.size(),
                "; passes %.1f, code %.1f, packing %.1f ms%s", t.passes_ms,
                t.emit_ms + t.optimise_ms + t.codegen_ms + t.link_ms, t.pack_ms,
                t.from_disk_cache ? ", from the disk cache" : "");
  const std::string heading = Report{{shape.heading()}}.text();
  log(LogLevel::info,
      "[compile] " + heading.substr(0, heading.find('\n')) + times.data());
  if (log_level() == LogLevel::debug)
    log(LogLevel::debug, "[compile] " + Report{{shape.report()}}.text());
}

int thread_count(const CompileOptions& options) {
  return options.threads > 0 ? options.threads : support::available_cpus();
}

// This machine, as far as `options` let programs use it.
program::Machine machine_for(const CompileOptions& options, CpuLevel level) {
  return {.level = level,
          .cache_bytes = static_cast<int64_t>(support::cache_sizes()[1]),
          .threads = thread_count(options),
          .halves = kernels::fast_halves(),
          .fast_products = support::host_is_intel(),
          .dot_products =
              options.dot_products && support::host_has_dot_products(level),
          .tile_products = options.dot_products && options.tile_products &&
                           support::host_has_tile_products(level)};
}

}  // namespace

CompiledModule::CompiledModule(nn::Ref<fx::GraphModule> module,
                               CompileOptions options, passes::PassHooks hooks)
    : source_(std::make_shared<GraphSource>(std::move(module))),
      options_(std::move(options)),
      declared_(source_->module->graph(), options_.sizes),
      hooks_(std::move(hooks)),
      loop_limits_{options_.loop_limit, options_.interrupted},
      engine_(Engine::shared(options_)),
      machine_(machine_for(options_, engine_.level())),
      weights_(engine_.level()),
      kinds_(most_kind_bytes(options_.memory_cap)),
      blocks_(kept_output_bytes(options_.memory_cap)),
      shapes_(options_.memory_cap) {}

CompiledModule::Shape CompiledModule::for_call(std::span<const Value> inputs) {
  Shape shape = shapes_.find(inputs);
  if (!shape) {
    if (!have_data(inputs)) return nullptr;  // The interpreter infers shapes.
    declared_.of(inputs);  // Throws for sizes that are not as declared.
    const Request request{source(), nullptr, inputs, nullptr};
    if (!request.source) return nullptr;
    if (options_.new_shape == CompileOptions::NewShape::behind) {
      compile_behind(request);
      return nullptr;
    }
    shape = get(request);
  }
  return shape->compiled() ? shape : nullptr;
}

bool CompiledModule::run(std::span<const Value> inputs, Value* result) {
  Shape shape = for_call(inputs);
  if (!shape) return false;
  if (!shape->whole()) {
    Source graph = source();
    if (!graph || !have_data(inputs)) return false;
    *result = staged_run(std::move(graph)).run(inputs, std::move(shape));
    return true;
  }
  try {
    *result = shape->run(inputs, blocks_);
  } catch (const program::ValueFailure&) {
    return false;  // The interpreter finds it again, with node and line.
  }
  return true;
}

const fx::LoopLimits* CompiledModule::limits() const {
  const bool limited = loop_limits_.iterations > 0 || loop_limits_.interrupted;
  return limited ? &loop_limits_ : nullptr;
}

bool CompiledModule::run_into(std::span<const Value> inputs,
                              std::span<const Tensor> bound, Value* result) {
  const Shape shape = for_call(inputs);
  if (!shape || !shape->whole()) return false;
  try {
    *result = shape->run_into(inputs, bound, blocks_);
  } catch (const program::ValueFailure&) {
    return false;  // The interpreter finds it again, with node and line.
  }
  return true;
}

CompiledModule::Source CompiledModule::source() const {
  std::lock_guard lock(source_mutex_);
  return source_;
}

StagedRun CompiledModule::staged_run(Source source) {
  return StagedRun(
      source,
      [this, source](const fx::Node& begin, const GraphParts::Known& known) {
        return next_part(source, begin, known);
      },
      blocks_, limits());
}

CompiledModule::Shape CompiledModule::next_part(
    const Source& source, const fx::Node& begin,
    const GraphParts::Known& known) {
  const Request request{source, &begin, {}, known};
  if (Shape shape = find(request)) return shape;
  if (retired()) return nullptr;
  if (options_.new_shape == CompileOptions::NewShape::wait) return get(request);
  compile_behind(request);
  return nullptr;
}

std::optional<ValueList> CompiledModule::key_of(const Request& request) const {
  if (!request.begin)
    return ValueList(request.inputs.begin(), request.inputs.end());
  const GraphParts::Nodes* reads = request.source->parts.read_by(request.begin);
  if (!reads) return std::nullopt;
  ValueList key{Value(const_cast<fx::Node*>(request.begin))};
  for (const fx::Node* node : *reads) key.push_back(request.known(*node));
  return key;
}

CompiledModule::Shape CompiledModule::find(const Request& request) const {
  if (!request.begin) return shapes_.find(request.inputs);
  const std::optional<ValueList> key = key_of(request);
  return key ? shapes_.find(*key) : nullptr;
}

CompiledModule::Shape CompiledModule::get(std::span<const Value> inputs) {
  declared_.of(inputs);
  const Request request{source(), nullptr, inputs, nullptr};
  return request.source ? get(request) : nullptr;
}

CompiledModule::Shape CompiledModule::get(const Request& request) {
  if (Shape shape = find(request)) return shape;
  std::lock_guard lock(compile_mutex_);
  if (Shape shape = find(request)) return shape;
  return make(request);
}

// Compiles an entry and adds it. An entry that cannot be compiled is added too,
// so that this is tried once; each reason is reported once, whatever the
// shapes. The user's own errors are left to the interpreter, which finds them
// again with the values at hand.
CompiledModule::Shape CompiledModule::make(const Request& request) {
  // Most programs that differ only in numbers which a node between parts gave.
  // A number that is new in each call must not cause a compilation in each.
  constexpr int kMostVariants = 8;
  if (const auto key = key_of(request);
      key && request.begin && variants_[hash_shapes(*key)] >= kMostVariants)
    return nullptr;
  CompiledShape::Parts parts = build_or_say_why(request);
  const ValueList key = *key_of(request);
  const size_t hash = hash_inputs(key);
  const bool compiled = !parts.of_kind || parts.timings.emit_ms > 0;
  if (request.begin && compiled) ++variants_[hash_shapes(key)];
  parts.source = request.source;
  parts.signature = signature_of(key);
  auto shape = std::make_shared<const CompiledShape>(std::move(parts));
  kind_bytes_ = kinds_.bytes();
  shapes_.add(hash, shape, kind_bytes_);
  if (retired()) {  // retire() may have come just before.
    shapes_.clear();
    kinds_.clear();
  }
  tell(*shape);
  return shape;
}

CompiledShape::Parts CompiledModule::build_or_say_why(const Request& request) {
  CompiledShape::Parts parts;
  const auto refuse = [&](const std::string& why, const std::string& full) {
    parts = {};
    parts.begin = request.begin;
    parts.why_not = why;
    note_reason(full);
  };
  try {
    support::run_with_compile_stack([&] { parts = build(request); });
  } catch (const Error& error) {
    refuse(error.message(), error.what());
  } catch (const std::bad_alloc&) {
    refuse("no memory to compile it", "no memory to compile it");
  } catch (...) {
    // Ops and modules of the user's throw what they like.
    const std::string why = "compiling it threw: " + support::exception_text();
    refuse(why, why);
  }
  return parts;
}

void CompiledModule::note_reason(const std::string& full) {
  if (reported_.insert(full).second)
    log(LogLevel::warning, "a call stays with the interpreter: " + full);
}

void CompiledModule::compile_behind(const Request& request) {
  // Shapes only: what the caller holds may be gone by then.
  ValueList inputs = signature_of(request.inputs);
  std::map<const fx::Node*, Value> known;
  size_t hash = hash_inputs(inputs);
  if (request.begin) {
    ValueList values{Value(const_cast<fx::Node*>(request.begin))};
    for (const fx::Node* node :
         request.source->parts.read_from(*request.begin)) {
      values.push_back(request.known(*node));
      known[node] = signature_of({&values.back(), 1})[0];
    }
    hash = hash_inputs(values);
  }
  {
    std::lock_guard lock(pending_mutex_);
    if (!pending_.insert(hash).second)
      return BackgroundCompiler::shared().resume();
  }
  const bool taken = BackgroundCompiler::shared().submit(
      [weak = weak_from_this(), source = std::weak_ptr(request.source),
       begin = request.begin, inputs = std::move(inputs),
       known = std::move(known), hash] {
        const std::shared_ptr<CompiledModule> self = weak.lock();
        Source graph = source.lock();
        if (!self || !graph || self->retired()) return;
        self->get(Request{std::move(graph), begin, inputs,
                          [&known](const fx::Node& node) -> const Value& {
                            return known.at(&node);
                          }});
        std::lock_guard lock(self->pending_mutex_);
        self->pending_.erase(hash);
      });
  if (taken) return;
  std::lock_guard lock(pending_mutex_);
  pending_.erase(hash);
  if (!std::exchange(no_thread_, true))
    log(LogLevel::warning,
        "the system gives no thread to compile behind calls: the interpreter "
        "serves them");
}

void CompiledModule::retire() {
  retired_.store(true);
  {
    std::lock_guard lock(source_mutex_);
    source_.reset();
  }
  shapes_.clear();
  // Who compiles now does it when done.
  if (const std::unique_lock lock(compile_mutex_, std::try_to_lock); lock)
    kinds_.clear();
  blocks_.stop_caching();
}

CompiledSize CompiledModule::program_size() const {
  CompiledSize size{0, kind_bytes_};
  size_t working = 0;  // Shared by the programs.
  for (const auto& shape : shapes_.all()) {
    ++size.programs;
    size.bytes += shape->bytes();
    working = std::max(working, shape->working_bytes());
  }
  size.bytes += working;
  return size;
}

Report CompiledModule::report() const {
  Report report;
  for (const auto& shape : shapes_.all())
    report.programs.push_back(shape->report());
  std::lock_guard lock(compile_mutex_);
  report.kinds = kinds_.report();
  return report;
}

}  // namespace fxjit
