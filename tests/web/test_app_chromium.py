"""The App in a real browser, in the frame of a host that answers its calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from midcall.core.forms.fields import Text
from midcall.core.forms.form import Form
from midcall.settings.web import PAGE_CONFIRM_SECONDS
from midcall.web.forms.document import asking, document
from tests.browser import launch
from tests.skips import needs_chromium

pytestmark = needs_chromium()

ANSWER = Form(Text("answer", title="Answer", default="yes"))
HOST = """<!doctype html><body>
<iframe sandbox="allow-scripts" style="width: 700px; height: 600px"></iframe>
<script>
const frame = document.querySelector("iframe");
const asked = %s;
window.answers = [];
addEventListener("message", ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  const send = (said) => source.postMessage({ jsonrpc: "2.0", ...said }, "*");
  if (data.method === "ui/initialize") {
    send({ id: data.id, result: { hostContext: {} } });
    send({ method: "ui/notifications/tool-input", params: { arguments: {} } });
  } else if (data.method === "tools/call") {
    const { action, step } = data.params.arguments;
    if (["accept", "decline", "cancel"].includes(action)) window.answers.push([step, action]);
    const next = window.answers.length;
    const reply = next < asked.length
      ? { state: "asking", nonce: "n", step: next, question: `q${next}`, html: asked[next] }
      : { state: "done", nonce: "n" };
    send({ id: data.id, result: { _meta: { "midcall/app": reply } } });
  }
});
frame.srcdoc = %s;
</script></body>"""


def hosting(*messages: str) -> str:
    shown = [str(asking(ANSWER, "Bank", message)) for message in messages]
    return HOST % tuple(json.dumps(each).replace("</", "<\\/") for each in (shown, str(document())))


@pytest.mark.parametrize("button", ["Send", "Decline", "Cancel"])
async def test_a_double_click_in_an_app_answers_only_the_question_that_it_was_for(button: str) -> None:
    from playwright.async_api import expect

    async with launch() as browser:
        page: Any = await browser.new_page()
        await page.clock.install(time=0)
        await page.clock.pause_at(1000)
        body = hosting("Delete tmp.txt?", "Pay 1000 EUR?")
        await page.route("http://host.test/", lambda route: route.fulfill(body=body, content_type="text/html"))
        await page.goto("http://host.test/")
        frame = page.frame_locator("iframe")
        pressed = frame.get_by_role("button", name=button, exact=True)
        await expect(frame.get_by_text("Delete tmp.txt?")).to_be_visible()
        await page.clock.run_for(1000 * PAGE_CONFIRM_SECONDS)
        await expect(pressed).to_be_enabled()
        place = await pressed.bounding_box()
        x, y = place["x"] + 5, place["y"] + 5
        await page.mouse.click(x, y)
        await expect(frame.get_by_text("Pay 1000 EUR?")).to_be_visible()
        first = await page.evaluate("answers")
        assert len(first) == 1
        await page.clock.run_for(1000 * PAGE_CONFIRM_SECONDS - 10)
        await page.mouse.dblclick(x, y)
        await expect(pressed).to_be_disabled()
        await frame.get_by_label("Answer").press("Enter")
        assert await page.evaluate("answers") == first
        await page.clock.run_for(10)
        await pressed.click()
        await expect(frame.get_by_text("The assistant was told").or_(frame.get_by_text("Sent"))).to_be_visible()
        assert await page.evaluate("answers") == [*first, [1, first[0][1]]]
        await browser.close()
