import type { ReactNode } from "react"

/** Our own icons: 16 px, lines of 1.5 px, in the colour of the text. They say nothing to a screen reader. */

const eye = "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 100-4 2 2 0 000 4z"

const paths = {
  check: "M3.5 8.5l3 3 6-7",
  cross: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  dash: "M4.5 8h7",
  chevronDown: "M4 6l4 4 4-4",
  chevronRight: "M6 4l4 4-4 4",
  chevronLeft: "M10 4L6 8l4 4",
  arrowRight: "M3 8h10M9 4l4 4-4 4",
  search: "M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.5 10.5L14 14",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  plus: "M8 3v10M3 8h10",
  copy: "M5.5 5.5v-2a1 1 0 011-1h6a1 1 0 011 1v6a1 1 0 01-1 1h-2M3.5 5.5h6a1 1 0 011 1v6a1 1 0 01-1 1h-6a1 1 0 01-1-1v-6a1 1 0 011-1z",
  eye,
  eyeOff: `${eye}M3 3l10 10`,
  external: "M9 2.5h4.5V7M13.5 2.5l-6 6M11.5 9.5v4h-9v-9h4",
  runs: "M2.5 3.5l1.2 1.2 2-2.4M2.5 8l1.2 1.2 2-2.4M2.5 12.5l1.2 1.2 2-2.4M8.5 3.5h5M8.5 8h5M8.5 12.5h5",
  tests: "M6 2.5h4M7 2.5v4L3 12.5a1 1 0 00.9 1.5h8.2a1 1 0 00.9-1.5L9 6.5v-4M5 10h6",
  trends: "M2.5 2.5v11h11M5 10l2.5-3 2.5 2 3.5-5",
  compare: "M5.5 2.5v11M2.5 5.5l3-3 3 3M10.5 13.5v-11M7.5 10.5l3 3 3-3",
  deployments: "M8 1.8l5.5 3.1v6.2L8 14.2l-5.5-3.1V4.9L8 1.8zM2.7 5L8 8l5.3-3M8 8v6",
  vault: "M2.5 3h11v9h-11zM4.5 12v2M11.5 12v2M8 10a2.5 2.5 0 100-5 2.5 2.5 0 000 5zM8 7.5h2.5",
  semaphores: "M5 2h6v12H5zM8 4.8h.01M8 8h.01M8 11.2h.01",
  events: "M1.5 8h3l2-5 3 10 2-5h3",
  settings: "M2.5 4.5h11M2.5 11.5h11M10.5 3v3M5.5 10v3",
  home: "M2.5 7.5L8 2.5l5.5 5M4 6.5v7h8v-7",
  person: "M8 8a2.5 2.5 0 100-5 2.5 2.5 0 000 5zM3 13.5c.5-2.5 2.5-3.5 5-3.5s4.5 1 5 3.5",
  key: "M10.5 8.5a3 3 0 100-6 3 3 0 000 6zM8.3 7.7L2.5 13.5M4.5 11.5l1.5 1.5",
  branch:
    "M5 5.5v5M5 5.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM5 13.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM11 6.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM11 6.5c0 3-3 3-6 4",
  commit: "M8 10.5a2.5 2.5 0 100-5 2.5 2.5 0 000 5zM1.5 8h4M10.5 8h4",
  clock: "M8 14a6 6 0 100-12 6 6 0 000 12zM8 4.8V8l2.2 1.5",
  warning: "M8 2.5l6 10.5H2L8 2.5zM8 6.5v3M8 11.3h.01",
  filter: "M2 4h12M4.5 8h7M6.5 12h3",
  file: "M3.5 2h5.5l3.5 3.5v8.5h-9zM9 2v3.5h3.5",
  lock: "M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 015 0v2",
  sidebar: "M2.5 3h11v10h-11zM6 3v10",
  audit: "M8 1.8l5 1.8v4c0 3.2-2.1 5.4-5 6.6-2.9-1.2-5-3.4-5-6.6v-4l5-1.8zM5.8 7.8l1.6 1.6 2.9-3",
  webhooks: "M9 1.8L3.5 9H8l-1 5.2L12.5 7H8l1-5.2z",
  people:
    "M6 8a2.5 2.5 0 100-5 2.5 2.5 0 000 5zM1 13.5c.5-2.5 2.5-3.5 5-3.5s4.5 1 5 3.5M10.5 3a2.5 2.5 0 010 5M12.5 10.3c1.3.5 2.1 1.6 2.5 3.2",
  publishers: "M8 10.5v-8M4.5 6L8 2.5 11.5 6M3 13.5h10",
  inbox: "M2.5 9h3l1 2h3l1-2h3M4 3h8l1.5 6v4h-11V9z",
  agent: "M2.5 6h11v7h-11zM8 6V3M5.8 9v1M10.2 9v1",
  ticket: "M8 14a6 6 0 100-12 6 6 0 000 12zM5.5 8l1.8 1.8L10.5 6.4",
  project: "M2.5 4h4L8 6h5.5v7h-11z",
  download: "M8 2.5v8M4.5 7L8 10.5 11.5 7M3 13.5h10"
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: 12 | 14 | 16 | 20 | 24 }) => (
  <Svg size={size}>
    <path d={paths[name]} />
  </Svg>
)

const Svg = ({ children, size }: { readonly children: ReactNode; readonly size: number }) => (
  <svg
    aria-hidden="true"
    className="shrink-0"
    fill="none"
    height={size}
    stroke="currentColor"
    strokeLinecap="round"
    strokeLinejoin="round"
    strokeWidth="1.5"
    viewBox="0 0 16 16"
    width={size}
  >
    {children}
  </svg>
)
