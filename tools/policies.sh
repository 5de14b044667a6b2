#!/bin/sh
# Random co-simulation in every combination of the policies that decide what becomes of a
# completion, a drain and a bad WQE; the other straps follow from the seed, and so does
# ignore_overrun, per CQ. CQs are tiny, shared and overflow.
#
#   tools/policies.sh [OPERATIONS]     per combination, 10 million if left out
#
# RNIC_COSIM names the program, else it is built (release). Ends at the first difference.
set -eu
cd "$(dirname "$0")/.."

operations=${1:-10000000}
case $operations in
  '' | *[!0-9]*) echo "tools/policies.sh: '$operations' is no number of operations" >&2; exit 2 ;;
esac
if [ -z "${RNIC_COSIM:-}" ]; then
  cargo build --release --quiet
  RNIC_COSIM=${CARGO_TARGET_DIR:-target}/release/rnic-cosim
fi

# Three profiles with tiny CQs, runs of 4,000 operations each.
profiles="tiny-cqs cascade churn"
seeds=$((operations / 3 / 4000 + 1))
log=$(mktemp)
trap 'rm -f "$log"' EXIT
combinations=0
first=1
for scope in affected sticky cascade; do
  for full in keep_unread overwrite; do
    for sqd in drain_posted hold_unstarted; do
      for check in at_post in_pipeline; do
        for profile in $profiles; do
          # Fresh seeds for each, so that the other straps are drawn anew.
          if ! "$RNIC_COSIM" regress --profile "$profile" --config default --ops 4000 \
            --seeds "$first..$((first + seeds))" --policy "cq_scope=$scope" \
            --policy "cq_full=$full" --policy "sqd=$sqd" --policy "wqe_check=$check" \
            >"$log" 2>&1; then
            cat "$log" >&2
            exit 1
          fi
          first=$((first + seeds))
        done
        combinations=$((combinations + 1))
        echo "$combinations of 24: cq_scope=$scope cq_full=$full sqd=$sqd wqe_check=$check:" \
          "$((3 * seeds * 4000)) operations, no difference"
      done
    done
  done
done
