#!/usr/bin/env python3
"""Draws the table that `live --sim N` prints: memory over transactions, as SVG.

    build-bench/bench/live --sim 100000000 | tee table.txt
    bench/memory_plot.py table.txt > memory.svg
"""
import sys
from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 860, 420, 76, 84, 150, 56
LINES = [("process MB", "process", "a"), ("checker MB", "checker", "b")]
STYLE = """
svg{--back:#fff;--text:#1b2130;--quiet:#5c6475;--grid:#e3e6ec;--a:#2f6cb3;--b:#c25e12;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-size:12px}
@media(prefers-color-scheme:dark){svg{--back:#12151c;--text:#e6e9f0;--quiet:#9aa3b2;--grid:#262c38;--a:#74aee6;--b:#f0a468}}
text{fill:var(--text)}.quiet{fill:var(--quiet)}.title{font-size:17px;font-weight:600}.middle{text-anchor:middle}.end{text-anchor:end}
.grid{stroke:var(--grid)}polyline{fill:none;stroke-width:2}.a{stroke:var(--a)}.b{stroke:var(--b)}
"""


def table(lines):
    """The rows of the table, by the names in its heading."""
    names, rows = None, []
    for line in lines:
        cells = line.rstrip("\n").split("\t")
        if cells[0] == "transactions":
            names = cells
        elif names and len(cells) == len(names):
            rows.append({name: float(cell) for name, cell in zip(names, cells)})
    return rows


def steps(most, wanted=6):
    """Round numbers from 0 to at least `most`."""
    size = 10.0 ** len(str(int(most)))
    while most / size < wanted:
        size /= 2 if str(size)[0] != "5" else 2.5
    return [i * size for i in range(int(most / size) + 2)]


def short(value):
    """10M, 250k."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def text(x, y, content, kind=""):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(content)}</text>'


def draw(rows):
    """The picture."""
    across, up = steps(rows[-1]["transactions"]), steps(max(row[name] for row in rows for name, _, _ in LINES))
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(x, y):
        return LEFT + wide * x / rows[-1]["transactions"], TOP + high * (1 - y / up[-1])

    last = rows[-1]
    title = f"{short(last['transactions'])} transactions of sim:, straight into the live checker"
    most = max(row["process MB"] for row in rows)
    note = f"process, with the database in it: {last['process MB']:.0f} MB in the end, {most:.0f} MB at most"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
           'aria-labelledby="title desc">', f'<title id="title">{escape(title)}</title>', f'<desc id="desc">{escape(note)}</desc>',
           f"<style>{STYLE}</style>", f'<rect width="{WIDTH}" height="{HEIGHT}" style="fill:var(--back)"/>',
           text(24, 32, title, "title"), text(24, 54, note, "quiet")]
    for value in up:
        x, y = place(0, value)
        out.append(f'<line x1="{x:g}" x2="{x + wide:g}" y1="{y:g}" y2="{y:g}" class="grid"/>' + text(x - 8, y + 4, f"{value:g} MB", "end quiet"))
    for value in across:
        if value <= rows[-1]["transactions"]:
            x, y = place(value, 0)
            out.append(text(x, y + 20, short(value), "middle quiet"))
    out.append(text(LEFT + wide / 2, HEIGHT - 12, "transactions", "middle quiet"))
    for name, called, kind in LINES:
        points = " ".join("{:.1f},{:.1f}".format(*place(row["transactions"], row[name])) for row in rows)
        x, y = place(last["transactions"], last[name])
        out.append(f'<polyline points="{points}" class="{kind}"/>' + text(x + 8, y + 4, f"{called} {last[name]:.0f} MB"))
    return "\n".join(out) + "\n</svg>\n"


def main():
    with open(sys.argv[1], encoding="utf-8") if len(sys.argv) > 1 else sys.stdin as source:
        rows = table(source)
    if not rows:
        sys.exit("memory_plot.py: there is no table in the input")
    sys.stdout.write(draw(rows))


if __name__ == "__main__":
    main()
