/** How the service's own pages look: the names of colours and sizes, light and dark, and what all pages have. */

const light = `
--surface: oklch(99% .002 260); --raised: oklch(96.5% .004 260); --line: oklch(90% .006 260); --control: oklch(62% .015 260);
--text: oklch(24% .02 260); --muted: oklch(47% .02 260);
--accent: oklch(50% .18 265); --accent-hover: oklch(44% .18 265); --on-accent: oklch(99% 0 0); --link: oklch(48% .18 265);
--danger: oklch(49% .19 27);
`

const dark = `
--surface: oklch(19% .008 260); --raised: oklch(24% .01 260); --line: oklch(31% .012 260); --control: oklch(56% .015 260);
--text: oklch(94% .005 260); --muted: oklch(74% .012 260);
--accent: oklch(53% .18 265); --accent-hover: oklch(58% .18 265); --on-accent: oklch(99% 0 0); --link: oklch(77% .12 265);
--danger: oklch(76% .14 25);
`

/** Sizes are in rem, so that all of a page grows with the text that a person has chosen. */
export const pageStyle = `
:root { color-scheme: light dark; ${light} scroll-padding: 6rem 0 1rem; }
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; ${dark} }
@media (prefers-color-scheme: dark) { :root:not([data-theme]) { ${dark} } }
body { margin: 0; background: var(--surface); color: var(--text); font: .875rem/1.25rem Inter, system-ui, sans-serif; }
main { box-sizing: border-box; width: min(27rem, 100%); margin: 0 auto; padding: clamp(1.5rem, 8vh, 5rem) 1.5rem 3rem; overflow-wrap: anywhere; }
main.wide { width: min(48rem, 100%); }
header { color: var(--muted); margin: 0 0 .25rem; }
h1 { font-size: 1.25rem; line-height: 1.75rem; font-weight: 600; margin: 0 0 .75rem; }
h2 { font-size: .875rem; line-height: 1.25rem; font-weight: 600; margin: 2rem 0 .5rem; }
p { margin: 0 0 .75rem; }
small { font-size: .75rem; line-height: 1rem; color: var(--muted); }
.muted { color: var(--muted); margin-top: .75rem; }
h2 + .muted, #agents .muted { margin-top: 0; }
a { color: var(--link); }
#text:empty { margin: 0; }
#messages { position: sticky; z-index: 1; top: 0; min-height: 1.75rem; margin-bottom: .25rem; pointer-events: none; }
#messages p { margin: 0; padding: .25rem 0; background: var(--surface); pointer-events: auto; }
#messages p:empty { padding: 0; }
#problem { color: var(--danger); }
.notice { padding: .75rem; margin-bottom: 1rem; border: 1px solid var(--control); border-radius: 6px; background: var(--raised); }
#unproven { margin-bottom: 1rem; }
#add-accounts { display: contents; }
ul { list-style: none; margin: 0 0 1rem; padding: 0; border-top: 1px solid var(--line); }
li { display: flex; flex-wrap: wrap; align-items: center; justify-content: flex-end; gap: .25rem .75rem; min-height: 2.5rem; padding: .25rem 0; border-bottom: 1px solid var(--line); }
li small { display: block; }
/* Where the buttons leave less to the text, they stand below it. */
li span { flex: 1 1 12rem; }
li input { width: auto; flex: 1; min-width: 0; min-height: 2rem; padding: .25rem .5rem; }
hr { border: 0; border-top: 1px solid var(--line); margin: 2rem 0 1rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 500; }
input, select, button, .button { box-sizing: border-box; font: inherit; min-height: 2.5rem; padding: .5rem .75rem; border: 1px solid var(--control); border-radius: 6px; background: var(--surface); color: var(--text); }
input, select { width: 100%; }
input[type="checkbox"] { width: auto; min-height: auto; margin: 0; }
fieldset { margin: 1rem 0 0; padding: 0; border: 0; }
legend { padding: 0; font-weight: 500; }
fieldset label { display: flex; align-items: center; gap: .5rem; min-height: 2rem; margin: 0; font-weight: inherit; }
input::placeholder { color: var(--muted); }
[aria-invalid="true"] { border-color: var(--danger); }
button, .button { display: block; width: 100%; margin: .5rem 0 0; font-weight: 500; text-align: center; text-decoration: none; cursor: pointer; }
li button, #again { width: auto; min-height: 2rem; margin: 0; padding: .25rem .75rem; flex: none; }
#trouble { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; }
/* As wide as the longest that it will say. */
button[data-widest]:not(.link)::after { content: attr(data-widest); display: block; height: 0; overflow: hidden; visibility: hidden; }
button:hover, .button:hover { background: var(--raised); }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.primary:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
.link { display: inline-flex; align-items: center; width: auto; min-height: 2rem; margin: 0 0 0 -.25rem; padding: 0 .25rem; border: 0; background: none; color: var(--link); text-decoration: underline; font-weight: inherit; }
.link:hover { background: none; }
[aria-disabled="true"] { opacity: .6; cursor: progress; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[tabindex="-1"]:focus { outline: none; }
#host { font-size: 1.25rem; line-height: 1.75rem; font-weight: 600; }
[hidden] { display: none !important; }
@media (min-width: 40rem) {
  .wide section > button, .wide section > div > button, .wide > div > button { display: inline-block; width: auto; margin-right: .5rem; }
  .wide input { max-width: 30rem; display: block; }
}
`
