import { DeliveryApi } from "@delivery/domain/Api"
import type { Notification } from "@delivery/domain/agents/Notification"
import type { Approval } from "@delivery/domain/catalog/Approval"
import type { AuditEntry, AuditPage } from "@delivery/domain/audit/Audit"
import type { PasskeyCreationOptions } from "@delivery/domain/auth/Passkey"
import type { SignedIn } from "@delivery/domain/auth/Session"
import type { Identity } from "@delivery/domain/auth/SingleSignOn"
import { RequiredScope } from "@delivery/domain/Endpoint"
import type { NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import type { NewAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import type { Me } from "@delivery/domain/identity/Me"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import type { TrustedPublisher, TrustedPublishers } from "@delivery/domain/identity/TrustedPublisher"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import { hasScope, Scope, type Scopes } from "@delivery/domain/Scope"
import type { Workspace } from "@delivery/domain/identity/Workspace"
import type { Tag } from "@delivery/domain/planning/Tag"
import type { Team } from "@delivery/domain/planning/Team"
import type { Attachment } from "@delivery/domain/planning/Attachment"
import type { Comment } from "@delivery/domain/planning/Comment"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TicketNotification } from "@delivery/domain/planning/TicketNotification"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import type { Milestone, Project } from "@delivery/domain/planning/Project"
import type { View } from "@delivery/domain/planning/View"
import type { SavedFilter } from "@delivery/domain/runs/SavedFilter"
import type { StartedRetry } from "@delivery/domain/runs/TestRetry"
import type { Lease } from "@delivery/domain/runs/Semaphore"
import type { Webhook, WebhookDelivery } from "@delivery/domain/webhooks/Webhook"
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { afterAll, assert } from "vitest"
import { SoftPasskey } from "../support/Authenticator.ts"
import { askForAccess, authorizeQuery } from "../agents/OAuthScene.ts"
import { allowLogin, newVerifier, startBody, startLogin } from "../auth/LoginScene.ts"
import {
  accept,
  accountKey,
  attempt,
  eventually,
  finishOf,
  finishRun,
  type Http,
  join,
  newDeployment,
  newLink,
  newPasskey,
  newWorkspace,
  onServers,
  passkeyRequest,
  refusal,
  registerAgent,
  report,
  runOf,
  signIn,
  startRun,
  teamKey,
  unique
} from "../support/Http.ts"
import { gitHubPublisher, startCiIssuer } from "../support/CiIssuer.ts"
import { linkAccount, settingOf, startIssuer } from "../support/Issuer.ts"
import { startMailServer, tokenIn } from "../support/MailServer.ts"
import { servers } from "../support/Servers.ts"

const issuer = await startIssuer({ name: "corp" })
afterAll(issuer.close)
const ci = await startCiIssuer()
afterAll(ci.close)

/** Every endpoint of the API, and who may call it (docs/contract.md, Order of checks). */

interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  /** That an API key needs for it. */
  readonly scope: Scope | undefined
  /** Whether its body is JSON. */
  readonly hasBody: boolean
}

const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(DeliveryApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
      const { method, path, payload } = endpoint as HttpApiEndpoint.Top
      found.push({
        name: `${group.identifier}.${endpoint.identifier}`,
        method,
        path,
        scope: Context.get(mergedAnnotations, RequiredScope),
        hasBody: [...payload.values()].some(({ encoding }) => encoding._tag === "Json")
      })
    }
  })
  return found
})()

/**
 * Who may: everyone, key or none; whoever has a key; a person, in no workspace; a person, or who shows no key; a person,
 * whatever the role in the workspace; a person who signed in with a browser; a run of the workspace, by its token; a deployed
 * product, by its token; an admin or owner, but no key of the workspace; an agent, by its access token, and one whose person may write; a
 * person who may write; a person, or who sees what is all persons'; a person whom something was told; who can be in a team, a member or up; or, in the workspace, who has at least the role.
 */
type Who =
  | "everyone"
  | "any key"
  | "a session"
  | "a person"
  | "a person or nobody"
  | "a person of the workspace"
  | "a run"
  | "a deployment"
  | "an admin in person"
  | "an agent"
  | "an agent that writes"
  | "a person that writes"
  | "a person or an admin"
  | "a notified person"
  | "a team member"
  | Role

const mail = await startMailServer()
afterAll(() => mail.close())

let networks = 0
/** Another network address each time: of one, only so many are answered. */
const newNetwork = () => ({ "x-forwarded-for": `10.0.${networks >> 8}.${networks++ & 255}` })

interface Request {
  /** Of the path. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly json?: unknown
  readonly body?: string
  readonly form?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

interface Row {
  readonly who: Who
  /** A scope that is needed beside the endpoint's, since what is made has it. */
  readonly gives?: Scope
  /** A request that succeeds for who may make it. `by` is its maker where that matters, else the owner. */
  readonly request?: (owner: Http, by: Http) => Promise<Request> | Request
  /** Whether the token of a session that makes it does not work afterwards. */
  readonly endsSession?: boolean
  /**
   * Of what changes credentials or members: what it leaves in the audit of the workspace where that is not an entry. What it
   * does may be in the audit of another workspace.
   */
  readonly leaves?: "nothing" | "elsewhere"
}

/** The groups of what changes credentials and members. Whatever they change is an entry of the audit. */
const audited = new Set([
  "members",
  "invites",
  "apiKeys",
  "accountApiKeys",
  "deploymentTokens",
  "trustedPublishers",
  "tokens",
  "agents",
  "auth",
  "logins"
])

/** The person whose session it is; undefined for other callers. */
const signedInAs = async (by: Http): Promise<string | undefined> => {
  const { body, status } = await by.send<SignedIn>("GET", "/auth/v1/session")
  return status === 200 ? body.person.id : undefined
}

/** What was mailed to whose session it is, to prove their address; nothing of the kind for other callers. */
const proofOf = async (by: Http): Promise<Request> => {
  const { body, status } = await by.send<SignedIn>("GET", "/auth/v1/session")
  if (status !== 200) return { json: { token: "ltk_" } }
  assert.strictEqual((await by.send("POST", "/auth/v1/email", { headers: newNetwork() })).status, 202)
  return { json: { token: tokenIn(await mail.next(body.person.email, "proof")) } }
}

/** One of two identities of the person whose session it is; of other callers none. */
const addedIdentity = async (by: Http): Promise<string> => {
  if ((await signedInAs(by)) === undefined) return "none"
  for (const subject of [unique("subject"), unique("subject")]) await linkAccount(by, issuer, subject)
  return (await by.get<{ identities: ReadonlyArray<Identity> }>("/auth/v1/identities")).identities[0]!.id
}

/** The same caller, in a session that is not needed afterwards. */
const disposable = async (by: Http): Promise<Http> => {
  const personId = await signedInAs(by)
  return personId === undefined ? by : signIn(by, personId)
}

const product = () => ({ slug: unique("product"), name: "Product", type: "library" })
const environment = () => ({ slug: unique("environment"), name: "Environment", class: "production" })
const email = () => `${unique("invited")}@example.com`
const madeProduct = async (owner: Http) => (await owner.post<{ slug: string }>("products", product())).slug
const madeEnvironment = async (owner: Http) => (await owner.post<{ slug: string }>("environments", environment())).slug
const pair = async (owner: Http) => ({ product: await madeProduct(owner), environment: await madeEnvironment(owner) })
const deployed = async (owner: Http) => {
  const params = await pair(owner)
  await owner.post("deployments", params)
  return params
}
/** A new token of a deployment, as its path names it. */
const tokenOf = async (owner: Http, { environment, product }: { product: string; environment: string }) => {
  const path = `deployments/${product}/${environment}/tokens`
  return { product, environment, token: (await owner.post<NewDeploymentToken>(path, { name: "Made" })).id }
}
/** A product in production with a value there, and the token with which it reads that. */
const inProduction = async (owner: Http, value: string) => {
  const { environment, product } = await deployed(owner)
  await owner.post(`products/${product}/secrets`, { name: "TOKEN", values: { [environment]: value } })
  const path = `deployments/${product}/${environment}/tokens`
  const { id, token } = await owner.post<NewDeploymentToken>(path, { name: "Made" })
  return { product, environment, id, token, path }
}
/** The path of a secret with a value in an environment. */
const madeSecret = async (owner: Http) => {
  const { environment, product } = await pair(owner)
  await owner.post(`products/${product}/secrets`, { name: "TOKEN", values: { [environment]: "value" } })
  return { productSlug: product, name: "TOKEN", environmentSlug: environment }
}
const bulk = async (owner: Http) => {
  const { environment, product } = await pair(owner)
  return { products: [product], environments: [environment], name: "TOKEN" }
}
const ofProduct = async (owner: Http) => ({ params: { product: await madeProduct(owner) } })
const ofEnvironment = async (owner: Http) => ({ params: { environment: await madeEnvironment(owner) } })
/** What asks for an approval, in an environment that needs some. */
const approvalIn = async (owner: Http) => {
  const environment = await madeEnvironment(owner)
  await owner.patch(`environments/${environment}`, { approvals: true })
  return { environment, reason: "Rotate a key", minutes: 5 }
}
/** An approval that a member has asked for. */
const ofApproval = async (owner: Http) => {
  const member = await join(owner, "member")
  const { id } = await member.post<Approval>("approvals", await approvalIn(owner))
  return { params: { approval: id } }
}
const ofMember = async (owner: Http) => ({ params: { member: (await accept(owner, "viewer", email())).person.id } })
const run = async (publisher: Http) => ({ run: String((await startRun(publisher)).number) })

const failedRun = async (publisher: Http) => {
  const params = await run(publisher)
  await finishRun(publisher, Number(params.run), { tests: [report("a", { attempt: attempt("failed") })] })
  return params
}

const retryOf = () => {
  const { git, machine } = runOf()
  return { passes: 1, baseUrl: null, git, machine }
}

const ticketFor = async (owner: Http) =>
  (await owner.post<{ identifier: string }>("tickets", { team: (await madeTeam(owner)).key, title: "Ticket" }))
    .identifier

const message = async (owner: Http, agent?: string) => ({
  agent: agent ?? (await registerAgent(owner)).agent,
  ticket: await ticketFor(owner),
  ask: "build"
})
const sentTo = async (owner: Http, agent: string | undefined) =>
  (await owner.post<{ id: string }>("messages", await message(owner, agent))).id

/** An agent of the person; of an account key none. */
const agentFor = async (by: Http) => {
  const { body, status } = await by.send<{ agent: string }>("POST", "agents/register", {
    json: { client: "claude", computer: "laptop" }
  })
  return status === 201 ? body.agent : undefined
}

/** A notification of the caller, about a message to their agent. */
const ofNotification = async (owner: Http, by: Http) => {
  await sentTo(owner, await agentFor(by))
  const { notifications } = await by.get<{ notifications: ReadonlyArray<Notification> }>("notifications")
  return { params: { notification: notifications[0]!.id } }
}

/** A notification of the caller, about a ticket that an agent has assigned to them. */
const ofTicketNotification = async (owner: Http, by: Http) => {
  const { access_token } = await registerAgent(owner, { computer: unique("computer") })
  const { id } = await by.get<{ id: string }>("/v1/me")
  const ticket = { team: (await madeTeam(owner)).key, title: "Ticket", owner: id }
  await owner.as(access_token).send("POST", "/agent/v1/tickets", { json: ticket })
  const { notifications } = await by.get<{ notifications: ReadonlyArray<TicketNotification> }>("ticket-notifications")
  return { params: { notification: notifications[0]!.id } }
}

/** A message to the agent whose token it is; to another where it is none. */
const ofAgentMessage = async (owner: Http, by: Http) => {
  const { body, status } = await by.send<{ agent: { id: string } }>("GET", "/agent/v1/me")
  return { params: { message: await sentTo(owner, status === 200 ? body.agent.id : undefined) } }
}

/** A lease of the run whose token it is; without one, none. */
const lease = async (by: Http) => {
  const name = unique("semaphore")
  const { body } = await by.send<Partial<Lease>>("POST", `semaphores/${name}/leases`, { json: { capacity: 1 } })
  return { name, lease: body.lease ?? "none" }
}

const madeTeam = (owner: Http) => owner.post<Team>("teams", { key: teamKey(), name: "Team" })
const ofTeam = async (owner: Http) => ({ params: { team: (await madeTeam(owner)).key } })

/** A new status, last in its category, of a new team. */
const madeStatus = async (owner: Http) => {
  const { key } = await madeTeam(owner)
  return owner.post<TicketStatus>("ticket-statuses", { team: key, name: "Later", category: "unstarted" })
}

const tag = (team: string | null) => ({ name: unique("tag"), color: "#d73a4a", team })
const madeProject = async (owner: Http) => {
  const slug = unique("project")
  return owner.post<Project>("projects", { slug, name: slug, teams: [(await madeTeam(owner)).key] })
}
const ofProject = async (owner: Http) => ({ params: { project: (await madeProject(owner)).slug } })
const ofMilestone = async (owner: Http) => {
  const { slug } = await madeProject(owner)
  const { number } = await owner.post<Milestone>(`projects/${slug}/milestones`, { name: "Beta" })
  return { params: { project: slug, number: String(number) } }
}
const ofView = async (owner: Http) => {
  const { id } = await owner.post<View>("views", { name: "Mine", scope: { kind: "workspace" } })
  return { params: { view: id } }
}
const savedFilter = { screen: "runs", name: "Failures", query: { result: "failed" } }
const ofSavedFilter = async (owner: Http) => {
  const { id } = await owner.post<SavedFilter>("saved-filters", savedFilter)
  return { params: { filter: id } }
}
/** A ticket that the caller created. */
const ofTicket = async (owner: Http, by: Http = owner) => {
  const { identifier } = await by.post<Ticket>("tickets", { team: (await madeTeam(owner)).key, title: "Ticket" })
  return { params: { ticket: identifier } }
}
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

const ruleOf = async (owner: Http) => ({
  product: await madeProduct(owner),
  when: { failures: 1 },
  team: (await madeTeam(owner)).key
})
const ofRule = async (owner: Http) => ({
  params: { testRule: (await owner.post<{ id: string }>("test-rules", await ruleOf(owner))).id }
})

/** A comment that the caller wrote. */
const madeComment = async (owner: Http, by: Http) => {
  const { ticket } = (await ofTicket(owner)).params
  return { ticket, comment: (await by.post<Comment>(`tickets/${ticket}/comments`, { body: "a" })).id }
}
/** A file that the caller attached. */
const madeAttachment = async (owner: Http, by: Http) => {
  const { ticket } = (await ofTicket(owner)).params
  const path = `tickets/${ticket}/attachments?name=a`
  const { body, status } = await by.send<Attachment>("POST", path, { body: "content" })
  return { ticket, attachment: status === 201 ? body.id : "none" }
}
const madeTag = async (owner: Http) => owner.post<Tag>("tags", tag((await madeTeam(owner)).key))

/** Whom the caller may add to an open team: an admin anybody, a member themselves. */
const addable = async (owner: Http, by: Http): Promise<string> =>
  (await by.get<Workspace>("")).role === "member"
    ? (await by.get<Extract<Me, { kind: "user" }>>("/v1/me")).id
    : (await accept(owner, "viewer", email())).person.id

/** A publisher of a repository of its own. The workspace has no others: it can have only so many. */
const newPublisher = async (owner: Http) => {
  const { trustedPublishers } = await owner.get<TrustedPublishers>("trusted-publishers")
  for (const { id } of trustedPublishers) await owner.delete(`trusted-publishers/${id}`)
  repositories += 1
  return { ...gitHubPublisher(ci.url), repositoryId: String(repositories), scopes: ["admin"] }
}
let repositories = 0

/** A webhook that sends nothing by itself. The workspace has no others: it can have only so many. */
const onlyWebhook = { url: "http://127.0.0.1:1/", kinds: ["nothing"] }
const withoutWebhooks = async (owner: Http) => {
  const { webhooks } = await owner.get<{ webhooks: ReadonlyArray<Webhook> }>("webhooks")
  for (const { id } of webhooks) await owner.delete(`webhooks/${id}`)
}
const ofWebhook = async (owner: Http) => {
  await withoutWebhooks(owner)
  return { params: { webhook: (await owner.post<Webhook>("webhooks", onlyWebhook)).id } }
}

const somebodysPasskeys = new Map<string, Promise<SoftPasskey>>()
/** A passkey of one person, the same for all who sign in. */
const somebodysPasskey = (owner: Http): Promise<SoftPasskey> => {
  const known = somebodysPasskeys.get(owner.baseUrl)
  if (known !== undefined) return known
  const made = join(owner, "viewer").then(async ({ id }) => newPasskey(await signIn(owner, id)))
  somebodysPasskeys.set(owner.baseUrl, made)
  return made
}

const rows: Readonly<Record<string, Row>> = {
  "me.get": { who: "any key" },
  "workspaces.list": { who: "any key" },
  "workspaces.create": { who: "a person", request: () => ({ json: { slug: unique("made"), name: "Made" } }) },
  "workspaces.get": { who: "viewer" },
  "workspaces.update": { who: "admin", request: () => ({ json: { name: unique("Name") } }) },

  "members.list": { who: "viewer" },
  // Who is raised has every scope of the new role.
  "members.update": {
    who: "admin",
    gives: "vault",
    request: async (owner) => ({ ...(await ofMember(owner)), json: { role: "member" } })
  },
  "members.deactivate": { who: "admin", request: ofMember },
  "members.reactivate": {
    who: "admin",
    gives: "vault",
    request: async (owner) => {
      const request = await ofMember(owner)
      await owner.post(`members/${request.params.member}/deactivate`, undefined, 200)
      return request
    }
  },

  "invites.list": { who: "admin" },
  // Who joins has every scope.
  "invites.create": { who: "admin", gives: "vault", request: () => ({ json: { email: email(), role: "member" } }) },
  "invites.revoke": {
    who: "admin",
    request: async (owner) => {
      const { id } = await owner.post<NewInvite>("invites", { email: email(), role: "member" })
      return { params: { invite: id } }
    }
  },
  "invites.accept": {
    who: "a person or nobody",
    leaves: "elsewhere",
    request: async (owner, by) => {
      // Of a stranger's workspace: who accepts is no member yet.
      const stranger = await newWorkspace(await join(owner, "viewer"))
      const me = by.key === undefined ? undefined : await by.get<Extract<Me, { kind: "user" }>>("/v1/me")
      const invited = { email: me?.email ?? email(), role: "viewer", deliver: "link" }
      const { token } = await stranger.post<NewInvite>("invites", invited)
      return { json: { token, name: "Invited" } }
    }
  },

  "apiKeys.list": { who: "a person" },
  "apiKeys.create": { who: "a person", request: () => ({ json: { name: "Made", scopes: ["admin"] } }) },
  "apiKeys.revoke": {
    who: "a person",
    request: async (_, by) => ({
      params: { apiKeyId: (await by.post<NewApiKey>("/v1/api-keys", { name: "Made" }, 200)).id }
    })
  },

  "accountApiKeys.list": { who: "admin" },
  "accountApiKeys.create": {
    who: "admin",
    request: () => ({ json: { name: "Made", role: "viewer", scopes: ["admin"] } })
  },
  "accountApiKeys.revoke": {
    who: "admin",
    request: async (owner) => ({ params: { apiKeyId: (await accountKey(owner, "viewer")).id } })
  },

  "credentials.list": { who: "admin" },
  "credentials.block": {
    who: "admin",
    request: async (owner) => ({ params: { credential: (await accountKey(owner, "viewer")).id } })
  },
  "credentials.unblock": {
    who: "admin",
    request: async (owner) => {
      // A key that is limited to one scope may unblock no more than that.
      const limits = { name: "a", role: "viewer", scopes: ["admin"] }
      return { params: { credential: (await owner.post<NewAccountApiKey>("account-api-keys", limits)).id } }
    }
  },

  "trustedPublishers.list": { who: "admin" },
  "trustedPublishers.create": {
    who: "admin",
    request: async (owner) => ({ json: await newPublisher(owner) })
  },
  "trustedPublishers.delete": {
    who: "admin",
    request: async (owner) => {
      const made = await owner.post<TrustedPublisher>("trusted-publishers", await newPublisher(owner))
      return { params: { publisher: made.id } }
    }
  },

  "tokens.exchange": {
    who: "everyone",
    request: async (owner) => {
      const publisher = await newPublisher(owner)
      await owner.post("trusted-publishers", publisher)
      const claims = { repository_id: publisher.repositoryId }
      const token = await ci.token(owner.baseUrl, { claims })
      return { json: { workspace: owner.workspace, token } }
    }
  },
  "tokens.report": {
    who: "everyone",
    request: async (owner) => ({ json: { token: (await accountKey(owner, "viewer")).key } })
  },

  "products.list": { who: "viewer" },
  "products.create": { who: "admin", request: () => ({ json: product() }) },
  "products.get": { who: "viewer", request: ofProduct },
  "products.update": {
    who: "admin",
    request: async (owner) => ({ ...(await ofProduct(owner)), json: { name: "Changed" } })
  },
  "products.archive": { who: "admin", request: ofProduct },
  "products.restore": { who: "admin", request: ofProduct },

  "environments.list": { who: "viewer" },
  "environments.create": { who: "admin", request: () => ({ json: environment() }) },
  "environments.get": { who: "viewer", request: ofEnvironment },
  "environments.update": {
    who: "admin",
    request: async (owner) => ({ ...(await ofEnvironment(owner)), json: { name: "Changed" } })
  },
  "environments.archive": { who: "admin", request: ofEnvironment },
  "environments.restore": { who: "admin", request: ofEnvironment },

  "approvals.list": { who: "viewer" },
  "approvals.request": { who: "member", request: async (owner) => ({ json: await approvalIn(owner) }) },
  "approvals.get": { who: "viewer", request: ofApproval },
  "approvals.approve": { who: "an admin in person", request: ofApproval },
  "approvals.reject": { who: "an admin in person", request: ofApproval },
  // That of somebody else.
  "approvals.end": { who: "admin", request: ofApproval },

  "deployments.list": { who: "viewer" },
  "deployments.create": { who: "member", request: async (owner) => ({ json: await pair(owner) }) },
  "deployments.get": { who: "viewer", request: async (owner) => ({ params: await deployed(owner) }) },
  "deployments.update": {
    who: "member",
    request: async (owner) => ({ params: await deployed(owner), json: { version: "v2" } })
  },
  "deployments.delete": { who: "member", request: async (owner) => ({ params: await deployed(owner) }) },

  "deploymentTokens.list": { who: "an admin in person", request: async (owner) => ({ params: await deployed(owner) }) },
  "deploymentTokens.create": {
    who: "an admin in person",
    gives: "vault",
    request: async (owner) => ({ params: await deployed(owner), json: { name: "Made" } })
  },
  "deploymentTokens.rotate": {
    who: "an admin in person",
    gives: "vault",
    request: async (owner) => ({ params: await tokenOf(owner, await deployed(owner)), json: {} })
  },
  "deploymentTokens.revoke": {
    who: "an admin in person",
    request: async (owner) => ({ params: await tokenOf(owner, await deployed(owner)) })
  },

  "deploy.me": { who: "a deployment" },
  "deploy.secrets": { who: "a deployment" },
  "deploy.secret": { who: "a deployment", request: () => ({ params: { name: "TOKEN" } }) },
  "deploy.setVersion": { who: "a deployment", request: () => ({ json: { version: unique("v") } }) },

  "releases.history": { who: "viewer", request: async (owner) => ({ params: await deployed(owner) }) },
  "releases.version": {
    who: "viewer",
    request: async (owner) => {
      const { environment, product } = await deployed(owner)
      await owner.patch(`deployments/${product}/${environment}`, { version: "v1" })
      return { params: { product, version: "v1" } }
    }
  },
  "releases.trace": { who: "viewer", request: (owner) => ofTicket(owner) },

  "readiness.get": { who: "viewer", request: async (owner) => ({ params: await deployed(owner) }) },
  "readiness.policy": { who: "viewer", request: async (owner) => ({ params: await deployed(owner) }) },
  "readiness.setPolicy": {
    who: "admin",
    request: async (owner) => ({ params: await deployed(owner), json: { tickets: "off" } })
  },
  "readiness.drift": { who: "viewer", request: async (owner) => ({ params: await deployed(owner) }) },
  "metrics.delivery": { who: "viewer" },

  "vault.listOfProduct": {
    who: "viewer",
    request: async (owner) => ({ params: { productSlug: await madeProduct(owner) } })
  },
  "vault.create": {
    who: "member",
    request: async (owner) => ({ params: { productSlug: await madeProduct(owner) }, json: { name: "TOKEN" } })
  },
  "vault.get": { who: "viewer", request: async (owner) => ({ params: await madeSecret(owner) }) },
  "vault.update": {
    who: "member",
    request: async (owner) => ({ params: await madeSecret(owner), json: { newName: "RENAMED" } })
  },
  "vault.delete": { who: "member", request: async (owner) => ({ params: await madeSecret(owner) }) },
  "vault.list": { who: "viewer" },
  "vault.assign": { who: "member", request: async (owner) => ({ json: { ...(await bulk(owner)), value: "value" } }) },
  "vault.generate": {
    who: "member",
    request: async (owner) => ({ json: { ...(await bulk(owner)), generator: { type: "uuid" } } })
  },
  "vault.versions": { who: "viewer", request: async (owner) => ({ params: await madeSecret(owner) }) },

  "testRuns.list": { who: "viewer" },
  "testRuns.start": { who: "member", request: () => ({ json: runOf() }) },
  "testRuns.get": { who: "viewer", request: async (owner) => ({ params: await run(owner) }) },
  "testRuns.finish": {
    who: "member",
    request: async (_, by) => ({ params: await run(by), json: finishOf() })
  },
  "testRuns.delete": { who: "admin", request: async (owner) => ({ params: await failedRun(owner) }) },
  "testRuns.upload": {
    who: "member",
    request: async (_, by) => ({ params: { ...(await run(by)), path: "a" }, body: "content" })
  },
  "testRuns.download": {
    who: "viewer",
    request: async (owner) => {
      const params = { ...(await run(owner)), path: "a" }
      assert.strictEqual((await owner.send("PUT", `test-runs/${params.run}/files/a`, { body: "content" })).status, 201)
      return { params }
    }
  },
  "testRuns.signUrl": {
    who: "viewer",
    request: async (owner) => {
      const params = await run(owner)
      assert.strictEqual((await owner.send("PUT", `test-runs/${params.run}/files/a`, { body: "content" })).status, 201)
      return { params, json: { path: "a" } }
    }
  },
  "retries.start": {
    who: "member",
    request: async (owner) => ({ params: await failedRun(owner), json: retryOf() })
  },
  "retries.finish": {
    who: "member",
    request: async (_, by) => {
      const params = await failedRun(by)
      const { retry } = await by.post<StartedRetry>(`test-runs/${params.run}/retries`, retryOf())
      return { params: { ...params, retry: String(retry) }, json: { interrupted: false, tests: [] } }
    }
  },

  "cases.list": { who: "viewer", request: ofProduct },
  "cases.get": {
    who: "viewer",
    request: async (owner) => {
      await failedRun(owner)
      const path = "products/shop/cases/a"
      await eventually(
        () => owner.send("GET", path),
        ({ status }) => status === 200
      )
      return { params: { product: "shop", caseId: "a" } }
    }
  },
  "cases.errors": { who: "viewer", request: async (owner) => ({ params: await failedRun(owner) }) },
  "cases.trends": { who: "viewer", request: ofProduct },

  "semaphores.list": { who: "viewer" },
  "semaphores.usage": { who: "viewer" },
  "leases.take": { who: "a run", request: () => ({ params: { name: unique("semaphore") }, json: { capacity: 1 } }) },
  "leases.renew": { who: "a run", request: async (_, by) => ({ params: await lease(by), json: {} }) },
  "leases.release": { who: "a run", request: async (_, by) => ({ params: await lease(by) }) },

  "teams.list": { who: "viewer" },
  "teams.create": { who: "admin", request: () => ({ json: { key: teamKey(), name: "Team" } }) },
  "teams.get": { who: "viewer", request: ofTeam },
  "teams.update": { who: "admin", request: async (owner) => ({ ...(await ofTeam(owner)), json: { name: "Changed" } }) },
  "teams.archive": { who: "admin", request: ofTeam },
  "teams.restore": { who: "admin", request: ofTeam },
  "teams.listMembers": { who: "viewer", request: ofTeam },
  "teams.addMember": {
    who: "a team member",
    request: async (owner, by) => ({ ...(await ofTeam(owner)), json: { member: await addable(owner, by) } })
  },
  "teams.removeMember": {
    who: "a team member",
    request: async (owner, by) => {
      const { key } = await madeTeam(owner)
      const member = await addable(owner, by)
      await owner.post(`teams/${key}/members`, { member })
      return { params: { team: key, member } }
    }
  },

  "ticketStatuses.list": { who: "viewer" },
  "ticketStatuses.create": {
    who: "admin",
    request: async (owner) => ({ json: { team: (await madeTeam(owner)).key, name: "Later", category: "unstarted" } })
  },
  "ticketStatuses.update": {
    who: "admin",
    request: async (owner) => ({ params: { status: (await madeStatus(owner)).id }, json: { name: "Changed" } })
  },
  "ticketStatuses.delete": {
    who: "admin",
    request: async (owner) => ({ params: { status: (await madeStatus(owner)).id } })
  },
  "ticketStatuses.reorder": {
    who: "admin",
    request: async (owner) => ({ params: { status: (await madeStatus(owner)).id }, json: { after: null } })
  },

  "agents.list": { who: "viewer" },
  "agents.register": {
    who: "a person of the workspace",
    gives: "read",
    request: () => ({ json: { client: "claude", computer: unique("computer") } })
  },
  "agents.revoke": {
    who: "a person of the workspace",
    request: async (_, by) => ({ params: { agent: (await registerAgent(by, { client: "cursor" })).agent } })
  },
  "agent.me": { who: "an agent" },
  "agent.reportSession": { who: "an agent", request: () => ({ params: { session: unique("session") }, json: {} }) },
  "agent.endSession": { who: "an agent", request: () => ({ params: { session: unique("session") } }) },
  "oauth.authorizationServer": { who: "everyone" },
  "oauth.protectedResource": { who: "everyone" },
  "oauth.mcpProtectedResource": { who: "everyone" },
  "oauth.authorize": { who: "everyone", request: () => ({ query: authorizeQuery() }) },
  "authorizations.get": {
    who: "a session",
    request: async (owner) => ({ params: { authorization: await askForAccess(owner) } })
  },
  "authorizations.client": {
    who: "everyone",
    request: async (owner) => ({ params: { authorization: await askForAccess(owner) } })
  },
  "authorizations.decide": {
    who: "a session",
    request: async (owner) => ({ params: { authorization: await askForAccess(owner) }, json: { allow: false } })
  },
  "logins.start": {
    who: "everyone",
    leaves: "nothing",
    request: () => ({ json: startBody(newVerifier()), headers: newNetwork() })
  },
  "logins.program": {
    who: "everyone",
    request: async (owner) => ({ params: { login: (await startLogin(owner)).id } })
  },
  "logins.get": { who: "a session", request: async (owner) => ({ params: { login: (await startLogin(owner)).id } }) },
  "logins.decide": {
    who: "a session",
    request: async (owner) => ({ params: { login: (await startLogin(owner)).id }, json: { allow: false } })
  },
  "logins.redeem": {
    who: "everyone",
    request: async (owner) => {
      const login = await startLogin(owner)
      // Somebody has only so many keys.
      const { person } = await accept(owner, "viewer", email())
      const json = await allowLogin(await signIn(owner, person.id), login)
      return { params: { login: login.id }, json }
    }
  },
  "oauth.token": {
    who: "everyone",
    request: async (owner) => {
      const { clientId, refresh_token } = await registerAgent(owner, { computer: unique("computer") })
      return { form: { grant_type: "refresh_token", client_id: clientId, refresh_token } }
    }
  },
  "oauth.revoke": {
    who: "everyone",
    request: async (owner) => ({
      form: { token: (await registerAgent(owner, { computer: unique("computer") })).refresh_token }
    })
  },
  "oauth.register": {
    who: "everyone",
    request: () => ({
      json: { redirect_uris: ["http://localhost/callback"] },
      headers: newNetwork()
    })
  },
  "projects.list": { who: "viewer" },
  "projects.create": {
    who: "member",
    request: async (owner) => {
      const slug = unique("project")
      return { json: { slug, name: slug, teams: [(await madeTeam(owner)).key] } }
    }
  },
  "projects.get": { who: "viewer", request: ofProject },
  "projects.history": { who: "viewer", request: ofProject },
  "projects.update": {
    who: "member",
    request: async (owner) => ({ ...(await ofProject(owner)), json: { summary: "Changed" } })
  },
  "projects.reorder": {
    who: "member",
    request: async (owner) => ({ ...(await ofProject(owner)), json: { after: null } })
  },
  "projects.archive": { who: "member", request: ofProject },
  "projects.restore": { who: "member", request: ofProject },
  "projects.createMilestone": {
    who: "member",
    request: async (owner) => ({ ...(await ofProject(owner)), json: { name: "Beta" } })
  },
  "projects.updateMilestone": {
    who: "member",
    request: async (owner) => ({ ...(await ofMilestone(owner)), json: { name: "Changed" } })
  },
  "projects.deleteMilestone": { who: "member", request: ofMilestone },

  "views.list": { who: "viewer" },
  "views.create": { who: "member", request: () => ({ json: { name: "Mine", scope: { kind: "workspace" } } }) },
  "views.update": {
    who: "member",
    request: async (owner) => ({ ...(await ofView(owner)), json: { name: "Changed" } })
  },
  "views.get": { who: "viewer", request: ofView },
  "views.delete": { who: "member", request: ofView },
  "views.reorder": { who: "member", request: async (owner) => ({ ...(await ofView(owner)), json: { after: null } }) },
  "views.listTickets": { who: "viewer", request: ofView },

  "savedFilters.list": { who: "viewer" },
  "savedFilters.create": { who: "member", request: () => ({ json: savedFilter }) },
  "savedFilters.get": { who: "viewer", request: ofSavedFilter },
  "savedFilters.update": {
    who: "member",
    request: async (owner) => ({ ...(await ofSavedFilter(owner)), json: { name: "Changed" } })
  },
  "savedFilters.delete": { who: "member", request: ofSavedFilter },

  "tickets.list": { who: "viewer" },
  "tickets.create": {
    who: "member",
    request: async (owner) => ({ json: { team: (await madeTeam(owner)).key, title: "Ticket" } })
  },
  "tickets.get": { who: "viewer", request: (owner) => ofTicket(owner) },
  "tickets.history": { who: "viewer", request: (owner) => ofTicket(owner) },
  "tickets.update": {
    who: "member",
    request: async (owner) => ({ ...(await ofTicket(owner)), json: { title: "Changed" } })
  },
  "tickets.updateMany": {
    who: "member",
    request: async (owner) => ({ json: { tickets: [await ticketFor(owner)], changes: { category: "started" } } })
  },
  "tickets.delete": { who: "member", request: ofTicket },
  "tickets.reorder": {
    who: "member",
    request: async (owner) => ({ ...(await ofTicket(owner)), json: { after: null } })
  },
  "mutes.set": {
    who: "member",
    request: async (owner) => {
      const { params } = await ofTicket(owner)
      const { id } = await owner.get<Me>("/v1/me")
      await owner.patch(`tickets/${params.ticket}`, { owner: id })
      return { params, json: { product: await madeProduct(owner), cases: ["a"], until: inAnHour() } }
    }
  },
  "mutes.list": { who: "viewer" },
  "mutes.end": { who: "member", request: (owner) => ofTicket(owner) },
  "testRules.list": { who: "viewer" },
  "testRules.create": { who: "a person that writes", request: async (owner) => ({ json: await ruleOf(owner) }) },
  "testRules.update": {
    who: "a person that writes",
    request: async (owner) => ({ ...(await ofRule(owner)), json: { closeAfter: 5 } })
  },
  "testRules.tickets": { who: "viewer", request: ofRule },
  "evidence.get": { who: "viewer", request: (owner) => ofTicket(owner) },
  "testRules.delete": { who: "a person that writes", request: ofRule },
  "comments.list": { who: "viewer", request: (owner) => ofTicket(owner) },
  "comments.create": { who: "member", request: async (owner) => ({ ...(await ofTicket(owner)), json: { body: "a" } }) },
  "comments.update": {
    who: "member",
    request: async (owner, by) => ({ params: await madeComment(owner, by), json: { body: "b" } })
  },
  "comments.delete": {
    who: "member",
    request: async (owner, by) => ({ params: await madeComment(owner, by) })
  },
  "attachments.list": { who: "viewer", request: (owner) => ofTicket(owner) },
  "attachments.upload": {
    who: "member",
    request: async (owner) => ({ ...(await ofTicket(owner)), query: "?name=a", body: "content" })
  },
  "attachments.download": {
    who: "viewer",
    request: async (owner) => ({ params: await madeAttachment(owner, owner) })
  },
  "attachments.delete": {
    who: "member",
    request: async (owner, by) => ({ params: await madeAttachment(owner, by) })
  },

  "tags.list": { who: "viewer" },
  "tags.create": { who: "member", request: async (owner) => ({ json: tag((await madeTeam(owner)).key) }) },
  "tags.update": {
    who: "member",
    request: async (owner) => ({ params: { tag: (await madeTag(owner)).id }, json: { name: unique("tag") } })
  },
  "tags.delete": { who: "member", request: async (owner) => ({ params: { tag: (await madeTag(owner)).id } }) },

  "messages.list": { who: "viewer" },
  "messages.send": { who: "a person that writes", request: async (owner) => ({ json: await message(owner) }) },
  "messages.get": {
    who: "a person or an admin",
    request: async (owner, by) => ({ params: { message: await sentTo(owner, await agentFor(by)) } })
  },
  "messages.decline": {
    who: "a person of the workspace",
    request: async (owner, by) => ({ params: { message: await sentTo(owner, await agentFor(by)) }, json: {} })
  },
  "notifications.list": { who: "viewer" },
  "notifications.read": { who: "viewer" },
  "notifications.markRead": { who: "a notified person", request: ofNotification },
  "notifications.markUnread": { who: "a notified person", request: ofNotification },
  "ticketNotifications.list": { who: "viewer" },
  "ticketNotifications.read": { who: "viewer" },
  "ticketNotifications.unread": {
    who: "viewer",
    request: () => ({ json: { readAt: "2026-11-21T09:30:00.000Z" } })
  },
  "ticketNotifications.markRead": { who: "a notified person", request: ofTicketNotification },
  "ticketNotifications.markUnread": { who: "a notified person", request: ofTicketNotification },
  "agentInbox.list": { who: "an agent" },
  "agentInbox.take": { who: "an agent", request: () => ({ json: {} }) },
  "agentInbox.get": { who: "an agent", request: ofAgentMessage },
  "agentInbox.complete": {
    who: "an agent",
    request: async (owner, by) => ({ ...(await ofAgentMessage(owner, by)), json: { reply: "Done." } })
  },
  "agentInbox.decline": {
    who: "an agent",
    request: async (owner, by) => ({ ...(await ofAgentMessage(owner, by)), json: { reason: "No." } })
  },
  "agentPlanning.listTickets": { who: "an agent" },
  "agentPlanning.createTicket": {
    who: "an agent that writes",
    request: async (owner) => ({ json: { team: (await madeTeam(owner)).key, title: "Ticket" } })
  },
  "agentPlanning.getTicket": {
    who: "an agent",
    request: async (owner) => ({ params: { ticket: await ticketFor(owner) } })
  },
  "agentPlanning.updateTicket": {
    who: "an agent that writes",
    request: async (owner) => ({ params: { ticket: await ticketFor(owner) }, json: { title: "Changed" } })
  },
  "agentPlanning.createComment": {
    who: "an agent that writes",
    request: async (owner) => ({ params: { ticket: await ticketFor(owner) }, json: { body: "Comment" } })
  },
  "agentPlanning.listStatuses": { who: "an agent" },
  "agentPlanning.listProjects": { who: "an agent" },
  "agentPlanning.getProject": {
    who: "an agent",
    request: async (owner) => {
      const slug = unique("project")
      await owner.post("projects", { slug, name: slug, teams: [(await madeTeam(owner)).key] })
      return { params: { project: slug } }
    }
  },

  "events.list": { who: "viewer" },
  "events.stream": { who: "viewer" },
  "audit.list": { who: "admin" },

  "webhooks.list": { who: "admin" },
  "webhooks.create": {
    who: "admin",
    gives: "read",
    request: async (owner) => {
      await withoutWebhooks(owner)
      return { json: onlyWebhook }
    }
  },
  "webhooks.get": { who: "admin", request: ofWebhook },
  "webhooks.update": {
    who: "admin",
    request: async (owner) => ({ ...(await ofWebhook(owner)), json: { kinds: null } })
  },
  "webhooks.delete": { who: "admin", request: ofWebhook },
  "webhooks.rotate": {
    who: "admin",
    gives: "read",
    request: async (owner) => ({ ...(await ofWebhook(owner)), json: {} })
  },
  "webhooks.test": { who: "admin", request: ofWebhook },
  "webhooks.deliveries": { who: "admin", request: ofWebhook },
  "webhooks.redeliver": {
    who: "admin",
    request: async (owner) => {
      const { params } = await ofWebhook(owner)
      const { id } = await owner.post<WebhookDelivery>(`webhooks/${params.webhook}/test`, undefined, 200)
      return { params: { ...params, delivery: id } }
    }
  },

  "auth.methods": { who: "everyone" },
  "auth.consumeLink": {
    who: "everyone",
    request: async (owner) => ({ json: { token: await newLink(owner, (await join(owner, "viewer")).id) } }),
    endsSession: true
  },
  "auth.acceptInvite": {
    who: "everyone",
    leaves: "elsewhere",
    request: async (owner, by) => {
      const { body, status } = await by.send<SignedIn>("GET", "/auth/v1/session")
      const invited = { email: status === 200 ? body.person.email : email(), role: "viewer", deliver: "link" }
      // Into a workspace where nobody is a member yet.
      const elsewhere = await newWorkspace(owner)
      const { token } = await elsewhere.post<NewInvite>("invites", invited)
      return { json: { token, name: "Invited" } }
    }
  },
  "auth.previewInvite": {
    who: "everyone",
    leaves: "nothing",
    request: async (owner) => {
      const { token } = await (
        await newWorkspace(owner)
      ).post<NewInvite>("invites", {
        email: email(),
        role: "viewer",
        deliver: "link"
      })
      return { json: { token } }
    }
  },
  "auth.askForLink": {
    who: "everyone",
    leaves: "nothing",
    request: () => ({ json: { email: email() }, headers: newNetwork() })
  },
  "auth.askForProof": { who: "a session", leaves: "nothing", request: () => ({ headers: newNetwork() }) },
  "auth.proveAddress": { who: "a session", request: async (_, by) => proofOf(by) },
  "auth.acceptReceivedInvite": {
    who: "a session",
    leaves: "elsewhere",
    request: async (owner, by) => {
      const { body, status } = await by.send<SignedIn>("GET", "/auth/v1/session")
      if (status !== 200) return { params: { invite: "none" } }
      if (body.person.emailVerifiedAt === null) await by.send("POST", "/auth/v1/email/consume", await proofOf(by))
      const elsewhere = await newWorkspace(owner)
      const invited = { email: body.person.email, role: "viewer", deliver: "link" }
      return { params: { invite: (await elsewhere.post<NewInvite>("invites", invited)).id } }
    }
  },
  "auth.signOut": { who: "everyone", endsSession: true },
  "auth.session": { who: "a session" },
  "auth.sessions": { who: "a session" },
  "auth.endSession": {
    who: "a session",
    request: async (_, by) => {
      const personId = await signedInAs(by)
      if (personId === undefined) return { params: { session: "none" } }
      const other = await signIn(by, personId)
      return { params: { session: (await other.get<SignedIn>("/auth/v1/session")).session.id } }
    }
  },
  "auth.endOtherSessions": {
    who: "a session",
    request: async (_, by) => {
      const personId = await signedInAs(by)
      if (personId !== undefined) await signIn(by, personId)
      return {}
    }
  },
  "auth.passkeySignInOptions": { who: "everyone", leaves: "nothing" },
  "auth.signInWithPasskey": {
    who: "everyone",
    request: async (owner) => ({ json: (await somebodysPasskey(owner)).prove(await passkeyRequest(owner)) }),
    endsSession: true
  },
  "auth.passkeys": { who: "a session" },
  "auth.passkeyOptions": { who: "a session", leaves: "nothing" },
  "auth.addPasskey": {
    who: "a session",
    request: async (_, by) => {
      const { body, status } = await by.send<PasskeyCreationOptions>("POST", "/auth/v1/passkeys/options")
      return status === 200 ? { json: { response: new SoftPasskey(by.baseUrl).create(body) } } : {}
    }
  },
  "auth.renamePasskey": {
    who: "a session",
    request: async (_, by) => {
      const isSignedIn = (await signedInAs(by)) !== undefined
      return { params: { passkey: isSignedIn ? (await newPasskey(by)).passkeyId : "none" }, json: { name: "Renamed" } }
    }
  },
  "auth.removePasskey": {
    who: "a session",
    request: async (_, by) => {
      if ((await signedInAs(by)) === undefined) return { params: { passkey: "none" } }
      // Another stays: the last way in cannot be removed.
      await newPasskey(by)
      return { params: { passkey: (await newPasskey(by)).passkeyId } }
    }
  },
  "auth.sudoOptions": { who: "a session", leaves: "nothing" },
  "auth.identities": { who: "a session" },
  "auth.deleteIdentity": {
    who: "a session",
    request: async (_, by) => ({ params: { identity: await addedIdentity(by) } })
  },
  "auth.startSingleSignOn": { who: "everyone", request: () => ({ params: { provider: "corp" } }) },
  "auth.finishSingleSignOn": {
    who: "everyone",
    // From another network address each time: of one, only so many may fail.
    request: () => ({ params: { provider: "corp" }, headers: newNetwork() })
  },
  "auth.sudo": {
    who: "a session",
    request: async (owner, by) => {
      const personId = await signedInAs(by)
      return { json: { token: personId === undefined ? "ltk_" : await newLink(owner, personId) } }
    },
    endsSession: true
  },

  "system.health": { who: "everyone" },
  "system.ready": { who: "everyone" },
  "system.jwks": { who: "everyone" }
}

interface CallerOf {
  /** `none`: no valid key. */
  readonly kind: "none" | "person" | "session" | "account key" | "run" | "agent" | "deployment"
  /** In the workspace. */
  readonly role: Role | undefined
  readonly key: string | undefined
  /** Of a limited key, with a key of the same caller that has them all: requests are prepared with it. */
  readonly limited?: { readonly scopes: Scopes; readonly fullKey: string | undefined }
}

/** A value that products have in production, and that nobody else is to be answered. */
const canary = "canary-in-production"

const callersOf = async (workspace: Http): Promise<Readonly<Record<string, CallerOf>>> => {
  const elsewhere = await newWorkspace(workspace)
  const person = async (role: Role) => ({ kind: "person", role, key: (await join(workspace, role)).key }) as const
  const account = async (role: "viewer" | "member" | "admin") =>
    ({ kind: "account key", role, key: (await accountKey(workspace, role)).key }) as const
  const revoked = await accountKey(workspace, "admin")
  await workspace.post(`account-api-keys/${revoked.id}/revoke`, undefined, 200)
  const tokenOf = async (publisher: Http) => (await startRun(publisher)).semaphores.token
  const agentOf = async (role: Role) =>
    ({ kind: "agent", role, key: (await registerAgent(await join(workspace, role))).access_token }) as const
  const ofScope = async (scope: Scope): Promise<CallerOf> => {
    const person = await join(workspace, "owner")
    const { secret } = await person.post<NewApiKey>("/v1/api-keys", { name: scope, scopes: [scope] }, 200)
    return { kind: "person", role: "owner", key: secret, limited: { scopes: [scope], fullKey: person.key } }
  }
  const limited: Array<readonly [string, CallerOf]> = []
  for (const scope of Scope.literals)
    limited.push([`an owner's key with the scope ${scope} alone`, await ofScope(scope)])
  const readAlone = { name: "ci", role: "admin", scopes: ["read"] }
  const { secret: accountReads } = await workspace.post<NewApiKey>("account-api-keys", readAlone)
  const session = async (of: Http & { readonly id: string }, role: Role | undefined) =>
    ({ kind: "session", role, key: (await signIn(workspace, of.id)).key }) as const
  const signedOut = await signIn(workspace, (await join(workspace, "owner")).id)
  await signedOut.delete("/auth/v1/session")
  const none = (key: string | undefined) => ({ kind: "none", role: undefined, key }) as const
  const inactive = await join(workspace, "owner")
  const ofInactive = await registerAgent(inactive)
  await workspace.post(`members/${inactive.id}/deactivate`, undefined, 200)
  const signedInAgent = await registerAgent(workspace)
  const replaced = await registerAgent(workspace, { computer: "replaced" })
  await registerAgent(workspace, { computer: "replaced" })
  const ofRevoked = await registerAgent(workspace, { client: "codex" })
  await workspace.post(`agents/${ofRevoked.agent}/revoke`, undefined, 200)
  const revokedToken = await inProduction(workspace, "revoked")
  await workspace.post(`${revokedToken.path}/${revokedToken.id}/revoke`, undefined, 200)
  const ofDeleted = await inProduction(workspace, "deleted")
  await workspace.delete(`deployments/${ofDeleted.product}/${ofDeleted.environment}`)
  const deployment = async (of: Http) =>
    ({ kind: "deployment", role: undefined, key: (await inProduction(of, canary)).token }) as const
  return {
    "a deployment's token": await deployment(workspace),
    "a deployment's token of another workspace": await deployment(elsewhere),
    "an unknown deployment token": none(`dtk_${"0".repeat(42)}`),
    "a deployment's revoked token": none(revokedToken.token),
    "a deleted deployment's token": none(ofDeleted.token),
    "no key": none(undefined),
    "an unknown key": none(`ctk_${"0".repeat(42)}`),
    "no token at all": none("laptop"),
    "an invite's token": none(
      (await workspace.post<NewInvite>("invites", { email: email(), role: "owner", deliver: "link" })).token
    ),
    "a refresh token": none(signedInAgent.refresh_token),
    "a sign-in's client id": none(signedInAgent.clientId),
    "an unknown access token": none(`atk_${"0".repeat(42)}`),
    "the agent of an inactive member": none(ofInactive.access_token),
    "a sign-in that another replaced": none(replaced.access_token),
    "a revoked agent": none(ofRevoked.access_token),
    "a viewer's agent": await agentOf("viewer"),
    "a member's agent": await agentOf("member"),
    "an owner's agent": await agentOf("owner"),
    "a run": { kind: "run", role: "member", key: await tokenOf(workspace) },
    "another workspace's run": { kind: "run", role: undefined, key: await tokenOf(await newDeployment(workspace)) },
    "an unknown session": none(`wtk_${"0".repeat(42)}`),
    "a session that has ended": none(signedOut.key),
    "a viewer's session": await session(await join(workspace, "viewer"), "viewer"),
    "a member's session": await session(await join(workspace, "member"), "member"),
    "an admin's session": await session(await join(workspace, "admin"), "admin"),
    "an owner's session": await session(await join(workspace, "owner"), "owner"),
    "a session of another workspace": await session(await join(elsewhere, "owner"), undefined),
    "a session of an inactive owner": await session(inactive, undefined),
    "a revoked key": { kind: "none", role: undefined, key: revoked.key },
    "a person of another workspace": { kind: "person", role: undefined, key: (await join(elsewhere, "owner")).key },
    "an inactive owner": { kind: "person", role: undefined, key: inactive.key },
    "a viewer": await person("viewer"),
    "a member": await person("member"),
    "an admin": await person("admin"),
    "an owner": await person("owner"),
    "an account key with the role viewer": await account("viewer"),
    "an account key with the role member": await account("member"),
    "an account key with the role admin": await account("admin"),
    "another workspace's account key": {
      kind: "account key",
      role: undefined,
      key: (await accountKey(elsewhere, "admin")).key
    },
    ...Object.fromEntries(limited),
    "an account key with the role admin and the scope read alone": {
      kind: "account key",
      role: "admin",
      key: accountReads,
      limited: { scopes: ["read"], fullKey: (await accountKey(workspace, "admin")).key }
    }
  }
}

/** What the request of a caller is answered with: `2xx`, or how it is refused. */
const expected = ({ gives, who }: Row, { scope }: Endpoint, { key, kind, limited, role }: CallerOf): string => {
  const lacks = (needed: Scope | undefined) => needed !== undefined && !hasScope(limited?.scopes, needed)
  if (who === "everyone" || (who === "a person or nobody" && key === undefined)) return "2xx"
  if (who === "a run") return kind === "run" && role !== undefined ? "2xx" : "401"
  if (who === "a deployment") return kind === "deployment" ? "2xx" : "401"
  if (who === "an agent") return kind === "agent" ? "2xx" : "401"
  if (who === "an agent that writes") {
    if (kind !== "agent") return "401"
    return role === "viewer" ? "403 role_too_low" : "2xx"
  }
  if (who === "a session") return kind === "session" ? "2xx" : "401"
  const isPerson = kind === "person" || kind === "session"
  if (!isPerson && kind !== "account key") return "401"
  if (lacks(scope)) return "403 scope_missing"
  if (who === "any key") return "2xx"
  if (who === "a person" || who === "a person or nobody") return isPerson ? "2xx" : "403 account_key"
  if (role === undefined) return "404 workspace"
  if (who === "a person or an admin") return isPerson || isAtLeast(role, "admin") ? "2xx" : "404 message"
  if (who === "a notified person") return isPerson ? "2xx" : "404 notification"
  if (who === "a person of the workspace") {
    return !isPerson ? "403 account_key" : lacks(gives) ? "403 scope_missing" : "2xx"
  }
  if (who === "an admin in person") {
    if (!isAtLeast(role, "admin")) return "403 role_too_low"
    return !isPerson ? "403 account_key" : lacks(gives) ? "403 scope_missing" : "2xx"
  }
  const needed = who === "a team member" || who === "a person that writes" ? "member" : who
  if (!isAtLeast(role, needed)) return "403 role_too_low"
  if (lacks(gives)) return "403 scope_missing"
  if (who === "a person that writes") return isPerson ? "2xx" : "403 account_key"
  const isInNoTeam = kind === "account key" && !isAtLeast(role, "admin")
  return who === "a team member" && isInNoTeam ? "403 not_team_member" : "2xx"
}

const send = (
  by: Http,
  { method, path }: Endpoint,
  { body, form, headers = {}, json, params, query = "" }: Request
) => {
  const filled = path.replace(":slug", by.workspace).replaceAll(/:(\w+)/g, (_, name: string) => params?.[name] ?? name)
  const named = filled + query
  const ofBody = { "content-type": "application/json", ...headers }
  return by.send(method, named, body === undefined ? { json, form, headers } : { body, headers: ofBody })
}

interface LoadedTexts {
  readonly values: Readonly<Record<string, string>>
}

/** The request about what a product has in production: what names a product or an environment names it there. */
const aimed = (
  { name }: Endpoint,
  request: Request,
  { environment, product }: { readonly product: string; readonly environment: string },
  value: string
): Request => {
  const refs: Readonly<Record<string, unknown>> = {
    product,
    environment,
    productSlug: product,
    environmentSlug: environment,
    products: [product],
    environments: [environment],
    value
  }
  const renamed = <A>(of: A) =>
    Object.fromEntries(Object.entries(of as object).map(([key, was]) => [key, refs[key] ?? was])) as A
  const writes = ["vault.create", "vault.update"].includes(name) ? { values: { [environment]: value } } : {}
  const reveals = name === "vault.generate" ? { reveal: true } : {}
  const { json, params } = request
  return {
    ...request,
    ...(params === undefined ? {} : { params: renamed(params) }),
    ...(json === undefined || Array.isArray(json)
      ? {}
      : { json: { ...renamed(json as object), ...writes, ...reveals } })
  }
}

const isAgents = (who: Who) => who === "an agent" || who === "an agent that writes"

const newestEntry = async (workspace: Http) => (await workspace.get<AuditPage>("audit")).entries[0]!.id

/** The entries of the audit that are newer than this one. */
const entriesSince = async (workspace: Http, id: string): Promise<ReadonlyArray<AuditEntry>> => {
  const found: Array<AuditEntry> = []
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: AuditPage = await workspace.get<AuditPage>(cursor === "" ? "audit" : `audit?cursor=${cursor}`)
    found.push(...page.entries)
    cursor = page.entries.some((entry) => entry.id <= id) ? null : page.nextCursor
  }
  return found.filter((entry) => entry.id > id)
}

/** The vault reads bodies strictly, and so are read whose limits would be none if they were misspelt. */
const limiting = new Set([
  "deploymentTokens.create",
  "deploymentTokens.rotate",
  "readiness.setPolicy",
  "trustedPublishers.create"
])
const isStrict = ({ name }: Endpoint) => name.startsWith("vault.") || limiting.has(name)
/** Errors of registering a client have a form of their own (OAuthClients.test.ts). */
const withJson = endpoints.filter(
  ({ hasBody, name }) => hasBody && !["testRuns.upload", "attachments.upload", "oauth.register"].includes(name)
)
const mebibyte = 1024 * 1024
/** Of endpoints that need no credential, shorter. */
const longestBody = ({ name }: Endpoint): number => {
  const who = rows[name]?.who
  return who === "everyone" || who === "a person or nobody" ? mebibyte / 16 : mebibyte
}

// Who may call what is decided before any storage, whose own rules have tests on each of them.
onServers(
  servers.filter(([name]) => name === "PostgreSQL"),
  "every endpoint",
  (test) => {
    let scene: Promise<{ readonly workspace: Http; readonly callers: Readonly<Record<string, CallerOf>> }> | undefined
    const sceneOf = (owner: Http) =>
      (scene ??= newDeployment(owner).then(async (workspace) => ({ workspace, callers: await callersOf(workspace) })))

    for (const endpoint of endpoints) {
      test(`${endpoint.name} answers each caller as its row says`, async (owner) => {
        const row = rows[endpoint.name]
        if (row === undefined) return assert.fail("It has no row.")
        const { callers, workspace } = await sceneOf(owner)
        const answered: Record<string, string> = {}
        const requestIds: Record<string, string> = {}
        const newest = await newestEntry(workspace)
        // Who is refused changes nothing, so that one request serves all of them.
        let refused: Promise<Request> | undefined
        const requestOf = async (by: Http, mayMake: boolean): Promise<Request> => {
          const { request = () => ({}) } = row
          return mayMake ? request(workspace, by) : (refused ??= Promise.resolve(request(workspace, workspace)))
        }
        for (const [name, caller] of Object.entries(callers)) {
          const by = row.endsSession ? await disposable(workspace.as(caller.key)) : workspace.as(caller.key)
          const mayMake = expected(row, endpoint, caller) === "2xx"
          const maker = caller.limited === undefined ? by : workspace.as(caller.limited.fullKey)
          const answer = await send(by, endpoint, await requestOf(maker, mayMake))
          if (caller.kind !== "deployment") assert.notInclude(answer.text, canary, name)
          // A redirect is how browsers are answered that visit an endpoint.
          answered[name] = answer.status < 400 ? "2xx" : refusal(answer)
          requestIds[name] = String(answer.headers["x-request-id"])
        }
        assert.deepStrictEqual(
          answered,
          Object.fromEntries(Object.entries(callers).map(([name, caller]) => [name, expected(row, endpoint, caller)]))
        )
        // Whatever is an effect on credentials or members, or the refusal of what is for admins, is in the audit.
        const isOfAdmins = endpoint.scope === "admin"
        const isEffect = audited.has(endpoint.name.split(".")[0]!) && endpoint.method !== "GET"
        const members = Object.keys(callers).filter((name) => callers[name]!.role !== undefined)
        const refusals = isOfAdmins ? members.filter((name) => answered[name]!.startsWith("403 ")) : []
        // What everybody may call needs no credential: only a session is sure to be changed by it.
        const mayChange = ({ kind }: CallerOf) =>
          row.who === "everyone" ? kind === "session" : !["run", "agent", "deployment"].includes(kind)
        const effects =
          isEffect && row.leaves === undefined
            ? members.filter((name) => answered[name] === "2xx" && mayChange(callers[name]!))
            : []
        if (isEffect && row.leaves === undefined) assert.isNotEmpty(effects)
        if (refusals.length + effects.length === 0) return
        const entries = await entriesSince(workspace, newest)
        for (const name of refusals) {
          const [entry, ...others] = entries.filter(({ requestId }) => requestId === requestIds[name])
          assert.deepInclude(entry, { action: endpoint.name, outcome: "refused" }, name)
          assert.isNotNull(entry!.credential, name)
          assert.deepStrictEqual(others, [], name)
        }
        for (const name of effects) {
          const found = entries.filter(({ requestId }) => requestId === requestIds[name])
          assert.isNotEmpty(found, `${endpoint.name} by ${name} left no entry in the audit`)
          assert.deepStrictEqual([...new Set(found.map(({ outcome }) => outcome))], ["allowed"], name)
        }
      })
    }

    for (const endpoint of withJson) {
      test(`${endpoint.name} tells a caller with a key what is wrong with the body before anything else`, async (owner) => {
        const { callers, workspace } = await sceneOf(owner)
        for (const [name, { key, kind }] of Object.entries(callers)) {
          for (const body of [{ json: [] }, { body: "{" }]) {
            const answer = await send(workspace.in("none").as(key), endpoint, body)
            const { who } = rows[endpoint.name]!
            const answersBadRequest =
              who === "everyone" ||
              (who === "a person or nobody" && key === undefined) ||
              (isAgents(who)
                ? kind === "agent"
                : who === "a session"
                  ? kind === "session"
                  : who === "a deployment"
                    ? kind === "deployment"
                    : // A run's token is none in a path of another workspace.
                      who !== "a run" && (kind === "person" || kind === "session" || kind === "account key"))
            assert.strictEqual(refusal(answer), answersBadRequest ? "400" : "401", name)
          }
        }
      })

      const unknown = isStrict(endpoint) ? "refuses" : "ignores"
      const longest = longestBody(endpoint)
      test(`${endpoint.name} takes a body of ${longest / 1024} KiB and ${unknown} what it does not know`, async (owner) => {
        const { callers, workspace: asOwner } = await sceneOf(owner)
        const row = rows[endpoint.name]
        const names: Partial<Record<Who, string>> = {
          "a run": "a run",
          "a deployment": "a deployment's token",
          "a session": "an owner's session"
        }
        const by = row && isAgents(row.who) ? "a member's agent" : row && names[row.who]
        const caller = by === undefined ? asOwner : asOwner.as(callers[by]!.key)
        const sized = async (bytes: number) => {
          const workspace = row?.endsSession ? await disposable(caller) : caller
          const { json, params = {} } = (await row?.request?.(asOwner, workspace)) ?? {}
          const body = JSON.stringify({ ...(json as object), unknown: { padding: "" } })
          return send(workspace, endpoint, {
            params,
            body: `${body.slice(0, -3)}${"x".repeat(bytes - body.length)}"}}`
          })
        }
        const taken = await sized(longest)
        if (limiting.has(endpoint.name))
          assert.deepInclude(taken.body, { _tag: "InvalidInput", message: "unknown: Unknown property" })
        else if (isStrict(endpoint)) assert.deepInclude(taken.body, { _tag: "HttpApiDecodeError" })
        else assert.isBelow(taken.status, 300)
        const larger = await sized(longest + 1)
        if (["testRuns.finish", "retries.finish"].includes(endpoint.name)) assert.strictEqual(larger.status, 200)
        else assert.deepInclude(larger.body, { _tag: "InvalidInput", message: "The body is too large." })
      })
    }

    // Made anew only after a call that has changed it: most change nothing there.
    let target: (Awaited<ReturnType<typeof inProduction>> & { readonly value: string }) | undefined
    const targetOf = async (workspace: Http) => {
      const value = unique("canary-before")
      return (target ??= { ...(await inProduction(workspace, value)), value })
    }
    for (const endpoint of endpoints.filter(({ name }) => !name.startsWith("deploy."))) {
      test(`${endpoint.name} answers nobody a value of production`, async (owner) => {
        const row = rows[endpoint.name]!
        const { callers, workspace } = await sceneOf(owner)
        for (const name of [
          "an owner",
          "an owner's session",
          "an account key with the role admin",
          "an owner's agent",
          "a run"
        ]) {
          const caller = callers[name]!
          const by = row.endsSession ? await disposable(workspace.as(caller.key)) : workspace.as(caller.key)
          const mayMake = expected(row, endpoint, caller) === "2xx"
          const aim = await targetOf(workspace)
          const values = [aim.value, unique("canary-after")] as const
          const request = (await row.request?.(workspace, mayMake ? by : workspace)) ?? {}
          const answer = await send(by, endpoint, aimed(endpoint, request, aim, values[1]))
          const product = workspace.as(aim.token)
          const { body, status } = await product.send<LoadedTexts>("GET", "/deploy/v1/secrets")
          // What the call itself has made for production is not answered either.
          const made = status === 200 ? Object.values(body.values) : []
          if (made.length !== 1 || made[0] !== aim.value) target = undefined
          for (const value of [...values, ...made]) assert.notInclude(answer.text, value, name)
        }
      })
    }

    test("a token of a deployment is none wherever another credential is sent, nor another one in its place", async (owner) => {
      const { callers, workspace } = await sceneOf(owner)
      const { key } = callers["a deployment's token"]!
      const anonymous = workspace.as(undefined)
      const sent = async (path: string, headers: Readonly<Record<string, string>>) =>
        refusal(await anonymous.send("GET", path, { headers }))
      for (const path of ["/v1/me", "members", "/agent/v1/me", "/auth/v1/session"]) {
        assert.strictEqual(await sent(path, { "x-api-key": key! }), "401", path)
        assert.strictEqual(await sent(path, { cookie: `${sessionCookie}=${key}` }), "401", path)
      }
      const mcp = await workspace.as(key).send("POST", "/agent/mcp", { json: {} })
      assert.strictEqual(mcp.status, 401)
      const authorization = `Bearer ${key}`
      assert.strictEqual(await sent("/deploy/v1/me", { "x-api-key": key! }), "401")
      assert.strictEqual(await sent("/deploy/v1/me", { authorization, "x-api-key": key! }), "200")
      for (const name of ["an owner", "an owner's agent", "an owner's session", "a run"]) {
        const other = callers[name]!.key!
        assert.strictEqual(await sent("/deploy/v1/me", { authorization, "x-api-key": other }), "401", name)
        assert.strictEqual(await sent("/deploy/v1/me", { "x-api-key": other }), "401", name)
        assert.strictEqual(await sent("/deploy/v1/me", { cookie: `${sessionCookie}=${other}` }), "401", name)
      }
    })

    test("every endpoint has exactly one scope", async () => {
      assert.deepStrictEqual(
        endpoints.filter(({ scope }) => scope === undefined || !Scope.literals.includes(scope)),
        []
      )
    })

    test("the scope of an endpoint follows from what it does", async () => {
      const made = new Set(["apiKeys.create", "agents.register"])
      const reading = new Set(["auth.previewInvite", "testRuns.signUrl"])
      const writing = new Set(["auth.startSingleSignOn", "auth.finishSingleSignOn"])
      const ofSecrets = new Set(["deploy.secrets", "deploy.secret", "approvals.request", "approvals.end"])
      const scopeOf = ({ method, name }: Endpoint): Scope => {
        const [group] = name.split(".")
        if (group === "vault" || ofSecrets.has(name)) return "vault"
        if (made.has(name) || ["admin", "owner", "an admin in person"].includes(rows[name]!.who)) return "admin"
        if (reading.has(name) || (method === "GET" && !writing.has(name))) return "read"
        return ["testRuns", "retries", "leases"].includes(group!) ? "publish" : "write"
      }
      for (const endpoint of endpoints) assert.strictEqual(endpoint.scope, scopeOf(endpoint), endpoint.name)
    })

    test("every row is of an endpoint", async () => {
      assert.deepStrictEqual(Object.keys(rows).toSorted(), endpoints.map(({ name }) => name).toSorted())
    })

    test("a workspace that the caller may not see answers as one that is not there", async (owner) => {
      const { callers, workspace } = await sceneOf(owner)
      for (const endpoint of endpoints.filter(({ path }) => path.includes(":slug"))) {
        const request = (await rows[endpoint.name]?.request?.(workspace, workspace)) ?? {}
        for (const name of [
          "a person of another workspace",
          "an inactive owner",
          "a session of another workspace",
          "another workspace's account key"
        ]) {
          const by = workspace.as(callers[name]!.key)
          const [unseen, absent] = [await send(by, endpoint, request), await send(by.in("none"), endpoint, request)]
          assert.deepStrictEqual([unseen.status, unseen.body], [absent.status, absent.body], `${endpoint.name} ${name}`)
        }
      }
    })
  },
  {
    ...mail.environment,
    TRUSTED_PROXIES: "127.0.0.1/32,::1/128",
    OIDC_CORP: settingOf(issuer),
    CI_ISSUERS: ci.url,
    WEBHOOK_PRIVATE: "true"
  }
)
