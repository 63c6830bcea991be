// The page without this script is complete; with it, it is live.
(() => {
  "use strict";
  const root = document.documentElement;
  const base = document.body.dataset.base;
  let version = document.body.dataset.version;
  let leaving = false;
  let looking = false;
  let failures = 0;

  const part = (page, id) => page.getElementById(id);

  function swap(page, id) {
    part(document, id).replaceWith(document.adoptNode(part(page, id)));
  }

  // What is being filled in stays as it is, for as long as it is the same question.
  function show(page) {
    document.title = page.title;
    version = page.body.dataset.version;
    for (const id of ["count", "list", "notes"]) swap(page, id);
    if (part(page, "main").dataset.key === part(document, "main").dataset.key) return;
    const inside = part(document, "main").contains(document.activeElement) || document.activeElement === document.body;
    swap(page, "main");
    enhance(part(document, "main"));
    if (inside) document.querySelector("#main h1")?.focus({ preventScroll: true });
  }

  async function look() {
    if (looking || leaving) return;
    looking = true;
    try {
      const shown = part(document, "main").dataset.shown;
      const answer = await fetch(`${base}/${shown ? `?q=${encodeURIComponent(shown)}` : ""}`, { cache: "no-store" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (answer.ok && !leaving) show(page);
    } catch {
      // The next event, or the end of the stream, says what has happened.
    } finally {
      looking = false;
    }
  }

  function ended(source) {
    source.close();
    part(document, "ended").hidden = false;
    for (const control of document.querySelectorAll("button, input, select, textarea")) control.disabled = true;
    root.dataset.live = "ended";
  }

  function listen() {
    const source = new EventSource(`${base}/events`);
    source.addEventListener("open", () => { failures = 0; root.dataset.live = "yes"; });
    source.addEventListener("ended", () => ended(source));
    source.addEventListener("version", async (event) => {
      if (event.data === version) return;
      await look();
      root.dataset.version = version;
    });
    source.addEventListener("error", () => {
      failures += 1;
      if (!leaving && (source.readyState === EventSource.CLOSED || failures > 4)) ended(source);
    });
  }

  // Whether anything would be lost: typed here, or typed before and kept by the page.
  function typed(form) {
    if (form.hasAttribute("data-typed")) return true;
    return [...form.elements].some((control) =>
      control.type === "checkbox" || control.type === "radio" ? control.checked !== control.defaultChecked
        : control.options ? [...control.options].some((option) => option.selected !== option.defaultSelected)
        : "defaultValue" in control && control.type !== "hidden" && control.value !== control.defaultValue);
  }

  // Escape cancels. Where something was typed it goes to Cancel first: one slip of a finger loses nothing.
  function escape(event) {
    if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
    const cancel = document.querySelector("#main .cancel");
    if (!cancel) return;
    event.preventDefault(); // or it would stop the page that the click loads
    if (document.activeElement === cancel || !typed(cancel.form)) cancel.click();
    else cancel.focus();
  }

  function filter(options) {
    const box = document.createElement("input");
    box.type = "search";
    box.className = "filter";
    box.autocomplete = "off";
    box.placeholder = document.body.dataset.filter;
    box.setAttribute("aria-label", document.body.dataset.filter);
    box.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
    box.addEventListener("input", () => {
      const wanted = box.value.trim().toLowerCase();
      for (const option of options.children) option.hidden = !option.textContent.toLowerCase().includes(wanted);
    });
    options.before(box);
  }

  // The second half of a double click was meant for the question before.
  function pause(button) {
    button.disabled = true;
    setTimeout(() => { button.disabled = root.dataset.live === "ended"; }, document.body.dataset.pause);
  }

  function enhance(place) {
    for (const button of place.querySelectorAll("button[name=do]")) pause(button);
    for (const options of place.querySelectorAll(".options.many")) filter(options);
    place.querySelector(".summary")?.focus();
  }

  document.addEventListener("submit", (event) => {
    if (event.submitter?.formTarget !== "_blank") leaving = true;
  });
  document.addEventListener("keydown", escape);
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  window.addEventListener("pagehide", () => { leaving = true; });
  enhance(document);
  listen();
})();
