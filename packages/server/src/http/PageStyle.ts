/** How the service's own pages look: the names and values of the website's colours (its `ui/tokens.css`), and what all pages have. */

const colours = `
--surface: light-dark(oklch(1 0 0), oklch(0.185 0.006 265));
--raised: light-dark(oklch(1 0 0), oklch(0.225 0.008 265));
--sunken: light-dark(oklch(0.975 0.003 265), oklch(0.16 0.006 265));
--hover: light-dark(oklch(0.965 0.004 265), oklch(0.235 0.009 265));
--border: light-dark(oklch(0.918 0.004 265), oklch(0.285 0.009 265));
--strong: light-dark(oklch(0.64 0.01 265), oklch(0.52 0.012 265));
--text: light-dark(oklch(0.235 0.012 265), oklch(0.945 0.004 265));
--muted: light-dark(oklch(0.45 0.013 265), oklch(0.76 0.01 265));
--accent: light-dark(oklch(0.485 0.2 275), oklch(0.77 0.115 278));
--accent-fill: light-dark(oklch(0.5 0.2 275), oklch(0.52 0.19 275));
--accent-fill-hover: light-dark(oklch(0.45 0.2 275), oklch(0.56 0.18 275));
--on-fill: oklch(1 0 0);
--danger: light-dark(oklch(0.51 0.19 26), oklch(0.735 0.155 25));
--danger-soft: light-dark(oklch(0.965 0.016 22), oklch(0.255 0.045 22));
`

/** Sizes are in rem, so that all of a page grows with the text that a person has chosen. */
export const pageStyle = `
@font-face { font-family: "Inter Variable"; font-weight: 100 900; font-display: swap; src: url("/inter.woff2") format("woff2"); }
:root { color-scheme: light dark; ${colours} scroll-padding: 6rem 0 1rem; }
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
body { margin: 0; background: var(--surface); color: var(--text); font: .875rem/1.375rem "Inter Variable", Inter, system-ui, sans-serif; font-feature-settings: "cv11", "ss03"; -webkit-font-smoothing: antialiased; }
main { box-sizing: border-box; width: min(28rem, 100%); margin: 0 auto; padding: 1.5rem 1.5rem 3rem; overflow-wrap: anywhere; }
main.wide { width: min(48rem, 100%); }
header { display: flex; align-items: center; gap: .5rem; margin: 0 0 1.5rem; color: var(--muted); font-weight: 500; }
header svg { flex: none; width: 1.5rem; height: 1.5rem; }
h1 { font-size: 1.25rem; line-height: 1.75rem; font-weight: 600; letter-spacing: -.01em; margin: 0 0 .75rem; }
h2 { font-size: .875rem; line-height: 1.25rem; font-weight: 600; margin: 2rem 0 .5rem; }
p { margin: 0 0 .75rem; }
small { font-size: .75rem; line-height: 1rem; color: var(--muted); }
.muted { color: var(--muted); margin-top: .75rem; }
h2 + .muted, #agents .muted { margin-top: 0; }
a { color: var(--accent); }
#text:empty { margin: 0; }
#messages { position: sticky; z-index: 1; top: 0; min-height: 1.75rem; margin-bottom: .25rem; pointer-events: none; }
#messages p { margin: 0; padding: .25rem 0; background: var(--surface); pointer-events: auto; }
#messages p:empty { padding: 0; }
#problem { color: var(--danger); }
.notice { padding: .75rem; margin-bottom: 1rem; border: 1px solid var(--border); border-radius: 6px; background: var(--sunken); }
.notice > :last-child { margin-bottom: 0; }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; }
div.row { margin-top: 1.25rem; }
.row > :not(.link) { flex: 1 1 9rem; }
div.row > button { margin: 0; }
#enter-workspace { margin-bottom: 1rem; }
#unproven { margin-bottom: 1rem; }
#add-accounts { display: contents; }
ul { list-style: none; margin: 0 0 1rem; padding: 0; border-top: 1px solid var(--border); }
li { display: flex; flex-wrap: wrap; align-items: center; justify-content: flex-end; gap: .25rem .75rem; min-height: 2.5rem; padding: .25rem 0; border-bottom: 1px solid var(--border); }
li small { display: block; }
/* Where the buttons leave less to the text, they stand below it. */
li span { flex: 1 1 12rem; }
li input { width: auto; flex: 1; min-width: 0; min-height: 2rem; padding: .25rem .5rem; }
hr { border: 0; border-top: 1px solid var(--border); margin: 2rem 0 1rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 500; }
input, select, button, .button { box-sizing: border-box; font: inherit; min-height: 2.25rem; padding: .375rem .75rem; border: 1px solid var(--strong); border-radius: 6px; background: var(--surface); color: var(--text); }
input, select { width: 100%; }
input[type="checkbox"] { width: auto; min-height: auto; margin: 0; }
fieldset { margin: 1rem 0 0; padding: 0; border: 0; }
legend { padding: 0; font-weight: 500; }
fieldset label { display: flex; align-items: center; gap: .5rem; min-height: 2rem; margin: 0; font-weight: inherit; }
input::placeholder { color: var(--muted); }
[aria-invalid="true"] { border-color: var(--danger); }
button, .button { display: block; width: 100%; margin: .5rem 0 0; font-weight: 500; text-align: center; text-decoration: none; cursor: pointer; border-color: var(--border); background: var(--raised); }
li button, #again { width: auto; min-height: 2rem; margin: 0; padding: .25rem .75rem; flex: none; }
#trouble { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; }
/* As wide as the longest that it will say. */
button[data-widest]:not(.link)::after { content: attr(data-widest); display: block; height: 0; overflow: hidden; visibility: hidden; }
button:hover, .button:hover { background: var(--hover); }
.primary { background: var(--accent-fill); border-color: var(--accent-fill); color: var(--on-fill); }
.primary:hover { background: var(--accent-fill-hover); border-color: var(--accent-fill-hover); }
.link { display: inline-flex; align-items: center; width: auto; min-height: 2rem; margin: 0 0 0 -.25rem; padding: 0 .25rem; border: 0; background: none; color: var(--accent); text-decoration: underline; font-weight: inherit; }
.link:hover { background: none; }
[aria-disabled="true"] { opacity: .6; cursor: progress; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[tabindex="-1"]:focus { outline: none; }
#host { font-size: 1rem; line-height: 1.5rem; font-weight: 600; margin-bottom: .25rem; }
pre { font: .75rem/1.25rem "JetBrains Mono Variable", ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; }
[hidden] { display: none !important; }
@media (min-width: 32rem) {
  body { background: var(--sunken); }
  main { margin: clamp(1rem, 10vh, 6rem) auto 2rem; padding: 2rem; border: 1px solid var(--border); border-radius: 10px; background: var(--surface); }
}
@media (min-width: 40rem) {
  .wide section > button, .wide section > div > button, .wide > div > button { display: inline-block; width: auto; margin-right: .5rem; }
  .wide input { max-width: 30rem; display: block; }
}
`
