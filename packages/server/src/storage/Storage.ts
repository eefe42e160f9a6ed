import { Context, type Effect } from "effect"

/** Where the service keeps its data, as the services see it: a boundary around changes that happen together. */
export class Storage extends Context.Service<
  Storage,
  {
    /** Runs `effect` as one transaction: all of its changes happen, or, on any failure, none. Nests. */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Runs reads that all see the data as it is at one instant. Not within a transaction. */
    readonly snapshot: <A, E, R>(reads: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Succeeds when the storage answers. */
    readonly ping: Effect.Effect<void>
  }
>()("@delivery/server/storage/Storage") {}
