import type { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import { verify } from "../backups/Verification.ts"
import { DatabaseCopy } from "../database/DatabaseCopy.ts"
import type { FileStore } from "../files/FileStore.ts"
import { KeptBlobs } from "../files/KeptBlobs.ts"
import { HostRefusal, makeOperations } from "./HostOperations.ts"

/** What a server with an embedded database does for commands of the host. */
export const makeHandlers = Effect.gen(function* () {
  const operations = yield* makeOperations
  const copies = yield* DatabaseCopy
  const kept = yield* KeptBlobs
  const storage = yield* Effect.context<PgClient.PgClient | SqlClient.SqlClient | FileStore>()
  /** The copies whose stored files are kept, by their directories. */
  const copied = new Map<string, Deferred.Deferred<void>>()
  const refuse = ({ message }: { readonly message: string }) => new HostRefusal({ message })
  return {
    ...operations,
    copyDatabase: ({ directory }: { readonly directory: string }) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const ended = yield* Deferred.make<void>()
          copied.set(directory, ended)
          yield* Effect.addFinalizer(() => Effect.sync(() => copied.delete(directory)))
          // Before the copy: what it knows of must be there until it is copied, too.
          yield* kept.keep
          yield* Effect.mapError(copies.copyTo(directory), refuse)
          return Stream.concat(Stream.make(null), Stream.drain(Stream.fromEffect(Deferred.await(ended))))
        })
      ),
    endCopy: ({ directory }: { readonly directory: string }) =>
      Effect.suspend(() => {
        const ended = copied.get(directory)
        return ended === undefined ? Effect.succeed(null) : Effect.as(Deferred.succeed(ended, undefined), null)
      }),
    verify: () => Effect.mapError(Effect.provideContext(verify, storage), refuse)
  }
})
