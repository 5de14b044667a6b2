#!/usr/bin/env bash
#SBATCH --job-name=rnic-merge
#SBATCH --ntasks=1
#SBATCH --mem=400
#SBATCH --time=00:10:00
set -euo pipefail
program=$1 out=$2
exec "$program" regress merge "$out"/shard-* --out "$out/merged" \
    --junit "$out/merged/junit.xml" --coverage "$out/merged/coverage"
