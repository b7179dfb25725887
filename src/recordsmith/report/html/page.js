"use strict";
(() => {
  const root = document.documentElement;
  const toggle = document.getElementById("theme");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => {
    try { return localStorage.getItem("recordsmith-theme"); } catch { return null; }
  };
  const isDark = () => (root.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";
  const name = () => { toggle.textContent = isDark() ? "Light" : "Dark"; };
  if (remembered()) root.dataset.theme = remembered();
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("recordsmith-theme", root.dataset.theme); } catch { /* private windows refuse */ }
    name();
  });
  prefersDark.addEventListener("change", name);
  name();

  for (const button of document.querySelectorAll(".filter button")) {
    button.addEventListener("click", () => {
      const show = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(show));
      for (const finding of document.querySelectorAll(".finding")) {
        if (finding.dataset.severity === button.dataset.severity) finding.hidden = !show;
      }
    });
  }

  const search = document.getElementById("search");
  if (search) {
    search.addEventListener("input", () => {
      const wanted = search.value.trim().toLowerCase();
      for (const card of document.querySelectorAll("#features .card")) {
        card.hidden = !card.dataset.name.includes(wanted);
      }
    });
  }
})();
