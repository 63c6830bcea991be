// What the server sends is the whole view. What is on the page already stays as it is, with what was typed into it.
const said = document.querySelector("#said");
const asked = document.querySelector("#asked");
const note = document.querySelector("#note");
const say = document.querySelector("#say");

const element = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
};

const bubble = ({ who, text }) => {
  const line = document.createElement("p");
  line.className = who;
  line.textContent = text;
  return line;
};

const events = new EventSource("events");
events.onopen = () => (note.textContent = "");
events.onmessage = ({ data }) => {
  const view = JSON.parse(data);
  said.append(...view.said.slice(said.children.length).map(bubble));
  const open = new Set(view.asked.map(({ id }) => `q${id}`));
  for (const form of [...asked.children]) if (!open.has(form.id)) form.remove();
  for (const { id, html } of view.asked) if (!document.getElementById(`q${id}`)) asked.append(element(html));
  scrollTo(0, document.body.scrollHeight);
};
events.onerror = () => (note.textContent = "The connection is lost. If it does not come back, load the page again.");

const post = (form, submitter) =>
  fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, submitter)) });

asked.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const response = await post(form, event.submitter);
  note.textContent = response.status === 404 ? "This question is no longer open." : "";
  if (response.status !== 422) return;
  const again = element(await response.text());
  form.replaceWith(again);
  again.querySelector(".summary")?.focus();
});

say.addEventListener("submit", async (event) => {
  event.preventDefault();
  await post(say, null);
  say.reset();
});
