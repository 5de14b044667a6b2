# Sourced: sets rtl_python to a Python with the tools that read the RTL and draw its waves, in
# their pinned versions. Empty if there is none; rtl_python_missing then says why, and
# need_rtl_python ends the script with that.
. "$(dirname "${BASH_SOURCE[0]}")/venv.sh"
rtl_venv=${RNIC_VENV:-target/lint-venv}
rtl_python=$rtl_venv/bin/python
rtl_python_missing=
if ! have_venv "$rtl_venv" 'fusesoc, pyslang, wavedrom' \
    'pyslang==12.1.0' 'fusesoc==2.4.7' 'wavedrom==2.0.3.post3'; then
    rtl_python=
    rtl_python_missing="pyslang, fusesoc and wavedrom could not be installed into $rtl_venv (python3 with venv missing, or no network)"
fi

need_rtl_python() {
    if [ -z "$rtl_python" ]; then
        echo "error: $rtl_python_missing" >&2
        exit 2
    fi
}
