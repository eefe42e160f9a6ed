/** What a file of a test is, by its name: what a browser shows, what is for a tool, and what is only kept. Pure. */

export type FileKind = "image" | "video" | "text" | "trace" | "other"

const kinds: ReadonlyArray<readonly [RegExp, FileKind]> = [
  [/\.(?:png|jpe?g|gif|webp|avif|bmp)$/i, "image"],
  [/\.(?:webm|mp4|mov)$/i, "video"],
  [/trace[^/]*\.zip$/i, "trace"],
  [/\.(?:txt|log|md|json|csv|xml|har|yml|yaml)$/i, "text"]
]

export const kindOf = (path: string): FileKind => kinds.find(([pattern]) => pattern.test(path))?.[1] ?? "other"

/** The last part of a path. */
export const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)
