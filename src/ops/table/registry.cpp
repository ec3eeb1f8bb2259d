#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>

#include "fxjit/op.h"
#include "src/ops/aten/overload.h"
#include "src/ops/table/binder.h"
#include "src/ops/table/families.h"
#include "src/ops/table/row_check.h"
#include "src/ops/table/words.h"

namespace fxjit::ops {
namespace {

struct Prefix {
  std::string_view from, to;
};

// Abbreviations in rows and look-ups, and what torch.fx prints for them.
constexpr Prefix kAbbreviations[] = {
    {"F.", "torch.nn.functional."},
    {"operator.", "_operator."},
    {"aten.", "torch.ops.aten."},
};

// Where what torch exports under a name is defined: torch.split is
// torch.functional.split.
constexpr Prefix kExports[] = {
    {"torch.fft.", "torch._C._fft.fft_"},
    {"torch.special.", "torch._C._special.special_"},
    {"torch.linalg.", "torch._C._linalg.linalg_"},
    {"torch.", "torch.functional."},
};

// The name with the first prefix that fits replaced; as it is if none does.
std::string replaced(std::string_view name, std::span<const Prefix> prefixes) {
  for (const auto& [from, to] : prefixes)
    if (name.starts_with(from))
      return std::string(to) + std::string(name.substr(from.size()));
  return std::string(name);
}

// An op whose schema is read when it is first asked for: programs use few ops,
// and to read all takes a millisecond or two of every start.
struct TableOp : Op {
  std::once_flag schema_read;

  const TableOp& read() {
    std::call_once(schema_read, [this] { parameters = row_parameters(row); });
    return *this;
  }
};

const Spelling* read(const Spelling& spelling) {
  // The ops of the registry's spellings are its own.
  static_cast<TableOp*>(const_cast<Op*>(spelling.op))->read();
  return &spelling;
}

class Registry {
 public:
  static Registry& instance() {
    // Never destroyed: ops may be used by threads that outlive main.
    static Registry* const registry = new Registry;
    return *registry;
  }

  // All rows or, where one is refused, none. Reads their schemas.
  void add(std::span<const OpRow> rows) {
    std::vector<Addition> additions = prepared(rows);
    for (Addition& addition : additions) addition.op->read();
    add(std::move(additions));
  }

  const Op* op(std::string_view name) {
    std::shared_lock lock(mutex_);
    const auto found = by_name_.find(std::string(name));
    return found == by_name_.end() ? nullptr : &found->second->read();
  }

  const Spelling* function(std::string_view name) {
    const std::string printed = replaced(name, kAbbreviations);
    if (const Spelling* overload = overload_named(printed)) return overload;
    std::shared_lock lock(mutex_);
    auto found = functions_.find(printed);
    if (found == functions_.end())
      found = functions_.find(replaced(printed, kExports));
    return found == functions_.end() ? nullptr : read(*found->second);
  }

  const Spelling* method(std::string_view name) {
    std::shared_lock lock(mutex_);
    const auto found = methods_.find(std::string(name));
    return found == methods_.end() ? nullptr : read(*found->second);
  }

  std::vector<const Op*> all() {
    std::shared_lock lock(mutex_);
    std::vector<const Op*> result;
    for (const auto& op : ops_) result.push_back(&op->read());
    return result;
  }

 private:
  struct OverloadSpelling {
    std::unique_ptr<const Overload> overload;
    Spelling spelling;
  };

  // Made when first asked for: programs use few of them.
  const Spelling* overload_named(const std::string& printed) {
    constexpr std::string_view kPrefix = "torch.ops.aten.";
    if (!printed.starts_with(kPrefix)) return nullptr;
    {
      std::shared_lock lock(mutex_);
      const auto found = overloads_.find(printed);
      if (found != overloads_.end()) return &found->second->spelling;
    }
    auto made = std::make_unique<OverloadSpelling>();
    made->overload = make_overload(printed.substr(kPrefix.size()));
    if (!made->overload) return nullptr;
    made->spelling.name = printed;
    made->spelling.op = made->overload->op;
    made->spelling.overload = made->overload.get();
    std::unique_lock lock(mutex_);
    return &overloads_.try_emplace(printed, std::move(made))
                .first->second->spelling;
  }

  // By every name of a spelling: the one that torch records, and others.
  using SharedSpelling = std::shared_ptr<const Spelling>;
  using Spellings = std::unordered_map<std::string, SharedSpelling>;

  Registry() {
    for (std::span<const OpRow> family : all_families()) add(prepared(family));
  }

  struct Addition {
    std::unique_ptr<TableOp> op;
    std::vector<std::pair<std::string, SharedSpelling>> spellings;
  };

  static std::vector<Addition> prepared(std::span<const OpRow> rows) {
    std::vector<Addition> additions;
    for (const OpRow& row : rows) additions.push_back(prepare(row));
    return additions;
  }

  static Addition prepare(const OpRow& row) {
    check_row(row);
    auto op = std::make_unique<TableOp>();
    op->row = row;
    op->canonical = {std::string(row.name), op.get()};
    auto spellings = parse_names(*op);
    return {std::move(op), std::move(spellings)};
  }

  void add(std::vector<Addition> additions) {
    std::unique_lock lock(mutex_);
    std::unordered_set<std::string> taken;
    for (const Addition& addition : additions) check_free(addition, taken);
    for (Addition& addition : additions) insert(std::move(addition));
  }

  // `taken` holds the names of the additions before.
  void check_free(const Addition& addition,
                  std::unordered_set<std::string>& taken) {
    const OpRow& row = addition.op->row;
    if (by_name_.contains(row.name) || !taken.insert(row.name).second)
      duplicate(row, row.name);
    for (const auto& [name, spelling] : addition.spellings) {
      const std::string key =
          (spelling->method ? "method " : "function ") + name;
      if (table_for(*spelling).contains(name) || !taken.insert(key).second)
        duplicate(row, name);
    }
  }

  void insert(Addition addition) {
    by_name_.emplace(addition.op->row.name, addition.op.get());
    for (auto& [name, spelling] : addition.spellings) {
      Spellings& table = table_for(*spelling);
      table.emplace(std::move(name), std::move(spelling));
    }
    ops_.push_back(std::move(addition.op));
  }

  Spellings& table_for(const Spelling& spelling) {
    return spelling.method ? methods_ : functions_;
  }

  static std::vector<std::pair<std::string, SharedSpelling>> parse_names(
      const Op& op) {
    std::vector<std::pair<std::string, SharedSpelling>> result;
    for (std::string_view name : words_of(op.row.names)) {
      if (name.front() == '=') {
        if (result.empty())
          throw UserError("[" + std::string(op.row.name) +
                          "] register_ops: names: expected a name before `" +
                          std::string(name) + "`");
        const SharedSpelling recorded = result.back().second;
        result.emplace_back(replaced(name.substr(1), kAbbreviations), recorded);
        continue;
      }
      auto spelling = std::make_shared<Spelling>();
      spelling->op = &op;
      if (name.back() == '!') {
        spelling->python_level = true;
        name.remove_suffix(1);
      }
      if (name.front() == '.') {
        spelling->method = true;
        name.remove_prefix(1);
        spelling->name = std::string(name);
      } else {
        spelling->name = replaced(name, kAbbreviations);
      }
      result.emplace_back(spelling->name, spelling);
    }
    return result;
  }

  [[noreturn]] static void duplicate(const OpRow& row, std::string_view name) {
    throw UserError("[" + std::string(row.name) + "] register_ops: `" +
                    std::string(name) + "` is already taken");
  }

  std::shared_mutex mutex_;
  std::vector<std::unique_ptr<TableOp>> ops_;
  std::unordered_map<std::string, TableOp*> by_name_;
  Spellings functions_;
  Spellings methods_;
  std::unordered_map<std::string, std::unique_ptr<const OverloadSpelling>>
      overloads_;
};

}  // namespace

int Op::index_of(std::string_view parameter) const {
  const auto found = ops::index_of(parameters, parameter);
  return found ? static_cast<int>(*found) : -1;
}

const Op* find_op(std::string_view canonical_name) {
  return Registry::instance().op(canonical_name);
}

const Spelling* find_function(std::string_view printed_name) {
  return Registry::instance().function(printed_name);
}

const Spelling* find_method(std::string_view method_name) {
  return Registry::instance().method(method_name);
}

const Op& get_op(std::string_view canonical_name) {
  const Op* op = find_op(canonical_name);
  FXJIT_CHECK(op, "no op " + std::string(canonical_name));
  return *op;
}

const Spelling& get_function(std::string_view printed_name) {
  const Spelling* spelling = find_function(printed_name);
  FXJIT_CHECK(spelling, "no function " + std::string(printed_name));
  return *spelling;
}

std::vector<const Op*> all_ops() { return Registry::instance().all(); }

void register_ops(std::span<const OpRow> rows) {
  Registry::instance().add(rows);
}

}  // namespace fxjit::ops
