import {
  closeStatements,
  copyOf,
  CycleReader,
  failedCycle,
  type ListenChange,
  readAnswer,
  simpleQuery,
  StatementNames
} from "./PostgresWire.ts"

/** The one backend, and how to reach the connections that share it. */
export interface Backend {
  /** Runs one cycle; the result is the answer of the backend. Never fails: a broken backend ends the thread. */
  readonly execute: (cycle: Uint8Array) => Promise<Uint8Array>
  readonly reply: (connection: number, bytes: Uint8Array) => void
  readonly notify: (notifications: Uint8Array) => void
  /** Ends a connection that broke the protocol. */
  readonly disconnect: (connection: number) => void
  /** Called between two cycles, so that what has arrived meanwhile can be queued or cancelled. */
  readonly receive: () => void
  /** Whether a commit is not on the disk yet. */
  readonly owesFlush: () => boolean
  /** Puts all commits on the disk. Never fails: a disk that does ends the thread. */
  readonly flush: () => void
}

/** How long answers wait for the commits of others, so that one flush serves all; not at all while there are none. */
const groupMillis = 5

class Session {
  readonly connection: number
  readonly cycles = new CycleReader()
  readonly statements = new StatementNames()
  readonly channels = new Set<string>()
  connected = true

  constructor(connection: number) {
    this.connection = connection
  }
}

interface Request {
  readonly session: Session
  readonly cycle: Uint8Array
  readonly listens: ReadonlyArray<ListenChange>
  readonly since: number
}

/** Maintenance work, done when no transaction is open. */
type Task = () => Promise<void>

const isRequest = (work: Request | Task): work is Request => typeof work !== "function"

/**
 * Lets many connections share one backend: their cycles run in the order of arrival, and a connection with an open
 * transaction has the backend to itself until that ends.
 *
 * A cycle that has waited `patienceMillis` for a transaction in which nothing happens fails with 55P03
 * (lock_not_available). Without it, a transaction that waits for a statement on another connection would wait forever.
 *
 * One class, since every method reads and changes the same state: the queue, and the session that has the backend.
 */
export class BackendScheduler {
  readonly #backend: Backend
  readonly #patienceMillis: number
  readonly #sessions = new Map<number, Session>()
  #queue: Array<Request | Task> = []
  #owner: Session | undefined
  #ownerActive = 0
  #unlistened = false
  #running: Promise<void> | undefined
  #stopped = false
  #impatience: NodeJS.Timeout | undefined
  /** Answers that may tell of a commit that is not on the disk yet, in their order. */
  #held: Array<() => void> = []
  #heldSince = 0

  /** How many cycles have been run. */
  served = 0

  constructor(backend: Backend, patienceMillis: number) {
    this.#backend = backend
    this.#patienceMillis = patienceMillis
  }

  /** Takes bytes of a connection, new ones included. */
  receive(connection: number, bytes: Uint8Array): void {
    let session = this.#sessions.get(connection)
    if (session === undefined) {
      session = new Session(connection)
      this.#sessions.set(connection, session)
    }
    let cycles: Array<Uint8Array>
    try {
      cycles = session.cycles.push(bytes)
    } catch {
      this.#backend.disconnect(connection)
      return this.disconnect(connection)
    }
    const since = performance.now()
    for (const cycle of cycles) {
      this.#queue.push({ session, cycle, listens: session.statements.note(cycle), since })
    }
    if (session.cycles.ended) this.disconnect(connection)
    else this.#wake()
  }

  /** Cancels what a connection waits for. A cycle that runs cannot be stopped. */
  cancel(connection: number): void {
    const session = this.#sessions.get(connection)
    if (session === undefined || session === this.#owner) return
    const index = this.#queue.findIndex((work) => isRequest(work) && work.session === session)
    if (index < 0) return
    this.#queue.splice(index, 1)
    this.#answer(() => this.#backend.reply(connection, failedCycle("57014", "canceling statement due to user request")))
  }

  /** Forgets a connection: what it waits for is dropped, its open transaction is rolled back. */
  disconnect(connection: number): void {
    const session = this.#sessions.get(connection)
    if (session === undefined) return
    this.#sessions.delete(connection)
    session.connected = false
    this.#queue = this.#queue.filter((work) => !isRequest(work) || work.session !== session)
    this.#queue.push(() => this.#forget(session))
    this.#wake()
  }

  /** Queues maintenance work. */
  schedule(task: Task): void {
    this.#queue.push(task)
    this.#wake()
  }

  /** Ends after the current cycle and rolls back an open transaction. Waiting cycles are not run. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#impatience)
    await this.#running
    if (this.#owner !== undefined) await this.#rollback()
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      this.#watch()
    })
  }

  async #run(): Promise<void> {
    for (;;) {
      const work = this.#next()
      if (work === undefined) {
        if (this.#held.length === 0 && !this.#backend.owesFlush()) return
        this.#flush()
      } else {
        if (this.#held.length > 0 && performance.now() - this.#heldSince >= groupMillis) this.#flush()
        // oxlint-disable-next-line no-await-in-loop -- one backend, one cycle at a time
        await work()
      }
      this.#backend.receive()
    }
  }

  /** Answers at once, or when the commits before it are on the disk. */
  #answer(answer: () => void): void {
    if (!this.#backend.owesFlush()) {
      this.#release()
      return answer()
    }
    if (this.#held.length === 0) this.#heldSince = performance.now()
    this.#held.push(answer)
  }

  #flush(): void {
    this.#backend.flush()
    this.#release()
  }

  #release(): void {
    const held = this.#held
    this.#held = []
    for (const answer of held) answer()
  }

  #next(): Task | undefined {
    if (this.#stopped) return undefined
    const owner = this.#owner
    if (owner !== undefined) {
      if (!owner.connected) return () => this.#rollback()
      const index = this.#queue.findIndex((work) => isRequest(work) && work.session === owner)
      return index < 0 ? undefined : this.#taskOf(this.#queue.splice(index, 1)[0])
    }
    if (this.#unlistened) return () => this.#listenAgain()
    return this.#taskOf(this.#queue.shift())
  }

  #taskOf(work: Request | Task | undefined): Task | undefined {
    return work === undefined || !isRequest(work) ? work : () => this.#serve(work)
  }

  async #serve({ cycle, listens, session }: Request): Promise<void> {
    const answer = readAnswer(await this.#backend.execute(cycle))
    this.served++
    this.#owner = answer.inTransaction ? session : undefined
    this.#ownerActive = performance.now()
    for (const { channel, listens: on } of listens) {
      if (on) session.channels.add(channel)
      else {
        if (channel === "*") session.channels.clear()
        else session.channels.delete(channel)
        this.#unlistened = true
      }
    }
    // The backend reuses the bytes of its answers.
    const [reply, notifications] = this.#backend.owesFlush()
      ? [copyOf(answer.reply), copyOf(answer.notifications)]
      : [answer.reply, answer.notifications]
    this.#answer(() => {
      this.#backend.reply(session.connection, reply)
      if (notifications.length > 0) this.#backend.notify(notifications)
    })
  }

  async #rollback(): Promise<void> {
    await this.#backend.execute(simpleQuery("ROLLBACK"))
    this.#owner = undefined
  }

  /** The backend is one session: an UNLISTEN of one connection has silenced the others that listen. */
  async #listenAgain(): Promise<void> {
    this.#unlistened = false
    const wanted = new Set(Array.from(this.#sessions.values()).flatMap((session) => Array.from(session.channels)))
    for (const channel of wanted) {
      // oxlint-disable-next-line no-await-in-loop -- one backend, one cycle at a time
      await this.#backend.execute(simpleQuery(`LISTEN ${channel}`))
    }
  }

  async #forget({ channels, statements }: Session): Promise<void> {
    const names = statements.names
    if (names.length > 0) await this.#backend.execute(closeStatements(names))
    for (const channel of channels) {
      // oxlint-disable-next-line no-await-in-loop -- one backend, one cycle at a time
      await this.#backend.execute(simpleQuery(`UNLISTEN ${channel}`))
      this.#unlistened = true
    }
  }

  /** Sets the timer for the request that has waited longest behind a transaction. */
  #watch(): void {
    clearTimeout(this.#impatience)
    if (this.#owner === undefined || this.#stopped) return
    const first = this.#queue.find(isRequest)
    if (first === undefined) return
    const due = Math.max(first.since, this.#ownerActive) + this.#patienceMillis
    this.#impatience = setTimeout(() => this.#giveUp(), Math.max(1, due - performance.now()))
  }

  #giveUp(): void {
    const now = performance.now()
    const late = (work: Request | Task): work is Request =>
      isRequest(work) && Math.max(work.since, this.#ownerActive) + this.#patienceMillis <= now
    const given = this.#owner === undefined ? [] : this.#queue.filter(late)
    this.#queue = this.#queue.filter((work) => !given.includes(work as Request))
    for (const { session } of given) {
      this.#backend.reply(
        session.connection,
        failedCycle(
          "55P03",
          `waited ${this.#patienceMillis} ms for an idle transaction of another connection: ` +
            "the embedded database runs one transaction at a time"
        )
      )
    }
    this.#watch()
  }
}
