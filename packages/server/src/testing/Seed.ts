import type { CreateDeployment } from "@delivery/domain/catalog/Deployment"
import type { CreateEnvironment } from "@delivery/domain/catalog/Environment"
import type { CreateProduct } from "@delivery/domain/catalog/Product"
import type { AcceptedInvite, NewInvite } from "@delivery/domain/identity/Invite"
import type { Role } from "@delivery/domain/identity/Role"
import type { CreateProject } from "@delivery/domain/planning/Project"
import type { CreateTeam } from "@delivery/domain/planning/Team"
import type { CreateTicket } from "@delivery/domain/planning/Ticket"
import type { CreateSecret } from "@delivery/domain/vault/Secret"
import { Effect, Redacted } from "effect"
import { DeliveryServer } from "./DeliveryServer.ts"

/** What a workspace begins with, in the order in which it is made. */
export interface Seed {
  readonly members?: ReadonlyArray<{ readonly email: string; readonly name: string; readonly role: Role }>
  readonly products?: ReadonlyArray<CreateProduct>
  readonly environments?: ReadonlyArray<CreateEnvironment>
  readonly deployments?: ReadonlyArray<CreateDeployment & { readonly version?: string }>
  readonly secrets?: ReadonlyArray<(typeof CreateSecret)["Encoded"] & { readonly product: string }>
  readonly teams?: ReadonlyArray<CreateTeam>
  readonly projects?: ReadonlyArray<CreateProject>
  readonly tickets?: ReadonlyArray<CreateTicket>
}

export interface Seeded {
  /** The new members' API keys, by their email. */
  readonly apiKeys: Readonly<Record<string, string>>
  /** What the tickets are called, such as `OPS-1`, in their order. */
  readonly tickets: ReadonlyArray<string>
}

const lists = ["members", "products", "environments", "deployments", "secrets", "teams", "projects", "tickets"] as const
const isList = new Set<string>(lists satisfies ReadonlyArray<keyof Seed>)

/**
 * Makes all of it by the API of the server, as its owner. Dies with the words of the server where that refuses something, and where
 * it is given a list that it does not know.
 */
export const seed = Effect.fnUntraced(function* (of: Seed): Effect.fn.Return<Seeded, never, DeliveryServer> {
  const unknown = Object.keys(of).find((name) => !isList.has(name))
  if (unknown !== undefined) {
    return yield* Effect.die(new TypeError(`A seed has no "${unknown}": ${lists.join(", ")}.`))
  }
  const send = sendTo(yield* DeliveryServer)
  const sendAll = (path: string, bodies: ReadonlyArray<object> = []) =>
    Effect.forEach(bodies, (body) => send("POST", path, body), { discard: true })
  const members = yield* Effect.forEach(of.members ?? [], ({ email, name, role }) =>
    Effect.gen(function* () {
      const { token } = yield* send<NewInvite>("POST", "invites", { email, role, deliver: "link" })
      const invited = { isAnonymous: true }
      const { apiKey } = yield* send<AcceptedInvite>("POST", "/v1/invites/accept", { token, name }, invited)
      return [email, apiKey!.secret] as const
    })
  )
  yield* sendAll("products", of.products)
  yield* sendAll("environments", of.environments)
  for (const { version, ...deployment } of of.deployments ?? []) {
    yield* send("POST", "deployments", deployment)
    const path = `deployments/${deployment.product}/${deployment.environment}`
    if (version !== undefined) yield* send("PATCH", path, { version })
  }
  for (const { product, ...secret } of of.secrets ?? []) yield* send("POST", `products/${product}/secrets`, secret)
  yield* sendAll("teams", of.teams)
  yield* sendAll("projects", of.projects)
  const tickets = yield* Effect.forEach(of.tickets ?? [], (ticket) =>
    send<{ readonly identifier: string }>("POST", "tickets", ticket)
  )
  return { apiKeys: Object.fromEntries(members), tickets: tickets.map(({ identifier }) => identifier) }
})

/** Paths that do not begin with a slash are of the workspace. */
const sendTo =
  ({ apiKey, baseUrl, fetch, workspace }: DeliveryServer["Service"]) =>
  <A>(method: string, path: string, body: object, { isAnonymous = false } = {}): Effect.Effect<A> =>
    Effect.promise(async () => {
      const asked = path.startsWith("/") ? path : `/v1/workspaces/${workspace}/${path}`
      const answer = await fetch(new URL(asked, baseUrl), {
        method,
        headers: {
          "content-type": "application/json",
          ...(isAnonymous ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` })
        },
        body: JSON.stringify(body)
      })
      if (!answer.ok) {
        throw new Error(`${method} ${asked} ${JSON.stringify(body)}: ${answer.status} ${await answer.text()}`)
      }
      return (await answer.json()) as A
    })
