"""Opens a page of `fxjit inspect --html` and uses it as a person would.

    python3 click.py PAGE [FOLDER FOR SCREENSHOTS]

Exit code 77 and a reason where no Chromium is installed."""

import sys

import chromium

DESK, PHONE = (1360, 900), (390, 844)


def check(holds, what):
    if not holds:
        sys.exit("failed: " + what)


def middle(browser, script):
    """The middle of an element's part of the window, scrolled to."""
    browser.run(script + ".scrollIntoView({block: 'center'})")
    return browser.run(
        "(() => { const b = " + script + ".getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2]; })()")


def steps_can_be_chosen(browser):
    browser.click(*middle(browser, "document.querySelector('#expensive button')"))
    chosen = browser.run("state.step")
    check(chosen >= 0, "a click on an expensive step chooses it")
    label = browser.run("run().steps[state.step].label")
    check(browser.run("document.querySelector('#details h3').textContent") == label,
          "the details are those of the chosen step")
    check(browser.run("document.querySelectorAll('tr.selected').length") <= 1,
          "one row is chosen at most")
    browser.click(*middle(browser, "document.querySelectorAll('#steps tbody tr')[0]"))
    check(browser.run("state.step") == 0, "a click on a row chooses its step")


def boxes_can_be_chosen(browser):
    browser.run("selectStep(run().steps.length - 1, true)")
    browser.run("byId('canvas').scrollIntoView({block: 'center'})")
    at = browser.run("""(() => {
        const first = sceneOf().items.findIndex((item) => item.step === 0);
        bringToSight(first);
        const b = byId('canvas').getBoundingClientRect();
        return [b.x + b.width / 2, b.y + b.height / 2]; })()""")
    browser.click(*at)
    check(browser.run("state.step") == 0, "a click on a box chooses its step")
    before = browser.run("graph.scale")
    browser.click(*middle(browser, "byId('zoom-in')"))
    check(browser.run("graph.scale") > before, "the graph can be enlarged")


def code_is_shown(browser):
    index = browser.run("run().steps.findIndex((step) => step.kernels.length)")
    if index < 0:
        return
    browser.run("selectStep(%d, true)" % index)
    browser.wait_for("byId('code').textContent.includes('.text')")
    browser.click(*middle(browser, "document.querySelector('button[value=ir]')"))
    browser.wait_for("byId('code').textContent.includes('define ')")


def search_finds(browser):
    name = browser.run("run().steps.find((step) => step.nodes.length).nodes[0].name")
    browser.click(*middle(browser, "byId('search')"))
    browser.call("Input.insertText", text=name)
    check(browser.run("state.matches.length") > 0, "the search finds a node")
    rows = browser.run("document.querySelectorAll('#steps tbody tr').length")
    check(rows == browser.run("Math.min(100, state.matches.length)"),
          "the table shows what was found")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter",
                     windowsVirtualKeyCode=13)
    check(browser.run("state.matches.includes(state.step)"), "Enter goes to it")
    browser.run("byId('search').value = ''; search('')")


def both_graphs_are_shown(browser):
    browser.click(*middle(browser, "byId('show-captured')"))
    check(browser.run("state.view") == "captured", "the captured graph is shown")
    browser.run("selectNode(data.captured.nodes.length - 1, true)")
    check(browser.run("document.querySelector('#details h3').textContent[0]") == "%",
          "the details are those of a node")
    browser.click(*middle(browser, "byId('show-compiled')"))
    check(browser.run("state.view") == "compiled", "the compiled graph is shown")


def runs_can_be_changed(browser):
    if browser.run("data.runs.length") < 2:
        return
    check(not browser.run("byId('comparison').hidden"), "the comparison is shown")
    browser.run("byId('run').value = '1'; byId('run').dispatchEvent(new Event('change'))")
    check(browser.run("state.run") == 1, "the other run is shown")
    browser.run("showRun(0)")


def fits(browser, what):
    width = browser.run("[document.documentElement.scrollWidth, innerWidth]")
    check(width[0] <= width[1], what + " has no sideways scrolling: " + str(width))


def main():
    program = chromium.find()
    if not program:
        print("no chromium, chromium-browser or google-chrome is installed")
        sys.exit(77)
    page, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    browser = chromium.Browser(program)
    try:
        for name, size in (("laptop", DESK), ("phone", PHONE)):
            browser.size(*size, phone=name == "phone")
            milliseconds = browser.open(page)
            fits(browser, name)
            steps_can_be_chosen(browser)
            boxes_can_be_chosen(browser)
            code_is_shown(browser)
            search_finds(browser)
            both_graphs_are_shown(browser)
            runs_can_be_changed(browser)
            fits(browser, name)
            print("%s: usable after %d ms" % (name, milliseconds))
            for dark in (False, True) if folder else ():
                browser.dark(dark)
                for part in ("name", "graph", "steps", "memory"):
                    browser.run("byId('%s').scrollIntoView()" % part)
                    browser.wait_for("new Promise((done) => requestAnimationFrame("
                                     "() => requestAnimationFrame(() => done(true))))")
                    browser.screenshot("%s/%s_%s_%s.png" % (
                        folder, name, "dark" if dark else "light", part))
            browser.dark(False)
        check(not browser.problems(), "no errors and no network: " +
              "; ".join(browser.problems()))
    finally:
        browser.close()


if __name__ == "__main__":
    main()
