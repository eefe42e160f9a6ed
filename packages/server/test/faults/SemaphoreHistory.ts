/**
 * What clients of semaphores saw, and what must hold of it. Times are milliseconds of one clock, which clients and
 * database share. The checker believes nothing but this record.
 */

/** One wish for a lease, from the first call to its end. */
export interface Attempt {
  readonly semaphore: string
  readonly capacity: number
  readonly client: number
  readonly askedAt: number
  /** When an answer had come that it stands in the queue: whoever asks after it comes later. */
  queuedAt?: number
  /** When the last call was sent whose answer was that it still stands there: it had no lease by then. */
  queuedUntil?: number
  /** When the answer with the lease had come. */
  grantedAt?: number
  slot?: number
  fence?: number
  /** Until when there surely was a lease: its release was asked for, or it lapsed after its holder had died. */
  heldUntil?: number
  /** When there surely was none any more: the release was answered, or the lease had lapsed. */
  freeAt?: number
  /** When the client died before it had a lease. */
  diedAt?: number
  /** How long a place whose client is dead keeps its slot from others once it is granted. */
  readonly deadMillis: number
}

export interface Result {
  readonly violations: ReadonlyArray<string>
  readonly grants: number
  /** How many leases went to wishes that were known to stand in the queue before: those are judged by their order. */
  readonly ordered: number
  /** The most that held at once, by semaphore. */
  readonly mostHolders: ReadonlyMap<string, number>
  /** By semaphore, the longest wait, and what it were if each slot went to the first in the queue as soon as it is free. */
  readonly waits: ReadonlyMap<string, { readonly longest: number; readonly longestFair: number }>
}

/** Plays a queue that is perfectly fair and takes no time: the same arrivals, which hold as long as they held. */
const longestFairWait = (attempts: ReadonlyArray<Attempt>, capacity: number): number => {
  const freeAt = Array.from({ length: capacity }, () => Number.NEGATIVE_INFINITY)
  let longest = 0
  for (const attempt of attempts.toSorted((a, b) => a.askedAt - b.askedAt)) {
    const slot = freeAt.indexOf(Math.min(...freeAt))
    const start = Math.max(attempt.askedAt, freeAt[slot]!)
    if (attempt.grantedAt === undefined) {
      // Dead before its turn: its place has gone, or it takes the slot and leaves it unused.
      if (start < attempt.diedAt! + attempt.deadMillis) freeAt[slot] = start + attempt.deadMillis
      continue
    }
    longest = Math.max(longest, start - attempt.askedAt)
    freeAt[slot] = start + (attempt.freeAt! - attempt.grantedAt)
  }
  return longest
}

/**
 * Who had a lease before another who surely stood in the queue when the one asked. There may be none, however slow the
 * machine is. Told by the times, for which the clients' word is enough, and by the fences, which count the grants.
 */
const overtaking = (attempts: ReadonlyArray<Attempt>, leases: ReadonlyArray<Attempt>): ReadonlyArray<string> =>
  attempts.flatMap(({ client, fence = Number.NEGATIVE_INFINITY, queuedAt, queuedUntil, semaphore }) => {
    if (queuedAt === undefined || queuedUntil === undefined) return []
    const overtook = leases.filter(
      (lease) => lease.askedAt > queuedAt && (lease.grantedAt! < queuedUntil || lease.fence! < fence)
    )
    if (overtook.length === 0) return []
    return [`${semaphore}: client ${client}, in the queue since ${queuedAt}, was overtaken ${overtook.length} times`]
  })

/** What the history shows, and what of it must not be. */
export const check = (history: ReadonlyArray<Attempt>): Result => {
  const violations: Array<string> = []
  const mostHolders = new Map<string, number>()
  let grants = 0
  let ordered = 0
  const waits = new Map<string, { readonly longest: number; readonly longestFair: number }>()
  for (const [name, attempts] of Map.groupBy(history, (attempt) => attempt.semaphore)) {
    const capacity = attempts[0]!.capacity
    const leases = attempts.filter((attempt) => attempt.grantedAt !== undefined)
    grants += leases.length

    // On a slow machine an answer may come after its lease has lapsed: the client never held it.
    const held = leases.filter((lease) => lease.heldUntil! > lease.grantedAt!)
    // Where two moments are one, an end comes before a beginning.
    const moments = held
      .flatMap((lease) => [
        { at: lease.grantedAt!, isEnd: false, lease },
        { at: lease.heldUntil!, isEnd: true, lease }
      ])
      .toSorted((a, b) => a.at - b.at || Number(b.isEnd) - Number(a.isEnd))
    const holders = new Set<Attempt>()
    for (const { at, isEnd, lease } of moments) {
      if (isEnd) {
        holders.delete(lease)
        continue
      }
      for (const other of holders) {
        if (other.slot === lease.slot) violations.push(`${name}: slot ${lease.slot} is held twice at ${at}`)
      }
      holders.add(lease)
      mostHolders.set(name, Math.max(holders.size, mostHolders.get(name) ?? 0))
      if (holders.size > capacity) violations.push(`${name}: ${holders.size} of ${capacity} hold at ${at}`)
    }

    if (new Set(leases.map((lease) => lease.fence)).size < leases.length) {
      violations.push(`${name}: a fence was given twice`)
    }
    for (const { slot } of leases) {
      if (slot! < 1 || slot! > capacity) violations.push(`${name}: slot ${slot} of ${capacity}`)
    }
    for (const [slot, ofSlot] of Map.groupBy(held, (lease) => lease.slot!)) {
      const inOrder = ofSlot.toSorted((a, b) => a.grantedAt! - b.grantedAt!)
      for (const [i, lease] of inOrder.entries()) {
        const before = inOrder[i - 1]
        if (before !== undefined && before.fence! > lease.fence!) {
          violations.push(`${name}: fence ${lease.fence} of slot ${slot} came after fence ${before.fence}`)
        }
      }
    }
    // A lease that somebody had before another was asked for was granted before it, in whichever slot.
    let highest = 0
    const steps = leases
      .flatMap((lease) => [
        { at: lease.askedAt, isGrant: false, fence: lease.fence! },
        { at: lease.grantedAt!, isGrant: true, fence: lease.fence! }
      ])
      .toSorted((a, b) => a.at - b.at || Number(a.isGrant) - Number(b.isGrant))
    for (const { fence, isGrant } of steps) {
      if (isGrant) highest = Math.max(highest, fence)
      else if (fence < highest) violations.push(`${name}: fence ${fence} was asked for after fence ${highest} was had`)
    }
    violations.push(...overtaking(attempts, leases))
    ordered += leases.filter((lease) => lease.queuedAt !== undefined).length
    const longest = Math.max(0, ...leases.map((lease) => lease.grantedAt! - lease.askedAt))
    waits.set(name, { longest, longestFair: longestFairWait(attempts, capacity) })
  }
  for (const attempt of history) {
    if (attempt.grantedAt === undefined && attempt.diedAt === undefined) {
      violations.push(
        `${attempt.semaphore}: client ${attempt.client} waited since ${attempt.askedAt} and was never served`
      )
    }
  }
  return { violations, grants, ordered, mostHolders, waits }
}
