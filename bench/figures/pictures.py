"""Makes the pictures: what was measured beside what was published."""
import experiments
import plot


def value(text):
    try:
        return float(text)
    except ValueError:
        return None


def place(x):
    """An x of a table as a number, or as the name that it is."""
    number = value(x)
    return x if number is None else number


def theirs(published, panel):
    """The published series of a panel: label, points, and where they were given up."""
    for name, label in panel.theirs:
        points, given_up = [], []
        for row in published:
            if (row["paper"], row["figure"]) != (panel.paper, panel.figure):
                continue
            if panel.across:
                who, _, rest = row["series"].partition(", ")
                x = value(rest.split(" ")[0]) if row["x"] == panel.across and who == name else None
            else:
                x = place(row["x"]) if row["series"] == name else None
            if x is None:
                continue
            if row["y"].startswith(">"):
                given_up.append((x, float(row["y"][1:])))
            else:
                points.append((x, float(row["y"])))
        if points or given_up:
            yield plot.Series(label.replace(", 1 processes", ", 1 process"), points, given_up)


def ours(measured, panel, unit):
    for one in panel.ours:
        rows = [r for r in measured if r["sweep"] == one.sweep and r["level"] == one.level]
        decided = [r for r in rows if r["verdict"] != "unknown"]
        column = "cpu" if unit == "s" else "megabytes"
        points = [(place(r["x"]), float(r[column])) for r in decided]
        given_up = [(place(r["x"]), float(r[column])) for r in rows if r["verdict"] == "unknown"]
        yield plot.Series(one.label, points, given_up, ours=True)


def axis(sweep):
    return next(s for s in experiments.SWEEPS if s.name == sweep)


def panel_of(panel, measured, published, unit):
    series = list(ours(measured, panel, unit)) + list(theirs(published, panel))
    sweep = axis(panel.ours[0].sweep)
    shown = {place(str(x)) for x, _ in sweep.shapes}
    names = [x for x, _ in sweep.shapes if isinstance(x, str)]
    published_xs = {x for s in series if not s.ours for x, _ in s.points + s.given_up}
    if names and published_xs and len(published_xs & set(names)) > 2:
        names = [x for x in names if x in published_xs]
    for one in series:
        one.points = [p for p in one.points if not names or p[0] in names]
        one.given_up = [p for p in one.given_up if p[0] in (names or shown)]
    return plot.Panel(panel.title, sweep.axis, [s for s in series if s.points or s.given_up], names)


def picture(figure, measured, published):
    panels = [panel_of(p, measured, published, figure.unit) for p in figure.panels]
    unit = plot.seconds if figure.unit == "s" else plot.megabytes
    return plot.chart(figure.title, panels, unit, figure.limit, figure.caption)
