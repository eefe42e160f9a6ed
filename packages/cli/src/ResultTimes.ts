import type { Deployment } from "@delivery/client"
import { shortened } from "@delivery/domain/catalog/ShortVersion"
import { stat } from "node:fs/promises"
import { oneLine } from "./Output.ts"

/** Whether results are of the version that runs where they are published. */

/** What a file says itself. */
export interface ResultTimes {
  readonly file: string
  /** When its last test had ended, at the latest, in milliseconds; undefined where it does not say. */
  readonly endedAt: number | undefined
}

/** How far the clocks of two machines may be apart, in milliseconds. */
const clockMillis = 60_000

/**
 * Which of the files a job has left behind before the version was set that runs there, by when it was written, or by its own times: a copy
 * is written anew, and has old results. It tells nothing of that version.
 */
export const leftBehind = async (
  files: ReadonlyArray<string>,
  times: ReadonlyArray<ResultTimes>,
  deployment: Deployment
): Promise<string | undefined> => {
  const { environment, version, versionUpdatedAt } = deployment
  if (version === null) return undefined
  const isOld = (at: number) => at < Date.parse(versionUpdatedAt) - clockMillis
  const since = `before the version ${oneLine(shortened(version))} was set in ${oneLine(environment.name)} (${versionUpdatedAt})`
  const found = await Promise.all(files.map(async (file) => ({ file, about: await stat(file) })))
  const written = found.find(({ about }) => about.isFile() && isOld(about.mtimeMs))
  if (written !== undefined) {
    return `${oneLine(written.file)} was written ${written.about.mtime.toISOString()}, ${since}`
  }
  const ended = times.find(({ endedAt }) => endedAt !== undefined && isOld(endedAt))
  if (ended === undefined) return undefined
  return `The last test of ${oneLine(ended.file)} ended ${new Date(ended.endedAt!).toISOString()}, by the times in it, ${since}`
}
