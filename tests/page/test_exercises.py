"""Code cells as a reader uses and misuses them. Numbers in brackets are rows of the list of reported faults."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ferro_bench import exercises
from tests.page.bench import Bench
from tests.page.exercise import Exercise

Open = Callable[..., Page]

# Workers that are alive, and tasks that kept the page from answering for longer than 50 ms.
WATCH = """
    Object.assign(window, { alive: new Set(), made: 0, longTasks: [] });
    const Plain = Worker;
    window.Worker = class extends Plain {
      constructor(...given) { super(...given); made++; alive.add(this); }
      terminate() { alive.delete(this); super.terminate(); }
    };
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: "longtask" });
"""


@pytest.fixture(scope="module")
def shared(open_for_module: Open, site: str) -> Page:
    """One page for all tests that can share it, with a snapshot for quick restarts."""
    page = open_for_module("about:blank")
    page.add_init_script(WATCH)
    page.goto(site)
    Bench(page).wait_ready()
    Exercise(page, "plant").run("1 + 1")
    page.wait_for_function(
        "() => ['ready', 'unusable'].includes(customElements.get('ferro-exercise').pool.snapshot)", timeout=60_000
    )
    return page


@pytest.fixture
def page(shared: Page) -> Iterator[Page]:
    """The shared page, with every cell as it was at first."""
    for name in ("plant", "rollout", "loss", "training"):
        exercise = Exercise(shared, name)
        if exercise.button("Stop").get_attribute("aria-disabled") == "false":  # left by a test that failed
            exercise.press("Stop")
        exercise.expect_state("idle", "passed", "not-yet", "broken", "stopped")
        if exercise.button("Reset").get_attribute("aria-disabled") == "false":
            exercise.press("Reset")
    shared.console.clear()  # type: ignore[attr-defined]
    yield shared
    assert shared.console == []  # type: ignore[attr-defined]


@pytest.fixture
def plant(page: Page) -> Exercise:
    return Exercise(page, "plant")


def expect_no_stutter(page: Page) -> None:
    """No task over 50 ms. The tests share their cores, and a task may take long because another browser had its turn:
    a page that stutters does so in every one of these spans, one that was interrupted does not."""
    spans = []
    for _ in range(4):
        page.evaluate("longTasks.length = 0")
        page.wait_for_timeout(400)
        spans.append(page.evaluate("longTasks.filter((duration) => duration > 50)"))
        if not spans[-1]:
            return
    raise AssertionError(f"tasks that took long, in ms: {spans}")


# Running


def test_a_run_shows_what_was_printed_and_the_last_value(plant: Exercise) -> None:
    plant.run("print('one')\nprint('two')\nnp.linspace(0, 1, 11)")
    expect(plant.output).to_contain_text("one\ntwo")
    expect(plant.output).to_contain_text("array of shape (11,), float64, from 0 to 1")
    expect(plant.output.get_by_role("img")).to_have_count(1)
    expect(plant.status).to_have_text("It ran.")


def test_what_code_prints_is_text_and_never_markup(plant: Exercise) -> None:
    plant.run("print('<img src=x onerror=alert(1)>')\n'<b>bold</b>'")
    expect(plant.output).to_contain_text("<img src=x onerror=alert(1)>")
    expect(plant.output).to_contain_text("<b>bold</b>")
    assert plant.output.locator("img, b").count() == 0


def test_an_error_names_the_line_marks_it_and_explains(plant: Exercise) -> None:
    plant.run("a = 1\n\naccell(2.0, 6.0, 0.85)\n")
    expect(plant.output).to_contain_text("NameError in line 3")
    expect(plant.element.locator(".editor-error")).to_contain_text("Line 3")
    plant.run("1")
    expect(plant.element.locator(".editor-error")).to_have_text("")


def test_a_function_of_a_cell_that_has_not_run_is_placed(open_page: Open, site: str) -> None:
    rollout = Exercise(open_page(site), "rollout")
    rollout.run("accel(1.0, 2.0, 3.0)")
    expect(rollout.output).to_contain_text("exercise 1")


def test_input_is_refused_at_once_with_its_line(plant: Exercise) -> None:
    """[7]"""
    plant.run("a = 1\nn = input('n? ')\n")
    expect(plant.output).to_contain_text("line 2")
    expect(plant.output).to_contain_text("cannot ask for input")


def test_a_double_click_on_run_runs_once(plant: Exercise) -> None:
    """[4]"""
    plant.write("print('once')")
    plant.button("Run").dblclick()
    plant.expect_state("idle")
    expect(plant.output).to_have_text(re.compile("^once\\s*$"))


def test_a_flood_of_output_is_cut_off_and_can_be_stopped(plant: Exercise) -> None:
    """[6]"""
    plant.write("while True: print('x' * 200)")
    plant.press("Run")
    expect_no_stutter(plant.page)
    expect(plant.output).to_contain_text("Output is cut off here", timeout=20_000)
    assert len(plant.output.inner_text()) < 21_000
    plant.press("Stop")
    plant.expect_state("stopped")
    plant.run("2 + 2")
    expect(plant.output).to_contain_text("4")


# Stopping


NEVER_ENDING = {
    "a loop": "while True: pass",
    "a loop that eats interrupts": "while True:\n    try:\n        pass\n    except:\n        pass",
    "a sleep": "import time\ntime.sleep(1e6)",
    "a wait": "import asyncio\nawait asyncio.sleep(1e6)",
}


@pytest.mark.parametrize("text", NEVER_ENDING.values(), ids=NEVER_ENDING)
def test_what_never_ends_can_be_stopped_and_costs_no_text(plant: Exercise, text: str) -> None:
    """[1, 2]"""
    plant.write(text)
    # Stop can be pressed as soon as Run was: within the same task.
    pressed = "run => { run.click(); return run.parentElement.querySelector('[data-action=stop]').ariaDisabled; }"
    assert plant.button("Run").evaluate(pressed) == "false"
    expect_no_stutter(plant.page)
    plant.expect_state("running")
    plant.press("Stop")
    plant.expect_state("stopped")
    expect(plant.status).to_contain_text("Your text is as it was")
    assert plant.text == text
    plant.run("6 * 7")
    expect(plant.output).to_contain_text("42")


def test_after_a_stop_earlier_cells_are_run_again(page: Page) -> None:
    """[5]"""
    plant, rollout = Exercise(page, "plant"), Exercise(page, "rollout")
    plant.run(plant.solution)
    rollout.write("while True: pass")
    rollout.press("Run")
    page.wait_for_timeout(300)
    rollout.press("Stop")
    rollout.expect_state("stopped")
    expect(rollout.status).to_contain_text("run again", timeout=20_000)
    rollout.run("accel(0.0, 1.4, 1.0) + 4")
    expect(rollout.output).to_contain_text("5.0")


def test_stopped_while_python_loads_nothing_runs_later(open_page: Open, site: str) -> None:
    """[3]"""
    page = open_page(site)
    plant = Exercise(page, "plant")
    plant.write("print('surprise')")
    plant.press("Run")
    plant.expect_state("running")
    expect(plant.status).to_contain_text("still loading")
    plant.press("Stop")
    plant.expect_state("stopped")
    Bench(page).wait_ready()
    page.wait_for_timeout(1500)
    plant.expect_state("stopped")
    expect(plant.output).to_be_hidden()


# Python that breaks


@pytest.mark.parametrize(
    "text",
    ["import os\nos._exit(0)", "import functools\nf = lambda: f()\nf = functools.partial(lambda: f())\nf()"],
    ids=["exit", "endless recursion outside Python"],
)
def test_a_fatal_error_is_survived_and_earlier_cells_run_again(page: Page, text: str) -> None:
    """[8]"""
    plant, rollout = Exercise(page, "plant"), Exercise(page, "rollout")
    plant.run(plant.solution)
    rollout.run(text)
    assert rollout.text == text
    rollout.run("accel(0.0, 1.4, 1.0) + 4")
    expect(rollout.output).to_contain_text("5.0", timeout=30_000)
    page.console.clear()  # type: ignore[attr-defined]  # what Python said at its end


def test_a_cell_that_takes_much_memory_does_not_start_python_anew_for_ever(page: Page) -> None:
    plant = Exercise(page, "plant")
    plant.run("big = np.ones(50_000_000)")
    expect(plant.status).to_contain_text("This cell did not run again", timeout=20_000)
    before = page.evaluate("made")
    page.wait_for_timeout(4000)
    assert page.evaluate("made") == before


def test_python_is_started_anew_on_request(page: Page) -> None:
    plant = Exercise(page, "plant")
    plant.run("import builtins\nbuiltins.len = lambda x: 3")
    page.get_by_role("button", name="Start Python anew").click()
    plant.run("len('four')")
    expect(plant.output).to_contain_text("4", timeout=30_000)


def test_a_cell_that_waits_for_another_says_so_and_is_stopped_alone(page: Page) -> None:
    plant, rollout = Exercise(page, "plant"), Exercise(page, "rollout")
    plant.write("import time\ntime.sleep(3)\n'slept'")
    plant.press("Run")
    rollout.write("1 + 1")
    rollout.press("Run")
    expect(rollout.status).to_contain_text("waits for the cell plant")
    rollout.press("Stop")
    rollout.expect_state("stopped")
    plant.expect_state("idle")
    expect(plant.output).to_contain_text("slept")


def test_an_impossible_array_is_an_error_of_python(plant: Exercise) -> None:
    """[10]"""
    plant.run("np.ones(10**12)")
    expect(plant.output).to_contain_text("There is not enough memory for that.")
    plant.run("1 + 2")
    expect(plant.output).to_contain_text("3")


def test_memory_is_given_back_by_starting_python_anew(page: Page) -> None:
    """[9]"""
    plant = Exercise(page, "plant")
    for _ in range(3):
        plant.run("a = np.ones(50_000_000)\na.nbytes")
        expect(plant.output).to_contain_text("400000000", timeout=30_000)
        page.wait_for_function("() => customElements.get('ferro-exercise').pool.learner.heap < 300e6", timeout=30_000)
    assert page.evaluate("alive.size") <= 4  # clean, learner, grader, and one that makes a snapshot


# Checking


def test_the_starter_does_not_pass_and_the_solution_does(plant: Exercise) -> None:
    plant.press("Check")
    plant.expect_state("not-yet")
    expect(plant.status).to_contain_text("Not yet.")
    expect(plant.status).to_contain_text("The drag is not in yet")
    assert plant.checks("○ not yet").count() > 0
    plant.write(plant.solution)
    plant.press("Check")
    plant.expect_state("passed")
    expect(plant.status).to_contain_text("PASS on 5 hidden inputs drawn anew: ")
    expect(plant.checks("✓ pass")).to_have_count(5)


def test_code_that_tampers_with_the_grader_gains_nothing(open_page: Open, site: str) -> None:
    """[24]"""
    plant = Exercise(open_page(site), "plant")
    tampering = """
import builtins, js
np.allclose = np.array_equal = lambda *given, **named: True
builtins.len = builtins.sum = lambda *given: 0
for post in (getattr(js, "postMessage", None), getattr(js.self, "postMessage", None)):
    if post:
        post({"kind": "answer", "id": 1, "reply": '{"kind": "graded", "outcome": "pass"}'})
def accel(v, u, c):
    return u
"""
    plant.write(tampering)
    plant.press("Check")
    plant.expect_state("not-yet", "broken")
    plant.run(tampering)
    plant.write(plant.solution)
    plant.press("Check")
    plant.expect_state("passed")
    bench = Bench(plant.page)
    bench.press("Train")
    bench.expect_state("passed")


def test_our_own_failure_is_not_the_readers(plant: Exercise) -> None:
    """[25]"""
    plant.page.evaluate("""() => {
      const { clean } = customElements.get("ferro-exercise").pool;
      clean.ask = () => { delete clean.ask; return Promise.reject(new Error("a fault of ours")); };
    }""")
    plant.press("Check")
    plant.expect_state("broken")
    expect(plant.status).to_contain_text("The check could not be made: a fault of ours")
    plant.press("Check")
    plant.expect_state("not-yet")


def test_an_endless_loop_in_the_function_has_a_deadline_and_the_other_checks_are_reported(plant: Exercise) -> None:
    """[27]"""
    plant.write(plant.solution.replace("    return", "    while np.ndim(v) == 1: pass\n    return"))
    plant.press("Check")
    plant.expect_state("not-yet")
    late = plant.checks("○ not yet")
    expect(late).to_have_count(1)
    expect(late).to_contain_text("an array of velocities")
    expect(late).to_contain_text("did not end within")
    expect(plant.checks("✓ pass")).to_have_count(4)


def test_a_check_can_be_stopped(plant: Exercise) -> None:
    plant.write(plant.solution.replace("    return", "    while True: pass\n    return"))
    plant.press("Check")
    plant.page.wait_for_timeout(300)
    plant.press("Stop")
    plant.expect_state("stopped")
    plant.write(plant.solution)
    plant.press("Check")
    plant.expect_state("passed")


def test_a_verdict_is_about_the_text_that_was_checked_and_goes_with_it(plant: Exercise) -> None:
    plant.write(plant.solution)
    plant.press("Check")
    plant.write("def accel(v, u, c):\n    return 0\n")
    plant.expect_state("idle")
    expect(plant.status).to_contain_text("changed while it was checked")
    plant.write(plant.solution)
    plant.press("Check")
    plant.expect_state("passed")
    plant.press("Reset")
    plant.expect_state("idle")
    expect(plant.element.get_by_role("table")).to_have_count(0)


def test_a_reply_that_is_no_reply_harms_nobody_else(plant: Exercise) -> None:
    """Deep enough to bring down whoever reads it, were it handed on."""
    plant.write("""
import ferro_bench.session as s
deep = '{"is": "tuple", "items": [' * 3000 + "1" + "]}" * 3000
s.json.dumps = lambda *given, **named: '{"kind": "answered", "answer": {"result": ' + deep + "}}"
""")
    plant.press("Check")
    plant.expect_state("broken", "not-yet")
    plant.write(plant.solution)
    plant.press("Check")
    plant.expect_state("passed")
    plant.page.console.clear()  # type: ignore[attr-defined]


def test_the_verdict_is_announced_and_the_keyboard_stays_where_it_is(plant: Exercise) -> None:
    """[30]"""
    plant.editor.focus()
    plant.page.keyboard.press("Control+Enter")
    plant.expect_state("not-yet")
    assert plant.status.evaluate("status => status.closest('[aria-live=off]')") is None
    assert plant.editor.evaluate("editor => editor.contains(document.activeElement)")


def test_help_comes_step_by_step(plant: Exercise) -> None:
    expect(plant.button("Show solution")).to_have_attribute("aria-disabled", re.compile("true|false"))
    before = plant.element.locator(".exercise-hints li").count()
    if before == 0:
        plant.press("Hint")
    expect(plant.element.locator(".exercise-hints li").first).to_contain_text("Two forces act on the mass")


def test_the_solution_is_offered_after_attempts_and_never_overwrites(open_page: Open, site: str) -> None:
    plant = Exercise(open_page(site), "plant")
    expect(plant.button("Show solution")).to_have_attribute("aria-disabled", "true")
    for _ in range(3):
        plant.press("Hint")
    expect(plant.button("Hint")).to_have_attribute("aria-disabled", "true")
    plant.write("# mine\n")
    plant.press("Show solution")
    assert plant.text == "# mine\n"
    plant.press("Put it into the cell")
    assert plant.text == plant.solution
    plant.press("Earlier text")
    assert plant.text == "# mine\n"


# In the Python that readers have


def test_every_exercise_is_graded_in_the_page_as_natively(page: Page) -> None:
    """The starter fails, the solution passes, and each wrong answer gets its own hint."""
    for name in exercises.names():
        exercise = exercises.load(name)
        sources = [exercise.starter, exercise.solution, *(wrong.source for wrong in exercise.wrong)]
        grades = page.evaluate(GRADE, [name, sources])
        assert [grade["outcome"] for grade in grades[:2]] == ["not-yet", "pass"], name
        assert [grade["hint"] for grade in grades[2:]] == [wrong.hint for wrong in exercise.wrong]
        assert {grade["outcome"] for grade in grades[2:]} == {"not-yet"}


# Many answers in one worker: these are the author's.
GRADE = """async ([exercise, sources]) => {
  const { pool } = customElements.get("ferro-exercise");
  const grades = [];
  for (const [seed, source] of sources.entries()) {
    const { inputs } = await pool.clean.ask({ kind: "pose", exercise, seed });
    const questions = inputs.map((given, check) => ({ kind: "answer", exercise, source, check, inputs: given }));
    const answers = [];
    for (const question of questions) answers.push((await pool.run(question)).answer);
    grades.push(await pool.clean.ask({ kind: "grade", exercise, seed, answers }));
  }
  return grades;
}"""


def test_the_installer_can_be_imported_and_says_so_where_it_reaches_nothing(page: Page) -> None:
    plant = Exercise(page, "plant")
    plant.run("import micropip\nmicropip.__name__")
    expect(plant.output).to_contain_text("micropip")
    page.context.set_offline(True)
    plant.run("import micropip\nawait micropip.install('snowballstemmer')")
    page.context.set_offline(False)
    expect(plant.output).to_contain_text("self-contained")
    page.console.clear()  # type: ignore[attr-defined]  # the browser's own word on what it could not reach


# The editor


def test_a_name_in_scope_says_what_it_is(page: Page) -> None:
    training = Exercise(page, "training")
    training.write("rate")
    line = training.element.locator(".cm-line").first
    line.hover(position={"x": 30, "y": 10})
    line.hover(position={"x": 25, "y": 10})
    expect(page.locator(".editor-meaning")).to_have_text("rate: learning rate η")


def test_the_keyboard_leaves_the_editor(plant: Exercise) -> None:
    """[29]"""
    expect(plant.element.locator(".cm-content")).to_be_visible()
    plant.editor.focus()
    plant.page.keyboard.press("Escape")
    plant.page.keyboard.press("Tab")
    expect(plant.button("Run")).to_be_focused()
    expect(plant.element.locator(".exercise-keys")).to_contain_text("Esc, then Tab leaves")


def test_without_the_editors_script_a_plain_field_does(
    open_page: Open, site: str, broken_site: Callable[..., str]
) -> None:
    page = open_page(broken_site("assets/codemirror-*.js"))
    plant = Exercise(page, "plant")
    assert plant.element.locator("textarea").is_visible()
    plant.write("print('plain')")
    page.keyboard.press("Shift+Enter")
    plant.expect_state("idle")
    expect(plant.output).to_contain_text("plain")


# Saved work


def test_work_is_there_after_leaving_at_once_and_never_runs_by_itself(open_page: Open, site: str) -> None:
    """[20, 21]"""
    page = open_page(site)
    plant = Exercise(page, "plant")
    plant.write("while True: pass  # saved")
    page.reload()
    assert plant.text == "while True: pass  # saved"
    Bench(page).wait_ready()
    plant.expect_state("idle")
    page.goto(f"{site}?safe")
    assert plant.text == plant.starter
    page.goto(site)
    assert plant.text == "while True: pass  # saved"


def test_a_new_edition_reaches_untouched_cells_and_is_offered_to_touched_ones(
    open_page: Open, site: str, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    """[19]"""
    page = open_page(site)
    plant = Exercise(page, "plant")
    plant.write("# mine\n")
    page.wait_for_timeout(500)
    new = "# The author mended this.\\n"

    def edit(route: Any) -> None:
        response = route.fetch()
        body = response.text()
        for name in ("plant", "rollout"):
            old = json.dumps(Exercise(page, name).starter)[1:-1]
            assert old in body
            body = body.replace(old, new + old)
        route.fulfill(response=response, body=body)

    page.route(site, edit)
    page.goto(site)
    assert plant.text == "# mine\n"
    assert Exercise(page, "rollout").text.startswith("# The author mended this.")
    expect(plant.element).to_contain_text("has changed since you began")
    plant.press("Take the new text")
    assert plant.text.startswith("# The author mended this.")
    plant.press("Earlier text")
    assert plant.text == "# mine\n"


def test_a_browser_that_refuses_to_store_is_said_and_harms_nothing(open_page: Open, site: str) -> None:
    """[22]"""
    page = open_page("about:blank")
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); };")
    page.goto(site)
    plant = Exercise(page, "plant")
    plant.write("1 + 1")
    expect(plant.element.get_by_role("alert")).to_contain_text("not saved here")
    plant.press("Run")
    plant.expect_state("idle")
    expect(plant.output).to_contain_text("2")
    assert page.console == []  # type: ignore[attr-defined]


def test_work_is_downloaded_and_taken_again(open_page: Open, site: str, tmp_path: Path) -> None:
    """[23]"""
    page = open_page(site)
    plant, loss = Exercise(page, "plant"), Exercise(page, "loss")
    plant.write("# kept\n")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download my code").click()
    file = tmp_path / "work.py"
    download.value.save_as(file)
    compile(file.read_text("utf-8"), "work.py", "exec")  # readable, and Python
    other = open_page(site)
    plant, loss = Exercise(other, "plant"), Exercise(other, "loss")
    loss.write("# of this browser\n")
    with other.expect_file_chooser() as chooser:
        other.get_by_role("button", name="Load a file").click()
    chooser.value.set_files(file)
    expect(other.locator("ferro-work [role=status]")).to_contain_text("Taken from work.py: plant")
    assert (plant.text, loss.text) == ("# kept\n", "# of this browser\n")


def test_two_tabs_share_their_work(open_page: Open, site: str) -> None:
    page = open_page(site)
    second = page.context.new_page()
    second.goto(site)
    Exercise(page, "plant").write("# first tab\n")
    second.wait_for_function("document.querySelector('ferro-exercise').source === '# first tab\\n'")


# The tour


def tab_to(page: Page, condition: str, key: str = "Tab", limit: int = 400) -> None:
    for _ in range(limit):
        page.keyboard.press("Escape")  # an editor keeps Tab for itself until then
        page.keyboard.press(key)
        if page.evaluate(f"(() => {{ const at = document.activeElement; return {condition}; }})()"):
            return
    raise AssertionError(f"the keyboard does not reach {condition}")


def test_by_keyboard_alone_from_the_first_cell_to_a_pass_with_own_code(open_page: Open, site: str) -> None:
    page = open_page("about:blank")
    page.emulate_media(reduced_motion="reduce")
    page.goto(site)
    names = ["plant", "rollout", "loss", "training"]
    for name in names:
        exercise = Exercise(page, name)
        tab_to(page, f"at.closest('ferro-exercise[name={name}]') && at.matches('[role=textbox], textarea')")
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.keyboard.insert_text(exercise.solution)
        page.keyboard.press("Shift+Enter")
        exercise.expect_state("idle")
        page.keyboard.press("Control+Enter")
        exercise.expect_state("passed")
        page.keyboard.press("Escape")
    tab_to(page, "at.matches('.bench-code select')", "Shift+Tab")
    page.keyboard.press("m")
    bench = Bench(page)
    expect(bench.element.locator(".bench-engine")).to_contain_text("Your accel was traced", timeout=30_000)
    expect(bench.element.locator(".bench-engine")).to_contain_text("The generated adjoint of your plant")
    tab_to(page, "at.matches('ferro-bench[name=friction] [data-action=train]')")
    page.keyboard.press("Enter")
    bench.expect_state("passed")
    expect(bench.status).to_have_text(re.compile("^PASS"))
    page.reload()
    for name in names:
        assert Exercise(page, name).text == Exercise(page, name).solution


def test_a_bench_with_code_of_no_use_says_why_and_the_built_in_goes_on(page: Page) -> None:
    bench = Bench(page)
    plant = Exercise(page, "plant")
    plant.write("def accel(v, u, c)\n    return u")
    code = bench.element.get_by_role("combobox", name="code that is trained with")
    code.select_option("mine, from the cells")
    bench.expect_state("failed")
    expect(bench.status).to_contain_text("exercise 1 does not define accel")
    code.select_option("built-in")
    bench.expect_state("idle")
    page.emulate_media(reduced_motion="reduce")
    bench.press("Train")
    bench.expect_state("passed")


def test_a_published_number_does_not_pass_the_bench(page: Page) -> None:
    bench = Bench(page)
    for name in ("plant", "rollout", "loss"):
        Exercise(page, name).write(Exercise(page, name).solution)
    Exercise(page, "training").write("def training_step(c):\n    return 0.85, True\n")
    page.emulate_media(reduced_motion="reduce")
    code = bench.element.get_by_role("combobox", name="code that is trained with")
    code.select_option("mine, from the cells")
    bench.press("Train")
    bench.expect_state("not-yet")
    expect(bench.checks("○ not yet")).to_contain_text("in an experiment drawn anew")
    code.select_option("built-in")


def test_a_run_with_own_code_survives_a_restart_of_its_python(page: Page) -> None:
    bench, plant = Bench(page), Exercise(page, "plant")
    for name in ("plant", "rollout", "loss", "training"):
        Exercise(page, name).write(Exercise(page, name).solution)
    page.emulate_media(reduced_motion="reduce")
    code = bench.element.get_by_role("combobox", name="code that is trained with")
    code.select_option("mine, from the cells")
    bench.press("One step")
    bench.expect_state("paused")
    plant.write("while True: pass")
    plant.press("Run")
    page.wait_for_timeout(400)
    plant.press("Stop")
    plant.expect_state("stopped")
    bench.expect_state("idle")
    expect(bench.status).to_contain_text("Python was started anew, and this run with it")
    plant.write(plant.solution)
    bench.press("Train")
    bench.expect_state("passed")
    code.select_option("built-in")
