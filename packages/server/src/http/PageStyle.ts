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

export const pageStyle = `
:root { color-scheme: light dark; ${light} font: 14px/20px Inter, system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { :root { ${dark} } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--surface); color: var(--text); }
main { box-sizing: border-box; width: min(26rem, 100vw); padding: 32px 24px 48px; overflow-wrap: anywhere; }
header { color: var(--muted); margin: 0 0 4px; }
h1 { font-size: 20px; line-height: 28px; font-weight: 600; margin: 0 0 12px; }
h2 { font-size: 14px; line-height: 20px; font-weight: 600; margin: 32px 0 8px; }
p { margin: 0 0 12px; }
.muted { color: var(--muted); margin-top: 12px; }
h2 + .muted { margin-top: 0; }
a { color: var(--link); }
[role="alert"] { position: sticky; z-index: 1; top: 0; padding: 4px 0; background: var(--surface); color: var(--danger); }
[role="alert"]:empty, [role="status"]:empty { margin: 0; padding: 0; }
ul { list-style: none; margin: 0 0 16px; padding: 0; border-top: 1px solid var(--line); }
li { display: flex; align-items: center; justify-content: space-between; gap: 12px; min-height: 40px; padding: 4px 0; border-bottom: 1px solid var(--line); }
li small { display: block; color: var(--muted); font-size: 12px; line-height: 16px; }
hr { border: 0; border-top: 1px solid var(--line); margin: 32px 0 16px; }
label { display: block; margin: 16px 0 4px; font-weight: 500; }
input, select, button, .button { box-sizing: border-box; font: inherit; min-height: 40px; padding: 8px 12px; border: 1px solid var(--control); border-radius: 6px; background: var(--surface); color: var(--text); }
input, select { width: 100%; }
input::placeholder { color: var(--muted); }
button, .button { display: block; width: 100%; margin: 8px 0 0; font-weight: 500; text-align: center; text-decoration: none; cursor: pointer; }
li button { width: auto; min-height: 32px; margin: 0; padding: 4px 12px; flex: none; }
button:hover, .button:hover { background: var(--raised); }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.primary:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
.link { width: auto; min-height: 0; padding: 0; margin: 0; border: 0; background: none; color: var(--link); text-align: left; text-decoration: underline; display: inline; font-weight: inherit; }
.link:hover { background: none; }
button:disabled { opacity: .5; cursor: default; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[tabindex="-1"]:focus { outline: none; }
#host { font-size: 20px; line-height: 28px; font-weight: 600; }
[hidden] { display: none !important; }
`
