import type { RegisteredClient } from "@delivery/domain/agents/OAuth"
import { knownClients, type OAuthClient } from "@delivery/domain/agents/OAuthClients"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Throttled, Throttles } from "../auth/Throttles.ts"
import { networkOf } from "../http/RateLimits.ts"
import { NextId } from "../ids/NextId.ts"
import { ClientDocuments } from "./ClientDocuments.ts"
import { describedClient } from "./ClientMetadata.ts"
import { OAuthClientsRepo } from "./OAuthClientsRepo.ts"
import { OAuthFailure } from "./SignIns.ts"

/** How many clients can be registered from one network address in an hour. */
export const maxRegistrations = 20

/** How many documents of clients are fetched in an hour for one network address. */
export const maxDocuments = 60

/** How long a client is kept that nobody signs in with, in milliseconds. */
const unusedMillis = 86_400_000

/** Clients that sign in by the server's URL (docs/contract.md, Sign-in by the server's URL). */
export class OAuthClients extends Context.Service<
  OAuthClients,
  {
    /** Registers the client that a body of RFC 7591 describes, for somebody at the address. */
    readonly register: (metadata: unknown, address: string) => Effect.Effect<RegisteredClient, OAuthFailure | Throttled>
    /** The client of the id, asked for by somebody at the address. */
    readonly find: (id: string, address: string) => Effect.Effect<OAuthClient, OAuthFailure | Throttled>
  }
>()("@delivery/server/agents/OAuthClients") {
  static readonly layer = Layer.effect(OAuthClients, Effect.gen(make))
}

interface Dependencies {
  readonly repo: OAuthClientsRepo["Service"]
  readonly documents: ClientDocuments["Service"]
  readonly throttles: Throttles["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* OAuthClientsRepo,
    documents: yield* ClientDocuments,
    throttles: yield* Throttles,
    nextId: yield* NextId
  }
  return OAuthClients.of({ register: register(dependencies), find: find(dependencies) })
}

const register = ({ nextId, repo, throttles }: Dependencies) =>
  Effect.fn("OAuthClients.register")(function* (metadata: unknown, address: string) {
    const { name, redirectUris } = yield* describedClient(metadata)
    yield* throttles.take(`registrations of ${networkOf(address)}`, maxRegistrations)
    const id = yield* nextId<string>()
    const now = yield* Clock.currentTimeMillis
    const client = { id, name, redirectUris, createdAt: timestamp(now), usedAt: null }
    yield* repo.insert(client, timestamp(now - unusedMillis))
    return {
      client_id: id,
      client_id_issued_at: Math.floor(now / 1_000),
      client_name: name,
      redirect_uris: redirectUris,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none" as const
    }
  })

const find = ({ documents, repo, throttles }: Dependencies): OAuthClients["Service"]["find"] =>
  Effect.fn("OAuthClients.find")(function* (id: string, address: string) {
    const known = knownClients.find((client) => client.id === id)
    if (known !== undefined) return known
    if (documents.fetches(id)) {
      yield* throttles.take(`client documents for ${networkOf(address)}`, maxDocuments)
      return yield* documents.fetch(id)
    }
    const registered = isId(id) ? yield* repo.find(id) : undefined
    if (registered === undefined) return yield* unknownClient
    return { id, kind: "registered", name: registered.name, redirectUris: registered.redirectUris, agent: "other" }
  })

const unknownClient = new OAuthFailure({
  status: 400,
  error: "invalid_client",
  description: "The client is not known here. It can register itself, or sign in with a client that is built in."
})
