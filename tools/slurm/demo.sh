#!/usr/bin/env bash
# A Slurm of one node on this machine, for as long as it takes: brings up munge, slurmctld and
# slurmd (Debian's packages, as root, no systemd), runs a campaign as an array job with a
# dependent merge, compares the merged files with those of one unsharded run, takes all down.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "error: the demonstration needs root and apt-get" >&2
    exit 2
fi
if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        slurmctld slurmd slurm-client munge
fi
export RNIC_COSIM=${RNIC_COSIM:-target/release/rnic-cosim}
[ -x "$RNIC_COSIM" ] || cargo build --release

work=$(mktemp -d)
started=()
finish() {
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${started[@]}"; do wait "$pid" || true; done
    rm -rf "$work"
}
trap finish EXIT

# In the foreground, as children: ended by their number and by nothing else.
mkdir -p /run/munge
[ -f /etc/munge/munge.key ] || { dd if=/dev/urandom bs=1 count=1024 status=none > /etc/munge/munge.key; chmod 400 /etc/munge/munge.key; }
if [ ! -S /run/munge/munge.socket.2 ]; then
    munged --force --foreground > "$work/munged.log" 2>&1 &
    started+=($!)
fi
host=$(hostname -s)
mkdir -p "$work/state" "$work/spool"
cat > "$work/slurm.conf" <<CONF
ClusterName=demo
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=2000 State=UNKNOWN
PartitionName=regress Nodes=$host Default=YES State=UP
CONF
export SLURM_CONF=$work/slurm.conf
sleep 1
slurmctld -D -f "$SLURM_CONF" > /dev/null 2>&1 & started+=($!)
slurmd -D -f "$SLURM_CONF" > /dev/null 2>&1 & started+=($!)
for _ in $(seq 30); do
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ] && break
    sleep 1
done
sinfo

campaign=(--config "${CONFIG:-small}" --seeds "${SEEDS:-0..20}" --ops "${OPS:-5000}")
shards=${SHARDS:-8}
out=$PWD/out/slurm
rm -rf "$out"
begin=$SECONDS
merge=$(tools/slurm/submit.sh "$shards" "$out" "${campaign[@]}")
echo "array of $shards shards and job $merge, which merges them"
while squeue --noheader --jobs "$merge" --format=%T 2>/dev/null | grep -q .; do sleep 1; done
echo "done after $((SECONDS - begin)) s"
cat "$out/logs/merge.txt"

"$RNIC_COSIM" regress "${campaign[@]}" --out "$out/whole" --junit "$out/whole/junit.xml" \
    --coverage "$out/whole/coverage" > "$out/logs/whole.txt"
diff -r "$out/merged" "$out/whole"
echo "the merged files equal those of one unsharded run"
