// Saves reloading: forms are sent in the background, and the page is drawn anew when something changed.
"use strict";
(() => {
  const EVERY_MS = 1500;
  const PARTS = ["nav", "main", "#dialogs"];
  const NOTE_MS = 6000;
  let asking = false;
  let noteUntil = 0;

  const parts = (page) => PARTS.map((part) => page.querySelector(part));
  // As the server drew it: what a person opened or filled in since is no change.
  const last = parts(document).map((part) => part.innerHTML);
  const opened = () =>
    new Map([...document.querySelectorAll("details[data-key]")].map((d) => [d.dataset.key, d.open]));
  const said = (dialog) => [...dialog.querySelectorAll(".error")].map((error) => error.textContent).join("\n");
  // What is being filled in or picked is left alone; a dialog is drawn anew when it says something else.
  const busy = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
  const same = (now, next) => {
    const [a, b] = [now.querySelector(".modal"), next.querySelector(".modal")];
    return a && b && a.dataset.key === b.dataset.key && said(a) === said(b);
  };

  const draw = (html) => {
    const next = new DOMParser().parseFromString(html, "text/html");
    const open = opened();
    const atEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 40;
    parts(document).forEach((now, at) => {
      const other = parts(next)[at];
      if (!now || !other || last[at] === other.innerHTML) return;
      if (at < 2 && busy(now)) return;
      if (at === 2 && same(now, other)) return;
      now.innerHTML = last[at] = other.innerHTML;
    });
    document.querySelectorAll("details[data-key]").forEach((d) => {
      if (open.has(d.dataset.key)) d.open = open.get(d.dataset.key);
    });
    document.title = next.title;
    const first = document.querySelector(".modal .wrong input, .modal .wrong textarea, .modal .field input, .modal .field textarea, .modal .field select");
    if (first && !document.querySelector("#dialogs").contains(document.activeElement)) first.focus();
    if (atEnd) window.scrollTo(0, document.body.scrollHeight);
  };

  const look = async () => {
    if (asking || document.hidden || Date.now() < noteUntil) return;
    asking = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      draw(await answer.text());
    } catch {
      // The sandbox is not there; the next look may find it.
    } finally {
      asking = false;
    }
  };

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    event.preventDefault();
    const sent = new URLSearchParams(new FormData(form, event.submitter));
    form.closest("details.menu")?.removeAttribute("open");
    form.classList.add("sent");
    document.activeElement?.blur();
    try {
      const answer = await fetch(form.action, { method: "POST", body: sent });
      draw(await answer.text());
      if (document.querySelector("main > .note")) noteUntil = Date.now() + NOTE_MS;
    } catch {
      form.classList.remove("sent");
    }
    form.classList.remove("sent");
    setTimeout(look, 250);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("select[data-sends]") && event.target.value !== "") event.target.form.requestSubmit();
    else if (event.target.matches(".who select")) event.target.form.requestSubmit();
  });
  document.addEventListener("click", (event) => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menus = document.querySelectorAll("details.menu[open]");
    if (menus.length) menus.forEach((menu) => { menu.open = false; });
    else document.querySelector(".modal .shut")?.click();
  });
  document.documentElement.classList.add("live");
  setInterval(look, EVERY_MS);
})();
