# Shared by the scripts of this folder; sourced, from the repository's root.

say() { echo "$*"; }

# fail <line>...: an error message, one argument a line, and the end.
fail() {
  { printf 'error: '; printf '%s\n' "$@"; } >&2
  exit 1
}

# fail_with_log <text>...: shows the end of $log first.
fail_with_log() {
  tail -n 25 "$log" >&2
  fail "$*" "(whole output: $log)"
}

# Where the model stands, fetched or the user's own.
model_dir() {
  local cache=${XDG_CACHE_HOME-}
  [[ $cache == /* ]] || cache=${HOME:?HOME is not set}/.cache
  echo "${FXJIT_MODEL_DIR:-$cache/fxjit/models/all-minilm-l6-v2}"
}

# build <preset> [target]...
build() {
  local preset=$1 targets=()
  shift
  [ $# -gt 0 ] && targets=(--target "$@")
  say "building build/$preset"
  cmake --build "build/$preset" -j "$(nproc)" "${targets[@]}"
}
