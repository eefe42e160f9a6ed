import type { AgentClient } from "@delivery/domain/agents/Agent"
import type { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { Effect } from "effect"
import { asAgent } from "../../src/agents/AgentAuthentication.ts"
import { Agents } from "../../src/agents/Agents.ts"
import { type OAuthForm, SignIns } from "../../src/agents/SignIns.ts"
import { SignInsRepo } from "../../src/agents/SignInsRepo.ts"
import { hashToken } from "../../src/ids/Tokens.ts"
import { as, type CallerOf, now } from "../identity/Scene.ts"

/** Sign-ins of agents for tests. */

/** A sign-in of a client on a computer, for the caller. */
export const registered = Effect.fnUntraced(function* (
  caller: CallerOf,
  fields: { readonly client?: AgentClient; readonly computer?: string } = {}
) {
  const agents = yield* Agents
  return yield* agents.register({ client: "claude", computer: "laptop", ...fields }).pipe(as(caller))
})

/** Whom an access token stands for now; undefined for nobody. */
export const authenticated = Effect.fnUntraced(function* (accessToken: string) {
  return yield* (yield* SignInsRepo).authenticate(hashToken(accessToken), yield* now)
})

/** Runs what the holder of an access token asks for. */
export const withToken =
  (accessToken: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R | Caller | AgentCaller>) =>
    Effect.flatMap(authenticated(accessToken), (found) =>
      asAgent({ ...found!, tokenHash: hashToken(accessToken), lastFour: accessToken.slice(-4) })(effect)
    )

/** The fields of a form. */
export const form =
  (fields: Readonly<Record<string, string>>): OAuthForm =>
  (name) =>
    fields[name]

export interface Held {
  readonly clientId: string
  readonly refresh_token: string
}

/** A refresh; the error's name where it fails. */
export const refreshed = Effect.fnUntraced(function* (
  { clientId, refresh_token }: Held,
  fields: Readonly<Record<string, string>> = {}
) {
  const signIns = yield* SignIns
  return yield* signIns
    .refresh(form({ grant_type: "refresh_token", client_id: clientId, refresh_token, ...fields }))
    .pipe(
      Effect.map((tokens) => ({ ...tokens, clientId })),
      Effect.catch(({ error, status }) => Effect.succeed(`${status} ${error}`))
    )
})

/** A refresh that must succeed. */
export const nextOf = (held: Held, fields: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(refreshed(held, fields), (answer) =>
    typeof answer === "string" ? Effect.die(`Refused: ${answer}`) : Effect.succeed(answer)
  )
