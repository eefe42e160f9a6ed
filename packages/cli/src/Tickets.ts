import type { Ticket, TicketOwner, TicketSummary } from "@delivery/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { call } from "./Calls.ts"
import { Failure } from "./Failure.ts"
import { given, optionalText } from "./Flags.ts"
import { textFile } from "./Input.ts"
import { oneLine, plainLines, print, table } from "./Output.ts"
import { connectionFlags } from "./Settings.ts"

/** `delivery tickets`. */

const identifier = Argument.String("ticket").pipe(Argument.withDescription("Identifier of the ticket, such as ENG-12"))

const ownerName = (owner: TicketOwner | null): string =>
  owner === null ? "" : owner.kind === "user" ? owner.name : `${owner.name} of ${owner.person.name}`

const rowOf = ({ identifier, owner, status, title }: TicketSummary) => [
  identifier,
  status.name,
  ownerName(owner),
  title
]

/** The key of a team, which has upper-case letters alone; anything else as it is. */
const teamKey = (team: string): string => (/^[a-z][a-z0-9]{0,9}$/i.test(team) ? team.toUpperCase() : team)

const list = Command.make(
  "list",
  {
    team: optionalText("team", "Only tickets of this team, by key"),
    project: optionalText("project", "Only tickets of this project"),
    milestone: optionalText(
      "milestone",
      "Only tickets of this milestone, such as checkout/1: the project and its number; or none"
    ),
    owner: optionalText("owner", "Only tickets of this owner: an email address, an id, me, or none"),
    category: Flag.Literals("category", ["backlog", "unstarted", "started", "completed", "canceled"]).pipe(
      Flag.optional,
      Flag.withDescription("Only tickets whose status has this category")
    )
  },
  Effect.fnUntraced(function* ({ category, milestone, owner, project, team }) {
    const found = yield* call((client, { workspace }) =>
      client.tickets.list({
        params: { slug: workspace },
        query: given({ category, milestone, owner, project, team: Option.map(team, teamKey) })
      })
    )
    const header = ["Ticket", "Status", "Owner", "Title"]
    yield* print(found, found.tickets.length === 0 ? "No tickets." : table(header, found.tickets.map(rowOf)))
  })
).pipe(Command.withDescription("List tickets"))

const ticketText = ({ description, identifier, owner, plan, status, title, url }: Ticket): string =>
  [
    `${identifier} ${oneLine(title)}`,
    `${oneLine(status.name)}, ${owner === null ? "nobody's" : oneLine(ownerName(owner))}`,
    url,
    ...(description === null ? [] : ["", plainLines(description)]),
    ...(plan === null ? [] : ["", "Plan", "", plainLines(plan)])
  ].join("\n")

const show = Command.make(
  "show",
  { identifier },
  Effect.fnUntraced(function* ({ identifier }) {
    const ticket = yield* call((client, { workspace }) =>
      client.tickets.get({ params: { slug: workspace, ticket: identifier } })
    )
    yield* print(ticket, ticketText(ticket))
  })
).pipe(Command.withDescription("Show a ticket with its description and plan"))

const create = Command.make(
  "create",
  {
    title: Argument.String("title").pipe(Argument.withDescription("Title of the ticket")),
    team: Flag.String("team").pipe(Flag.withDescription("Key of its team")),
    description: optionalText("description", "What it is about, in Markdown"),
    descriptionFile: optionalText("description-file", "File with what it is about"),
    project: optionalText("project", "Its project, by slug"),
    owner: optionalText("owner", "Who is responsible: an email address or an id")
  },
  Effect.fnUntraced(function* ({ description, descriptionFile, owner, project, team, title }) {
    if (Option.isSome(description) && Option.isSome(descriptionFile)) {
      return yield* Failure.usage("Give either --description or --description-file.")
    }
    const about = Option.isSome(descriptionFile)
      ? yield* textFile(descriptionFile.value)
      : Option.getOrNull(description)
    const ticket = yield* call((client, { workspace }) =>
      client.tickets.create({
        params: { slug: workspace },
        payload: {
          team: teamKey(team),
          title,
          description: about,
          project: Option.getOrNull(project),
          owner: Option.getOrNull(owner)
        }
      })
    )
    yield* print(ticket, `${ticket.identifier} ${oneLine(ticket.title)}\n${ticket.url}`)
  })
).pipe(Command.withDescription("Create a ticket"))

const take = Command.make(
  "take",
  {
    identifier,
    force: Flag.Boolean("force").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Take it although somebody else is responsible")
    )
  },
  Effect.fnUntraced(function* ({ force, identifier }) {
    const ticket = yield* call(
      Effect.fnUntraced(function* (client, { workspace }) {
        const params = { slug: workspace, ticket: identifier }
        const [me, { owner }] = [yield* client.me.get(), yield* client.tickets.get({ params })]
        if (me.kind !== "user") {
          return yield* new Failure({ message: "An account API key owns no tickets: sign in with a key of your own." })
        }
        if (owner !== null && owner.id !== me.id && !force) {
          return yield* new Failure({
            message: `${oneLine(ownerName(owner))} is responsible for it: add --force to take it nevertheless.`
          })
        }
        return yield* client.tickets.update({ params, payload: { owner: me.id } })
      })
    )
    yield* print(ticket, `${ticket.identifier} is yours: ${oneLine(ticket.title)}\n${ticket.url}`)
  })
).pipe(Command.withDescription("Make yourself responsible for a ticket"))

export const tickets = Command.make("tickets").pipe(
  Command.withDescription("Tickets: list, show, create, take"),
  Command.withSubcommands([list, show, create, take]),
  Command.withGlobalFlags(connectionFlags)
)
