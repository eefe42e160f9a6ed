import type { Plugin } from "vite"

/**
 * Leaves Vite's helper of `import()` out of the first screen. It adds the styles that a file needs, and all of them are in one file
 * that the page has from the start.
 */
export const withoutPreloads = (): Plugin => ({
  name: "without-preloads",
  apply: "build",
  enforce: "pre",
  load: {
    filter: { id: /vite\/preload-helper/ },
    handler: () => "export const __vitePreload = (load) => load()"
  }
})
