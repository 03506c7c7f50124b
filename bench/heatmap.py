"""Draws where the time of a sweep went: a heat map as SVG, a row of panels for each level (see bench/sweep)."""
from html import escape

# What is across and what is up in each panel: property, and what to call it.
PANELS = [
    (("sessions", "sessions"), ("keys", "keys")),
    (("transactions", "transactions"), ("reads", "share of reads")),
    (("operations", "operations per transaction"), ("duplicates", "repeated values")),
]
PERCENT = {"reads", "duplicates"}
# Seconds below which a colour stands, light and dark theme; the last has no end.
RAMP = [
    (0.1, "#f1f5fb", "#1b2432"),
    (0.3, "#dbe7f6", "#1f3350"),
    (1, "#b9d1ee", "#24466f"),
    (3, "#8db5e3", "#2b5f97"),
    (10, "#5d92d1", "#3f83c4"),
    (30, "#2f6cb3", "#74aee6"),
    (None, "#123f7a", "#bcdcff"),
]
WHITE_FROM, BLACK_FROM = 4, 5  # the first colours on which text is white in the light theme, black in the dark one
EMPTY = "cell none"
CELL, HEIGHT, GAP, LEFT, TOP, ROW = 36, 264, 84, 78, 122, 366

EXPLANATION = ("Each row of panels has all histories. A cell has those with two properties as its axes say; the other four "
               "differ within it.")
STYLE = """
svg{--back:#fff;--text:#1b2130;--quiet:#5c6475;--line:#fff;--empty:#f3f3f3;--bad:#c4262e;--on-bad:#fff;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-size:11px}
@media(prefers-color-scheme:dark){svg{--back:#12151c;--text:#e6e9f0;--quiet:#9aa3b2;--line:#12151c;--empty:#171b23;
--bad:#ff7b80;--on-bad:#2a0608}}
text{fill:var(--text)}.quiet{fill:var(--quiet)}.title{font-size:17px;font-weight:600}.level{font-size:14px;font-weight:600}
.axis{font-size:12px;fill:var(--quiet)}.middle{text-anchor:middle}.end{text-anchor:end}.cell{stroke:var(--line);stroke-width:1.5}
.none{fill:var(--empty)}.bad{fill:var(--bad)}.on-bad{fill:var(--on-bad);font-weight:700}
"""


def theme():
    """The colours of the ramp, and of the text on them."""

    def rules(column, first, before, after):
        return "".join(f".c{i}{{fill:{row[column]}}}.t{i}{{fill:{after if i >= first else before}}}" for i, row in enumerate(RAMP))

    light, dark = rules(1, WHITE_FROM, "#1b2130", "#fff"), rules(2, BLACK_FROM, "#e6e9f0", "#0b1018")
    return f"{STYLE}{light}\n@media(prefers-color-scheme:dark){{{dark}}}\n"


def colour(seconds):
    return next(i for i, row in enumerate(RAMP) if row[0] is None or seconds < row[0])


def short(value, name):
    """A value at an axis: 10k, 5 %."""
    if name in PERCENT:
        return f"{value} %"
    return f"{value // 1000}k" if value >= 1000 and value % 1000 == 0 else f"{value}"


def clock(seconds):
    """Seconds in a cell: two digits that matter."""
    return f"{max(seconds, 0.01):.2f}".lstrip("0") if seconds < 0.095 else f"{seconds:.1f}" if seconds < 9.95 else f"{seconds:.0f}"


def text(x, y, content, kind=""):
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{of_kind}>{escape(content)}</text>'


def cell(x, y, height, lines, title):
    """One cell: its slowest verdict as a colour and a number, or how many have none."""
    box = f'x="{x:g}" y="{y:g}" width="{CELL}" height="{height:g}" rx="3"'
    middle, base = x + CELL / 2, y + height / 2 + 4
    if not lines:
        return f'<rect {box} class="{EMPTY}"/>'
    unknown = sum(line["verdict"] not in ("satisfied", "violated") for line in lines)
    slowest = max((line["cpu"] for line in lines), default=0)
    tip = f"<title>{escape(title)}: {len(lines)} histories, {unknown} undecided, slowest {slowest:.2f} s</title>"
    if unknown:
        shown = f'<rect {box} class="cell bad"/>' + text(middle, base, f"{unknown}/{len(lines)}", "middle on-bad")
    else:
        step = colour(slowest)
        shown = f'<rect {box} class="cell c{step}"/>' + text(middle, base, clock(slowest), f"middle t{step}")
    return f"<g>{tip}{shown}</g>"


def panel(x, y, across, up, lines, values):
    """A grid of two properties."""
    (name_x, title_x), (name_y, title_y) = across, up
    columns, rows = values[name_x], values[name_y]
    height = HEIGHT / len(rows)
    out = []
    for r, value_y in enumerate(rows):
        top = y + HEIGHT - (r + 1) * height
        out.append(text(x - 6, top + height / 2 + 4, short(value_y, name_y), "end"))
        for c, value_x in enumerate(columns):
            inside = [line for line in lines if line[name_x] == value_x and line[name_y] == value_y]
            title = f"{short(value_x, name_x)} {title_x}, {short(value_y, name_y)} {title_y}"
            out.append(cell(x + c * CELL, top, height, inside, title))
    for c, value_x in enumerate(columns):
        out.append(text(x + (c + 0.5) * CELL, y + HEIGHT + 15, short(value_x, name_x), "middle"))
    out.append(text(x + len(columns) * CELL / 2, y + HEIGHT + 33, title_x, "axis middle"))
    turn = f'transform="translate({x - 46:g} {y + HEIGHT / 2:g}) rotate(-90)"'
    out.append(f'<g {turn}>{text(0, 0, title_y, "axis middle")}</g>')
    return "".join(out)


def swatch(x, y, width, back, content, front):
    """A colour of the legend."""
    box = f'<rect x="{x}" y="{y}" width="{width}" height="19" rx="3" class="{back}"/>'
    return box + text(x + width / 2, y + 13, content, f"middle {front}")


def legend(x, y, has_empty):
    """Colours and what they say."""
    out = [text(x, y + 13, "slowest history of a cell, processor seconds", "quiet")]
    x += 262
    for i, (end, _, _) in enumerate(RAMP):
        begin = RAMP[i - 1][0] if i else None
        name = f"< {end:g}" if i == 0 else f"≥ {begin:g}" if end is None else f"{begin:g}–{end:g}"
        out.append(swatch(x, y, 64, f"c{i}", name, f"t{i}"))
        x += 67
    out.append(swatch(x + 12, y, 40, "bad", "2/9", "on-bad"))
    out.append(text(x + 58, y + 13, "2 of 9 undecided", "quiet"))
    if has_empty:
        out.append(swatch(x + 162, y, 40, "none", "", "quiet") + text(x + 208, y + 13, "no history", "quiet"))
    return "".join(out)


def headline(lines):
    """What the picture shows, in a sentence."""
    unknown = sum(line["verdict"] not in ("satisfied", "violated") for line in lines)
    histories = len({" ".join(line["gen"]) for line in lines})
    share = f" ({100 * unknown / len(lines):.1f} %)" if unknown else ""
    limit = max(line["limit"] for line in lines)
    return f"{histories:,} histories, {len(lines):,} checks, {unknown or 'none'}{share} undecided after {limit:g} s"


def draw(lines):
    """The picture of the results of a sweep."""
    names = [name for one in PANELS for name, _ in one]
    values = {name: sorted({line[name] for line in lines}) for name in names}
    levels = [level for level in ("serializable", "snapshot-isolation", "causal") if any(line["level"] == level for line in lines)]
    widths = [len(values[across[0]]) * CELL for across, _ in PANELS]
    width, height = max(LEFT + sum(widths) + GAP * (len(PANELS) - 1) + 24, 1020), TOP + ROW * len(levels)
    title, panels = headline(lines), []
    for number, level in enumerate(levels):
        y, x = TOP + ROW * number, LEFT
        mine = [line for line in lines if line["level"] == level]
        panels.append(text(24, y, level.replace("-", " "), "level"))
        for (across, up), wide in zip(PANELS, widths):
            panels.append(panel(x, y + 18, across, up, mine, values))
            x += wide + GAP
    has_empty = any(EMPTY in one for one in panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
           'aria-labelledby="title desc">', f'<title id="title">{escape(title)}</title>',
           '<desc id="desc">Heat maps: for each level, and for pairs of properties of a history, the slowest check.</desc>',
           f"<style>{theme()}</style>", f'<rect width="{width}" height="{height}" style="fill:var(--back)"/>',
           text(24, 34, f"Time to decide an isolation level: {title}", "title"),
           text(24, 54, EXPLANATION, "quiet"),
           legend(24, 68, has_empty)]
    return "\n".join(out + panels) + "\n</svg>\n"
