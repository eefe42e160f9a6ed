import type { Plugin } from "vite"

/** What Tailwind asks for browsers that know no `@property`: none of ours. */
const isOld = /@supports \(+-webkit-hyphens/

/** What it asks for those that mix colours, and know how large an element is that is not drawn: all of ours. */
const isNew = /@supports (?:\(color: ?color-mix|\(background-image: ?linear-gradient|\(not \(+-webkit-appearance)/

/** Where the block ends whose first brace stands at the place. */
const endOf = (css: string, brace: number): number => {
  let depth = 0
  for (let at = brace; at < css.length; at++) {
    if (css[at] === "{") depth++
    if (css[at] === "}" && --depth === 0) return at
  }
  throw new Error("The block does not end.")
}

/** With each block that begins so as `replace` makes it of what is in its braces. */
const withBlocks = (css: string, begin: RegExp, replace: (body: string) => string): string => {
  const from = css.search(begin)
  if (from < 0) return css
  const brace = css.indexOf("{", from)
  const end = endOf(css, brace)
  return withBlocks(css.slice(0, from) + replace(css.slice(brace + 1, end)) + css.slice(end + 1), begin, replace)
}

/** Leaves out of the styles what Tailwind adds for browsers that are older than those of `build.target`. After Tailwind. */
export const withoutFallbacks = (): Plugin => ({
  name: "without-fallbacks",
  apply: "build",
  enforce: "pre",
  transform: {
    filter: { id: /\.css$/ },
    handler: (css) => ({
      code: withBlocks(
        withBlocks(css, isOld, () => ""),
        isNew,
        (body) => body
      ),
      map: null
    })
  }
})
