import { copyFile, mkdir, writeFile } from "node:fs/promises"
import { constants } from "node:fs"
import { join } from "node:path"
import type { RunFile } from "./RunFiles.ts"

/** Where saved results were to go. */
export interface Destination {
  readonly service: string
  readonly workspace: string
}

/** A file of saved results, which lies beside them: `source` is its path from there. */
interface SavedFile {
  readonly path: string
  readonly contentType: string
  readonly source: string
}

/**
 * Saves what could not be sent, with the files: what runs tests next deletes those of its last run. Answers the path. What cannot be
 * copied is left out.
 */
export const saveResults = async (
  directory: string,
  content: object,
  destination: Destination | undefined,
  files: ReadonlyArray<RunFile>
): Promise<string> => {
  const name = `${new Date().toISOString().replaceAll(/\D/g, "")}-${process.pid}`
  const path = join(directory, `${name}.json`)
  await mkdir(directory, { recursive: true })
  if (files.length > 0) await mkdir(join(directory, name), { recursive: true })
  const kept = await Promise.all(
    files.map(async ({ contentType, path, source }, index): Promise<ReadonlyArray<SavedFile>> => {
      const copy = join(name, String(index))
      const target = join(directory, copy)
      try {
        await (typeof source === "string"
          ? copyFile(source, target, constants.COPYFILE_FICLONE)
          : writeFile(target, source))
        return [{ path, contentType, source: copy }]
      } catch {
        return []
      }
    })
  )
  await writeFile(path, JSON.stringify({ ...destination, ...content, files: kept.flat() }, null, 2))
  return path
}
