# Steps: each has a log and a status of its own; none stops the others.

# step NAME COMMAND...: run it, keep its output and its result apart; returns the command's exit status.
step() {
    local name=$1 began=$SECONDS code
    shift
    "$@" >"$scratch/$name.log" 2>&1 </dev/null
    code=$?
    local words="ok"
    [ $code -eq 0 ] || words="FAILED (exit status $code)"
    printf '%-16s %5d s  %s\n' "$name" $((SECONDS - began)) "$words" | tee "$scratch/$name.status.new"
    mv "$scratch/$name.status.new" "$scratch/$name.status"
    echo "$name" >>"$scratch/order"
    return $code
}

# The last line that pytest closed with in a log, if there is one.
closing_line() {
    grep -aE '^(=+ )?[0-9]+ (passed|failed|error|skipped|deselected).* in [0-9.]+s' "$1" | tail -n 1
}

# Print all logs, the failed ones last, then the summary and a closing line; exit 1 if anything failed.
report() {
    local name names failed=() closing
    mapfile -t names <"$scratch/order"
    for name in "${names[@]}"; do
        if grep -q FAILED "$scratch/$name.status"; then failed+=("$name"); else print_log "$name"; fi
    done
    for name in "${failed[@]}"; do print_log "$name"; done
    printf '\n######## Summary, after %d s\n' "$SECONDS"
    for name in "${names[@]}"; do cat "$scratch/$name.status"; done
    closing=$(closing_line "$scratch/newest.tests.log" 2>/dev/null)
    for name in "${failed[@]}"; do
        [ -n "$(closing_line "$scratch/$name.log")" ] && closing=$(closing_line "$scratch/$name.log") && break
    done
    if [ ${#failed[@]} -eq 0 ]; then echo "Everything passed."; else echo "FAILED: ${failed[*]}"; fi
    echo "${closing:-0 passed, 1 failed}"
    [ ${#failed[@]} -eq 0 ]
}

print_log() {
    printf '\n######## %s\n' "$(cat "$scratch/$1.status")"
    cat "$scratch/$1.log"
}
