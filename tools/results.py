"""Result files: there as a whole or not at all."""
import json


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(value, indent=1) + "\n")
    partial.replace(path)
