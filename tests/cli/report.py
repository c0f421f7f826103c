"""The HTML report: well-formed, complete, nothing from elsewhere; without script errors where a browser is installed."""
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from _rlgo import RANDOM, main, rlgo
from optimise import LIBTORCH, two_convs

XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


def check_page(path):
    """Returns the parsed page."""
    text = path.read_text()
    page = ElementTree.fromstring(text)
    outside = [url for url in re.findall(r"""(?:https?:)?//[\w.-]+""", text) if "www.w3.org" not in url and url not in ("//",)]
    assert not outside, outside
    for element in page.iter():
        for name in ("src", "href", "data", "action"):
            assert element.get(name, "#").startswith("#"), (element.tag, name, element.get(name))
        assert element.tag.removeprefix(XHTML) not in ("link", "iframe", "img", "object", "embed"), element.tag
    assert "url(" not in text and "@import" not in text
    anchors = {e.get("href")[1:] for e in page.iter(f"{XHTML}a")}
    assert anchors and anchors <= {e.get("id") for e in page.iter()}, anchors
    return page


def pictures(page):
    """Titles of the boxes of each picture."""
    found = []
    for viewer in page.iter(f"{XHTML}div"):
        if viewer.get("class") != "viewer":
            continue
        for svg in viewer.iter(f"{SVG}svg"):
            boxes = [g for g in svg.iter(f"{SVG}g") if (g.get("class") or "").startswith("box")]
            found.append([(g.find(f"{SVG}text").text, g.get("class")) for g in boxes])
    return found


def in_browser(path, folder):
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("  no browser: scripts not run")
        return
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", f"--user-data-dir={folder}/browser",
                           "--virtual-time-budget=2000", "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    assert 'data-ready="yes"' in done.stdout, "the script did not run to its end"
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not messages, messages


def of_optimise(folder):
    """rlgo optimise --report shows every operator before and after, what changed, the rule, and the checks"""
    two_convs(folder / "toy.onnx")
    done = rlgo("optimise", "toy.onnx", "-o", "faster.onnx", "--report", "report.html", *LIBTORCH, cwd=folder)
    assert "report.html" in done.stdout
    page = check_page(folder / "report.html")
    text = (folder / "report.html").read_text()
    assert 'class="verdict"' in text and "x faster (" in text and text.count('<div class="figure">') == 5, "the verdict, a tile of sizes, and one tile for all checks"
    assert "2 of 2 agree" in text and "prefers-color-scheme:dark" in text and "max-width:700px" in text
    before, before_changes, after, after_changes = pictures(page)
    assert sorted(title for title, _ in before) == ["add", "conv2d", "conv2d", "relu", "x", "y"], before
    assert sum("removed" in look for _, look in before) >= 3, before
    assert "conv2d" in [title for title, look in after if "added" in look], after  # what else was measured as faster is the machine's affair
    assert [title for title, _ in after].count("conv2d") == 1 and {"x", "y"} < {title for title, _ in after}, after
    text = "".join(page.itertext())
    for word in ("rule sum-of-convs-shared-input", "relative error", "LibTorch", "Best cost while searching", "toy.onnx", "denormal"):
        assert word in text, word
    in_browser(folder / "report.html", folder)


def of_a_run(folder):
    """a run folder has a report with curves and graphs; rlgo inspect --report writes it again"""
    rlgo("--graph", "toy_residual", *RANDOM, "--epochs", 2, "--train.steps-per-epoch", 30, "--name", "r", cwd=folder)
    run = folder / "runs/r"
    page = check_page(run / "report.html")
    text = "".join(page.itertext())
    for word in ("toy_residual", "Best cost", "Episodes", "equivalence", "Rewrites"):
        assert word in text, word
    lines = {path.get("data-name"): path.get("data-points") for path in page.iter(f"{SVG}path") if path.get("data-points")}
    assert {"best", "greedy", "mean of an epoch"} <= set(lines), lines
    assert all(len(point.split()) == 4 for point in lines["greedy"].split(",")), lines["greedy"]
    assert len(pictures(page)) == 4
    (run / "report.html").unlink()
    rlgo("inspect", "--report", "runs/r", cwd=folder)
    assert pictures(check_page(run / "report.html")) == pictures(page)
    in_browser(run / "report.html", folder)


if __name__ == "__main__":
    main(of_optimise, of_a_run)
