"""Second front end: elaborates the RTL with slang and prints what it finds.

Usage: slang_lint.py --top MODULE FILE...    exit code 1 if there is an error or a warning.
"""

import sys

from pyslang.driver import Driver


def main() -> int:
    driver = Driver()
    driver.addStandardArgs()
    # -Wno-unused-*: one package serves all modules; Verilator's list has the exceptions.
    arguments = ["slang", "-Wextra", "-Werror", *sys.argv[1:]]
    line = " ".join(f'"{a}"' for a in arguments)
    if not (driver.parseCommandLine(line) and driver.processOptions() and driver.parseAllSources()):
        return 1
    return 0 if driver.runFullCompilation() else 1


if __name__ == "__main__":
    sys.exit(main())
