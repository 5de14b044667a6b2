# Sourced: sets rtl_python to a Python with the tools that read the RTL and draw its waves, in
# their pinned versions. Empty if there is none; rtl_python_missing then says why.
rtl_venv=${RNIC_VENV:-target/lint-venv}
rtl_python=$rtl_venv/bin/python
rtl_python_missing=
if ! { [ -x "$rtl_python" ] && "$rtl_python" -c 'import fusesoc, pyslang, wavedrom' 2>/dev/null; }; then
    if ! command -v python3 >/dev/null; then
        rtl_python_missing="python3 is missing"
    elif ! { python3 -m venv "$rtl_venv" && "$rtl_venv/bin/pip" install --quiet \
        --disable-pip-version-check 'pyslang==12.1.0' 'fusesoc==2.4.7' 'wavedrom==2.0.3.post3'; }; then
        rm -rf "$rtl_venv"
        rtl_python_missing="pyslang, fusesoc and wavedrom could not be installed into $rtl_venv (python3-venv missing, or no network)"
    fi
    if [ -n "$rtl_python_missing" ]; then rtl_python=; fi
fi
