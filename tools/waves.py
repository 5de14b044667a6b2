"""Draw every WaveJSON file of a folder as SVG beside it.

usage: waves.py FOLDER

Each drawing carries its source in a comment, so that a test can tell one that is out of date.
"""
import pathlib
import sys
import xml.etree.ElementTree as xml

import wavedrom

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"


def drawn(text):
    """The drawing, on white, without the shapes that it does not use: they are most of it."""
    root = xml.fromstring(wavedrom.render(text).tostring())
    root.set("style", "background:white")
    used = {element.get(XLINK, "").removeprefix("#") for element in root.iter()}
    for shapes in root.iter(f"{SVG}defs"):
        for shape in [s for s in shapes if s.tag == f"{SVG}g" and s.get("id") not in used]:
            shapes.remove(shape)
    return xml.tostring(root, encoding="unicode")


def main():
    xml.register_namespace("", SVG.strip("{}"))
    xml.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    for source in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        text = source.read_text()
        body = drawn(text).removesuffix("</svg>")
        source.with_suffix(".svg").write_text(f"{body}<!--\n{text}--></svg>\n")


if __name__ == "__main__":
    main()
