#!/usr/bin/env bash
#SBATCH --job-name=rnic-regress
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=400
#SBATCH --time=04:00:00
# Two minutes before the time is over: it ends with what was found so far.
#SBATCH --signal=B:TERM@120
set -euo pipefail
program=$1 shards=$2 out=$3
shift 3
# The signal must reach the program itself.
exec "$program" regress --shard "$SLURM_ARRAY_TASK_ID/$shards" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --out "$out/shard-$SLURM_ARRAY_TASK_ID" "$@"
