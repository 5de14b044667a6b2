"""abc, which answers questions that are written as graphs."""
import os
import pathlib
import subprocess
import sys

import pyosys

ABC = pathlib.Path(pyosys.__file__).parent / "yosys-abc"


def abc(script, limit):
    """What it prints, or nothing if it takes longer than the limit by far."""
    try:
        done = subprocess.run([str(ABC), "-q", script], capture_output=True, text=True,
                              timeout=limit + 20)
        return done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return ""


def own_folder(work):
    """Where this process, one of several, may write its graphs."""
    folder = work / f"sort-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    return folder


def unsatisfiable(path, limit):
    """Proved within the limit? What abc leaves undecided is asked of a solver without one of conflicts."""
    text = abc(f"read_aiger {path}; strash; iprove -C 20000", limit)
    if "SATISFIABLE" in text:
        return "UNSATISFIABLE" in text
    try:
        done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("sat.py"), path],
                              capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return False
    return done.stdout.strip() == "unsatisfiable"
