# For sourcing: with_progress WHAT LOG COMMAND... runs the command with its output in LOG, and shows its progress. On a terminal that is
# one line, elsewhere a line every ten percent. It reads the counts of ninja ("[12/301] Building ...") and of apt
# ("pmstatus:cmake:40.1:Unpacking cmake"). If the command fails, it shows the end of LOG and returns the command's status.
with_progress() {
  local what=$1 log=$2 line percent text shown=0 started=$SECONDS columns
  shift 2
  columns=$(tput cols 2>/dev/null || echo 80)
  mkdir -p "$(dirname "$log")"
  echo "$what"
  "$@" 2>&1 | tee "$log" | while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]]; then
      percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      text="[${BASH_REMATCH[1]}/${BASH_REMATCH[2]}] ${BASH_REMATCH[3]}"
    elif [[ $line =~ ^[dp][lm]status:[^:]*:([0-9]+)[^:]*:(.*) ]]; then
      percent=${BASH_REMATCH[1]} text=${BASH_REMATCH[2]}
    else
      continue
    fi
    if [ -t 1 ]; then
      line=$(printf '%4d %%  %s' "$percent" "$text")
      printf '\r\033[K%s' "${line:0:columns-1}"
    elif [ "$percent" -lt "$shown" ] || { [ "$percent" -ge $((shown + 10)) ] && [ "$percent" -lt 100 ]; }; then
      shown=$((percent / 10 * 10))
      printf '%4d %%  after %d s\n' "$percent" $((SECONDS - started))
    fi
  done || {
    local status=$?
    printf '\nfailed; the end of %s:\n' "$log" >&2
    sed -n '/^FAILED:/,$p' "$log" | grep . >&2 || tail -n 50 "$log" >&2
    return "$status"
  }
  if [ -t 1 ]; then printf '\r\033[K'; fi
  printf '  done  after %d s\n' $((SECONDS - started))
}
