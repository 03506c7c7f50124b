"""Draws line charts as SVG: panels in a grid over one legend, legible on light and on dark pages."""
import math
from xml.sax.saxutils import escape

HEIGHT = 210  # of the plot of a panel; its width follows from what stands below it
LEFT, RIGHT, TOP, BOTTOM = 62, 18, 34, 46  # around it
TITLE, ROW = 30, 22  # the height of the title, and of a row of the legend
OURS = (("#1d4ed8", "#7aa5ff"), ("#0891b2", "#4fd1e8"), ("#7c3aed", "#b794ff"))
THEIRS = (("#c2410c", "#ff9f5a"), ("#15803d", "#5fd38a"), ("#be185d", "#ff85b8"), ("#92700a", "#e3c04a"),
          ("#57534e", "#b9b2ab"), ("#6d28d9", "#c4a7ff"))
MARKS = ("square", "diamond", "triangle", "cross", "plus", "square")
# Tools that are in several figures look the same in all of them.
KNOWN = {"C4": 0, "Plume": 0, "TCC-Mono": 1, "PolySI": 2, "dbcop": 3, "CausalC+": 4, "Viper": 5}


class Series:
    """Points (x, y), where y may be None, and those at which it was given up: (x, limit).  ours: drawn bold."""

    def __init__(self, label, points, given_up=(), ours=False):
        self.label = label
        self.points = [(x, y) for x, y in points if y is not None and y > 0]
        self.given_up = list(given_up)
        self.ours = ours


class Panel:
    """categories: the xs are names, in this order; else they are numbers."""

    def __init__(self, title, axis, series, categories=()):
        self.title = title
        self.axis = axis
        self.series = series
        self.categories = list(categories)


def seconds(value):
    if value < 0.0995:
        return f"{value * 1000:.0f} ms" if value >= 0.00095 else f"{value * 1e6:.0f} µs"
    return f"{value:,.1f} s" if value < 0.95 else f"{value:,.0f} s"


def megabytes(value):
    return f"{value:,.0f} MB" if value < 995 else f"{value / 1000:,.0f} GB"


def number(value):
    return f"{value:g}" if abs(value) < 10 else f"{value:,.0f}"


def steps(low, high, wanted=5):
    """Round numbers from low to high, about so many."""
    raw = (high - low) / wanted or 1
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


class Axes:
    """Where a point of a panel lies in it."""

    def __init__(self, panel, width, low, high):
        self.width = width
        self.names = panel.categories
        self.low, self.high = low, high  # powers of ten
        xs = [x for s in panel.series for x, _ in s.points + s.given_up]
        if self.names:
            self.ticks = self.names
        else:
            self.first, self.last = min(xs), max(xs)
            self.first = 0 if self.first < 0.25 * self.last else self.first
            self.last = self.last if self.last > self.first else self.first + 1
            self.ticks = steps(self.first, self.last)

    def x(self, value):
        if self.names:
            return (self.names.index(value) + 0.5) * self.width / len(self.names)
        return (value - self.first) * self.width / (self.last - self.first)

    def y(self, value):
        return HEIGHT - (math.log10(value) - self.low) * HEIGHT / (self.high - self.low)


def mark(kind, x, y, style, size=4.0):
    at = f'transform="translate({x:.1f} {y:.1f})" class="{style}"'
    s = size
    shapes = {
        "circle": f'<circle r="{s}" {at}/>',
        "square": f'<path d="M{-s} {-s}h{2 * s}v{2 * s}h{-2 * s}z" {at}/>',
        "diamond": f'<path d="M0 {-1.3 * s}L{1.3 * s} 0L0 {1.3 * s}L{-1.3 * s} 0z" {at}/>',
        "triangle": f'<path d="M{-1.1 * s} {-s}H{1.1 * s}L0 {1.1 * s}z" {at}/>',
        "cross": f'<path d="M{-s} {-s}L{s} {s}M{s} {-s}L{-s} {s}" {at}/>',
        "plus": f'<path d="M{-1.2 * s} 0H{1.2 * s}M0 {-1.2 * s}V{1.2 * s}" {at}/>',
        "up": f'<path d="M0 {1.2 * s}V{-1.2 * s}M{-s} {-0.2 * s}L0 {-1.4 * s}L{s} {-0.2 * s}" {at}/>',
    }
    return shapes[kind]


def text(x, y, what, style="t", anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}"{extra}>{escape(what)}</text>'


def grid(panel, axes, unit):
    out = [f'<rect width="{axes.width}" height="{HEIGHT}" class="frame"/>']
    for power in range(axes.low, math.floor(axes.high + 1e-9) + 1):
        y = axes.y(10.0 ** power)
        out.append(f'<path d="M0 {y:.1f}H{axes.width}" class="grid"/>')
        out.append(text(-7, y + 4, unit(10.0 ** power), anchor="end"))
        for m in range(2, 10):
            if math.log10(m) + power < axes.high:
                out.append(f'<path d="M0 {axes.y(m * 10.0 ** power):.1f}h4" class="tick"/>')
    for tick in axes.ticks:
        x = axes.x(tick)
        out.append(f'<path d="M{x:.1f} {HEIGHT}v-5" class="tick"/>')
        out.append(text(x, HEIGHT + 16, tick if panel.categories else number(tick)))
    if panel.axis not in panel.title:
        out.append(text(axes.width / 2, HEIGHT + 35, panel.axis, "a"))
    out.append(text(axes.width / 2, -10, panel.title, "p"))
    return out


def lines(series, axes, place):
    """From point to point, dashed to and from where it was given up.  Names are not joined: nothing lies between them."""
    out = []
    points = sorted([(axes.x(x), axes.y(y), False) for x, y in series.points] +
                    [(axes.x(x), axes.y(y), True) for x, y in series.given_up])
    for (x0, y0, lost0), (x1, y1, lost1) in zip(points, points[1:]):
        if axes.names or (lost0 and lost1):
            continue
        kind = "dash" if lost0 or lost1 else "bold" if series.ours else ""
        out.append(f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" class="line c{place} {kind}"/>')
    return out


def draw_series(series, axes, place, kind):
    out, points = lines(series, axes, place), series.points
    fill = "" if kind in ("cross", "plus") else f" f{place}"
    for x, y in points:
        out.append(mark(kind, axes.x(x), axes.y(y), f"m c{place}{fill}", 4.4 if series.ours else 3.4))
    return out


def arrows(panel, axes, places):
    """Runs that were given up: an arrow each, side by side where several tools gave up at the same x."""
    out, seen = [], {}
    for series in panel.series:
        for x, y in series.given_up:
            seen.setdefault((x, y), []).append(places[series.label][0])
    for (x, y), colours in seen.items():
        for i, place in enumerate(colours):
            left = axes.x(x) + (i - (len(colours) - 1) / 2) * 7
            out.append(mark("up", left, axes.y(y) - 5, f"m c{place}", 3.6))
    return out


def style(places):
    light = "".join(f".c{n}{{stroke:{c[0]}}}.f{n}{{fill:{c[0]}}}" for n, c in places)
    dark = "".join(f".c{n}{{stroke:{c[1]}}}.f{n}{{fill:{c[1]}}}" for n, c in places)
    return ("<style>text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#3d4654}"
            ".h{font-size:15px;font-weight:600;fill:#131820}.p{font-size:13px;font-weight:600;fill:#131820}"
            ".l{font-size:12.5px;fill:#131820}.back{fill:#fff}.frame{fill:none;stroke:#8a94a3}.grid{stroke:#e3e7ed;fill:none}"
            ".tick{stroke:#8a94a3}.limit{stroke:#8a94a3;stroke-dasharray:2 4}.line{fill:none;stroke-width:1.4}"
            ".bold{stroke-width:2.8}.dash{stroke-dasharray:4 4}.m{fill:none;stroke-width:1.5}" + light +
            "@media (prefers-color-scheme:dark){text{fill:#b8c0cc}.h,.p,.l{fill:#f1f4f8}.back{fill:#12161d}"
            ".frame,.tick,.limit{stroke:#6b7583}.grid{stroke:#262d38}" + dark + "}</style>")


def legend(labels, places, given_up, width, top):
    """Rows of marks and names, and what an arrow means."""
    out, x, y = [], LEFT, top
    for label in labels:
        place, kind, ours = places[label]
        needed = 46 + 6.6 * len(label)
        if x > LEFT and x + needed > width - RIGHT:
            x, y = LEFT, y + ROW
        fill = "" if kind in ("cross", "plus") else f" f{place}"
        out.append(f'<path d="M{x} {y}h24" class="line c{place}{" bold" if ours else ""}"/>')
        out.append(mark(kind, x + 12, y, f"m c{place}{fill}", 4.4 if ours else 3.4))
        out.append(text(x + 31, y + 4, label, "l", "start"))
        x += needed
    if given_up:
        needed = 46 + 6.6 * len(given_up)
        if x > LEFT and x + needed > width - RIGHT:
            x, y = LEFT, y + ROW
        out.append(mark("up", x + 12, y, "m tick", 3.6))
        out.append(text(x + 31, y + 4, given_up, "l", "start"))
    return out, y


def styles(panels):
    """The labels in the order of the legend, and for each the number of its colour, its mark and whether it is ours."""
    labels, places, colours, ours = [], {}, [], 0
    names = [s.label for p in panels for s in p.series if not s.ours]
    free = [n for n in range(len(THEIRS)) if n not in {KNOWN[name] for name in names if name in KNOWN}]
    for series in (s for p in panels for s in p.series):
        if series.label in places:
            continue
        if series.ours:
            colour, kind = OURS[ours % len(OURS)], "circle"
            ours += 1
        else:
            n = KNOWN[series.label] if series.label in KNOWN else free.pop(0)
            colour, kind = THEIRS[n], MARKS[n]
        places[series.label] = (len(colours), kind, series.ours)
        colours.append((len(colours), colour))
        labels.append(series.label)
    return labels, places, colours


def heights(panels):
    """The powers of ten at the bottom and at the top, with room for arrows above the limit where there are any."""
    values = [y for p in panels for s in p.series for _, y in s.points]
    limits = [y for p in panels for s in p.series for _, y in s.given_up]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    if limits:
        high = max(high, math.log10(max(limits) * 2.5))
    return low, max(high, low + 1)


def chart(title, panels, unit, limit=0, caption="", columns=3):
    """The SVG of a figure.  unit: a function that says what a value of y is called; limit: when runs were given up."""
    labels, places, colours = styles(panels)
    low, high = heights(panels)
    columns = min(columns, len(panels)) if len(panels) != 4 else 2
    rows = -(-len(panels) // columns)
    bottom = BOTTOM if any(p.axis not in p.title for p in panels) else BOTTOM - 16
    wide = max([300 if len(panels) > 1 else 480] + [84 * len(p.categories) for p in panels])
    cell_w, cell_h = LEFT + wide + RIGHT, TOP + HEIGHT + bottom
    width = max(columns * cell_w, 640)
    body = []
    for i, panel in enumerate(panels):
        axes = Axes(panel, wide, low, high)
        parts = grid(panel, axes, unit)
        if limit and low <= math.log10(limit) <= high:
            parts.append(f'<path d="M0 {axes.y(limit):.1f}H{wide}" class="limit"/>')
        for series in sorted(panel.series, key=lambda s: s.ours):
            parts += draw_series(series, axes, *places[series.label][:2])
        parts += arrows(panel, axes, places)
        x, y = (i % columns) * cell_w + LEFT, TITLE + (i // columns) * cell_h + TOP
        body.append(f'<g transform="translate({x} {y})">{"".join(parts)}</g>')
    any_given_up = any(s.given_up for p in panels for s in p.series)
    entries, bottom = legend(labels, places, f"given up after {limit:g} s" if any_given_up else "", width,
                             TITLE + rows * cell_h + 18)
    if caption:
        bottom += ROW
        entries.append(text(LEFT, bottom + 4, caption, anchor="start"))
    height = bottom + 16
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img"><title>{escape(title)}</title>{style(colours)}<rect width="100%" height="100%" class="back"/>'
            f'{text(LEFT, 22, title, "h", "start")}{"".join(body)}{"".join(entries)}</svg>\n')
