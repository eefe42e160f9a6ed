import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** Clients that registered themselves. */
export const oauthClients = table("oauth_clients", {
  id: uuid(),
  /** As people are shown it. */
  name: text(),
  redirectUris: json<ReadonlyArray<string>>(),
  createdAt: instant(),
  /** When somebody last signed in with it; null if nobody has. */
  usedAt: nullable(instant())
})

export type OAuthClientRow = Row<typeof oauthClients>

/** Stores the clients that registered themselves. */
export class OAuthClientsRepo extends Context.Service<
  OAuthClientsRepo,
  {
    /** Stores the client, and deletes those that were registered until `unusedUntil` and never used. */
    readonly insert: (client: OAuthClientRow, unusedUntil: Timestamp) => Effect.Effect<void>
    readonly find: (id: string) => Effect.Effect<OAuthClientRow | undefined>
    /** Notes that somebody signs in with it. */
    readonly use: (id: string, at: Timestamp) => Effect.Effect<void>
  }
>()("@delivery/server/agents/OAuthClientsRepo") {}
