import { Context, Effect, Layer, type Scope } from "effect"

/** Pages of events that are read and sent at once by a process for those who are behind. */
export const pagesAtOnce = 4

/** The same for one caller. */
export const pagesOfCaller = 2

/** The place of a stream, or of a call that waits, among those who are behind. */
export interface EventTurn {
  /** Whether it is its turn, which lasts until `end`. If not, it is woken when it is. */
  readonly ask: () => boolean
  /** Gives the turn back, or waits for none any more. */
  readonly end: () => void
}

interface Place {
  readonly caller: string
  readonly wake: () => void
  isWaiting: boolean
  isTurn: boolean
}

/**
 * Whoever is behind reads what is stored page by page, and takes turns for that with all others who are: callers one after the
 * other, whatever the number of their streams (docs/contract.md, Events). Those that have caught up need no turn: they are shown
 * what the feed has read for all.
 */
export class EventTurns extends Context.Service<
  EventTurns,
  {
    /** A place for a caller, until the scope closes. `wake` is called when it is its turn. */
    readonly join: (caller: string, wake: () => void) => Effect.Effect<EventTurn, never, Scope.Scope>
  }
>()("@delivery/server/events/EventTurns") {
  static readonly layer = Layer.sync(EventTurns, () => {
    const turns = new Turns()
    return EventTurns.of({
      join: (caller, wake) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.sync((): Place => ({ caller, wake, isWaiting: false, isTurn: false })),
            (place) => Effect.sync(() => turns.end(place))
          ),
          (place) => ({ ask: () => turns.ask(place), end: () => turns.end(place) })
        )
    })
  })
}

/** Who has a turn, and who waits for one. One class, since every method changes the same few counters. */
class Turns {
  #now = 0
  /** Those who wait, by caller: the caller whose turn was longest ago first. */
  readonly #waiting = new Map<string, Set<Place>>()
  readonly #ofCaller = new Map<string, number>()

  ask(place: Place): boolean {
    if (place.isTurn) return true
    if (!place.isWaiting) {
      place.isWaiting = true
      this.#waiting.set(place.caller, (this.#waiting.get(place.caller) ?? new Set()).add(place))
      this.#next(place)
    }
    return place.isTurn
  }

  end(place: Place): void {
    this.#forget(place)
    if (!place.isTurn) return
    place.isTurn = false
    this.#now--
    const left = this.#ofCaller.get(place.caller)! - 1
    if (left === 0) this.#ofCaller.delete(place.caller)
    else this.#ofCaller.set(place.caller, left)
    this.#next()
  }

  #forget(place: Place): void {
    place.isWaiting = false
    const own = this.#waiting.get(place.caller)
    own?.delete(place)
    if (own?.size === 0) this.#waiting.delete(place.caller)
  }

  /** Gives turns to those who wait, as long as there are some. Who asks just now need not be woken. */
  #next(asking?: Place): void {
    for (const [caller, own] of this.#waiting) {
      if (this.#now >= pagesAtOnce) return
      const ofCaller = this.#ofCaller.get(caller) ?? 0
      if (ofCaller >= pagesOfCaller) continue
      const [place] = own
      this.#forget(place!)
      // Goes behind the other callers.
      if (own.size > 0) {
        this.#waiting.delete(caller)
        this.#waiting.set(caller, own)
      }
      place!.isTurn = true
      this.#ofCaller.set(caller, ofCaller + 1)
      this.#now++
      if (place !== asking) place!.wake()
    }
  }
}
