# Sourced: defines have_venv.
#
# have_venv FOLDER MODULES PACKAGE...: a Python environment in FOLDER that can import MODULES (a
# list with commas); the packages are installed there if it cannot. Fails, and leaves no folder, if
# that does not work.
have_venv() {
    local folder=$1 modules=$2
    shift 2
    if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c "import $modules" 2>/dev/null; then
        return 0
    fi
    if command -v python3 >/dev/null && python3 -m venv "$folder" \
        && "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"; then
        return 0
    fi
    rm -rf "$folder"
    return 1
}
