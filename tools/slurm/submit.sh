#!/usr/bin/env bash
# Hands a campaign to Slurm: an array job of shards, and a job that merges them.
#
#   tools/slurm/submit.sh SHARDS OUT [arguments of regress]
#
# OUT must be seen by all nodes. RNIC_COSIM names the program if it is not
# target/release/rnic-cosim. Prints the number of the job that merges.
set -euo pipefail

if [ $# -lt 2 ] || ! [[ $1 =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: $0 SHARDS OUT [arguments of regress]" >&2
    exit 2
fi
shards=$1 out=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
program=$(readlink -f "${RNIC_COSIM:-target/release/rnic-cosim}")
if [ ! -x "$program" ]; then
    echo "error: $program is missing: cargo build --release" >&2
    exit 2
fi
mkdir -p "$out/logs"
out=$(cd "$out" && pwd)

array=$(sbatch --parsable --array="1-$shards" --output="$out/logs/shard-%a.txt" \
    "$here/shard.sh" "$program" "$shards" "$out" "$@")
# After shards that failed too: their failures are what is looked for.
sbatch --parsable --dependency="afterany:$array" --output="$out/logs/merge.txt" \
    "$here/merge.sh" "$program" "$out"
