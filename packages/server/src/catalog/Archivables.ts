import { type Archived, isListed } from "@delivery/domain/Archived"
import { Conflict, type Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { WorkspaceId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { changesBetween, type NewEvent } from "../events/Events.ts"
import type { NextId } from "../ids/NextId.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import type { UniqueViolation } from "../storage/Sql.ts"
import type { Storage } from "../storage/Storage.ts"

/**
 * What products and environments have in common (docs/contract.md, Catalog): a slug that is used once in a workspace,
 * and that they are archived and restored, never deleted.
 */
export interface ArchivableRow {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly slug: string
  readonly name: string
  readonly archivedAt: Timestamp | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export interface ArchivablesRepo<Row> {
  readonly insert: (row: Row) => Effect.Effect<void, UniqueViolation>
  readonly update: (row: Row) => Effect.Effect<void, UniqueViolation>
  readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Row>>
  /** By slug or id. */
  readonly find: (workspaceId: WorkspaceId, ref: string) => Effect.Effect<Row | undefined>
  /** By slug or id; locks the row until the transaction ends. */
  readonly lock: (workspaceId: WorkspaceId, ref: string) => Effect.Effect<Row | undefined>
}

/** A row as the API answers it. */
export type Presented<Row> = Omit<Row, "workspaceId"> & { readonly archived: boolean }

/** `Refused` is what archiving can be refused with, beside what everything is. */
export interface Archivables<Row, Create, Update, Refused = never> {
  readonly list: (archived?: Archived) => Effect.Effect<ReadonlyArray<Presented<Row>>, NotFound, Caller>
  readonly create: (input: Create) => Effect.Effect<Presented<Row>, NotFound | Forbidden | Conflict, Caller>
  readonly get: (ref: string) => Effect.Effect<Presented<Row>, NotFound, Caller>
  readonly update: (
    ref: string,
    input: Update
  ) => Effect.Effect<Presented<Row>, NotFound | Forbidden | Conflict, Caller>
  readonly archive: (ref: string) => Effect.Effect<Presented<Row>, NotFound | Forbidden | Refused, Caller>
  readonly restore: (ref: string) => Effect.Effect<Presented<Row>, NotFound | Forbidden, Caller>
}

/** The differences between the two, and what both need. */
interface Dependencies<Row extends ArchivableRow, Create, Refused = never> {
  /** The noun of errors and events. */
  readonly noun: "product" | "environment"
  /** The name of the service, for spans. */
  readonly name: "Products" | "Environments"
  readonly repo: ArchivablesRepo<Row>
  readonly storage: Storage["Service"]
  readonly nextId: NextId["Service"]
  readonly newRow: (input: Create, id: Row["id"], workspaceId: WorkspaceId, now: Timestamp) => Row
  /** What the event of a new row says of it, in the words of its changes. */
  readonly created: (row: Row) => ReadonlyArray<Change>
  /** The properties that a PATCH may change. */
  readonly editable: ReadonlyArray<keyof Row & string>
  /** Refuses a change of the row, which the transaction has locked. Answers what the audit tells beside the change. */
  readonly checkUpdate: (by: Access, before: Row, after: Row) => Effect.Effect<ReadonlyArray<Change>, Conflict>
  /** The same where the row is to be archived. */
  readonly checkArchive: (by: Access, before: Row) => Effect.Effect<ReadonlyArray<Change>, Refused>
  /** Stores the event of a change, and its entry of the audit where it has one. */
  readonly record: (by: Access, event: NewEvent, audited: ReadonlyArray<Change>) => Effect.Effect<void>
}

/** The operations of products or environments. */
export const makeArchivables = <Row extends ArchivableRow, Create, Update extends Partial<Row>, Refused = never>(
  dependencies: Dependencies<Row, Create, Refused>
): Archivables<Row, Create, Update, Refused> => ({
  list: list(dependencies),
  create: create(dependencies),
  get: get(dependencies),
  update: update(dependencies),
  archive: setArchived(dependencies, "archive", dependencies.checkArchive),
  restore: setArchived(dependencies, "restore", () => Effect.succeed([]))
})

const list = <Row extends ArchivableRow>({ name, repo }: Pick<Dependencies<Row, never>, "name" | "repo">) =>
  Effect.fn(`${name}.list`)(function* (archived: Archived = "exclude") {
    const { workspace } = yield* anyRole
    const rows = yield* repo.list(workspace.id)
    return rows.filter(isListed(archived)).map(present).toSorted(byName)
  })

const create = <Row extends ArchivableRow, Create, Refused>({
  created,
  name,
  newRow,
  nextId,
  noun,
  record,
  repo,
  storage
}: Dependencies<Row, Create, Refused>) =>
  Effect.fn(`${name}.create`)(function* (input: Create) {
    const by = yield* atLeast("admin")
    const now = timestamp(yield* Clock.currentTimeMillis)
    const row = newRow(input, yield* nextId<Row["id"]>(), by.workspace.id, now)
    const changes = created(row)
    const event: NewEvent = {
      kind: `${noun}_created`,
      subject: subjectOf(noun, row),
      ...(changes.length === 0 ? {} : { changes })
    }
    yield* storage
      .transaction(Effect.andThen(repo.insert(row), record(by, event, [])))
      .pipe(Effect.catchTag("UniqueViolation", () => Effect.fail(Conflict.slugInUse(row.slug))))
    return present(row)
  })

const get = <Row extends ArchivableRow>({
  name,
  noun,
  repo
}: Pick<Dependencies<Row, never>, "name" | "noun" | "repo">) =>
  Effect.fn(`${name}.get`)(function* (ref: string) {
    const { workspace } = yield* anyRole
    const row = yield* repo.find(workspace.id, ref)
    return row === undefined ? yield* NotFound.of(noun, ref) : present(row)
  })

const update = <Row extends ArchivableRow, Create, Refused>({
  checkUpdate,
  editable,
  name,
  noun,
  record,
  repo,
  storage
}: Dependencies<Row, Create, Refused>) =>
  Effect.fn(`${name}.update`)(function* (ref: string, input: Partial<Row>) {
    const by = yield* atLeast("admin")
    const change = Effect.gen(function* () {
      const before = yield* repo.lock(by.workspace.id, ref)
      if (before === undefined) return yield* NotFound.of(noun, ref)
      const changed = { ...before, ...input }
      const changes = changesBetween(before, changed, ...editable)
      if (changes.length === 0) return present(before)
      const audited = yield* checkUpdate(by, before, changed)
      const after = { ...changed, updatedAt: yield* nextUpdate(before) }
      yield* repo.update(after)
      yield* record(by, { kind: `${noun}_updated`, subject: subjectOf(noun, after), changes }, audited)
      return present(after)
    })
    return yield* storage
      .transaction(change)
      .pipe(Effect.catchTag("UniqueViolation", () => Effect.fail(Conflict.slugInUse(input.slug ?? ""))))
  })

const setArchived = <Row extends ArchivableRow, Create, Refused>(
  { name, noun, record, repo, storage }: Omit<Dependencies<Row, Create, Refused>, "checkArchive">,
  action: "archive" | "restore",
  check: Dependencies<Row, Create, Refused>["checkArchive"]
) =>
  Effect.fn(`${name}.${action}`)(function* (ref: string) {
    const by = yield* atLeast("admin")
    const archived = action === "archive"
    const change = Effect.gen(function* () {
      const before = yield* repo.lock(by.workspace.id, ref)
      if (before === undefined) return yield* NotFound.of(noun, ref)
      if ((before.archivedAt !== null) === archived) return present(before)
      const now = yield* nextUpdate(before)
      const after = { ...before, archivedAt: archived ? now : null, updatedAt: now }
      const audited = yield* check(by, before)
      yield* repo.update(after)
      yield* record(by, { kind: `${noun}_${action}d`, subject: subjectOf(noun, after) }, audited)
      return present(after)
    })
    return yield* storage.transaction(change).pipe(Effect.catchTag("UniqueViolation", Effect.die))
  })

const subjectOf = (noun: "product" | "environment", { id, name, slug }: ArchivableRow) => ({
  type: noun,
  id,
  label: name,
  path: `${noun}s/${slug}`
})

const present = <Row extends ArchivableRow>({ workspaceId: _, ...row }: Row): Presented<Row> => ({
  ...row,
  archived: row.archivedAt !== null
})
