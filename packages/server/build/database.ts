import { PGlite } from "@electric-sql/pglite"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as EmbeddedDatabase from "../src/database/EmbeddedDatabase.ts"
import * as StorageRoom from "../src/storage/StorageRoom.ts"

/**
 * Makes a new embedded database with its tables, as a tar, for the first start of a server: making one there takes longer, and
 * more memory.
 */

const server = join(import.meta.dirname, "..")

/** What it is made of. */
const sources = ["src/storage/Migrations.ts", "src/storage/migrations/*.ts", "src/database/EmbeddedDatabaseOpening.ts"]

const nameOf = (): string => {
  const manifest = fileURLToPath(new URL("../package.json", import.meta.resolve("@electric-sql/pglite")))
  const hash = createHash("sha256")
    .update(readFileSync(manifest))
    .update(readFileSync(import.meta.filename))
  for (const file of globSync(sources, { cwd: server }).toSorted()) {
    hash.update(`${file}\0`).update(readFileSync(join(server, file)))
  }
  // Not packed: the package has it beside the command alone.
  return `.database-${hash.digest("hex").slice(0, 16)}.tar.gz`
}

const make = async (): Promise<Uint8Array> => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-database-"))
  try {
    await Layer.build(StorageRoom.layerMigrations).pipe(
      Effect.provide(EmbeddedDatabase.layer({ dataDir })),
      Effect.scoped,
      Effect.runPromise
    )
    const database = await PGlite.create(join(dataDir, "postgres"))
    try {
      await database.exec("VACUUM (ANALYZE)")
      await database.exec("CHECKPOINT")
      const tar = await database.dumpDataDir("gzip")
      return new Uint8Array(await tar.arrayBuffer())
    } finally {
      await database.close()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Made once for the same migrations. */
export const makeDatabase = async (): Promise<string> => {
  const dist = join(server, "dist")
  const path = join(dist, nameOf())
  if (existsSync(path)) return path
  mkdirSync(dist, { recursive: true })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, await make())
  renameSync(draft, path)
  for (const old of globSync(".database-*.tar.gz", { cwd: dist })) {
    if (join(dist, old) !== path) rmSync(join(dist, old), { force: true })
  }
  return path
}

/** Puts it beside the command that is built in a directory. */
export const addDatabase = async (directory: string): Promise<void> =>
  copyFileSync(await makeDatabase(), join(directory, EmbeddedDatabase.migratedName))

const [directory] = process.argv.slice(2)
if (import.meta.main && directory !== undefined) await addDatabase(directory)
