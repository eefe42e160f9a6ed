import type { RegisteredClient } from "@delivery/domain/agents/OAuth"
import { claimedName, isRedirect, maxRedirects } from "@delivery/domain/agents/OAuthClients"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Throttled, Throttles } from "../auth/Throttles.ts"
import { networkOf } from "../http/RateLimits.ts"
import { NextId } from "../ids/NextId.ts"
import { OAuthClientsRepo } from "./OAuthClientsRepo.ts"
import { OAuthFailure } from "./SignIns.ts"

/** How many clients can be registered from one network address in an hour. */
export const maxRegistrations = 20

/** How long a client is kept that nobody signs in with, in milliseconds. */
const unusedMillis = 86_400_000

/** Clients that sign in by the server's URL and register themselves (docs/contract.md, Agent sign-in). */
export class OAuthClients extends Context.Service<
  OAuthClients,
  {
    /** Registers the client that a body of RFC 7591 describes, for somebody at the address. */
    readonly register: (metadata: unknown, address: string) => Effect.Effect<RegisteredClient, OAuthFailure | Throttled>
  }
>()("@delivery/server/agents/OAuthClients") {
  static readonly layer = Layer.effect(OAuthClients, Effect.gen(make))
}

interface Dependencies {
  readonly repo: OAuthClientsRepo["Service"]
  readonly throttles: Throttles["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* OAuthClientsRepo,
    throttles: yield* Throttles,
    nextId: yield* NextId
  }
  return OAuthClients.of({ register: register(dependencies) })
}

const register = ({ nextId, repo, throttles }: Dependencies) =>
  Effect.fn("OAuthClients.register")(function* (metadata: unknown, address: string) {
    const { name, redirectUris } = yield* described(metadata)
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

/** What is kept of a client's metadata. */
const described = Effect.fnUntraced(function* (metadata: unknown) {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    return yield* invalidMetadata("The body must be a JSON object.")
  }
  const fields = metadata as Readonly<Record<string, unknown>>
  const redirectUris = fields["redirect_uris"]
  if (!isTexts(redirectUris) || redirectUris.length === 0 || redirectUris.length > maxRedirects) {
    return yield* invalidRedirect(`redirect_uris must be a list of 1 to ${maxRedirects} URLs.`)
  }
  if (!redirectUris.every(isRedirect)) {
    return yield* invalidRedirect(
      "A redirect must be of https, of http to localhost, 127.0.0.1 or [::1], or of the scheme of an app with a dot, without a fragment or a user."
    )
  }
  const name = fields["client_name"] ?? ""
  if (typeof name !== "string") return yield* invalidMetadata("client_name must be a text.")
  for (const [field, needed] of [
    ["grant_types", "authorization_code"],
    ["response_types", "code"]
  ] as const) {
    const value = fields[field] ?? [needed]
    if (!isTexts(value) || !value.includes(needed)) {
      return yield* invalidMetadata(`${field} must be a list with ${needed}.`)
    }
  }
  return { name: claimedName(name), redirectUris: [...new Set(redirectUris)] }
})

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((one) => typeof one === "string")

const invalidMetadata = (description: string) =>
  new OAuthFailure({ status: 400, error: "invalid_client_metadata", description })
const invalidRedirect = (description: string) =>
  new OAuthFailure({ status: 400, error: "invalid_redirect_uri", description })
