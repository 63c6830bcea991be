// The page is complete without this. With it, a click counts only if the page has been in front for a moment: another
// site may have had it behind a pop-up that closed between the two clicks of a double click.
(() => {
  "use strict";
  const pause = 1000 * document.currentScript.dataset.pause;
  const note = document.getElementById("hasty");
  let since = -Infinity;
  const begin = () => { since = performance.now(); };

  function judge(event) {
    if (!event.target.closest("button[name=do]") || performance.now() - since >= pause) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    note.hidden = false;
    note.scrollIntoView({ block: "nearest" });
  }

  window.addEventListener("focus", begin);
  window.addEventListener("pageshow", (event) => { if (event.persisted) begin(); });
  document.addEventListener("visibilitychange", begin);
  document.addEventListener("click", judge, true);
})();
