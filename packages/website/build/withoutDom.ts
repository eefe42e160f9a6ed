import type { Plugin } from "vite"

/**
 * Decodes the named characters of Markdown (`&amp;`) by a table. For browsers the library would have an element read them as HTML,
 * which the policy of the pages forbids.
 */
export const withoutDom = (): Plugin => ({
  name: "without-dom",
  enforce: "pre",
  resolveId: {
    filter: { id: /^decode-named-character-reference$/ },
    async handler(source, importer) {
      const found = await this.resolve(source, importer, { skipSelf: true })
      return found?.id.replace("index.dom.js", "index.js")
    }
  }
})
