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
    return solved(path, limit) == "unsatisfiable"


def model(path, models, limit):
    """Which other outputs of `models` are true when its first one, the only one of `path`, is.
    None if that was not found within the limit or cannot be; then also whether it cannot be."""
    text = abc(f"read_aiger {path}; strash; iprove -C 20000", limit)
    if "UNSATISFIABLE" in text:
        return None, True
    said = solved(models, limit)
    if said.startswith("satisfiable"):
        return [int(n) for n in said.split()[1:]], False
    return None, said == "unsatisfiable"


def solved(path, limit):
    """What sat.py says of a graph, nothing if it takes longer."""
    try:
        done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("sat.py"), path],
                              capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.strip()
