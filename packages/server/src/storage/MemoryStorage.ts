import { Context, Effect, HashMap, Layer, Option, type Scope, Semaphore } from "effect"
import type { NoticeChannel } from "./NoticeChannel.ts"

interface MemoryNotice {
  readonly channel: NoticeChannel
  readonly payload: string
}

type Tables = Record<string, HashMap.HashMap<string, unknown>>

/**
 * Names a table of the memory storage, and carries the type of its rows. It is exported once, from the file
 * of its port, so that two places cannot disagree about its rows. A `Table` (storage/Table.ts) is such a name, too.
 */
export interface MemoryTableName<Row> {
  readonly name: string
  /** Never set: carries the type. */
  readonly Row?: Row
}

/** The name of a table whose rows in memory are not those of a `Table`. */
export const memoryTable = <Row>(name: string): MemoryTableName<Row> => ({ name })

/** One table of the memory storage inside a transaction or read: rows by key. Rows are never changed in place. */
export interface MemoryTable<Row> {
  readonly get: (key: string) => Row | undefined
  readonly set: (key: string, row: Row) => void
  readonly delete: (key: string) => void
  readonly deleteWhere: (predicate: (row: Row) => boolean) => void
  readonly values: () => IterableIterator<Row>
  readonly find: (predicate: (row: Row) => boolean) => Row | undefined
  readonly filter: (predicate: (row: Row) => boolean) => Array<Row>
}

/** The rows of each table since it last changed, for walking a map takes several times as long. */
const lists = new WeakMap<HashMap.HashMap<string, unknown>, ReadonlyArray<unknown>>()

const valuesOf = <Row>(rows: HashMap.HashMap<string, Row>): ReadonlyArray<Row> => {
  const known = lists.get(rows)
  if (known !== undefined) return known as ReadonlyArray<Row>
  const values = HashMap.toValues(rows)
  lists.set(rows, values)
  return values
}

/** The tables as one transaction sees them. */
export class MemoryDatabase {
  tables: Tables
  notices: ReadonlyArray<MemoryNotice> = []
  constructor(tables: Tables) {
    this.tables = tables
  }
  /** Notifies the listeners of the channel once the transaction is committed. */
  notify(channel: NoticeChannel, payload: string): void {
    this.notices = [...this.notices, { channel, payload }]
  }
  table<Row>({ name }: MemoryTableName<Row>): MemoryTable<Row> {
    const rows = () => (this.tables[name] ?? HashMap.empty()) as HashMap.HashMap<string, Row>
    return {
      get: (key) => Option.getOrUndefined(HashMap.get(rows(), key)),
      set: (key, row) => {
        this.tables = { ...this.tables, [name]: HashMap.set(rows(), key, row) }
      },
      delete: (key) => {
        this.tables = { ...this.tables, [name]: HashMap.remove(rows(), key) }
      },
      deleteWhere: (predicate) => {
        if (!valuesOf(rows()).some(predicate)) return
        this.tables = { ...this.tables, [name]: HashMap.filter(rows(), (row) => !predicate(row)) }
      },
      values: () => valuesOf(rows()).values(),
      find: (predicate) => valuesOf(rows()).find(predicate),
      filter: (predicate) => valuesOf(rows()).filter(predicate)
    }
  }
}

/** The transaction that the running fiber is in. */
const Current = Context.Reference<MemoryDatabase | undefined>("@delivery/server/storage/MemoryStorage/Current", {
  defaultValue: () => undefined
})

/**
 * Everything in the memory of the process, for tests and for trying the service out. Transactions run one after the
 * other on a snapshot, which is committed on success and dropped on failure; reads outside see only committed data.
 */
export class MemoryStorage extends Context.Service<
  MemoryStorage,
  {
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    readonly read: <A>(read: (database: MemoryDatabase) => A) => Effect.Effect<A>
    readonly write: <A, E = never>(write: (database: MemoryDatabase) => Effect.Effect<A, E>) => Effect.Effect<A, E>
    /** Calls back with each notice of a transaction that was kept, until the scope closes. */
    readonly listen: (onNotice: (notice: MemoryNotice) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@delivery/server/storage/MemoryStorage") {
  static readonly layer = Layer.effect(
    MemoryStorage,
    Effect.gen(function* () {
      const committed = new MemoryDatabase({})
      const turn = yield* Semaphore.make(1)
      const listeners = new Set<(notice: MemoryNotice) => void>()

      const within = <A, E, R>(outer: MemoryDatabase, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.suspend(() => {
          const snapshot = new MemoryDatabase(outer.tables)
          return Effect.tap(Effect.provideService(effect, Current, snapshot), () =>
            Effect.sync(() => {
              outer.tables = snapshot.tables
              if (outer !== committed) outer.notices = [...outer.notices, ...snapshot.notices]
              else for (const notice of snapshot.notices) for (const listener of listeners) listener(notice)
            })
          )
        })

      const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.flatMap(Current, (current) =>
          current === undefined ? turn.withPermits(1)(within(committed, effect)) : within(current, effect)
        )

      return MemoryStorage.of({
        transaction,
        read: (read) => Effect.map(Current, (current) => read(current ?? committed)),
        write: (write) => transaction(Effect.flatMap(Current, (current) => write(current ?? committed))),
        listen: (onNotice) =>
          Effect.acquireRelease(
            Effect.sync(() => void listeners.add(onNotice)),
            () => Effect.sync(() => listeners.delete(onNotice))
          )
      })
    })
  )
}
