#!/usr/bin/env bash
# Installs what the build needs and is missing: Verilator, a C++ compiler, zlib, libclang, lz4.
# On Debian and Ubuntu by apt-get, with sudo where needed. Elsewhere it says what to install
# and ends with exit code 2. With nothing missing it does nothing.
set -euo pipefail

say() { printf '%s\n' "$*" >&2; }

# Rust is not a distribution package here: the one that Debian has is too old.
if ! command -v cargo >/dev/null; then
    say "error: cargo (Rust 1.85 or newer) is missing"
    say "  install it from https://rustup.rs:"
    say "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
    exit 2
fi

compiles() { printf '#include <%s>\n' "$1" | "${CXX:-c++}" -fsyntax-only -x c++ - 2>/dev/null; }
has_libclang() {
    if [ -n "${LIBCLANG_PATH:-}" ]; then return 0; fi
    { ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null; } | grep -q 'libclang[-.0-9]*\.so' && return 0
    # Not libclang-cpp, which comes with LLVM's own tools and is another library.
    compgen -G '/usr/lib/llvm*/lib/libclang[.-][0-9s]*' >/dev/null
}

# Newer Verilators write waveforms with the lz4 of the system; older ones bring their own.
wants_lz4() {
    local verilator=${RNIC_VERILATOR:-verilator} include
    include=$("$verilator" --getenv VERILATOR_ROOT 2>/dev/null)/include || return 1
    grep -qs '<lz4.h>' "$include"/gtkwave/* "$include"/fstcpp/* "$include"/verilated_fst_c.cpp
}

# What is missing: the Debian package names.
missing() {
    packages=()
    [ -n "${RNIC_VERILATOR:-}" ] || command -v verilator >/dev/null || packages+=(verilator)
    command -v "${CXX:-c++}" >/dev/null || packages+=(g++)
    if command -v "${CXX:-c++}" >/dev/null; then
        compiles zlib.h || packages+=(zlib1g-dev)
        if wants_lz4; then compiles lz4.h || packages+=(liblz4-dev); fi
    else
        packages+=(zlib1g-dev)
    fi
    has_libclang || packages+=(libclang-dev)
    [ "${#packages[@]}" -ne 0 ]
}

install_missing() {
    if ! command -v apt-get >/dev/null; then
        say "error: missing: ${packages[*]} (Debian's names), and this system has no apt-get"
        say "  Fedora:  dnf install verilator gcc-c++ zlib-devel lz4-devel clang-devel"
        say "  Arch:    pacman -S verilator gcc zlib lz4 clang"
        say "  macOS:   brew install verilator lz4 llvm"
        say "  or build without the hardware: cargo build --no-default-features"
        exit 2
    fi
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            say "error: missing: ${packages[*]}, and neither root nor sudo is at hand"
            say "  as root: apt-get install ${packages[*]}"
            exit 2
        fi
        as_root=(sudo)
    fi
    say "installing ${packages[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
}

missing || exit 0
install_missing
# Whether that wants more is known only now.
if missing; then install_missing; fi
