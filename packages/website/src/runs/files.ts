import type { Attempt, TestEntry } from "@delivery/domain/runs/TestEntry"

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

/** Pictures of one thing: what it should look like, what it did look like, and, where a tool made one, the difference. */
export interface ImageDiff {
  readonly name: string
  readonly expected: string
  readonly actual: string
  readonly diff: string | undefined
}

/** The pictures that belong together, by their names: `basket-expected.png`, `basket-actual.png`, `basket-diff.png`. */
export const imageDiffs = (paths: ReadonlyArray<string>): ReadonlyArray<ImageDiff> =>
  paths.flatMap((expected) => {
    const match = /^(.+)-expected(\.\w+)$/.exec(expected)
    if (match === null || kindOf(expected) !== "image") return []
    const [, start, end] = match
    const [actual, diff] = [`${start}-actual${end}`, `${start}-diff${end}`]
    if (!paths.includes(actual)) return []
    return [{ name: fileName(`${start}${end}`), expected, actual, diff: paths.includes(diff) ? diff : undefined }]
  })

const hasTrace = ({ files }: Attempt): boolean => files.some((path) => kindOf(path) === "trace")

/** The attempt whose trace says most of a test: the last one that failed, else the last one. */
export const tracedAttempt = ({ attempts }: TestEntry): Attempt | undefined =>
  attempts.findLast((one) => one.status === "failed" && hasTrace(one)) ?? attempts.findLast(hasTrace)

/** The line that shows a trace with the Playwright of a machine of one's own. */
export const traceCommand = (slug: string, run: number, path: string): string =>
  `npx @delivery/cli runs trace ${run} --workspace ${slug} --test '${path.replaceAll("'", String.raw`'\''`)}'`
