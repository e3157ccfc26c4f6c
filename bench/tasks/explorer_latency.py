"""How long the explorer takes from letting go of a slider to the new picture on the screen, for the verbs that are cheap.

Usage: explorer_latency.py --command ONSET [--moves N]

It opens the page of `onset serve` in a headless Chromium, moves a slider of each verb N times as a hand would (several events
in a row, then rest) and takes the time from the last event until the frame with the new picture is drawn. Beside it stands
what the command itself says of the same run, so that the way to the picture and the computation can be told apart. Run it on
a quiet machine; nothing else should use it.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

# verb, address of the view, slider, values that it is moved to
CASES = [
    ("aim curve", "p.alpha=0.01:0.2:0.01", "rho", (0.3, 0.9)),
    ("aim thresholds", "p.rho=0.5", "rho", (0.3, 0.9)),
    ("aim spectrum", "p.rho=0.5&p.delta=0.1", "delta", (0.05, 0.4)),
    ("ssi sie", "p.tokens=2&p.target=H2sum&p.degree=4", "degree", (4, 6)),
    ("ssi loss", "p.a=1&p.omega=0.6&p.points=15", "omega", (0.3, 0.8)),
    ("ssi flow", "p.a=1&p.omega=0.6", "omega", (0.3, 0.8)),
    ("smi thresholds", "p.layers=1&p.tol=0.01", "beta", (0.5, 1.5)),
    ("smi curve", "p.layers=1&p.alpha=0.3&p.tol=0.05", "beta", (0.5, 1.5)),
]

MOVE = """(async () => {
  const slider = document.querySelector("[aria-label='%(slider)s, slider']");
  if (!slider) return null;
  const result = document.querySelector("#result");
  const drawn = new Promise(resolve => {
    const watcher = new MutationObserver(changes => {
      const fresh = changes.some(change => [...change.addedNodes].some(node => node.nodeName === "svg"));
      if (!fresh) return;
      watcher.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));  // the frame is drawn by then
    });
    watcher.observe(result, {childList: true, subtree: true});
  });
  let last = 0;
  for (const share of [0.3, 0.6, 1]) {
    slider.value = %(from)s + share * (%(to)s - %(from)s);
    slider.dispatchEvent(new Event("input", {bubbles: true}));
    last = performance.now();
    await new Promise(resolve => setTimeout(resolve, 15));  // a hand sends an event every frame
  }
  const late = new Promise(resolve => setTimeout(() => resolve(NaN), 5000));
  return (await Promise.race([drawn, late])) - last;
})()"""


def measure(browser, server, case, moves):
    """(milliseconds of every move, seconds that the verb itself took) of a case."""
    verb, values, slider, ends = case
    browser.open("about:blank")
    browser.open(f"{server.address}#view=explore&command={verb.replace(' ', '+')}&{values}")
    browser.wait_for("document.querySelector('#status')", 60)
    times = []
    for move in range(moves):
        start, end = ends if move % 2 == 0 else ends[::-1]
        nudge = 1 if isinstance(ends[0], int) else 1 + 0.01 * (move // 2)  # so that no two runs are the same
        browser.wait_for("document.querySelector('#stop').disabled", 60)
        took = browser.value(MOVE % {"slider": slider, "from": start, "to": end * nudge})
        if took is None:
            raise SystemExit(f"{verb}: no picture came, or there is no slider of {slider}")
        times.append(took)
    own = browser.value("document.querySelector('#status').textContent")
    return times, own.split(" (")[0].removeprefix("ok, ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", required=True)
    parser.add_argument("--moves", type=int, default=15)
    options = parser.parse_args()
    os.environ["ONSET_COMMAND"] = str(pathlib.Path(options.command).resolve())
    os.environ["ONSET_HAS_SERVER"] = "TRUE"
    from browser import Browser  # pylint: disable=import-outside-toplevel
    from serve_test import Server  # pylint: disable=import-outside-toplevel
    print(f"{platform.node()}: {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{'verb':16} {'median':>8} {'worst':>8}   the run itself")
    browser = Browser()
    try:
        with Server() as server:
            for case in CASES:
                times, own = measure(browser, server, case, options.moves)
                print(f"{case[0]:16} {statistics.median(times):6.0f}ms {max(times):6.0f}ms   {own}", flush=True)
        if browser.problems:
            sys.exit(json.dumps(browser.problems))
    finally:
        browser.close()


if __name__ == "__main__":
    main()
