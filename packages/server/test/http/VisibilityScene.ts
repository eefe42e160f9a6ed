import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Notification } from "@delivery/domain/agents/Notification"
import type { Me } from "@delivery/domain/identity/Me"
import type { Role } from "@delivery/domain/identity/Role"
import type { Attachment } from "@delivery/domain/planning/Attachment"
import type { Comment } from "@delivery/domain/planning/Comment"
import type { Project } from "@delivery/domain/planning/Project"
import type { Tag } from "@delivery/domain/planning/Tag"
import type { TicketNotification } from "@delivery/domain/planning/TicketNotification"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import type { View } from "@delivery/domain/planning/View"
import { assert } from "vitest"
import { accountKey, type Http, join, newWorkspace, registerAgent, teamKey, unique } from "../support/Http.ts"

/** An open and a private team, everybody who may and may not see the private one, and what teams have. */

/** What a field may name. */
export type Kind =
  | "team"
  | "project"
  | "milestone"
  | "ticket"
  | "comment"
  | "attachment"
  | "status"
  | "tag"
  | "view"
  | "message"
  | "notification"
  | "ticketNotification"
  | "testRule"

/** What is named beside its ticket. */
export type OfTicket = "comment" | "attachment"

/** A way to name an object of a team. */
export interface Form {
  /** Makes one in the team, and names it. */
  readonly made: (scene: Scene, team: string, by: Caller) => Promise<string>
  /** The same of an object that does not exist. */
  readonly absent: (scene: Scene) => string
}

let last = 0
/** An id of the form that the service makes, of nothing. */
export const absentId = () => `0197a1b2-0000-7000-8000-${(++last).toString(16).padStart(12, "0")}`
const absentNumber = () => 1_000_000 + ++last

export const newTicket = ({ workspace }: Scene, team: string) =>
  workspace.post<Ticket>("tickets", { team, title: "Ticket" })
/** What makes a rule, but for its team. */
export const newRule = async ({ workspace }: Scene) => {
  const slug = unique("product")
  await workspace.post("products", { slug, name: slug, type: "library" })
  return { product: slug, when: { failures: 1 } }
}
const newProject = async ({ workspace }: Scene, team: string) => {
  const slug = unique("project")
  const project = await workspace.post<Project>("projects", { slug, name: slug, teams: [team] })
  await workspace.post(`projects/${slug}/milestones`, { name: "Beta" })
  return project
}
export const newView = async ({ workspace }: Scene, scope: object) =>
  (await workspace.post<View>("views", { name: "View", scope })).id

/** A member who joins the team for as long as something lasts. */
const within = async <A>(
  { secret, workspace }: Scene,
  { isBlind, person }: Caller,
  team: string,
  act: () => Promise<A>
) => {
  const joins = team === secret && isBlind && person !== undefined
  if (joins) await workspace.post(`teams/${team}/members`, { member: person })
  const made = await act()
  if (joins) await workspace.delete(`teams/${team}/members/${person}`)
  return made
}

/** To the caller's agent, and so theirs. */
const newMessage = async (scene: Scene, team: string, by: Caller) => {
  const ticket = (await newTicket(scene, team)).identifier
  const agent = (by.person === undefined ? undefined : by.agent) ?? scene.owner.agent
  return scene.workspace.post<AgentMessage>("messages", { agent, ticket, ask: "build" })
}

/** A ticket made in one team and moved to another is still named by its first identifier. */
const movedTicket = async (scene: Scene, from: string, to: string) => {
  const { identifier } = await newTicket(scene, from)
  await scene.workspace.patch(`tickets/${identifier}`, { team: to })
  return identifier
}

export const forms: Readonly<Record<Exclude<Kind, OfTicket>, readonly [Form, ...ReadonlyArray<Form>]>> = {
  team: [
    {
      made: async ({ insiders, secret, workspace }, team) => {
        const { key } = await workspace.post<{ key: string }>("teams", {
          key: teamKey(),
          name: "Team",
          visibility: team === secret ? "private" : "open"
        })
        for (const { person } of insiders) await workspace.post(`teams/${key}/members`, { member: person })
        return key
      },
      absent: () => teamKey()
    }
  ],
  project: [{ made: async (scene, team) => (await newProject(scene, team)).slug, absent: () => unique("project") }],
  milestone: [
    {
      made: async (scene, team) => `${(await newProject(scene, team)).slug}/1`,
      absent: () => `${unique("project")}/1`
    }
  ],
  ticket: [
    {
      made: async (scene, team) => (await newTicket(scene, team)).identifier,
      absent: ({ open }) => `${open}-${absentNumber()}`
    },
    { made: async (scene, team) => (await newTicket(scene, team)).id, absent: absentId },
    {
      made: async (scene, team) => (await movedTicket(scene, scene.open, team)).toLowerCase(),
      absent: ({ open }) => `${open}-${absentNumber()}`.toLowerCase()
    },
    { made: (scene, team) => movedTicket(scene, team, scene.open), absent: () => `${teamKey()}-1` }
  ],
  status: [
    {
      made: async ({ workspace }, team) =>
        (await workspace.post<TicketStatus>("ticket-statuses", { team, name: unique("Status"), category: "unstarted" }))
          .id,
      absent: absentId
    }
  ],
  tag: [
    {
      made: async ({ workspace }, team) =>
        (await workspace.post<Tag>("tags", { team, name: unique("tag"), color: "#d73a4a" })).id,
      absent: absentId
    }
  ],
  view: [
    { made: (scene, key) => newView(scene, { kind: "team", key }), absent: absentId },
    {
      made: async (scene, team) => newView(scene, { kind: "project", key: (await newProject(scene, team)).slug }),
      absent: absentId
    }
  ],
  testRule: [
    {
      made: async (scene, team) => {
        const rule = { ...(await newRule(scene)), team }
        return (await scene.workspace.post<{ id: string }>("test-rules", rule)).id
      },
      absent: absentId
    }
  ],
  message: [
    {
      made: async (scene, team, by) => within(scene, by, team, async () => (await newMessage(scene, team, by)).id),
      absent: absentId
    }
  ],
  notification: [
    {
      made: async (scene, team, by) =>
        within(scene, by, team, async () => {
          const { id } = await newMessage(scene, team, by)
          const { http } = by.person === undefined ? scene.owner : by
          const { notifications } = await http.get<{ notifications: ReadonlyArray<Notification> }>("notifications")
          return notifications.find(({ message }) => message.id === id)!.id
        }),
      absent: absentId
    }
  ],
  ticketNotification: [
    {
      made: async (scene, team, by) =>
        within(scene, by, team, async () => {
          const ticket = await newTicket(scene, team)
          const of = by.person === undefined ? scene.owner : by
          // Who mentions themselves is told of nothing, so an agent does.
          await scene.owner.asAgent!.send("POST", `/agent/v1/tickets/${ticket.identifier}/comments`, {
            json: { body: `[@them](user:${of.person})` }
          })
          const { notifications } = await of.http.get<{ notifications: ReadonlyArray<TicketNotification> }>(
            "ticket-notifications"
          )
          return notifications.find((one) => one.ticket.id === ticket.id)!.id
        }),
      absent: absentId
    }
  ]
}

export interface Caller {
  readonly name: string
  readonly http: Http
  /** Their agent, which calls in their place what agents call. */
  readonly agent?: string
  readonly asAgent?: Http
  /** In the workspace. */
  readonly person?: string
  readonly isBlind: boolean
}

export interface Scene {
  readonly workspace: Http
  readonly owner: Caller & { readonly agent: string }
  /** Two teams' keys, an open one and a private one. */
  readonly open: string
  readonly secret: string
  /** Who is in no team. */
  readonly newcomer: string
  /** Who see the private team, since they are in it. */
  readonly insiders: ReadonlyArray<Caller>
  readonly callers: ReadonlyArray<Caller>
}

export const makeScene = async (owner: Http): Promise<Scene> => {
  const workspace = await newWorkspace(owner)
  const elsewhere = await newWorkspace(owner)
  const [open, secret] = [teamKey(), teamKey()]
  await workspace.post("teams", { key: open, name: "Open" })
  await workspace.post("teams", { key: secret, name: "Secret", visibility: "private" })
  const signedIn = async (name: string, http: Http, isBlind: boolean) => {
    const { access_token, agent } = await registerAgent(http)
    const { id } = await http.get<Extract<Me, { kind: "user" }>>("/v1/me")
    return { name, http, agent, asAgent: http.as(access_token), person: id, isBlind }
  }
  const inTeam = async (role: Role) => {
    const caller = await signedIn(`a ${role} in the team`, await join(workspace, role), false)
    await workspace.post(`teams/${secret}/members`, { member: caller.person })
    return caller
  }
  const left = async (role: Role) => {
    const caller = await signedIn(`a ${role} who left the team`, await join(workspace, role), true)
    await workspace.post(`teams/${secret}/members`, { member: caller.person })
    await workspace.delete(`teams/${secret}/members/${caller.person}`)
    return caller
  }
  const account = async (role: "viewer" | "member" | "admin") => ({
    name: `an account key with the role ${role}`,
    http: await accountKey(workspace, role),
    isBlind: role !== "admin"
  })
  const inWorkspace = await signedIn("the owner", workspace, false)
  const insiders = [await inTeam("member"), await inTeam("viewer")]
  const stranger = await join(elsewhere, "owner")
  const { person: _, ...ofStranger } = await signedIn("a stranger", stranger, true)
  return {
    workspace,
    owner: inWorkspace,
    open,
    secret,
    newcomer: (await join(workspace, "viewer")).id,
    insiders,
    callers: [
      inWorkspace,
      await signedIn("an admin", await join(workspace, "admin"), false),
      ...insiders,
      await account("admin"),
      await signedIn("a member outside", await join(workspace, "member"), true),
      await signedIn("a viewer outside", await join(workspace, "viewer"), true),
      await left("member"),
      await left("viewer"),
      await account("member"),
      await account("viewer"),
      // Asks in the workspace with a key, and from another with an access token.
      { ...ofStranger, http: stranger.in(workspace.workspace) }
    ]
  }
}

export const newComment = async ({ workspace }: Scene, ticket: string) =>
  (await workspace.post<Comment>(`tickets/${ticket}/comments`, { body: "Comment" })).id

export const newAttachment = async ({ workspace }: Scene, ticket: string) => {
  const { body } = await workspace.send<Attachment>("POST", `tickets/${ticket}/attachments?name=a`, { body: "content" })
  return body.id
}

/** Makes what is named beside its ticket. */
export const newOfTicket: Readonly<Record<OfTicket, (scene: Scene, ticket: string) => Promise<string>>> = {
  comment: newComment,
  attachment: newAttachment
}

export const isOfTicket = (kind: Kind): kind is OfTicket => Object.hasOwn(newOfTicket, kind)

/** Much happens in the private team, and to those who were in it for that while. */
export const liveInSecret = async (scene: Scene, shared: Project): Promise<void> => {
  const { callers, insiders, owner, secret, workspace } = scene
  const other = await forms.team[0].made(scene, secret, owner)
  const inProject = { project: shared.slug, milestone: 1 }
  const status = await forms.status[0].made(scene, secret, owner)
  const gone = await forms.status[0].made(scene, secret, owner)
  const tag = await forms.tag[0].made(scene, secret, owner)
  for (const by of [...insiders, ...callers.filter(({ isBlind, person }) => isBlind && person !== undefined)]) {
    await within(scene, by, secret, async () => {
      const { identifier } = await workspace.post<Ticket>("tickets", {
        team: secret,
        title: "Secret",
        owner: by.person,
        tags: [tag],
        status: gone,
        ...inProject
      })
      const body = `Look, [@them](user:${by.person}) and [@it](agent:${by.agent})`
      await workspace.post(`tickets/${identifier}/comments`, { body })
      await newAttachment(scene, identifier)
      const message = { agent: by.agent, ticket: identifier, ask: "plan", note: "Secret" }
      await workspace.post("messages", message)
      const { id } = await workspace.post<AgentMessage>("messages", message)
      await by.http.send("POST", `messages/${id}/decline`, { json: {} })
      const { status } = await by.http.send("POST", "messages", { json: { ...message, agent: owner.agent } })
      if (status === 201) await by.http.post(`tickets/${identifier}/comments`, { body: "Mine" })
    })
  }
  const { messages } = (
    await owner.asAgent!.send<{ messages: ReadonlyArray<AgentMessage> }>("POST", "/agent/v1/inbox/take", {
      json: { limit: 10 }
    })
  ).body
  for (const { id } of messages) {
    assert.strictEqual(
      (await owner.asAgent!.send("POST", `/agent/v1/messages/${id}/complete`, { json: { reply: "Done." } })).status,
      200
    )
  }
  assert.isNotEmpty(messages)
  await workspace.patch(`ticket-statuses/${status}`, { name: unique("Renamed"), isDefault: true })
  const { statuses } = await workspace.get<{ statuses: ReadonlyArray<TicketStatus> }>(`ticket-statuses?team=${secret}`)
  const named = statuses.find(({ name }) => name === "Todo")!
  await workspace.patch(`ticket-statuses/${named.id}`, { name: unique("Renamed") })
  await workspace.post(`ticket-statuses/${status}/reorder`, { after: null }, 200)
  await workspace.delete(`ticket-statuses/${gone}?moveTo=${status}`)
  await workspace.patch(`tags/${tag}`, { name: unique("renamed") })
  const [kept, moved] = [await newTicket(scene, secret), await newTicket(scene, secret)]
  await workspace.post(`tickets/${kept.id}/reorder`, { after: null }, 200)
  await workspace.patch(`tickets/${moved.id}`, { team: other })
  await workspace.patch(`teams/${secret}`, { name: "More secret" })
  const project = await newProject(scene, secret)
  await workspace.post(`projects/${project.slug}/reorder`, { after: null }, 200)
  await workspace.patch(`projects/${project.slug}`, { summary: "Secret", teams: [secret, other] })
  const view = await newView(scene, { kind: "project", key: project.slug })
  await workspace.post(`views/${view}/reorder`, { after: null }, 200)
  await newView(scene, { kind: "team", key: secret })
  await workspace.post(`projects/${project.slug}/archive`, undefined, 200)
  await workspace.post(`projects/${project.slug}/restore`, undefined, 200)
  await workspace.delete(`tickets/${kept.id}`)
  await workspace.post(`teams/${other}/archive`, undefined, 200)
}
