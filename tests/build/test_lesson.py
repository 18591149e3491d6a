"""An author's slip fails the build with file and line, and what is right reaches the page as it was written."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from building import lesson
from building.commands import CommandError
from building.descriptions import prerender
from building.lesson import LessonError, Site

PAGE = "<!doctype html>\n<html>\n<body>\n{}\n</body>\n</html>\n"
FIRST_LINE = 4  # of what is put into the page


@pytest.fixture
def site(tmp_path: Path) -> Site:
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "data.csv").write_text("1,2\n")
    return Site(
        dist=dist,
        bundled={"site/main.js": "assets/main-1a2b.js"},
        benches={"slide": {"values": {"c": "0.20 <kg/m>"}}},
        config={"worker": "assets/worker-1a2b.js"},
        markup={
            "bench": {"slide": "<h3>A slide</h3>"},
            "exercise": {"plant": "<h4>The law</h4>"},
            "project": {"project": "<h3>Your own</h3>"},
            "figure": {"bump": "<figure>A bump</figure>"},
            "speed": {"speed": "<p>Measure</p>"},
        },
    )


ANSWER = "<details><summary>Model answer</summary><p>So.</p></details>"
RECALL = f'<ferro-recall name="why"><h3>Why</h3><p>Why so?</p>{ANSWER}</ferro-recall>'
CHOICES = (
    '<details data-choice="yes" data-right><summary>Yes</summary><p>It does.</p></details>'
    '<details data-choice="no"><summary>No</summary><p>It does.</p></details>'
)
PREDICT = f'<ferro-predict name="guess" recall="why"><h3>Guess</h3><p>Does it?</p>{CHOICES}{ANSWER}</ferro-predict>'
CHOICE = '<details data-choice="{}"><summary>Perhaps</summary>No.</details>'


def render(site: Site, body: str) -> str:
    return render_page(site, PAGE.format(body))


def render_page(site: Site, page: str) -> str:
    path = site.dist.parent / "lesson.html"
    path.write_bytes(page.encode())
    return lesson.render(path, site)


def body_of(page: str) -> str:
    return page.partition("<body>\n")[2].partition('\n<script type="application/json" id="ferro-runtime-config">')[0]


# What is refused


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ('<ferro-bench name="slid"></ferro-bench>', "there is no bench 'slid'; there is slide"),
        ("<ferro-bench></ferro-bench>", "there is no bench None; there is slide"),
        ('<ferro-exercise name="law"></ferro-exercise>', "there is no exercise 'law'; there is plant"),
        ('<ferro-exercise name="plant"></ferro-exercise>' * 2, "the exercise 'plant' stands on this page already"),
        ('<ferro-figure name="dent"></ferro-figure>', "there is no figure 'dent'; there is bump"),
        ("<ferro-figure></ferro-figure>", "there is no figure None; there is bump"),
        ('<ferro-figure name="bump"></ferro-figure>' * 2, "the figure 'bump' stands on this page already"),
        ('<ferro-value bench="slid" name="c"></ferro-value>', "there is no bench 'slid'; there is slide"),
        ('<ferro-value bench="slide" name="d"></ferro-value>', "there is no value 'd' on this bench; there is c"),
        ('<ferro-value bench="slide"></ferro-value>', "there is no value None on this bench; there is c"),
        ('<ferro-source name="ferro_bench.rollout.unroll"></ferro-source>', "no source 'ferro_bench.rollout.unroll'"),
        ('<ferro-source name="ferro_bench.rolout.rollout"></ferro-source>', "no source 'ferro_bench.rolout.rollout'"),
        ('<ferro-source name="os.path.join"></ferro-source>', "no source 'os.path.join'"),
        ("<ferro-source></ferro-source>", "no source ''"),
        ('<ferro-source name="ferro_bench.benches.friction.DT"></ferro-source>', "friction.DT' is a value"),
        ("<ferro-quiz></ferro-quiz>", "there is no element <ferro-quiz>; there is ferro-bench,"),
        ("<ferro-math>x^</ferro-math>", "the formula x^ could not be read (Missing"),
        (r"<ferro-math>\fraq x</ferro-math>", r"there is no command \fraq"),
        ("<ferro-math>a<b</ferro-math>", "in a formula"),
        ("<ferro-math>x", "there is </body> in a formula"),
        ("<p>m = <ferro-math>m</p>", "there is </p> in a formula"),
        ('<a href="#nowhere">x</a>', "the link #nowhere leads to no id on this page"),
        ('<a href="datum.csv">x</a>', "the link href='datum.csv' leads nowhere"),
        ('<a href="site/missing.svg">x</a>', "leads nowhere"),
        ('<img src="site/missing.svg">', "the link src='site/missing.svg' leads nowhere"),
        ('<img srcset="data.csv 1x, //cdn.test/x 2x">', "leads nowhere"),
        ('<a href="/etc/hosts">x</a>', "leads nowhere"),
        ('<a href="../lesson.html">x</a>', "leads nowhere"),
        ("<script src='site/main.js'></script>", "double quotes"),
        ("<script src=site/main.js></script>", "double quotes"),
        ("<script>let x</script>", "an inline <script>"),
        ("<style>p { color: red }</style>", "an inline <style>"),
        ('<p style="color: red">', "the inline attribute style"),
        ('<p onclick="go()">', "the inline attribute onclick"),
        ('<p ONCLICK="go()">', "the inline attribute onclick"),
    ],
)
def test_a_slip_is_refused_with_its_line(site: Site, slip: str, said: str) -> None:
    with pytest.raises(LessonError) as raised:
        render(site, f"\n<p>before</p>\n{slip}")
    (problem,) = str(raised.value).splitlines()
    line = FIRST_LINE + (3 if "</body>" in said else 2)
    assert problem.startswith(f"lesson.html:{line}: ")
    assert said in problem


@pytest.mark.parametrize("address", ["https://cdn.test/x", "http://cdn.test/x", "HTTPS://cdn.test/x", "//cdn.test/x"])
@pytest.mark.parametrize(
    "element",
    [
        '<script src="{}"></script>',
        '<img src="{}">',
        '<img src=" {}">',
        '<img srcset="{} 2x">',
        '<video poster="{}"></video>',
        '<object data="{}"></object>',
        '<form action="{}"></form>',
        '<iframe src="{}"></iframe>',
        '<link rel="stylesheet" href="{}">',
        '<base href="{}">',
        '<svg><image href="{}"/></svg>',
        '<svg><use xlink:href="{}"/></svg>',
        '<a href="#" ping="{}">x</a>',
    ],
)
def test_nothing_is_fetched_from_another_host(site: Site, element: str, address: str) -> None:
    with pytest.raises(LessonError) as raised:
        render(site, element.format(address))
    assert re.fullmatch(r"lesson\.html:4: .*cdn\.test.* would make the page fetch from another host", str(raised.value))


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ('<p id="a"></p>\n<p id="a"></p>', "the id 'a' is used twice"),
        ('<ferro-bench name="slide"></ferro-bench>\n' * 2, "the bench 'slide' stands on this page already"),
    ],
)
def test_what_must_be_unique_is_refused_where_it_stands_again(site: Site, slip: str, said: str) -> None:
    with pytest.raises(LessonError) as raised:
        render(site, slip)
    assert str(raised.value).startswith(f"lesson.html:{FIRST_LINE + 1}: {said}")


def test_all_problems_are_reported_at_once(site: Site) -> None:
    with pytest.raises(LessonError) as raised:
        render(site, '<a href="#x">x</a>\n<ferro-bench></ferro-bench>\n<p style="" onclick="">\n<img src="//y">')
    places = [problem.split(": ")[0] for problem in str(raised.value).splitlines()]
    assert sorted(places) == [f"lesson.html:{line}" for line in (4, 5, 6, 6, 7)]


def test_a_page_without_a_closed_body_is_refused(site: Site) -> None:
    with pytest.raises(LessonError, match=r"^lesson\.html:2: there is no </body>"):
        render_page(site, "<body>\n<p>text</p>")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (RECALL.replace(' name="why"', ""), "<ferro-recall> needs a name, of small letters, digits and hyphens"),
        (RECALL.replace('"why"', '"Why so"'), "<ferro-recall> needs a name, of small letters, digits and hyphens"),
        (RECALL + RECALL, "the recall 'why' stands on this page already"),
        ('<p id="recall-why"></p>' + RECALL, "the id 'recall-why' is used twice"),
        (RECALL.replace("<h3>Why</h3>", ""), "the <ferro-recall> 'why' has no heading"),
        (RECALL.replace("<p>Why so?</p>", "<p> </p>"), "the <ferro-recall> 'why' has no question"),
        (RECALL.replace(ANSWER, ""), "the <ferro-recall> 'why' has 0 <details>; one holds the model answer"),
        (RECALL.replace(ANSWER, ANSWER * 2), "the <ferro-recall> 'why' has 2 <details>"),
        (RECALL.replace("<p>So.</p>", ""), "'why' has a <details> without a <summary> or without a text"),
        (RECALL.replace("Model answer", ""), "'why' has a <details> without a <summary> or without a text"),
        (RECALL.replace("</ferro-recall>", ""), "this <ferro-recall> is not closed"),
        (PREDICT, "there is no <ferro-recall name='why'> on this page"),
        (RECALL + PREDICT.replace('"guess"', '""'), "<ferro-predict> needs a name"),
        (RECALL + PREDICT + PREDICT, "the predict 'guess' stands on this page already"),
        (RECALL + PREDICT.replace(ANSWER, ""), "'guess' needs one <details> without data-choice"),
        (RECALL + PREDICT.replace(" data-right", ""), "'guess' needs the attribute data-right on exactly one choice"),
        (RECALL + PREDICT.replace('"no"', '"no" data-right'), "'guess' needs the attribute data-right on exactly one"),
        (RECALL + PREDICT.replace('"no"', '"yes"'), "'guess' has choices that share a name or have none"),
        (RECALL + PREDICT.replace('"no"', '""'), "'guess' has choices that share a name or have none"),
        (RECALL + PREDICT.replace(' data-choice="no"', ""), "'guess' has 1 <details data-choice="),
        (
            RECALL + PREDICT.replace(ANSWER, "".join(CHOICE.format(i) for i in range(3)) + ANSWER),
            "'guess' has 5 <details data-choice=",
        ),
        (RECALL + PREDICT.replace("<p>It does.</p>", "", 1), "'guess' has a <details> without a <summary> or without"),
    ],
)
def test_a_question_that_lacks_something_is_refused_with_its_line(site: Site, question: str, said: str) -> None:
    with pytest.raises(LessonError) as raised:
        render(site, f"<p>before</p>\n{question}")
    problem = str(raised.value).splitlines()[0]
    assert problem.startswith(f"lesson.html:{FIRST_LINE + 1}: ")
    assert said in problem


def test_a_question_within_a_question_is_refused(site: Site) -> None:
    with pytest.raises(LessonError, match=r"lesson\.html:5: <ferro-recall> stands in a <ferro-predict>"):
        render(site, PREDICT.replace(ANSWER, f"\n{RECALL}{ANSWER}"))


# What is rendered


def test_text_outside_elements_is_kept_byte_for_byte(site: Site) -> None:
    body = "<P  CLASS='odd' >1 &lt; 2&nbsp;&#x27;“×”\t<!-- <ferro-nothing> --> <br/>\r\n  <b>x</B>\n\n<unknown-tag a=1>"
    assert body_of(render(site, body)) == body.replace("\r\n", "\n")


def test_elements_are_filled_in_place(site: Site) -> None:
    page = render(
        site, '<p>A <ferro-value bench="slide" name="c"></ferro-value>.</p>\n<ferro-bench name="slide"></ferro-bench>'
    )
    assert body_of(page) == (
        '<p>A <ferro-value bench="slide" name="c">0.20 &lt;kg/m&gt;</ferro-value>.</p>\n'
        '<ferro-bench name="slide"><h3>A slide</h3></ferro-bench>'
    )


def test_a_question_is_kept_and_has_an_id_that_links_lead_to(site: Site) -> None:
    body = f'{RECALL}{PREDICT}<a href="#recall-why">x</a>'
    linked = body.replace('name="why"', 'name="why" id="recall-why"', 1)
    linked = linked.replace('recall="why"', 'recall="why" id="predict-guess"')
    assert body_of(render(site, body)) == linked


def test_what_a_question_needs_may_be_a_formula_or_an_entity(site: Site) -> None:
    recall = RECALL.replace("Why so?", "<ferro-math>x</ferro-math>").replace("So.", "&pi;")
    assert "<mi>x</mi>" in render(site, recall)


def test_the_project_is_filled_and_stands_once(site: Site) -> None:
    body = "<ferro-project></ferro-project>"
    assert body_of(render(site, body)) == "<ferro-project><h3>Your own</h3></ferro-project>"
    with pytest.raises(LessonError, match="'project' stands on this page already"):
        render(site, body + body)


def test_a_listing_is_the_source_itself(site: Site) -> None:
    body = body_of(render(site, '<ferro-source name="ferro_bench.benches.friction.rates"></ferro-source>'))
    assert body.startswith('<ferro-source name="ferro_bench.benches.friction.rates"><pre')
    assert '<span class="py-k">def</span>' in body
    assert "style=" not in body


@pytest.mark.parametrize(("attribute", "display"), [("", "inline"), (" display", "block")])
def test_a_formula_becomes_mathml(site: Site, attribute: str, display: str) -> None:
    body = body_of(render(site, rf"<ferro-math{attribute}>\frac{{a}}{{b}} &lt; 1</ferro-math>"))
    assert f'display="{display}"' in body
    assert "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>" in body
    assert "<mo>&#x0003C;</mo>" in body
    assert "frac{" not in body


def test_a_link_that_a_reader_follows_may_lead_anywhere(site: Site) -> None:
    body = (
        '<a id="top" href="https://arxiv.org/abs/2508.04696">x</a> <a href="mailto:a@b.test">y</a> <a href="#top">z</a>'
        ' <a href="data.csv#row">d</a> <a href="">again</a>'
    )
    assert body_of(render(site, body)) == body


def test_an_asset_is_named_as_it_was_built(site: Site) -> None:
    body = body_of(render(site, '<script data-src="site/main.js" src="site/main.js"></script>'))
    assert body == '<script data-src="site/main.js" src="assets/main-1a2b.js"></script>'


def test_a_file_that_is_not_bundled_is_copied_under_a_hashed_name(site: Site) -> None:
    page = render(site, '<video poster="site/icon.svg" src="site/icon.svg"></video>')
    (copied,) = (site.dist / "assets").iterdir()
    assert copied.name.startswith("icon-")
    assert body_of(page) == f'<video poster="assets/{copied.name}" src="assets/{copied.name}"></video>'


def test_the_scripts_find_their_configuration_at_the_end(site: Site) -> None:
    site = replace(site, config={"worker": "</script><p>"})
    page = render(site, "<p>text</p>")
    script = page.partition('<script type="application/json" id="ferro-runtime-config">')[2]
    assert json.loads(script.partition("</script>")[0]) == site.config
    assert script.partition("</script>")[2] == "\n</body>\n</html>\n"


def test_a_bench_is_drawn_by_the_pages_own_scripts() -> None:
    empty = {"controls": [], "own": [], "panels": [], "readout": {}, "values": {}, "columns": {}}
    markup = prerender({"slide": {"bench": "slide", "title": "A slide", "summary": "", **empty}})
    assert '<h3 class="bench-title">A slide</h3>' in markup["slide"]


def test_a_figure_is_filled_in_place(site: Site) -> None:
    assert body_of(render(site, '<ferro-figure name="bump"></ferro-figure>')) == (
        '<ferro-figure name="bump"><figure>A bump</figure></ferro-figure>'
    )


def test_a_figure_is_drawn_by_the_pages_own_scripts() -> None:
    axis = {"label": "x", "unit": ""}
    panel = {"title": "The bump", "x": axis, "y": axis, "lines": [{"role": "curve", "label": "y", "x": "x", "y": "y"}]}
    figure = {"kind": "figure", "figure": "bump", "question": "Is <it> a bump?", "caption": "It is."}
    markup = prerender({"bump": {**figure, "panels": [panel], "columns": {"x": [0, 1], "y": [2, 3]}}})["bump"]
    assert "<strong>Is &lt;it&gt; a bump?</strong> It is.</figcaption>" in markup
    assert '<path class="plot-curve"' in markup
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', markup)
    assert json.loads(data) == {"panels": [panel], "columns": {"x": [0, 1], "y": [2, 3]}}


def test_a_description_that_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(CommandError, match="prerender"):
        prerender({"slide": {}})


def test_a_listing_leaves_out_the_docstring(site: Site) -> None:
    page = render(site, '<ferro-source name="ferro_bench.rollout.rollout"></ferro-source>')
    assert "rollout" in page
    assert "np" in page
    assert "Args:" not in page


# Scripts and styles


@pytest.mark.parametrize(
    ("name", "line", "address"),
    [
        ("a.js", 'import x from "https://cdn.test/x.js";', "https://cdn.test/x.js"),
        ("a.js", "const socket = new WebSocket('wss://host.test/');", "wss://host.test/"),
        ("a.js", "await import('//cdn.test/x.js');", "//cdn.test/x.js"),
        ("a.css", "body { background: url(http://cdn.test/x.png) }", "http://cdn.test/x.png"),
        ("a.css", "body { background: url(//cdn.test/x.png) }", "//cdn.test/x.png"),
        ("a.svg", '<image href="https://cdn.test/x.png"/>', "https://cdn.test/x.png"),
    ],
)
def test_another_host_in_a_script_or_style_is_refused(tmp_path: Path, name: str, line: str, address: str) -> None:
    (tmp_path / "site" / "deep").mkdir(parents=True)
    (tmp_path / "site" / "deep" / name).write_text(f"\n\n{line}\n")
    with pytest.raises(LessonError) as raised:
        lesson.check_sources(tmp_path / "site")
    assert str(raised.value) == f"site/deep/{name}:3: {address} is on another host"


def test_namespaces_comments_and_relative_addresses_are_no_other_host(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" xml:lang="en"></svg>')
    (tmp_path / "a.js").write_text(
        '// A comment. (//so) /* too */\nimport "./b.js"; // "quoted"\nconst half = "a//b";\n'
    )
    (tmp_path / "a.css").write_text("@import 'b.css';\nb { background: url(../b.svg) }\n")
    (tmp_path / "notes.md").write_text("https://elsewhere.test")
    lesson.check_sources(tmp_path)


def test_the_pages_own_sources_name_no_other_host() -> None:
    lesson.check_sources(lesson.ROOT / "site")
