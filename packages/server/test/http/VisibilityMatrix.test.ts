import type { Webhook } from "@delivery/domain/webhooks/Webhook"
import { DeliveryApi } from "@delivery/domain/Api"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Project } from "@delivery/domain/planning/Project"
import type { ProductVersion, ReleasePage, TicketTrace } from "@delivery/domain/releases/Release"
import { PgClient } from "@effect/sql-pg"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OpenApi } from "effect/http-api"
import { assert } from "vitest"
import { isUsed, layerPostgres } from "../support/Databases.ts"
import { type Answer, type Http, owner as ownerOf, teamKey, unique } from "../support/Http.ts"
import { layerPostgresServer, servers } from "../support/Servers.ts"
import { makeStatements } from "../support/Statements.ts"
import {
  absentId,
  type Caller,
  forms,
  type Kind,
  liveInSecret,
  makeScene,
  isOfTicket,
  newAttachment,
  newComment,
  newRule,
  newOfTicket,
  newTicket,
  newView,
  type OfTicket,
  type Scene
} from "./VisibilityScene.ts"

/**
 * Who does not see a private team (docs/contract.md, Teams) cannot tell its objects from those that do not exist: every
 * field of every request that names one answers as for one that is not there, to the byte, after the same statements;
 * and no answer changes with what happens out of sight. The fields are those of the API's own description.
 */

interface Field {
  readonly in: "path" | "query" | "body"
  /** Of a body, from its root: `scope.key`; a list's ends with `[]`. */
  readonly name: string
}

interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly fields: ReadonlyArray<Field>
}

interface Schema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

/** The names of all that a body holds. */
const namesIn = (schema: Schema | undefined, schemas: Readonly<Record<string, Schema>>, at = ""): Array<string> => {
  if (schema === undefined || schema.type === "null") return []
  if (schema.$ref !== undefined) return namesIn(schemas[schema.$ref.split("/").at(-1)!], schemas, at)
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (parts !== undefined) return [...new Set(parts.flatMap((part) => namesIn(part, schemas, at)))]
  if (schema.items !== undefined) return namesIn(schema.items, schemas, `${at}[]`)
  if (schema.properties === undefined) return [at]
  return Object.entries(schema.properties).flatMap(([name, inner]) =>
    namesIn(inner, schemas, at === "" ? name : `${at}.${name}`)
  )
}

interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ readonly in: string; readonly name: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

const endpoints: ReadonlyArray<Endpoint> = (() => {
  const { components, paths } = OpenApi.fromApi(DeliveryApi) as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId, parameters = [], requestBody }]) => ({
      name: operationId,
      method: method.toUpperCase(),
      path,
      fields: [
        ...parameters.flatMap(({ in: place, name }) =>
          place === "path" || place === "query" ? [{ in: place, name } as const] : []
        ),
        ...namesIn(requestBody?.content["application/json"]?.schema, components.schemas).map(
          (name) => ({ in: "body", name }) as const
        )
      ]
    }))
  )
})()

/** The groups and endpoints whose requests and answers touch nothing of a team. */
const untouched: ReadonlyArray<string> = [
  "me",
  "workspaces",
  "members",
  "invites",
  "auth",
  "authorizations",
  "logins",
  "audit",
  "apiKeys",
  "accountApiKeys",
  "credentials",
  "tokens",
  "trustedPublishers",
  "products",
  "environments",
  "approvals",
  "deployments",
  "deploymentTokens",
  "deploy",
  "vault",
  "testRuns",
  "retries",
  "savedFilters",
  // What they show of tickets has a test of its own.
  "cases",
  "semaphores",
  "leases",
  "agents.list",
  "agents.register",
  "agent",
  "oauth",
  // What they show of tickets has a test of its own.
  "releases.history",
  "releases.version",
  // What it shows of tickets has a test of its own.
  "readiness",
  "metrics",
  // What they are sent of private teams has tests of its own.
  "webhooks.list",
  "webhooks.get",
  "webhooks.update",
  "webhooks.delete",
  "webhooks.rotate",
  "webhooks.test",
  "webhooks.deliveries",
  "webhooks.redeliver",
  "system"
]
const touches = (name: string) => !untouched.includes(name) && !untouched.includes(name.split(".")[0]!)

/** What fields name, by name, or by group and name where groups differ; null where it is nothing of a team. */
const kinds: Readonly<Record<string, Kind | null>> = {
  team: "team",
  "teams[]": "team",
  project: "project",
  "projects[]": "project",
  ticket: "ticket",
  comment: "comment",
  attachment: "attachment",
  status: "status",
  "projects.status": null,
  "messages.status": null,
  moveTo: "status",
  tag: "tag",
  "tags[]": "tag",
  view: "view",
  message: "message",
  notification: "notification",
  "scope.key": "team",
  q: null,
  "tickets[]": "ticket",
  "changes.team": "team",
  "changes.status": "status",
  "changes.project": "project",
  "changes.addTags[]": "tag",
  // What a ticket does not have stays away, whatever it is.
  "changes.removeTags[]": null,
  "changes.category": null,
  "changes.owner": null,
  "changes.milestone": null,
  blocks: null,
  // A comment of the ticket that is named beside it.
  "get_ticket.before": null,
  "tickets.before": "ticket",
  "tickets.after": "ticket",
  "tickets.field": null,
  "projects.cursor": null,
  "tickets.cursor": null,
  "ticketNotifications.cursor": null,
  "ticketNotifications.unread": null,
  readAt: null,
  "ticketStatuses.before": "status",
  "ticketStatuses.after": "status",
  "projects.before": "project",
  "projects.after": "project",
  "views.before": "view",
  "views.after": "view",
  "filters.tags[]": "tag",
  "filters.teams[]": "team",
  "filters.projects[]": "project",
  "filters.milestones[]": "milestone",
  "list_tickets.milestone": "milestone",
  // Members and agents are of the workspace.
  member: null,
  owner: null,
  "filters.owners[]": null,
  lead: null,
  agent: null,
  computer: null,
  // Counted in their project.
  number: null,
  milestone: null,
  // Names, not references.
  "filters.statuses[]": null,
  slug: null,
  key: null,
  name: null,
  title: null,
  description: null,
  summary: null,
  document: null,
  plan: null,
  // Tests are of products, which are of the workspace.
  "cases[]": null,
  "cases.product": null,
  "cases.caseIds[]": null,
  until: null,
  completion: null,
  passes: null,
  override: null,
  "evidence.run": null,
  testRule: "testRule",
  environment: null,
  coverage: null,
  "when.failures": null,
  "when.ofLast": null,
  above: null,
  closeAfter: null,
  state: null,
  body: null,
  note: null,
  reply: null,
  reason: null,
  ask: null,
  visibility: null,
  category: null,
  "filters.categories[]": null,
  isDefault: null,
  archived: null,
  targetDate: null,
  "scope.kind": null,
  layout: null,
  group: null,
  sort: null,
  color: null,
  product: null,
  "products[]": null,
  session: null,
  repository: null,
  branch: null,
  wait: null,
  limit: null,
  url: null,
  format: null,
  "webhooks.kinds[]": null,
  // Runs are the workspace's.
  run: null,
  caseId: null,
  "list_runs.result": null,
  "list_runs.commit": null,
  "list_runs.cursor": null,
  "get_run.status": null,
  "get_run.from": null,
  "start_run.baseUrl": null,
  "start_run.ciUrl": null,
  "finish_run.tests[].caseId": null,
  "finish_run.tests[].title": null,
  "finish_run.tests[].file": null,
  "finish_run.tests[].testKind": null,
  "finish_run.tests[].priority": null,
  "finish_run.tests[].attempt.status": null,
  "finish_run.tests[].attempt.durationMs": null,
  "finish_run.tests[].attempt.errorMessage": null,
  "finish_run.tests[].attempt.errorStack": null,
  "finish_run.tests[].attempt.startedAt": null,
  "finish_run.durationMs": null,
  "finish_run.interrupted": null,
  "finish_run.error": null,
  "events.before": null,
  "events.after": null,
  "events.kinds": null,
  "events.subject": null,
  "events.notifications": null
}
const kindOf = ({ name }: Pick<Endpoint, "name">, field: Field): Kind | null | undefined => {
  // What is compared with what is stored is looked up nowhere.
  if (/^(?:changes\.)?expected(?:$|\.)/.test(field.name)) return null
  // Of a list, with its project; elsewhere counted in it.
  if (field.in === "query" && field.name === "milestone") return "milestone"
  const ofGroup = kinds[`${groupOf(name)}.${field.name}`]
  return ofGroup === undefined ? kinds[field.name] : ofGroup
}
const groupOf = (name: string) => (name.startsWith("agentPlanning.") ? "tickets" : name.split(".")[0]!)

type Json = Readonly<Record<string, unknown>>

interface Row {
  /** What its body needs, naming only what everybody sees; `named` is a value for what it must name. */
  readonly json?: (scene: Scene, named: (kind: Kind) => Promise<string>) => Promise<Json> | Json
  /** What its query needs. */
  readonly query?: Readonly<Record<string, string>>
  /** Fields that name something else than `kinds` says. */
  readonly kinds?: Readonly<Record<string, Kind>>
  /** Fields that, beside what everybody sees, name nothing for anybody. */
  readonly ofOneTeam?: ReadonlyArray<string>
  /** Its filters exclude each other. */
  readonly isOfOneScope?: true
  /** Asks for what the caller sees, and changes nothing that a second call shows. */
  readonly isRead?: true
}

const reads: Row = { isRead: true }
const createTicket: Row = {
  json: async (_, named) => ({ team: await named("team"), title: "Ticket" }),
  ofOneTeam: ["status", "tags[]"]
}
const updateTicket: Row = { json: () => ({ title: unique("Ticket") }), ofOneTeam: ["status", "tags[]"] }
const toFirst: Row = { json: () => ({ after: null }) }
const renamed: Row = { json: () => ({ name: unique("Name") }) }

/** Every endpoint that touches a team's objects. One with several rows is asked in several ways. */
const rows: Readonly<Record<string, Row | ReadonlyArray<Row>>> = {
  "teams.list": reads,
  "teams.create": { json: () => ({ key: teamKey(), name: "Team" }) },
  "teams.get": reads,
  "teams.update": renamed,
  "teams.archive": {},
  "teams.restore": {},
  "teams.listMembers": reads,
  "teams.addMember": { json: ({ newcomer }) => ({ member: newcomer }) },
  "teams.removeMember": {},

  "ticketStatuses.list": reads,
  "ticketStatuses.create": {
    json: async (_, named) => ({ team: await named("team"), name: unique("Status"), category: "unstarted" })
  },
  "ticketStatuses.update": renamed,
  "ticketStatuses.delete": { ofOneTeam: ["moveTo"] },
  "ticketStatuses.reorder": { ...toFirst, ofOneTeam: ["before", "after"] },

  "projects.list": reads,
  "projects.create": {
    json: async (_, named) => {
      const slug = unique("project")
      return { slug, name: slug, teams: [await named("team")] }
    }
  },
  "projects.get": reads,
  "projects.history": reads,
  "projects.update": { json: () => ({ summary: unique("Summary") }) },
  "projects.reorder": toFirst,
  "projects.archive": {},
  "projects.restore": {},
  "projects.createMilestone": renamed,
  "projects.updateMilestone": renamed,
  "projects.deleteMilestone": {},

  "tickets.list": reads,
  "tickets.create": createTicket,
  "tickets.get": reads,
  "tickets.history": reads,
  "tickets.update": updateTicket,
  "tickets.updateMany": {
    json: async (_, named) => ({ tickets: [await named("ticket")], changes: {} }),
    ofOneTeam: ["changes.status", "changes.addTags[]"]
  },
  "tickets.delete": {},
  "tickets.reorder": toFirst,
  "mutes.set": {
    json: async ({ workspace }) => {
      const slug = unique("product")
      await workspace.post("products", { slug, name: slug, type: "library" })
      return { product: slug, cases: ["a"], until: new Date(Date.now() + 3_600_000).toISOString() }
    }
  },
  "mutes.list": reads,
  "mutes.end": {},
  "evidence.get": reads,
  "testRules.tickets": reads,
  "testRules.list": reads,
  "testRules.create": {
    json: async (scene, named) => ({ ...(await newRule(scene)), team: await named("team") })
  },
  "testRules.update": { json: () => ({ closeAfter: 5 }) },
  "testRules.delete": {},

  "comments.list": reads,
  "comments.create": { json: () => ({ body: "Comment" }) },
  "comments.update": { json: () => ({ body: unique("Comment") }), ofOneTeam: ["comment"] },
  "comments.delete": { ofOneTeam: ["comment"] },

  "attachments.list": reads,
  "attachments.upload": { query: { name: "a.png" } },
  "attachments.download": reads,
  "attachments.delete": { ofOneTeam: ["attachment"] },

  "tags.list": reads,
  "tags.create": {
    json: async (_, named) => ({ team: await named("team"), name: unique("tag"), color: "#d73a4a" })
  },
  "tags.update": { json: () => ({ name: unique("tag") }) },
  "tags.delete": {},

  "views.list": { ...reads, isOfOneScope: true },
  "views.create": [
    { json: async (_, named) => ({ name: "View", scope: { kind: "team", key: await named("team") } }) },
    {
      json: async (_, named) => ({ name: "View", scope: { kind: "project", key: await named("project") } }),
      kinds: { "scope.key": "project" }
    }
  ],
  "views.update": renamed,
  "views.get": reads,
  "views.delete": {},
  "views.reorder": toFirst,
  "views.listTickets": reads,

  "releases.trace": reads,

  "messages.list": reads,
  "messages.send": {
    json: async ({ owner }, named) => ({ agent: owner.agent, ticket: await named("ticket"), ask: "build" })
  },
  "messages.get": reads,
  "messages.decline": { json: () => ({}) },
  "agents.revoke": {},
  "notifications.list": reads,
  "notifications.read": reads,
  "notifications.markRead": {},
  "notifications.markUnread": {},
  "ticketNotifications.list": reads,
  "ticketNotifications.read": reads,
  "ticketNotifications.unread": { json: () => ({ readAt: "2026-11-21T09:30:00.000Z" }) },
  "ticketNotifications.markRead": { kinds: { notification: "ticketNotification" } },
  "ticketNotifications.markUnread": { kinds: { notification: "ticketNotification" } },
  "webhooks.create": {
    json: async ({ workspace }) => {
      const { webhooks } = await workspace.get<{ webhooks: ReadonlyArray<Webhook> }>("webhooks")
      for (const { id } of webhooks) await workspace.delete(`webhooks/${id}`)
      return { url: "https://hooks.invalid/", kinds: ["nothing"] }
    }
  },
  "events.list": reads,
  "events.stream": reads,

  "agentInbox.list": reads,
  "agentInbox.take": { ...reads, json: () => ({}) },
  "agentInbox.get": reads,
  "agentInbox.complete": { json: () => ({ reply: "Done." }) },
  "agentInbox.decline": { json: () => ({ reason: "No." }) },
  "agentPlanning.listTickets": reads,
  "agentPlanning.createTicket": createTicket,
  "agentPlanning.getTicket": reads,
  "agentPlanning.updateTicket": updateTicket,
  "agentPlanning.createComment": { json: () => ({ body: "Comment" }) },
  "agentPlanning.listStatuses": reads,
  "agentPlanning.listProjects": reads,
  "agentPlanning.getProject": reads
}

/** What a request is made of, field by field. */
interface Request {
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly json: Json | undefined
}

const set = ({ json, path, query }: Request, { in: place, name }: Field, value: string): Request => {
  switch (place) {
    case "path":
      return { path: { ...path, [name]: value }, query, json }
    case "query":
      return { path, query: { ...query, [name]: value }, json }
    case "body":
      return { path, query, json: put(json ?? {}, name.split("."), value) }
  }
}

/** A list gets one more; a place in an order is one alone. */
const put = (json: Json, [name, ...inner]: ReadonlyArray<string>, value: string): Json => {
  if (name === "before" || name === "after") return { [name]: value }
  if (inner.length > 0) return { ...json, [name!]: put((json[name!] as Json | undefined) ?? {}, inner, value) }
  if (!name!.endsWith("[]")) return { ...json, [name!]: value }
  const list = name!.slice(0, -2)
  return { ...json, [list]: [...((json[list] as ReadonlyArray<string> | undefined) ?? []), value] }
}

const send = (by: Http, { method, path }: Endpoint, request: Request, requestId: string): Promise<Answer> => {
  const named = path
    .replace("{slug}", by.workspace)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => request.path[name] ?? "1")
  const query = new URLSearchParams(request.query).toString()
  return by.send(method, query === "" ? named : `${named}?${query}`, {
    json: request.json,
    headers: { "x-request-id": requestId }
  })
}

/** What can be told from an answer: all but the request's id, the time, and the values that the request sent itself. */
const observable = ({ headers, status, text }: Answer, request?: Request) => {
  const { date: _, "x-request-id": __, ...kept } = headers
  const sent = request === undefined ? new Set() : new Set(textsIn([request.path, request.query, request.json]))
  // Errors name what was sent, and so do the results of many.
  const masked = text.replaceAll(
    /(here is no [a-z ]+ \\+"|"ticket":")([^"\\]*)/g,
    (all, before: string, value: string) => (sent.has(value) ? `${before}sent` : all)
  )
  // The length differs with the value.
  if (masked !== text) delete kept["content-length"]
  return { status, headers: kept, text: masked }
}
const textsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [String(value)]

const isOfAgents = ({ path }: Endpoint) => path.startsWith("/agent/")

/** A request that names only what everybody sees; of some kinds one that is given. */
const requestOf = async (
  scene: Scene,
  { fields }: Pick<Endpoint, "fields">,
  row: Row,
  by: Caller,
  given: Partial<Record<Kind, string>> = {}
): Promise<Request> => {
  const named = async (kind: Kind) =>
    given[kind] ?? (isOfTicket(kind) ? assert.fail() : forms[kind][0].made(scene, scene.open, by))
  const json = await row.json?.(scene, named)
  let request: Request = { path: { member: scene.newcomer, agent: absentId() }, query: row.query ?? {}, json }
  for (const field of fields.filter(({ in: place }) => place === "path")) {
    const kind = row.kinds?.[field.name] ?? kinds[field.name]
    if (kind === null || kind === undefined) continue
    const value = isOfTicket(kind) ? await newOfTicket[kind](scene, request.path["ticket"]!) : await named(kind)
    request = set(request, field, value)
  }
  return request
}

/** A field, or several at once, that name what is hidden or absent. */
interface Variant {
  readonly name: string
  readonly fields: ReadonlyArray<readonly [Field, Kind]>
  /** Of each kind the form with the number, or its first. */
  readonly form: number
  /** Whether it names nothing for those who see the team either. */
  readonly isNothing: boolean
}

const variantsOf = (endpoint: Pick<Endpoint, "name" | "fields">, row: Row): ReadonlyArray<Variant> => {
  const naming = endpoint.fields.flatMap((field) => {
    const kind = row.kinds?.[field.name] ?? kindOf(endpoint, field)
    return kind === null || kind === undefined ? [] : [[field, kind] as const]
  })
  const isNothing = (name: string) => row.ofOneTeam?.includes(name) === true
  // The one of two places that a body has.
  const isAlone = ([{ name }]: (typeof naming)[number]) => name === "before" || name === "after"
  const path = naming.filter(([field]) => field.in === "path")
  const others = naming.filter((each) => !isAlone(each))
  const groups = [
    ...(path.length === 0
      ? []
      : [{ name: path.map(([{ name }]) => name).join(" and "), fields: path, isNothing: false }]),
    ...(path.length < 2 ? [] : [{ name: path[1]![0].name, fields: path.slice(1), isNothing: true }]),
    ...naming
      .filter(([field]) => field.in !== "path")
      .map((each) => ({ name: each[0].name, fields: [each], isNothing: isNothing(each[0].name) })),
    ...(others.length < 2 || others.length === path.length || row.isOfOneScope
      ? []
      : [{ name: "all", fields: others, isNothing: false }])
  ]
  return groups.flatMap(({ fields, ...group }) => {
    const count = Math.max(...fields.map(([, kind]) => (isOfTicket(kind) ? 1 : forms[kind].length)))
    return Array.from({ length: count }, (_, form) => ({ ...group, fields, form }))
  })
}

const fill = async (
  scene: Scene,
  request: Request,
  { fields, form }: Variant,
  which: "hidden" | "absent",
  by: Caller
): Promise<Request> => {
  let filled = request
  for (const [field, kind] of fields) {
    const formOf = isOfTicket(kind) ? undefined : (forms[kind][form] ?? forms[kind][0])
    const value =
      which === "absent"
        ? (formOf?.absent(scene) ?? absentId())
        : isOfTicket(kind)
          ? await hiddenOfTicket(scene, kind, fields.length > 1 ? filled.path["ticket"]! : undefined)
          : await formOf!.made(scene, scene.secret, by)
    filled = set(filled, field, value)
  }
  return filled
}

const hiddenOfTicket = async (scene: Scene, kind: OfTicket, ticket: string | undefined) =>
  newOfTicket[kind](scene, ticket ?? (await newTicket(scene, scene.secret)).identifier)

const rowsOf = (name: string, of: Readonly<Record<string, Row | ReadonlyArray<Row>>> = rows): ReadonlyArray<Row> => {
  const row = of[name] ?? assert.fail(`${name} has no row.`)
  return "length" in row ? row : [row]
}

/** How a caller asks; undefined where such a caller cannot. */
type Ask = (by: Caller, request: Request, requestId: string) => Promise<Answer> | undefined

const askOf =
  (endpoint: Endpoint): Ask =>
  (by, request, requestId) => {
    const http = isOfAgents(endpoint) ? by.asAgent : by.http
    return http && send(http, endpoint, request, requestId)
  }

const isMissing = ({ status, text }: Answer) => status === 404 || /NotFound(: |")/.test(text)
const isForbidden = ({ status, text }: Answer) => status === 403 || /Forbidden: /.test(text)

/** Asks each caller for what is hidden and for what is absent, field by field. */
const compare = async (
  scene: Scene,
  endpoint: Pick<Endpoint, "name" | "fields">,
  row: Row,
  ask: Ask,
  statementsOf: ((requestId: string) => ReadonlyArray<string>) | undefined
): Promise<void> => {
  for (const variant of variantsOf(endpoint, row)) {
    // What an account key, which has none, is told of no notification.
    const isOfPersons = variant.fields.some(([, kind]) => kind === "notification" || kind === "ticketNotification")
    const requestsOf = async (by: Caller) => {
      const given = await requestOf(scene, endpoint, row, by)
      return {
        hidden: await fill(scene, given, variant, "hidden", by),
        absent: await fill(scene, given, variant, "absent", by)
      }
    }
    const isPersonal = endpoint.fields.some((field) =>
      ["message", "notification"].includes(kindOf(endpoint, field) ?? "")
    )
    const ofAll = isPersonal ? undefined : await requestsOf(scene.owner)
    // Who is refused changes nothing, and neither does who reads: they may all name the same.
    const isChanged = ({ isBlind }: Caller) => !isBlind && row.isRead !== true && !variant.isNothing
    const requestsOfEach = await Promise.all(
      scene.callers.map(async (by) => [by, ofAll && !isChanged(by) ? ofAll : await requestsOf(by)] as const)
    )
    for (const [by, requests] of requestsOfEach) {
      const name = `${by.name}, ${variant.name} in form ${variant.form}`
      const [idOfHidden, idOfAbsent] = [unique("hidden-request"), unique("absent-request")]
      const hidden = await ask(by, requests.hidden, idOfHidden)
      const absent = await ask(by, requests.absent, idOfAbsent)
      if (hidden === undefined || absent === undefined) continue
      if (by.isBlind) {
        assert.isTrue(isMissing(absent) || isForbidden(absent), `${name}: ${absent.text}`)
        assert.deepStrictEqual(observable(hidden, requests.hidden), observable(absent, requests.absent), name)
        if (statementsOf === undefined) continue
        assert.isNotEmpty(statementsOf(idOfAbsent), name)
        assert.deepStrictEqual(statementsOf(idOfHidden), statementsOf(idOfAbsent), name)
      } else if (isMissing(absent)) {
        if (variant.isNothing || (isOfPersons && by.person === undefined))
          assert.deepStrictEqual(observable(hidden, requests.hidden), observable(absent, requests.absent), name)
        else assert.notDeepEqual(observable(hidden, requests.hidden), observable(absent, requests.absent), name)
      }
    }
  }
}

/** The tools of `/agent/mcp`, which the server lists with what they take. */
interface Tool {
  readonly name: string
  readonly inputSchema: Schema
}

const toolRows: Readonly<Record<string, Row>> = {
  whoami: {},
  report_session: { json: () => ({ session: "session" }) },
  list_inbox: reads,
  take_message: { ...reads, json: () => ({ limit: 10 }) },
  complete_message: { json: async (_, named) => ({ message: await named("message"), reply: "Done." }) },
  decline_message: { json: async (_, named) => ({ message: await named("message"), reason: "No." }) },
  list_tickets: reads,
  get_ticket: { ...reads, json: async (_, named) => ({ ticket: await named("ticket") }) },
  create_ticket: createTicket,
  update_ticket: {
    json: async (_, named) => ({ ticket: await named("ticket"), title: unique("Ticket") }),
    ofOneTeam: ["status", "tags[]"]
  },
  add_comment: { json: async (_, named) => ({ ticket: await named("ticket"), body: "Comment" }) },
  list_statuses: reads,
  list_projects: reads,
  get_project: { ...reads, json: async (_, named) => ({ project: await named("project") }) },
  // Runs are the workspace's.
  list_runs: reads,
  get_run: { ...reads, json: () => ({ run: 1 }) },
  get_failure: { ...reads, json: () => ({ run: 1, caseId: "a" }) },
  get_trace: { ...reads, json: async (_, named) => ({ ticket: await named("ticket") }) },
  start_run: {
    json: () => ({
      product: "shop",
      environment: "staging",
      baseUrl: "http://localhost:3000",
      git: { branch: "main", sha: "a", dirty: false, subject: "a" }
    })
  },
  finish_run: { json: () => ({ run: 1, durationMs: 1, tests: [] }) }
}

const rpc = (by: Http, session: string, requestId: string, method: string, params: Json): Promise<Answer> =>
  by.send("POST", "/agent/mcp", {
    json: { jsonrpc: "2.0", id: 1, method, params },
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
      "x-request-id": requestId,
      ...(session === "" ? {} : { "mcp-session-id": session })
    }
  })

/** A session of MCP. */
const openSession = async (by: Http): Promise<string> => {
  const { headers } = await rpc(by, "", unique("request-of"), "initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" }
  })
  return String(headers["mcp-session-id"])
}

const listTools = async (by: Http): Promise<ReadonlyArray<Endpoint>> => {
  const answer = await rpc(by, await openSession(by), unique("request-of"), "tools/list", {})
  const { result } = answer.body as { readonly result: { readonly tools: ReadonlyArray<Tool> } }
  return result.tools.map(({ inputSchema, name }) => ({
    name,
    method: "POST",
    path: "/agent/mcp",
    fields: namesIn(inputSchema, {}).flatMap((field) => (field === "" ? [] : [{ in: "body", name: field }]))
  }))
}

const callTool = (name: string): Ask => {
  const sessions = new Map<Caller, Promise<string>>()
  return (by, { json }, requestId) => {
    const { asAgent } = by
    if (asAgent === undefined) return undefined
    const session = sessions.get(by) ?? openSession(asAgent)
    sessions.set(by, session)
    return session.then((id) => rpc(asAgent, id, requestId, "tools/call", { name, arguments: json ?? {} }))
  }
}

/** What filters are asked for that name nothing of a team: `q` words that tickets of both teams have. */
const plainValues: Readonly<Record<string, string>> = { owner: "me", q: "ticket" }

/** Requests whose answers show what the caller sees, by a name. */
const readsOf = async (
  scene: Scene,
  tools: ReadonlyArray<Endpoint>,
  by: Caller,
  given: Partial<Record<Kind, string>>
): Promise<ReadonlyArray<readonly [name: string, ask: () => Promise<Answer>]>> => {
  const asks = [
    ...endpoints.filter(({ name }) => touches(name)).map((endpoint) => [endpoint, rows, askOf(endpoint)] as const),
    ...tools.map((tool) => [tool, toolRows, callTool(tool.name)] as const)
  ]
  const found: Array<readonly [string, () => Promise<Answer>]> = []
  for (const [endpoint, of, ask] of asks) {
    if (isOfAgents(endpoint) && by.asAgent === undefined) continue
    for (const row of rowsOf(endpoint.name, of).filter(({ isRead }) => isRead)) {
      const plain = await requestOf(scene, endpoint, row, by, given)
      const filtered = endpoint.fields
        .filter((field) => field.in === "query" || !(field.name in (plain.json ?? {})))
        .flatMap((field) => {
          const kind = kindOf(endpoint, field)
          const value = plainValues[field.name] ?? (kind && given[kind])
          return value == null || field.in === "path" ? [] : [[field.name, set(plain, field, value)] as const]
        })
      // One filter at a time.
      for (const [filter, request] of [["", plain] as const, ...filtered]) {
        found.push([`${endpoint.name} ${filter}`, () => ask(by, request, "request-of-read")!])
      }
    }
  }
  return found
}

const answersTo = async (asked: Awaited<ReturnType<typeof readsOf>>) => {
  const answers: Record<string, unknown> = {}
  for (const [name, ask] of asked) answers[name] = observable(await ask())
  return answers
}

/** All requests of a caller that name what is hidden. */
const hiddenRequests = async (scene: Scene, by: Caller) => {
  const found: Array<() => Promise<Answer>> = []
  for (const endpoint of endpoints.filter(({ name }) => touches(name))) {
    const ask = askOf(endpoint)
    for (const row of rowsOf(endpoint.name)) {
      for (const variant of variantsOf(endpoint, row)) {
        const request = await fill(scene, await requestOf(scene, endpoint, row, by), variant, "hidden", by)
        found.push(() => ask(by, request, unique("hidden-request"))!)
      }
    }
  }
  return found
}

const statements = makeStatements()

for (const [server, makeServer] of servers) {
  // Only a database has statements.
  const statementsOf = server === "memory" ? undefined : statements.of
  const layerServer = makeServer().pipe(Layer.provide(statements.layer))
  layer(layerServer, { excludeTestServices: true })(`What a private team has on ${server}`, (it) => {
    let scene: Promise<Scene> | undefined
    const test = (title: string, body: (scene: Scene) => Promise<void>) =>
      it.effect(title, () =>
        Effect.flatMap(ownerOf, (owner) => Effect.promise(async () => body(await (scene ??= makeScene(owner)))))
      )

    for (const endpoint of endpoints.filter(({ name }) => touches(name))) {
      test(`${endpoint.name} answers of what is hidden as of what is absent`, async (scene) => {
        for (const row of rowsOf(endpoint.name)) await compare(scene, endpoint, row, askOf(endpoint), statementsOf)
      })
    }

    for (const tool of Object.keys(toolRows)) {
      test(`the tool ${tool} answers of what is hidden as of what is absent`, async (scene) => {
        const { fields, name } = (await listTools(scene.owner.asAgent!)).find(({ name }) => name === tool)!
        await compare(scene, { name, fields }, toolRows[tool]!, callTool(tool), statementsOf)
      })
    }

    test("every row is of an endpoint or a tool, and every field has a description of what it names", async (scene) => {
      const touching = endpoints.filter(({ name }) => touches(name))
      assert.deepStrictEqual(Object.keys(rows).toSorted(), touching.map(({ name }) => name).toSorted())
      const names = new Set(endpoints.flatMap(({ name }) => [name, name.split(".")[0]!]))
      assert.deepStrictEqual(
        untouched.filter((name) => !names.has(name)),
        []
      )
      const tools = await listTools(scene.owner.asAgent!)
      assert.deepStrictEqual(Object.keys(toolRows).toSorted(), tools.map(({ name }) => name).toSorted())
      const undescribed = [...touching, ...tools].flatMap((endpoint) =>
        endpoint.fields
          .filter((field) => kindOf(endpoint, field) === undefined)
          .map(({ name }) => `${endpoint.name} ${name}`)
      )
      assert.deepStrictEqual(undescribed, [])
    })

    test("nothing that happens there changes what the others are answered", async ({ workspace: anOwner }) => {
      // A workspace of its own: the other tests change answers.
      const scene = await makeScene(anOwner)
      const { callers, open, owner, secret, workspace } = scene
      const slug = unique("project")
      const shared = await workspace.post<Project>("projects", { slug, name: slug, teams: [open, secret] })
      await workspace.post(`projects/${slug}/milestones`, { name: "Beta" })
      const filters = { statuses: ["Todo"] }
      await workspace.post("views", { name: "To do", scope: { kind: "workspace" }, filters })
      const tools = await listTools(owner.asAgent!)
      const asked = new Map<Caller, Awaited<ReturnType<typeof readsOf>>>()
      for (const by of callers.filter((caller) => caller.isBlind || caller === owner)) {
        const { identifier } = await newTicket(scene, open)
        await newComment(scene, identifier)
        await newAttachment(scene, identifier)
        const view = await newView(scene, { kind: "project", key: slug })
        const tag = await forms.tag[0].made(scene, open, by)
        const given = { team: open, project: slug, ticket: identifier, view, tag }
        asked.set(by, await readsOf(scene, tools, by, given))
      }
      // What is read and what is taken once stays so.
      for (const reads of asked.values()) await answersTo(reads)
      const before = new Map<Caller, Awaited<ReturnType<typeof answersTo>>>()
      for (const [by, reads] of asked) before.set(by, await answersTo(reads))
      await liveInSecret(scene, shared)
      for (const [by, reads] of asked) {
        const after = await answersTo(reads)
        if (by.isBlind) {
          for (const [name, answer] of Object.entries(before.get(by)!)) {
            assert.deepStrictEqual(after[name], answer, `${by.name}: ${name}`)
          }
          continue
        }
        const changed = Object.keys(after).filter(
          (name) => JSON.stringify(after[name]) !== JSON.stringify(before.get(by)![name])
        )
        assert.includeMembers(changed, [
          "teams.list ",
          "tickets.list ",
          "tickets.list project",
          "tickets.list q",
          "projects.list ",
          "projects.list team",
          "projects.get ",
          "views.list ",
          "views.listTickets ",
          "tags.list ",
          "messages.list ",
          "notifications.list ",
          "notifications.read ",
          "ticketNotifications.list ",
          "ticketNotifications.read ",
          "events.list ",
          "events.stream ",
          "agentPlanning.listTickets ",
          "agentPlanning.getProject ",
          "list_tickets ",
          "list_tickets q",
          "get_project "
        ])
      }
    })

    test("releases, versions and traces leave out tickets that the caller does not see", async ({
      workspace: anOwner
    }) => {
      const scene = await makeScene(anOwner)
      const { callers, open, secret, workspace } = scene
      const [product, environment] = [unique("product"), unique("environment")]
      await workspace.post("products", { slug: product, name: product, type: "library" })
      await workspace.post("environments", { slug: environment, name: environment, class: "production" })
      await workspace.post("deployments", { product, environment })
      const [seen, hidden] = [await newTicket(scene, open), await newTicket(scene, secret)]
      const named = [seen.identifier, hidden.identifier]
      const commits = [
        { sha: "a".repeat(40), subject: `${named.join(" and ")}: pay` },
        { sha: "b".repeat(40), subject: `Mend ${hidden.identifier}` }
      ]
      await workspace.patch(`deployments/${product}/${environment}`, { version: "v1", commits })
      for (const { http, isBlind, name } of callers.filter(({ name }) => name !== "a stranger")) {
        const both = isBlind ? [[seen.identifier], []] : [named.toSorted(), [hidden.identifier]]
        const { releases } = await http.get<ReleasePage>(`deployments/${product}/${environment}/history`)
        const ticketsOf = (from: ReadonlyArray<{ readonly tickets: ReadonlyArray<string> }>) =>
          from.map(({ tickets }) => tickets.toSorted())
        assert.deepStrictEqual(ticketsOf(releases[0]!.commits), both, name)
        const version = await http.get<ProductVersion>(`products/${product}/versions/v1`)
        assert.deepStrictEqual(ticketsOf(version.commits), both, name)
        assert.sameMembers(
          version.tickets.map(({ identifier }) => identifier),
          isBlind ? [seen.identifier] : named,
          name
        )
        const trace = await http.get<TicketTrace>(`tickets/${seen.identifier}/trace`)
        assert.deepStrictEqual(ticketsOf(trace.commits), both.slice(0, 1), name)
        assert.strictEqual((await http.send("GET", `tickets/${hidden.identifier}/trace`)).status, isBlind ? 404 : 200)
      }
    })

    test("the answer to revoking an agent lists only messages that the caller sees", async ({ workspace: anOwner }) => {
      const scene = await makeScene(anOwner)
      const [{ made }] = forms.message
      for (const [name, declined] of [
        ["a member in the team", 2],
        ["a member who left the team", 1]
      ] as const) {
        const by = scene.callers.find((caller) => caller.name === name)!
        const ids = [await made(scene, scene.open, by), await made(scene, scene.secret, by)]
        const revoked = await by.http.send("POST", `agents/${by.agent}/revoke`)
        assert.deepStrictEqual(revoked.body, { revoked: true, agent: by.agent, declined })
        for (const id of ids) {
          assert.strictEqual((await scene.workspace.get<AgentMessage>(`messages/${id}`)).status, "declined")
        }
      }
    })
  })
}

if (isUsed("PostgreSQL")) {
  layer(Layer.merge(layerPostgresServer(), layerPostgres), { excludeTestServices: true })(
    "What a private team has, while somebody else changes it on PostgreSQL",
    (it) => {
      it.effect("does not block callers who do not see it", () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const scene = yield* Effect.flatMap(ownerOf, (owner) => Effect.promise(() => makeScene(owner)))
          const blind = scene.callers.find(({ isBlind, person }) => isBlind && person !== undefined)!
          const requests = yield* Effect.promise(() => hiddenRequests(scene, blind))
          assert.isAbove(requests.length, 90)
          const answers = yield* sql.withTransaction(
            Effect.gen(function* () {
              for (const held of [
                sql`select from teams t where t.visibility = 'private' for update`,
                sql`select from projects p where exists (select from project_teams l join teams t on t.id = l.team_id
                where l.project_id = p.id and t.visibility = 'private') for update`,
                ...["tickets", "ticket_statuses", "tags", "views"].map(
                  (table) => sql`select from ${sql(table)} o join teams t on t.id = o.team_id
                  where t.visibility = 'private' for update of o`
                ),
                sql`select from views v join project_teams l on l.project_id = v.project_id
                join teams t on t.id = l.team_id where t.visibility = 'private' for update of v`,
                ...["comments", "ticket_attachments", "messages"].map(
                  (table) => sql`select from ${sql(table)} o join tickets k on k.id = o.ticket_id
                  join teams t on t.id = k.team_id where t.visibility = 'private' for update of o`
                )
              ]) {
                assert.isNotEmpty(yield* held)
              }
              return yield* Effect.promise(() => Promise.all(requests.map((ask) => ask())))
            }).pipe(Effect.timeout("30 seconds"))
          )
          // Of several tickets, each has an answer of its own.
          const statusOf = ({ body, status }: Answer) =>
            status === 200 &&
            (body as { readonly results?: ReadonlyArray<{ readonly ok: boolean }> }).results?.at(-1)?.ok === false
              ? 404
              : status
          for (const answer of answers) assert.oneOf(statusOf(answer), [403, 404], answer.text)
        })
      )
    }
  )
}
