// Light and dark: as the system says, unless the reader chose; the choice is remembered where storage is allowed.

const THEME_KEY = "isoproof-theme";
const themeListeners = [];
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function storedTheme() {
  try {
    const theme = localStorage.getItem(THEME_KEY);
    return theme === "dark" || theme === "light" ? theme : null;
  } catch {
    return null;
  }
}

function rememberTheme(theme) {
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch {
    // Pages from disk may have no storage; the choice then lasts as long as the page.
  }
}

const currentTheme = () => document.documentElement.dataset.theme || (systemDark.matches ? "dark" : "light");

function showTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  const toggle = byId("theme-button"),
    next = currentTheme() === "dark" ? "light" : "dark";
  clear(toggle).append(next === "dark" ? "Dark" : "Light");
  toggle.setAttribute("aria-label", `Switch to the ${next} theme`);
  for (const listener of themeListeners) listener();
}

function startTheme() {
  showTheme(storedTheme());
  byId("theme-button").addEventListener("click", () => {
    const theme = currentTheme() === "dark" ? "light" : "dark";
    rememberTheme(theme);
    showTheme(theme);
  });
  systemDark.addEventListener("change", () => showTheme(storedTheme()));
  // Paper is white: what is drawn on canvases must be, too.
  let before = null;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme || null;
    showTheme("light");
  });
  addEventListener("afterprint", () => showTheme(before));
}

// The value of a custom property of the style, for canvases.
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
