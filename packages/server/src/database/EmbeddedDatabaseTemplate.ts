import { randomUUID } from "node:crypto"
import { lstat, mkdir, open, readFile, rename, rm } from "node:fs/promises"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * A new database as a tar, kept in the user's temporary directory because making one takes seconds. Files appear whole
 * or not at all, so that processes may read and write it at once.
 */

/** Raise it when the template is made in another way. */
const revision = 1

const directory = join(tmpdir(), `delivery-embedded-database-${userInfo().username}`)

const path = async (): Promise<string> => {
  const manifest = fileURLToPath(new URL("../package.json", import.meta.resolve("@electric-sql/pglite")))
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { readonly version: string }
  return join(directory, `pglite-${version}-${revision}.tar`)
}

/** In a shared temporary directory another user could have made it first. */
const assertOwn = async (): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const found = await lstat(directory)
  const owned = process.getuid === undefined || found.uid === process.getuid()
  if (!found.isDirectory() || !owned || (process.getuid !== undefined && (found.mode & 0o022) !== 0)) {
    throw new Error(`${directory} is not this user's own`)
  }
}

export const read = async (): Promise<Blob | undefined> => {
  try {
    await assertOwn()
    return new Blob([await readFile(await path())])
  } catch {
    return undefined
  }
}

export const write = async (template: Blob): Promise<void> => {
  try {
    await assertOwn()
    const target = await path()
    const draft = `${target}.${randomUUID()}`
    try {
      const file = await open(draft, "wx", 0o600)
      try {
        await file.writeFile(new Uint8Array(await template.arrayBuffer()))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, target)
    } finally {
      await rm(draft, { force: true })
    }
  } catch {
    // Only a cache: without it the next start takes as long as this one.
  }
}

export const remove = async (): Promise<void> => {
  await rm(await path(), { force: true })
}
