import type { PersonId } from "@delivery/domain/Ids"
import type { Role } from "@delivery/domain/identity/Role"
import { timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../../src/agents/Agents.ts"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import { AuthorizationCodes } from "../../src/agents/AuthorizationCodes.ts"
import { Authorizations } from "../../src/agents/Authorizations.ts"
import { AuthorizationsRepo } from "../../src/agents/AuthorizationsRepo.ts"
import { SignInsRepo } from "../../src/agents/SignInsRepo.ts"
import { AccountSignIns } from "../../src/auth/AccountSignIns.ts"
import { IdentitiesRepo } from "../../src/auth/IdentitiesRepo.ts"
import * as OidcProvider from "../../src/auth/OidcProvider.ts"
import { Passkeys } from "../../src/auth/Passkeys.ts"
import { PasskeysRepo } from "../../src/auth/PasskeysRepo.ts"
import { Logins } from "../../src/auth/Logins.ts"
import { LoginsRepo } from "../../src/auth/LoginsRepo.ts"
import { type Browser, Sessions } from "../../src/auth/Sessions.ts"
import type { Throttled } from "../../src/auth/Throttles.ts"
import { TokenReports } from "../../src/auth/TokenReports.ts"
import { DeploymentTokens } from "../../src/deploy/DeploymentTokens.ts"
import { DeploymentTokensRepo } from "../../src/deploy/DeploymentTokensRepo.ts"
import { ApiKeys } from "../../src/identity/ApiKeys.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { Inventory } from "../../src/identity/Inventory.ts"
import { Invites } from "../../src/identity/Invites.ts"
import { InvitesRepo } from "../../src/identity/InvitesRepo.ts"
import { Makers } from "../../src/identity/Makers.ts"
import { Members } from "../../src/identity/Members.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { PersonsRepo } from "../../src/identity/PersonsRepo.ts"
import { type WorkspaceRow, WorkspacesRepo } from "../../src/identity/WorkspacesRepo.ts"
import { answerIn, authorizeQuery, newClient } from "../agents/OAuthScene.ts"
import { addDeployment, addEnvironment, addProduct } from "../catalog/Rows.ts"
import {
  addMember,
  addPerson,
  addWorkspace,
  answer,
  as,
  type CallerOf,
  unique,
  whileItWaits
} from "../identity/Scene.ts"
import { SoftPasskey } from "../support/Authenticator.ts"
import {
  baseUrl,
  layerServices,
  type Repositories,
  sharedStorages,
  withServicesOnEachStorage
} from "../support/Storages.ts"
import { newVerifier, redirectUri, startBody } from "./LoginScene.ts"

/** A session that has ended makes nothing, also where its request was on its way (docs/contract.md, Sessions). */

type Services = Repositories | Layer.Success<typeof layerServices>

const newBrowser = (token?: string): Browser => ({ device: "Firefox on Linux", address: unique("address"), token })

const email = () => `${unique("somebody")}@example.com`

/** A session of the person, as a caller in the workspace, as its requests have it once they are authenticated. */
const signedIn = Effect.fnUntraced(function* (
  { email, id, name }: { readonly id: PersonId; readonly name: string; readonly email: string },
  workspace: WorkspaceRow,
  role: Role = "owner"
) {
  const browser = newBrowser()
  const begun = yield* (yield* Sessions).begin(id, "link", browser)
  const caller = {
    principal: { kind: "user", id, name, email },
    membership: { id: workspace.id, slug: workspace.slug, name: workspace.name, role },
    credential: { kind: "session", id: begun.signedIn.session.id, lastFour: begun.token.slice(-4) }
  } satisfies CallerOf
  return { ...caller, browser: { ...browser, token: begun.token } }
})

/** Two owners of a workspace: one has the session that ends, and another session. */
const makeScene = Effect.gen(function* () {
  const workspace = yield* Effect.orDie(addWorkspace())
  const person = yield* addPerson()
  yield* addMember(workspace, "owner", { person })
  return {
    workspace,
    person,
    owner: yield* addMember(workspace, "owner"),
    session: yield* signedIn(person, workspace),
    other: yield* signedIn(person, workspace)
  }
})

type Scene = Effect.Success<typeof makeScene>

/** Something that a session can make. */
interface Making {
  readonly make: Effect.Effect<string, never, Services>
  /** What is stored of it by now. */
  readonly stored: Effect.Effect<ReadonlyArray<string>, never, Services>
  /** A lock for which the request waits once it is authenticated. */
  readonly lock: Effect.Effect<void, never, Services>
}

const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

const lockWorkspace = ({ id }: WorkspaceRow) => Effect.flatMap(WorkspacesRepo, (workspaces) => workspaces.lock(id))
const lockPerson = ({ person }: Scene) => Effect.flatMap(PersonsRepo, (persons) => persons.lock(person.id))

/** Of what waits for nothing else. In memory, a transaction waits for any other. */
const lockSession = Effect.fnUntraced(function* ({ session }: Scene) {
  const sql = Option.getOrUndefined(yield* Effect.serviceOption(PgClient.PgClient))
  if (sql === undefined) return
  yield* Effect.orDie(sql`select 1 from web_sessions where id = ${session.credential.id} for update`)
})

/** The tokens of a deployment in the workspace. */
const deploymentTokensIn = Effect.fnUntraced(function* ({ workspace }: Scene) {
  const product = yield* Effect.orDie(addProduct(workspace.id))
  const environment = yield* Effect.orDie(addEnvironment(workspace.id))
  const deployment = yield* Effect.orDie(addDeployment(product, environment))
  const path = [product.slug, environment.slug] as const
  return {
    path,
    create: Effect.flatMap(DeploymentTokens, (tokens) => tokens.create(...path, { name: "product" })),
    stored: Effect.gen(function* () {
      const now = timestamp(yield* Clock.currentTimeMillis)
      return ids(yield* (yield* DeploymentTokensRepo).ofDeployment(deployment.id, now))
    })
  }
})

/** From an address of its own, nothing is throttled. */
const unthrottled = <A, E extends { readonly _tag: string }, R>(call: Effect.Effect<A, E | Throttled, R>) =>
  Effect.catchTag(call, "Throttled", Effect.die)

/** What a session can make. */
const makings: ReadonlyArray<{
  readonly name: string
  /** Where the session has ended meanwhile. */
  readonly refusal: string
  /** Where the workspace has blocked it meanwhile. What it then makes is blocked, too. */
  readonly blocked: string
  /** Whether it takes a member of the workspace. */
  readonly isOfMember: boolean
  readonly prepare: (scene: Scene) => Effect.Effect<Making, never, Services>
}> = [
  {
    name: "an API key",
    refusal: "Unauthorized",
    blocked: "ok",
    isOfMember: false,
    prepare: (scene) =>
      Effect.succeed({
        make: Effect.flatMap(ApiKeys, (keys) => answer(as(scene.session)(keys.create({ name: "key" })))),
        stored: Effect.flatMap(ApiKeysRepo, (keys) => Effect.map(keys.ofPerson(scene.person.id), ids)),
        lock: lockPerson(scene)
      })
  },
  {
    name: "an account API key",
    refusal: "Unauthorized",
    blocked: "NotFound",
    isOfMember: true,
    prepare: (scene) =>
      Effect.succeed({
        make: Effect.flatMap(ApiKeys, (keys) =>
          answer(as(scene.session)(keys.createAccount({ name: "key", role: "admin" })))
        ),
        stored: Effect.flatMap(ApiKeysRepo, (keys) => Effect.map(keys.ofWorkspace(scene.workspace.id), ids)),
        lock: lockWorkspace(scene.workspace)
      })
  },
  {
    name: "an invite",
    refusal: "Unauthorized",
    blocked: "NotFound",
    isOfMember: true,
    prepare: (scene) =>
      Effect.succeed({
        make: Effect.flatMap(Invites, (invites) =>
          answer(as(scene.session)(invites.create({ email: email(), role: "owner", deliver: "link" })))
        ),
        stored: Effect.flatMap(InvitesRepo, (invites) => Effect.map(invites.list(scene.workspace.id), ids)),
        lock: lockWorkspace(scene.workspace)
      })
  },
  {
    name: "a member",
    refusal: "Unauthorized",
    blocked: "ok",
    isOfMember: false,
    prepare: Effect.fnUntraced(function* (scene) {
      const workspace = yield* Effect.orDie(addWorkspace())
      const inviter = yield* Effect.orDie(addMember(workspace, "owner"))
      const invites = yield* Invites
      const invite = { email: scene.person.email, role: "member", deliver: "link" } as const
      const { token } = yield* Effect.orDie(as(inviter)(invites.create(invite)))
      return {
        make: answer(as(scene.session)(invites.accept({ token: token! }))),
        stored: Effect.flatMap(MembersRepo, (members) =>
          Effect.map(members.find(workspace.id, scene.person.id), (member) => (member === undefined ? [] : [member.id]))
        ),
        lock: lockWorkspace(workspace)
      }
    })
  },
  {
    name: "a sign-in of an agent",
    refusal: "Unauthorized",
    blocked: "ok",
    isOfMember: true,
    prepare: (scene) =>
      Effect.succeed({
        make: Effect.flatMap(Agents, (agents) =>
          answer(as(scene.session)(agents.register({ client: "claude", computer: unique("laptop") })))
        ),
        stored: Effect.gen(function* () {
          const now = timestamp(yield* Clock.currentTimeMillis)
          const agents = yield* (yield* AgentsRepo).list(scene.workspace.id, scene.person.id, now)
          return agents.flatMap(({ computers }) => ids(computers))
        }),
        lock: lockSession(scene)
      })
  },
  {
    name: "a deployment token",
    refusal: "Unauthorized",
    blocked: "NotFound",
    isOfMember: true,
    prepare: Effect.fnUntraced(function* (scene) {
      const { create, stored } = yield* deploymentTokensIn(scene)
      return { make: answer(as(scene.session)(create)), stored, lock: lockWorkspace(scene.workspace) }
    })
  },
  {
    name: "a deployment token by rotation",
    refusal: "Unauthorized",
    blocked: "NotFound",
    isOfMember: true,
    prepare: Effect.fnUntraced(function* (scene) {
      const { create, path, stored } = yield* deploymentTokensIn(scene)
      const { id } = yield* Effect.orDie(as(scene.owner)(create))
      return {
        make: Effect.flatMap(DeploymentTokens, (tokens) => answer(as(scene.session)(tokens.rotate([...path, id])))),
        stored,
        lock: lockWorkspace(scene.workspace)
      }
    })
  },
  {
    name: "the consent to a client",
    refusal: "Unauthorized",
    blocked: "NotFound",
    isOfMember: false,
    prepare: Effect.fnUntraced(function* (scene) {
      const authorizations = yield* Authorizations
      const asked = authorizations.request(new URLSearchParams(authorizeQuery()), unique("address"))
      const id = (yield* Effect.orDie(asked)).split("#")[1]!
      return {
        make: answer(as(scene.session)(authorizations.decide(id, { allow: true, workspace: scene.workspace.slug }))),
        // Who decides takes it out.
        stored: Effect.flatMap(AuthorizationsRepo, (repo) =>
          Effect.map(repo.find(id, "1970-01-01T00:00:00.000Z"), (asked) => (asked === undefined ? [id] : []))
        ),
        lock: lockSession(scene)
      }
    })
  },
  {
    name: "a sign-in of an agent by the server's URL",
    refusal: "invalid_grant",
    blocked: "ok",
    isOfMember: false,
    prepare: Effect.fnUntraced(function* (scene) {
      const [authorizations, codes] = [yield* Authorizations, yield* AuthorizationCodes]
      const client = newClient()
      const asked = authorizations.request(new URLSearchParams(authorizeQuery(client)), unique("address"))
      const id = (yield* Effect.orDie(asked)).split("#")[1]!
      const allowing = { allow: true, workspace: scene.workspace.slug } as const
      const { location } = yield* Effect.orDie(as(scene.session)(authorizations.decide(id, allowing)))
      const form: Readonly<Record<string, string>> = {
        client_id: client.clientId,
        code: answerIn(location)["code"]!,
        redirect_uri: client.redirectUri,
        code_verifier: client.verifier
      }
      return {
        make: Effect.match(
          codes.exchange((name) => form[name]),
          { onSuccess: () => "ok", onFailure: ({ error }) => error }
        ),
        stored: Effect.gen(function* () {
          const now = timestamp(yield* Clock.currentTimeMillis)
          return ids(yield* (yield* SignInsRepo).listLive(scene.workspace.id, now))
        }),
        lock: lockSession(scene)
      }
    })
  },
  {
    name: "the consent to a command line",
    refusal: "Unauthorized",
    blocked: "ok",
    isOfMember: false,
    prepare: Effect.fnUntraced(function* (scene) {
      const logins = yield* Logins
      const { id } = yield* Effect.orDie(logins.start(startBody(newVerifier(), { redirectUri }), unique("address")))
      return {
        make: answer(unthrottled(as(scene.session)(logins.decide(id, { allow: true }, unique("address"))))),
        stored: Effect.flatMap(LoginsRepo, (repo) =>
          Effect.map(repo.find(id, "1970-01-01T00:00:00.000Z"), (login) => (login!.state === "allowed" ? [id] : []))
        ),
        lock: lockSession(scene)
      }
    })
  },
  {
    name: "the key of a command line",
    refusal: "Unauthorized sign_in_failed",
    blocked: "ok",
    isOfMember: false,
    prepare: Effect.fnUntraced(function* (scene) {
      const logins = yield* Logins
      const codeVerifier = newVerifier()
      const { id, userCode } = yield* Effect.orDie(logins.start(startBody(codeVerifier), unique("address")))
      const allowing = { allow: true, userCode: userCode! } as const
      yield* Effect.orDie(as(scene.session)(logins.decide(id, allowing, unique("address"))))
      return {
        make: answer(unthrottled(logins.redeem(id, { codeVerifier }, unique("address")))),
        stored: Effect.flatMap(ApiKeysRepo, (keys) => Effect.map(keys.ofPerson(scene.person.id), ids)),
        lock: lockPerson(scene)
      }
    })
  },
  {
    name: "a passkey",
    refusal: "Unauthorized",
    blocked: "Forbidden session_blocked",
    isOfMember: false,
    prepare: Effect.fnUntraced(function* (scene) {
      const passkeys = yield* Passkeys
      const options = yield* Effect.orDie(as(scene.session)(passkeys.addOptions))
      const response = new SoftPasskey(baseUrl).create(options)
      return {
        make: answer(as(scene.session)(passkeys.add({ response }, scene.session.browser))),
        stored: Effect.flatMap(PasskeysRepo, (repo) => Effect.map(repo.ofPerson(scene.person.id), ids)),
        lock: lockPerson(scene)
      }
    })
  },
  {
    name: "an account at a provider",
    refusal: "failed",
    blocked: "failed",
    isOfMember: false,
    prepare: Effect.fnUntraced(function* (scene) {
      const issuer = "https://login.corp.example"
      const client = { id: "corp", clientId: "delivery", clientSecret: Redacted.make("secret") }
      // Nobody asks it: it has said already who it is.
      const provider = yield* OidcProvider.make({ kind: "oidc", issuer, ...client })
      const account = { issuer, subject: unique("subject"), email: null, isVerified: false, name: null, provedAt: null }
      const linked = Effect.flatMap(AccountSignIns, (accounts) => accounts.link(provider, account)).pipe(
        Effect.provide(AccountSignIns.layer),
        Effect.mapError((error) => ({ _tag: error, message: error }))
      )
      return {
        make: answer(as(scene.session)(linked)),
        stored: Effect.flatMap(IdentitiesRepo, (repo) => Effect.map(repo.ofPerson(scene.person.id), ids)),
        lock: lockPerson(scene)
      }
    })
  }
]

/** How the session ends. */
const ends: ReadonlyArray<{
  readonly name: string
  readonly end: (scene: Scene) => Effect.Effect<unknown, never, Services>
}> = [
  {
    name: "is signed out",
    end: ({ session }) => Effect.flatMap(Sessions, (sessions) => sessions.signOut(session.browser))
  },
  {
    name: "is ended by another",
    end: ({ other, session }) =>
      Effect.flatMap(Sessions, (sessions) => Effect.orDie(as(other)(sessions.end(session.credential.id))))
  },
  {
    name: "is ended with all others",
    end: ({ other }) => Effect.flatMap(Sessions, (sessions) => Effect.orDie(as(other)(sessions.endOthers)))
  },
  {
    name: "is reported",
    end: ({ session }) =>
      Effect.flatMap(TokenReports, (reports) =>
        Effect.orDie(reports.report(session.browser.token, session.browser.address))
      )
  },
  {
    name: "is replaced by another of its browser",
    end: ({ person, session }) =>
      Effect.flatMap(Sessions, (sessions) => sessions.begin(person.id, "link", session.browser))
  }
]

withServicesOnEachStorage("A session that ends while its request waits", (it) => {
  for (const { name, prepare, refusal } of makings) {
    it.effect(`makes ${name} as long as it lasts`, () =>
      Effect.gen(function* () {
        const { lock, make, stored } = yield* prepare(yield* makeScene)
        const before = yield* stored
        assert.strictEqual(yield* whileItWaits(make, lock, Effect.void), "ok")
        assert.lengthOf(yield* stored, before.length + 1)
      })
    )

    const expires = { name: "expires", end: () => TestClock.adjust("30 days") }
    // The invite and the challenge have expired before.
    const isShort = name === "a member" || name === "a passkey"
    for (const { end, name: how } of isShort ? ends : [...ends, expires]) {
      it.effect(`makes ${name} no more, where it ${how}`, () =>
        Effect.gen(function* () {
          const scene = yield* makeScene
          const { lock, make, stored } = yield* prepare(scene)
          const before = yield* stored
          assert.strictEqual(yield* whileItWaits(make, lock, end(scene)), refusal)
          assert.deepStrictEqual(yield* stored, before)
        })
      )
    }
  }

  for (const { end, name } of ends) {
    it.effect(`waits for what it makes, where it ${name}`, () =>
      Effect.gen(function* () {
        const scene = yield* makeScene
        const steps: Array<string> = []
        const note = (step: string) => Effect.sync(() => void steps.push(step))
        const makes = Effect.flatMap(Makers, ({ hold }) => Effect.orDie(as(scene.session)(hold)))
        yield* whileItWaits(Effect.andThen(end(scene), note("ended")), makes, note("made"))
        assert.deepStrictEqual(steps, ["made", "ended"])
      })
    )
  }

  for (const { blocked, name, prepare } of makings) {
    it.effect(`makes ${name} within its block, where it is blocked`, () =>
      Effect.gen(function* () {
        const scene = yield* makeScene
        const { make } = yield* prepare(scene)
        const inventory = yield* Inventory
        const block = Effect.orDie(as(scene.owner)(inventory.block(scene.session.credential.id)))
        assert.strictEqual(yield* whileItWaits(make, block, Effect.void), blocked)
        const made = (yield* as(scene.owner)(inventory.list)).filter(
          ({ createdBy, kind }) => kind !== "session" && createdBy?.kind === "user" && createdBy.id === scene.person.id
        )
        const isCredential = !["a member", "the consent to a command line"].includes(name)
        assert.lengthOf(made, blocked === "ok" && isCredential ? 1 : 0)
        assert.isTrue(made.every((credential) => credential.blocked))
      })
    )
  }

  for (const { isOfMember, name, prepare } of makings) {
    if (!isOfMember) continue
    it.effect(`makes ${name} no more, where its member is deactivated`, () =>
      Effect.gen(function* () {
        const scene = yield* makeScene
        const { make, stored } = yield* prepare(scene)
        const before = yield* stored
        const deactivate = Effect.flatMap(Members, (members) =>
          Effect.orDie(as(scene.owner)(members.deactivate(scene.person.id)))
        )
        assert.strictEqual(yield* whileItWaits(make, deactivate, Effect.void), "NotFound")
        assert.deepStrictEqual(yield* stored, before)
      })
    )
  }
})

const atOnce = { concurrency: "unbounded" } as const

for (const storage of sharedStorages) {
  layer(storage.layer, { excludeTestServices: true, timeout: 60_000 })(
    `Races with the end of a session on ${storage.name}`,
    (it) => {
      for (const { name, prepare, refusal } of makings) {
        it.effect(`${name} is stored before the end answers, or never`, () =>
          Effect.gen(function* () {
            const build = Layer.build(Layer.fresh(layerServices))
            const [first, second] = [yield* build, yield* build]
            for (const { end } of [...ends, ...ends, ...ends, ...ends]) {
              const scene = yield* Effect.provideContext(makeScene, first)
              const { make, stored } = yield* Effect.provideContext(prepare(scene), first)
              const before = yield* Effect.provideContext(stored, first)
              const [made, atEnd] = yield* Effect.all(
                [Effect.provideContext(make, first), Effect.provideContext(Effect.andThen(end(scene), stored), second)],
                atOnce
              )
              const after = yield* Effect.provideContext(stored, first)
              assert.deepStrictEqual(after, atEnd)
              assert.strictEqual(made, after.length > before.length ? "ok" : refusal)
            }
          })
        )
      }
    }
  )
}
