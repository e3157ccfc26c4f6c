"""Makes the table, the plots and docs/speed.md from bench/results.json."""

import pathlib

HEADER = f"{'job':20} {'1 core':>9} {'all':>9} {'plain way':>10} {'ratio':>8} {'MiB':>6} {'theirs':>7} {'of limit':>9} same"


def duration(seconds):
    if seconds is None:
        return "busy"
    for size, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(value):
    return f"{value:.2g}" if value < 100 else f"{round(value, 1 - len(str(int(value)))):.0f}"


def of_limit(entry):
    return f"{100 * entry['of_limit']:.0f} %" if "limit" in entry else ""


def line(name, entry):
    ours = f"{name:20} {duration(entry['one']):>9} {duration(entry['all']):>9}"
    if "plain" not in entry:
        return f"{ours} {'none':>10} {'':>8} {entry['memory']:6.0f} {'':>7} {of_limit(entry):>9}"
    plain = entry["plain"] * entry["error_factor"]
    return (f"{ours} {duration(plain):>10} {ratio(entry['ratio']):>8} {entry['memory']:6.0f} "
            f"{entry['plain_memory']:7.0f} {of_limit(entry):>9} {'yes' if entry['difference'] <= 1 else 'NO'}")


def plain_cells(entry):
    """Time, ratio and memory of the plain way."""
    if "plain" not in entry:
        return "none", "", ""
    time = duration(entry["plain"])
    if entry["error_factor"] != 1:
        time = f"{duration(entry['plain'] * entry['error_factor'])} ({time} x {ratio(entry['error_factor'])})"
    return time, ratio(entry["ratio"]), f"{entry['plain_memory']:.0f}"


def job_table(results):
    rows = ["| job | ours, 1 core | all cores | plain way | ratio | MiB | plain MiB | of the limit |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for entry in results["jobs"].values():
        plain, times, plain_memory = plain_cells(entry)
        limit = f"{of_limit(entry)} ({entry['limit']})" if "limit" in entry else ""
        rows.append(f"| {entry['title']} | {duration(entry['one'])} | {duration(entry['all'])} | {plain} | "
                    f"{times} | {entry['memory']:.0f} | {plain_memory} | {limit} |")
    return "\n".join(rows)


def growth_table(results):
    rows = ["| size | cost of | from, to | exponent | expected | why |", "| --- | --- | --- | --- | --- | --- |"]
    for name, entry in results["growth"].items():
        rows.append(f"| {name} | {entry['what']} | {entry['values'][0]:g}, {entry['values'][-1]:g} | "
                    f"{entry['exponent']:.2f} | {entry['expected']} | {entry['why']} |")
    return "\n".join(rows)


def growth_section(results):
    return GROWTH.format(growth=growth_table(results)) if results["growth"] else ""


def limit_table(results):
    limits = results["limits"]
    units = {"double products": "Gflop/s", "single products": "Gflop/s", "reading": "GB/s", "exponentials": "1e9/s",
             "normals": "1e9/s", "eigenvectors of 200": "1/s", "eigenvectors of 400": "1/s"}
    rows = [f"| limit | one core | {limits['cores']} cores | unit |", "| --- | --- | --- | --- |"]
    for name, unit in units.items():
        one, both = limits["one"][name], limits.get("all", limits["one"])[name]
        busy = limits["cores"] > 1 and name != "reading" and both < 1.2 * one
        size = 1.0 if unit == "1/s" else 1e9
        rows.append(f"| {name} | {one / size:.3g} | {'busy' if busy or both < one else f'{both / size:.3g}'} | {unit} |")
    return "\n".join(rows)


def draw(results, folder):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    entries = [entry for entry in results["jobs"].values() if "ratio" in entry][::-1]
    figure, axes = pyplot.subplots(figsize=(8, 0.32 * len(entries) + 1))
    axes.barh([entry["title"] for entry in entries], [entry["ratio"] for entry in entries], color="#4455aa")
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("times as fast as the plain way, core against core")
    figure.savefig(folder / "speed-ratios.png", dpi=110, bbox_inches="tight")
    if not results["growth"]:
        return
    columns = 4
    shown = list(results["growth"].items())
    figure, panels = pyplot.subplots((len(shown) + columns - 1) // columns, columns, figsize=(11, 5.5))
    for panel, (name, entry) in zip(panels.flat, shown):
        x, y = entry["values"], entry["seconds"]
        panel.loglog(x, y, "o", color="#4455aa")
        panel.loglog(x, [y[0] * (v / x[0])**entry["expected"] for v in x], "--", color="grey")
        panel.set_title(f"{name}: {entry['exponent']:.2f} (expected {entry['expected']})", fontsize=9)
        panel.set_xlabel(name, fontsize=8)
        panel.tick_params(which="both", labelsize=7)
        panel.set_xticks(x, [f"{v:g}" for v in x])
        panel.minorticks_off()
    for panel in panels.flat[len(shown):]:
        panel.axis("off")
    figure.tight_layout()
    figure.savefig(folder / "speed-growth.png", dpi=110)


def write(results, path):
    path = pathlib.Path(path)
    draw(results, path.parent / "images")
    machines = sorted({entry["machine"] for entry in results["jobs"].values()})
    cores = max(entry["cores"] for entry in results["jobs"].values())
    days = sorted({entry["when"] for entry in results["jobs"].values()})
    path.write_text(PAGE.format(machine=", ".join(machines), cores=cores, days=" to ".join({days[0]: 1, days[-1]: 1}),
                                jobs=job_table(results), limits=limit_table(results), growth=growth_section(results)),
                    encoding="utf-8")
    print(HEADER)
    for name, entry in results["jobs"].items():
        print(line(name, entry))


PAGE = """# How fast is it?

Jobs that people run, beside the plain way that one would write for each with NumPy and SciPy (`bench/plain`). Both sides
answer the same question and are checked to give the same numbers, within five joint errors and the accuracy of the plain
way; they take turns on one machine. `scripts/bench.sh` makes this page; `scripts/bench.sh JOB` runs one job
again. Words are in the [glossary](glossary.md).

- *ours*: the whole command, its start included, on one core (processor time, with which other work on the machine interferes
  little) and on all {cores} (wall time; *busy* where others used the cores meanwhile);
- *plain way*: on one core, without starting Python. Where both sides have a statistical error, it is the time for the
  error of ours: (time x factor), the factor being the ratio of the two errors squared. *None*: a plain Monte Carlo has no answer,
  since its noise is larger than the distance of the thresholds;
- *ratio*: plain way over ours, core against core, the median over turns;
- *of the limit*: the time that the machine needs at least for what must be done (products of matrices, reading memory,
  drawing normals), over the time that ours takes on one core.

Times are those of {machine} ({days}), a machine shared with others. Read the ratios; where NumPy's own loops are in C, as in
matrix products, they are small, and where a researcher's loop is in Python or a plain Monte Carlo integral meets a rule that
converges faster, they are large. Least squares from random starts learns a layer sooner than the six phases do, where it is told the
number of heads; what it lacks are that number and a certificate ([mha](mha.md)).

{jobs}

![ratios](images/speed-ratios.png)

## What the machine can do at most

Measured beside the jobs, by `bench/limits.cpp`:

{limits}
{growth}"""

GROWTH = """
## How costs grow

Processor time on one core against one size, the others fixed, and the exponent of a power law through the points:

{growth}

![growth of costs](images/speed-growth.png)

Dashed: the expected exponent. At small sizes parts that do not grow (starting, theory beside the runs) flatten a curve.
"""
