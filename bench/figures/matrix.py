"""Draws the matrix of Coo's table 4: the published letters, and ours beside them."""
from xml.sax.saxutils import escape

CELL, ROW, NAMES, HEAD = 30, 19, 252, 92
COLOURS = {"P": ("#e7f5ec", "#15803d", "#12301e", "#7fdca0"), "A": ("#fde3df", "#b91c1c", "#451616", "#ff9d94"),
           "R": ("#e4ecfd", "#1d4ed8", "#16254d", "#9dbbff"), "D": ("#ece7fb", "#6d28d9", "#2b1d4d", "#c9b3ff"),
           "T": ("#fdf1d2", "#8a5a00", "#3d2c08", "#f0c95d")}
WORDS = {"P": "passes", "A": "anomaly", "R": "rolled back by a rule", "D": "deadlock", "T": "timeout"}


def style():
    light = "".join(f".b{k}{{fill:{c[0]}}}.t{k}{{fill:{c[1]}}}" for k, c in COLOURS.items())
    dark = "".join(f".b{k}{{fill:{c[2]}}}.t{k}{{fill:{c[3]}}}" for k, c in COLOURS.items())
    return ("<style>text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#3d4654}"
            ".h{font-size:15px;font-weight:600;fill:#131820}.g{font-weight:600;fill:#131820}.k{font-weight:600}.back{fill:#fff}"
            ".differs{fill:none;stroke:#131820;stroke-width:2}" + light +
            "@media (prefers-color-scheme:dark){text{fill:#b8c0cc}.h,.g{fill:#f1f4f8}.back{fill:#12161d}"
            ".differs{stroke:#f1f4f8}" + dark + "}</style>")


def cell(x, y, letter, differs):
    kind = letter[0] if letter and letter[0] in COLOURS else ""
    out = f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{ROW - 2}" rx="3" class="b{kind}"/>'
    out += f'<text x="{x + CELL / 2}" y="{y + 14}" text-anchor="middle" class="k t{kind}">{escape(letter)}</text>'
    if differs:
        out += f'<rect x="{x + 1.5}" y="{y + 1.5}" width="{CELL - 3}" height="{ROW - 3}" rx="3" class="differs"/>'
    return out


def draw(title, cases, groups):
    """cases: names by number.  groups: (name, columns), a column is (name, letters by number, what to compare with)."""
    body, x = [], NAMES
    for n, (number, name) in enumerate(cases):
        body.append(f'<text x="14" y="{HEAD + n * ROW + 14}">{number}</text>')
        body.append(f'<text x="40" y="{HEAD + n * ROW + 14}">{escape(name)}</text>')
    for group, columns in groups:
        middle = x + len(columns) * CELL / 2
        for line, words in enumerate(group.split("\n")):
            style_of = "g" if line == 0 else "n"
            body.append(f'<text x="{middle}" y="{HEAD - 46 + 15 * line}" text-anchor="middle" class="{style_of}">{escape(words)}</text>')
        for name, letters, against in columns:
            body.append(f'<text x="{x + CELL / 2}" y="{HEAD - 8}" text-anchor="middle">{escape(name)}</text>')
            for n, (number, _) in enumerate(cases):
                letter = letters.get(number, "")
                differs = bool(against) and against.get(number, letter) != letter
                body.append(cell(x, HEAD + n * ROW, letter, differs) if letter else "")
            x += CELL
        x += 26
    width, y = max(x, 900), HEAD + len(cases) * ROW + 24
    at = 14
    for letter, words in WORDS.items():
        body.append(cell(at, y - 14, letter, False))
        body.append(f'<text x="{at + CELL + 5}" y="{y}">{escape(words)}</text>')
        at += CELL + 24 + 6.4 * len(words)
    body.append(f'<rect x="{at}" y="{y - 12.5}" width="{CELL - 3}" height="{ROW - 3}" rx="3" class="differs"/>')
    body.append(f'<text x="{at + CELL + 5}" y="{y}">differs from the published column</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 16}" width="{width}" height="{y + 16}" '
            f'role="img"><title>{escape(title)}</title>{style()}<rect width="100%" height="100%" class="back"/>'
            f'<text x="14" y="24" class="h">{escape(title)}</text>{"".join(body)}</svg>\n')
