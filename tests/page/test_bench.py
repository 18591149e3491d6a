"""From opening the page to PASS, and every button on the way."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from ferro_bench import Identified, load
from tests.page.bench import Bench, number

Open = Callable[..., Page]

# What crosses between the page and its worker: kinds of questions, answers in full, and how many are open at once.
LISTEN = """
    Object.assign(window, { asked: [], answers: [], unanswered: 0, mostUnanswered: 0 });
    const Plain = Worker;
    window.Worker = class extends Plain {
      constructor(...given) {
        super(...given);
        window.worker = this;
        this.addEventListener("message", ({ data }) => {
          if (data.kind !== "answer") return;
          answers.push(JSON.parse(data.reply));
          unanswered--;
        });
      }
      postMessage(message, ...more) {
        if (message.kind === "ask") {
          asked.push(JSON.parse(message.request).kind);
          mostUnanswered = Math.max(mostUnanswered, ++unanswered);
        }
        super.postMessage(message, ...more);
      }
    };
"""


@pytest.fixture(scope="module")
def ready(open_for_module: Open, site: str) -> Bench:
    """One page for all tests that can share it: starting Python is what takes the time."""
    page = open_for_module("about:blank")
    page.add_init_script(LISTEN)
    page.goto(site)
    bench = Bench(page)
    bench.wait_ready()
    return bench


@pytest.fixture
def bench(ready: Bench) -> Bench:
    """The shared bench, as a reader finds it."""
    ready.page.emulate_media(color_scheme="light", reduced_motion="reduce")  # no waiting for what moves
    ready.element.get_by_role("combobox", name="optimizer").select_option("Gradient descent")
    ready.set("start value of c", "0.2")
    ready.set("learning rate", "0.35")
    ready.press("Start over")
    ready.expect_state("idle")
    expect(ready.element.locator('ferro-value[name="iteration"]')).to_have_text("0")
    expect(ready.element.locator('ferro-value[name="c"]')).to_have_text("0.2000 kg/m")
    ready.page.wait_for_function("unanswered === 0")
    ready.page.evaluate("[asked, answers, mostUnanswered] = [[], [], 0]")
    return ready


def native_result(**changes: Any) -> Identified:
    bench = load("friction")
    training = bench.train(bench.defaults() | changes)
    while True:
        try:
            next(training)
        except StopIteration as end:
            return end.value


def test_train_reaches_pass_with_the_native_result(bench: Bench) -> None:
    bench.press("Train")
    bench.expect_state("passed")
    expect(bench.status).to_have_text(re.compile("^PASS"))
    expect(bench.checks("✓ pass")).to_have_count(5)
    (result,) = bench.page.evaluate("answers.map((reply) => reply.result).filter(Boolean)")
    assert result["parameters"]["c"] == pytest.approx(native_result().step.parameters["c"], abs=1e-6)
    assert number(bench.value("c")) == pytest.approx(0.85, abs=0.001)


def test_no_request_leaves_the_origin_and_the_console_stays_clean(bench: Bench, site: str) -> None:
    bench.press("Train")
    bench.expect_state("passed")
    assert {urlsplit(url).netloc for url in bench.page.requested if not url.startswith("blob:")} == {
        urlsplit(site).netloc
    }
    assert bench.page.console == []


def test_train_pressed_while_python_loads_is_queued(open_page: Open, site: str) -> None:
    bench = Bench(open_page(site))
    bench.press("Train")
    bench.expect_state("loading")
    expect(bench.status).to_contain_text("still loading")
    bench.expect_state("passed")


def test_a_queued_run_can_be_cancelled(open_page: Open, site: str) -> None:
    bench = Bench(open_page(site))
    bench.press("Train")
    bench.press("Pause")
    bench.expect_state("idle")
    bench.wait_ready()
    bench.page.wait_for_timeout(500)
    bench.expect_state("idle")
    assert bench.value("iteration") == "0"


def test_the_prediction_slides_onto_the_data(bench: Bench) -> None:
    measured, before = bench.column(0, 3), bench.column(0, 4)
    bench.press("Train")
    bench.expect_state("passed")
    after = bench.column(0, 4)
    assert len(measured) == len(before) == len(after) == 120
    assert max(abs(m - p) for m, p in zip(measured, before, strict=True)) > 0.5
    assert max(abs(m - p) for m, p in zip(measured, after, strict=True)) < 0.005


def test_pause_holds_and_train_goes_on(bench: Bench) -> None:
    bench.page.emulate_media(reduced_motion="no-preference")
    bench.press("Train")
    expect(bench.element.locator('ferro-value[name="iteration"]')).not_to_have_text("0")
    bench.press("Pause")
    bench.expect_state("paused")
    held = bench.value("iteration")
    bench.page.wait_for_timeout(400)
    assert bench.value("iteration") == held
    expect(bench.status).to_contain_text(f"iteration {held}")
    bench.press("Train")
    bench.expect_state("passed")
    assert int(bench.value("iteration")) > int(held)


def test_one_step_takes_one_step(bench: Bench) -> None:
    loss = number(bench.value("loss"))
    bench.press("One step")
    expect(bench.element.locator('ferro-value[name="iteration"]')).to_have_text("1")
    bench.expect_state("paused")
    assert number(bench.value("loss")) < loss
    bench.press("One step")
    expect(bench.element.locator('ferro-value[name="iteration"]')).to_have_text("2")


def test_start_over_goes_back_to_the_first_iterate(bench: Bench) -> None:
    first = bench.value("c"), bench.value("loss")
    bench.press("Train")
    bench.expect_state("passed")
    bench.press("Start over")
    bench.expect_state("idle")
    assert bench.value("iteration") == "0"
    assert (bench.value("c"), bench.value("loss")) == first
    expect(bench.checks("✓ pass")).to_have_count(1)  # the gradient is right from the start
    bench.press("Train")
    bench.expect_state("passed")


def test_a_learning_rate_beyond_the_limit_diverges_and_start_over_helps(bench: Bench) -> None:
    bench.set("learning rate", "5")
    bench.press("Train")
    bench.expect_state("diverged")
    expect(bench.status).to_have_text(re.compile("^Not yet.*diverged"))
    expect(bench.status).to_contain_text("smaller learning rate")
    bench.set("learning rate", "0.35")
    bench.expect_state("idle")
    bench.press("Train")
    bench.expect_state("passed")


def test_a_budget_that_runs_out_is_not_a_pass(bench: Bench) -> None:
    bench.set("learning rate", "0.01")
    bench.press("Train")
    bench.expect_state("not-yet")
    expect(bench.status).to_have_text(re.compile("^Not yet"))
    assert bench.checks("○ not yet").count() >= 1
    assert "larger learning rate" in bench.status.inner_text()


def test_another_optimizer_gives_its_own_result(bench: Bench) -> None:
    bench.element.get_by_role("combobox", name="optimizer").select_option("Adam")
    bench.press("One step")
    expect(bench.element.locator('ferro-value[name="iteration"]')).to_have_text("1")
    # Adam's first step is as long as its learning rate.
    assert number(bench.value("c")) == pytest.approx(0.2 + 0.35, abs=1e-4)


@pytest.mark.parametrize("typed", ["abc", "NaN", "", "-1", "99", "1e400", "Infinity"])
def test_a_start_value_that_makes_no_sense_is_refused_at_its_control(bench: Bench, typed: str) -> None:
    field = bench.field("start value of c")
    bench.set("start value of c", typed)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(bench.element.locator(".control").first).to_contain_text("from 0 to 3 kg/m")
    bench.press("Train")
    bench.page.wait_for_timeout(200)
    bench.expect_state("idle")
    expect(bench.status).to_contain_text("from 0 to 3 kg/m")
    assert bench.value("c") == "0.2000 kg/m"
    bench.set("start value of c", "0.5")
    expect(field).to_have_attribute("aria-invalid", "false")
    expect(bench.element.locator('ferro-value[name="c"]')).to_have_text("0.5000 kg/m")


def test_the_first_prediction_follows_the_start_value(bench: Bench) -> None:
    before = bench.column(0, 4)
    bench.set("start value of c", "2")
    expect(bench.element.locator('ferro-value[name="c"]')).to_have_text("2.000 kg/m")
    assert bench.column(0, 4)[-1] < before[-1]
    slider = bench.element.get_by_role("slider", name="start value of c")
    expect(slider).to_have_value("2")


def test_prose_shows_the_live_numbers(bench: Bench) -> None:
    sentence = bench.page.locator("main li").filter(has_text="It converges")
    expect(sentence).to_contain_text("0.2000 kg/m")
    bench.press("Train")
    bench.expect_state("passed")
    expect(sentence).to_contain_text("0.8502 kg/m")
    expect(sentence).to_contain_text("38 iterations")


def test_the_first_iterates_are_given_time_to_be_seen(bench: Bench) -> None:
    bench.page.emulate_media(reduced_motion="no-preference")
    bench.page.evaluate("""
        Object.assign(window, { shown: [] });
        document.addEventListener("ferro-values", ({ detail }) =>
          shown.push([detail.values.iteration, performance.now()]));
    """)
    bench.press("Train")
    bench.expect_state("passed")
    shown = bench.page.evaluate(
        "shown.filter(([iteration]) => iteration).map(([iteration, time]) => [Number(iteration), time])"
    )
    assert [iteration for iteration, _ in shown] == list(range(1, native_result().step.iteration + 1))
    waits = [later - sooner for (_, sooner), (_, later) in pairwise(shown)]
    assert waits[0] > 2 * waits[-1]


def test_keyboard_alone_trains_to_pass(bench: Bench) -> None:
    bench.button("Train").focus()
    bench.page.keyboard.press("Enter")
    bench.expect_state("passed")
    # The button that cannot act for a while must not drop the keyboard's place.
    expect(bench.button("Train")).to_be_focused()
    bench.page.keyboard.press("Tab")
    expect(bench.button("Pause")).to_be_focused()


@pytest.mark.parametrize("ratio", [1, 2])
def test_canvases_follow_the_device_pixel_ratio(open_page: Open, site: str, ratio: int) -> None:
    page = open_page(site, device_scale_factor=ratio)
    canvas = page.locator("ferro-bench canvas").first
    expect(canvas).to_be_visible()
    drawn, shown = canvas.evaluate("canvas => [canvas.width, canvas.clientWidth]")
    assert drawn == pytest.approx(shown * ratio, abs=ratio)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_plots_are_drawn_in_gold_and_green_in_both_themes(open_page: Open, site: str, scheme: str) -> None:
    page = open_page(site, color_scheme=scheme)
    canvas = page.locator("ferro-bench canvas").first
    expect(canvas).to_be_visible()
    page.wait_for_timeout(100)
    gold, green = canvas.evaluate("""canvas => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let gold = 0, green = 0;
      for (let i = 0; i < data.length; i += 4) {
        const [r, g, b] = data.slice(i, i + 3);
        if (r > 200 && g > 150 && b < 100) gold++;
        if (g > r + 60 && g > b + 40) green++;
      }
      return [gold, green];
    }""")
    assert gold > 200
    assert green > 200


def test_the_plots_are_redrawn_when_the_theme_changes(bench: Bench) -> None:
    pixel = "canvas => [...canvas.getContext('2d').getImageData(2, 2, 1, 1).data]"
    canvas = bench.element.locator("canvas").first
    bright = canvas.evaluate(pixel)
    bench.page.emulate_media(color_scheme="dark")
    bench.page.wait_for_timeout(200)
    assert sum(canvas.evaluate(pixel)[:3]) < sum(bright[:3]) - 300


def test_the_joints_actuator_is_found_from_its_encoder(bench: Bench) -> None:
    joint = Bench(bench.page, "actuator")
    expect(joint.checks("○ not yet")).not_to_have_count(0)
    joint.press("Train")
    joint.expect_state("passed")
    expect(joint.checks("✓ pass")).to_have_count(8)
    assert number(joint.value("kp")) == pytest.approx(62.0, abs=1.0)
    assert number(joint.value("fc")) == pytest.approx(0.45, abs=0.05)
    sentence = bench.page.locator("main p").filter(has_text="the datasheet’s values err by")
    errors = [number(text) for text in sentence.locator("ferro-value").all_inner_texts()]
    assert errors[0] > 10 * errors[1]


# Whatever is pressed, there is one run, and the last wish counts.


def test_pressing_train_and_pause_in_quick_turn_keeps_one_run(bench: Bench) -> None:
    bench.page.emulate_media(reduced_motion="no-preference")
    for pair in range(4):
        bench.press_at_once("Train")
        bench.page.wait_for_timeout(10 + 20 * pair)
        bench.press_at_once("Pause")
        bench.page.wait_for_timeout(10)
    bench.press_at_once("Train", "Pause", "Train")
    bench.expect_state("passed")
    bench.page.wait_for_timeout(200)
    bench.expect_state("passed")
    assert bench.page.evaluate("mostUnanswered") == 1
    assert bench.page.evaluate("asked.filter((kind) => kind === 'advance').length") == (
        native_result().step.iteration + 1
    )


def test_fifty_presses_of_one_step_at_once_are_one_step(bench: Bench) -> None:
    bench.press_at_once(*["One step"] * 50)
    bench.expect_state("paused")
    assert bench.value("iteration") == "1"
    assert bench.page.evaluate("mostUnanswered") == 1


def test_one_step_after_train_does_not_stop_it_silently(bench: Bench) -> None:
    bench.press_at_once("Start over", "Train", "One step")
    bench.expect_state("passed")


def test_a_pause_while_a_run_is_being_opened_is_kept(bench: Bench) -> None:
    bench.press_at_once("Start over", "Train", "Pause")
    bench.page.wait_for_timeout(500)
    bench.expect_state("paused|idle")
    assert bench.value("iteration") in {"0", "1"}


def test_many_moves_of_a_slider_open_few_runs(bench: Bench) -> None:
    before = bench.page.evaluate("asked.length")
    slider = bench.element.get_by_role("slider", name="start value of c")
    slider.evaluate("""(slider) => {
      for (let i = 0; i < 100; i++) {
        slider.value = String(1 + i / 100);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }""")
    expect(bench.element.locator('ferro-value[name="c"]')).to_have_text("1.990 kg/m")
    assert bench.page.evaluate("asked.length") - before <= 3


def test_with_reduced_motion_pause_still_pauses(bench: Bench) -> None:
    bench.set("learning rate", "0.01")
    bench.press_at_once("Train")
    bench.page.wait_for_timeout(60)
    bench.press_at_once("Pause")
    bench.expect_state("paused")
    expect(bench.status).to_contain_text("Paused at iteration")
    assert int(bench.value("iteration")) < 200


def test_after_going_back_the_fields_say_what_the_bench_will_do(open_page: Open, site: str) -> None:
    """A browser fills in what the fields held when the page was left; a new page begins with its own settings."""
    page = open_page("about:blank")
    page.route("**/runtime-*/**", lambda route: None)  # Python has no part in this
    page.goto(site)
    bench = Bench(page)
    bench.set("start value of c", "1.5")
    bench.element.get_by_role("slider", name="learning rate").press("End")
    bench.element.get_by_role("combobox", name="optimizer").select_option("Adam")
    page.goto("about:blank")
    page.go_back()
    bench.expect_state("idle")
    page.wait_for_timeout(300)
    for field, value in (("start value of c", "0.2"), ("learning rate", "0.35")):
        expect(bench.field(field)).to_have_value(value)
        expect(bench.element.get_by_role("slider", name=field)).to_have_value(value)
    expect(bench.element.get_by_role("combobox", name="optimizer")).to_have_value("gradient descent")


def test_a_refusal_goes_away_with_its_cause(bench: Bench) -> None:
    bench.set("start value of c", "abc")
    bench.press("Train")
    expect(bench.status).to_contain_text("Not started")
    bench.set("start value of c", "0.2")
    expect(bench.status).not_to_contain_text("Not started")


def test_a_worker_that_dies_is_noticed_and_replaced(open_page: Open, site: str) -> None:
    page = open_page("about:blank")
    page.add_init_script(LISTEN)
    page.goto(site)
    bench = Bench(page)
    bench.wait_ready()
    bench.press("Train")
    expect(bench.element.locator('ferro-value[name="iteration"]')).not_to_have_text("0")
    bench.press("Pause")
    bench.expect_state("paused")
    page.evaluate("window.worker.terminate()")
    for _ in range(3):  # asking again and again must not put off that nobody answers
        bench.press("Start over")
        page.wait_for_timeout(1000)
    expect(page.locator("html")).to_have_attribute("data-runtime", "failed", timeout=12_000)
    page.get_by_role("button", name="Retry").first.click()
    bench.wait_ready()
    bench.press("Train")
    bench.expect_state("passed")


def test_on_paper_the_plots_are_lines_in_print_colours(bench: Bench) -> None:
    bench.page.emulate_media(media="print", color_scheme="dark")
    bench.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert bench.element.locator("ferro-panel svg").count() == bench.element.locator("ferro-panel").count()
    expect(bench.element.locator("canvas")).to_have_count(0)
    assert bench.page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    bench.page.emulate_media(media="screen", color_scheme="light")
    bench.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(bench.element.locator("canvas")).to_have_count(bench.element.locator("ferro-panel").count())
    expect(bench.element.locator("ferro-panel svg")).to_have_count(0)
