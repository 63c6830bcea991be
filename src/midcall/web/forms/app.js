"use strict";
(() => {
  // The host that shows this frame: nobody else is listened to, and nobody else is spoken to.
  const host = window.parent;
  const main = document.querySelector("main");
  const frame = [...crypto.getRandomValues(new Uint32Array(4))].join("-");
  const asked = new Map();
  const call = { action: "find", frame };
  let last = 0, looks = 0, reports = 0, seen = 0, height = 0, pause = 400, modes = [];
  let open, code, timer, resting; // the question, the code to go on with, the next look, a form that is too new to send
  let over, own, told, busy; // whether the call has ended, was answered here, the model was told, an answer is on its way

  const post = (message) => host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const request = (method, params) =>
    new Promise((done, failed) => {
      asked.set(++last, [done, failed]);
      post({ id: last, method, params });
    });

  addEventListener("message", ({ source, data }) => {
    if (source !== host || host === window || data?.jsonrpc !== "2.0") return;
    if (data.method && data.id !== undefined) {
      const known = data.method === "ping" || data.method === "ui/resource-teardown";
      post({ id: data.id, ...(known ? { result: {} } : { error: { code: -32601, message: "Method not found" } }) });
    } else if (data.method) hear(data.method, data.params || {});
    else if (asked.has(data.id)) {
      const [done, failed] = asked.get(data.id);
      asked.delete(data.id);
      data.error ? failed(data.error) : done(data.result || {});
    }
  });

  const hear = (method, params) => {
    if (method === "ui/notifications/tool-input") {
      call.arguments = params.arguments || {};
      look();
    } else if (method === "ui/notifications/tool-result") {
      const ask = params._meta?.["midcall/app"];
      code = params._meta?.["midcall/code"];
      over = true;
      if (ask) {
        const same = open && open.nonce === ask.nonce && open.state === "asking";
        if (same) return; // the user is at it
        open = ask;
        look();
      } else end(own ? "sent" : "");
    } else if (method === "ui/notifications/tool-cancelled") {
      over = true;
      end(own ? "sent" : open ? "late" : "");
    } else if (method === "ui/notifications/host-context-changed") settle(params);
  };

  // --- the server ---
  const server = (said) =>
    request("tools/call", { name: "midcall_app", arguments: said }).then((result) => {
      const reply = result._meta?.["midcall/app"];
      if (!reply) throw result;
      return reply;
    });

  // Only the last look counts: a result may come while another one is under way.
  const look = () => {
    clearTimeout(timer);
    const said = open?.nonce ? { action: "look", nonce: open.nonce, step: open.step, code } : call;
    if (said === call && !call.arguments) return;
    const mine = ++looks;
    const ifLast = (then) => (reply) => mine === looks && then(reply);
    server(said).then(ifLast(show), ifLast(() => (over ? end("lost") : later())));
  };

  const later = () => {
    pause = Math.min(pause * 1.4, 2500);
    timer = setTimeout(look, pause);
  };

  const show = (reply) => {
    const again = open?.step === reply.step && open?.question === reply.question;
    if (reply.nonce) open = reply;
    if (reply.state === "asking") {
      pause = 400;
      draw(reply.html);
      if (!again) {
        seen = 0;
        follow();
        rest(main.querySelector("form"));
      }
      return;
    }
    if (!over) {
      if (reply.state === "done" && own) say("sent");
      return later();
    }
    if (reply.state !== "done") return end(reply.state === "late" ? "late" : "lost");
    if (!own) return end("done");
    if (!reply.say || told) return end(told ? "said" : "sent");
    told = true;
    const content = [{ type: "text", text: reply.say }];
    request("ui/message", { role: "user", content }).then(
      (result) => end(result.isError ? "tell" : "said"),
      () => end("tell"),
    );
  };

  const send = (action) => {
    const form = main.querySelector("form");
    if (busy || form === resting || (action === "accept" && !whole(form))) return;
    busy = true;
    const fields = [...new FormData(form)].filter(([, value]) => typeof value === "string");
    const { nonce, step, question } = open;
    const known = code;
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    server({ action, nonce, step, question, code, fields: action === "accept" ? fields : [] }).then(
      (reply) => {
        busy = false;
        const wrong = reply.state === "asking" && reply.step === step && reply.question === question;
        own ||= !wrong && reply.state !== "late" && reply.state !== "unknown";
        if (reply.state === "done" && code !== known) look(); // the call has ended meanwhile
        else show(reply);
        if (wrong) main.querySelector(".summary")?.focus();
      },
      () => {
        busy = false;
        for (const button of form.querySelectorAll("button")) button.disabled = false;
        form.querySelector(":scope > .problem")?.remove();
        form.querySelector(".actions").before(document.getElementById("again").content.cloneNode(true));
      },
    );
  };

  // --- the page ---
  const draw = (html) => {
    const drawn = document.createElement("template");
    drawn.innerHTML = html; // by midcall, which escapes all that others wrote
    drawn.content.querySelector("[autofocus]")?.removeAttribute("autofocus");
    main.replaceChildren(drawn.content);
    follow();
    roomy();
  };
  // The second half of a double click was meant for the question before.
  const rest = (form) => {
    const buttons = form.querySelectorAll(".actions button");
    resting = form;
    for (const button of buttons) button.disabled = true;
    setTimeout(() => {
      if (resting === form) resting = undefined;
      for (const button of buttons) button.disabled = false;
    }, document.body.dataset.pause);
  };
  const say = (what) => main.replaceChildren(...(what ? [document.getElementById(what).content.cloneNode(true)] : []));
  const end = (what) => {
    looks++;
    clearTimeout(timer);
    say(what);
  };

  // A sandbox without forms submits none: buttons and Enter are ours.
  main.addEventListener("submit", (event) => event.preventDefault());
  main.addEventListener("click", (event) => {
    const to = event.target.closest("a[href^='#']");
    if (to) {
      event.preventDefault();
      document.getElementById(to.hash.slice(1))?.focus();
    }
    const what = event.target.closest("button")?.dataset.do;
    if (what === "larger") request("ui/request-display-mode", { mode: "fullscreen" }).catch(() => {});
    else if (what) send(what);
  });
  main.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || !event.target.matches("input")) return;
    event.preventDefault();
    send("accept");
  });

  const settle = ({ theme, availableDisplayModes, displayMode, toolInfo }) => {
    if (theme) {
      document.documentElement.style.colorScheme = theme;
      for (const rule of document.styleSheets[0].cssRules)
        if (/color-scheme/.test(rule.conditionText) || rule.theme) {
          rule.theme = true;
          rule.media.mediaText = theme === "dark" ? "all" : "not all";
        }
    }
    if (availableDisplayModes) modes = availableDisplayModes;
    if (displayMode === "fullscreen") modes = [];
    if (toolInfo?.tool) call.tool = toolInfo.tool.name;
    if (toolInfo?.id !== undefined) call.request = toolInfo.id;
    roomy();
  };

  // A frame may be kept smaller than what is in it.
  const roomy = () => {
    const larger = main.querySelector(".larger");
    if (larger) larger.hidden = !(modes.includes("fullscreen") && innerHeight < main.offsetHeight - 8);
  };
  // There, nobody should send what they have not seen: the first time, Send goes on to the next field instead.
  const whole = (form) => {
    follow(); // the frame may have grown since its last event
    const bar = form.querySelector(".actions").offsetHeight;
    const below = [...form.querySelectorAll(".field")].find((field) => field.offsetTop + 24 > seen - bar);
    seen = Infinity;
    below?.scrollIntoView({ block: "start" });
    return !below;
  };
  const follow = () => (seen = Math.max(seen, scrollY + innerHeight));
  addEventListener("scroll", follow);
  const report = (again) => {
    const now = Math.max(1, Math.ceil(main.getBoundingClientRect().height));
    if (innerWidth < 40 || (now === height && !again)) return; // a closed frame has no size of its own
    height = now;
    post({ method: "ui/notifications/size-changed", params: { height } });
  };
  new ResizeObserver(() => report()).observe(main);
  addEventListener("resize", () => {
    if (innerHeight < height && reports++ < 20) report(true);
    follow();
    roomy();
  });

  const start = (result) => {
    settle(result?.hostContext || {});
    if (start.done) return;
    start.done = true;
    post({ method: "ui/notifications/initialized" });
    report(true);
  };
  const appInfo = { name: "midcall", version: "1" };
  const appCapabilities = { availableDisplayModes: ["inline", "fullscreen"] };
  request("ui/initialize", { protocolVersion: "2026-01-26", appInfo, appCapabilities }).then(start, start);
  setTimeout(start, 3000); // hosts that negotiate nothing
})();
