import { Cause, Effect, Option, Schema, Stream } from "effect"
import type { SqlError } from "effect/sql"
import type { BlobStore } from "../files/Blob.ts"
import { FileStore } from "../files/FileStore.ts"
import { sha256Of } from "./BackupFormat.ts"
import * as Stored from "./VerificationSql.ts"

/** What a check of all data found (docs/operations.md, Verifying). */
export const Verified = Schema.Struct({
  tables: Schema.Record(Schema.String, Schema.Int),
  references: Schema.Int,
  files: Schema.Int,
  bytes: Schema.Number,
  /** The first ones, a line each. */
  problems: Schema.Array(Schema.String),
  problemCount: Schema.Int
})

export type Verified = typeof Verified.Type

/** More lines than anybody reads. */
const maxProblems = 1000

const pageSize = 500

const firstId = "00000000-0000-0000-0000-000000000000"

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ")

const makeFindings = () => {
  const problems: Array<string> = []
  let problemCount = 0
  return {
    add: (text: string, count = 1) => {
      problemCount += count
      if (problems.length < maxProblems) problems.push(oneLine(text))
    },
    result: () => ({ problems, problemCount })
  }
}

type Findings = ReturnType<typeof makeFindings>

/** A statement that fails is a finding, too: a page of the database cannot be read, or a table is not there. */
const orFinding = <A, R>(
  findings: Findings,
  what: string,
  otherwise: A,
  effect: Effect.Effect<A, SqlError.SqlError, R>
) =>
  Effect.catchTag(effect, "SqlError", ({ cause, message }) =>
    Effect.sync(() => {
      findings.add(`${what} cannot be checked: ${cause instanceof Error ? cause.message : message}`)
      return otherwise
    })
  )

/** All rows of all tables, and every reference between them. Each statement is of one moment; they hold up nobody for longer. */
const verifyDatabase = Effect.fnUntraced(function* (findings: Findings) {
  const tables: Record<string, number> = {}
  for (const table of yield* Stored.tables) {
    tables[table] = yield* orFinding(findings, `The table ${table}`, 0, Stored.readTable(table))
  }
  const keys = yield* Stored.foreignKeys
  const dangling = yield* Effect.forEach(keys, (key) =>
    orFinding(findings, `The reference ${key.name}`, { rows: 0, text: "" }, Stored.danglingRows(key))
  )
  const broken = yield* orFinding(findings, "What the service keeps right", [], Stored.brokenRules)
  for (const { rows, text } of [...dangling, ...broken]) if (rows > 0) findings.add(`${rows} ${text}`, rows)
  return { tables, references: keys.length }
})

/**
 * What is wrong with the bytes of a file; undefined where they are what was uploaded. `hash` reads so many of them, and answers
 * their SHA-256.
 */
export const wrongBytes = <E, R>(
  store: BlobStore,
  file: Stored.KnownFile,
  hash: (bytes: Stream.Stream<Uint8Array>, size: number) => Effect.Effect<string, E, R>
) =>
  Effect.gen(function* () {
    const size = yield* store.size(file)
    if (size !== file.size) return `has ${size} bytes instead of ${file.size}`
    const sha256 = yield* hash(yield* store.read(file, { offset: 0, length: size }), size)
    return sha256 === file.sha256 ? undefined : `has the SHA-256 ${sha256} instead of ${file.sha256}`
  }).pipe(
    Effect.scoped,
    Effect.catchTag("BlobNotFound", () => Effect.succeed("is not stored"))
  )

export const nameOf = ({ id, isAttachment, ownerId }: Stored.KnownFile): string =>
  `The file ${ownerId}/${id} (${isAttachment ? "attached to a ticket" : "of a test run"})`

/** All files that the database knows of, a page at a time. */
export const knownFiles = Stream.paginate(firstId, (last: string) =>
  Effect.map(
    Stored.filesAfter(last, pageSize),
    (files): readonly [ReadonlyArray<Stored.KnownFile>, Option.Option<string>] => [
      files,
      files.length < pageSize ? Option.none() : Option.some(files.at(-1)!.id)
    ]
  )
)

const verifyFiles = Effect.fnUntraced(function* (findings: Findings) {
  const store = yield* FileStore
  let [files, bytes] = [0, 0]
  yield* Stream.runForEach(knownFiles, (file) =>
    Effect.gen(function* () {
      files++
      bytes += file.size
      const problem = yield* Effect.catchDefect(wrongBytes(store, file, sha256Of), (defect) =>
        Effect.succeed(`cannot be read: ${oneLine(Cause.pretty(Cause.die(defect)).split("\n")[0]!)}`)
      )
      if (problem !== undefined && (yield* Stored.isKnown(file))) findings.add(`${nameOf(file)} ${problem}.`)
    })
  )
  return { files, bytes }
})

/** Checks every row, reference, count and hash. Changes nothing. */
export const verify = Effect.gen(function* () {
  const findings = makeFindings()
  const database = yield* verifyDatabase(findings)
  const files = yield* verifyFiles(findings)
  return { ...database, ...files, ...findings.result() } satisfies Verified
})

/** The same without the files. */
export const verifyTables = Effect.gen(function* () {
  const findings = makeFindings()
  return { ...(yield* verifyDatabase(findings)), ...findings.result() }
})

export const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

/** What was looked at, in a line. */
export const summary = ({ bytes, files, references, tables }: Verified): string => {
  const rows = Object.values(tables).reduce((sum, count) => sum + count, 0)
  const parts = [
    counted(Object.keys(tables).length, "table", "tables"),
    counted(rows, "row", "rows"),
    counted(references, "kind of reference", "kinds of references"),
    `${counted(files, "file", "files")} (${counted(bytes, "byte", "bytes")})`
  ]
  return `Checked ${parts.join(", ")}.`
}
