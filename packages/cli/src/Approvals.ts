import type { Actor, Approval } from "@delivery/client"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { call } from "./Calls.ts"
import { given, optionalText } from "./Flags.ts"
import { oneLine, print, table } from "./Output.ts"
import { connectionFlags } from "./Settings.ts"

/** `delivery approvals`. */

const id = Argument.String("approval").pipe(
  Argument.withDescription("Id of the approval, as `approvals list` shows it")
)

const nameOf = (actor: Actor | null): string =>
  actor === null ? "" : actor.kind === "removed" ? "somebody who was removed" : actor.name

const rowOf = ({ decidedBy, environment, expiresAt, id, minutes, reason, requestedBy, state }: Approval) => [
  id,
  environment.slug,
  state,
  `${minutes} min`,
  nameOf(requestedBy),
  nameOf(decidedBy),
  expiresAt,
  reason
]

const request = Command.make(
  "request",
  {
    environment: Argument.String("environment").pipe(Argument.withDescription("The environment to write in")),
    reason: Flag.String("reason").pipe(Flag.withDescription("What it is for: whoever approves reads it")),
    minutes: Flag.Int("minutes").pipe(
      Flag.filter(
        (minutes) => minutes >= 5 && minutes <= 480,
        () => "An approval is for 5 to 480 minutes."
      ),
      Flag.withDefault(30),
      Flag.withDescription("For how many minutes you may write, from the approval on. Default: 30")
    )
  },
  Effect.fnUntraced(function* (payload) {
    const made = yield* call((client, { workspace }) =>
      client.approvals.request({ params: { slug: workspace }, payload })
    )
    yield* print(
      made,
      `Asked for ${made.minutes} minutes in ${oneLine(made.environment.name)}. Another admin approves: delivery approvals approve ${made.id}`
    )
  })
).pipe(Command.withDescription("Ask for a second person's approval to write in an environment"))

const list = Command.make(
  "list",
  {
    environment: optionalText("environment", "Only approvals of this environment"),
    state: Flag.Literals("state", ["pending", "approved", "rejected", "withdrawn", "ended", "expired"]).pipe(
      Flag.optional,
      Flag.withDescription("Only approvals in this state")
    )
  },
  Effect.fnUntraced(function* ({ environment, state }) {
    const found = yield* call((client, { workspace }) =>
      client.approvals.list({ params: { slug: workspace }, query: given({ environment, state }) })
    )
    const header = ["Approval", "Environment", "State", "For", "Asked by", "Decided by", "Until", "Reason"]
    yield* print(found, found.approvals.length === 0 ? "No approvals." : table(header, found.approvals.map(rowOf)))
  })
).pipe(Command.withDescription("List the newest 100 approvals that were asked for"))

const approve = Command.make(
  "approve",
  { id },
  Effect.fnUntraced(function* ({ id }) {
    const made = yield* call((client, { workspace }) =>
      client.approvals.approve({ params: { slug: workspace, approval: id } })
    )
    yield* print(
      made,
      `${oneLine(nameOf(made.requestedBy))} may write in ${oneLine(made.environment.name)} until ${made.expiresAt}.`
    )
  })
).pipe(Command.withDescription("Let who asked write for the minutes that they asked for"))

const reject = Command.make(
  "reject",
  { id, reason: optionalText("reason", "Why") },
  Effect.fnUntraced(function* ({ id, reason }) {
    const made = yield* call((client, { workspace }) =>
      client.approvals.reject({ params: { slug: workspace, approval: id }, payload: given({ reason }) })
    )
    yield* print(made, `${oneLine(nameOf(made.requestedBy))} may not write in ${oneLine(made.environment.name)}.`)
  })
).pipe(Command.withDescription("Say no to who asked"))

const end = Command.make(
  "end",
  { id },
  Effect.fnUntraced(function* ({ id }) {
    const made = yield* call((client, { workspace }) =>
      client.approvals.end({ params: { slug: workspace, approval: id } })
    )
    yield* print(
      made,
      made.state === "withdrawn"
        ? "The approval is withdrawn."
        : "The approval has ended: writes are refused from now on."
    )
  })
).pipe(Command.withDescription("End an approval before its time, or withdraw what you have asked for"))

export const approvals = Command.make("approvals").pipe(
  Command.withDescription("Approvals of writes by a second person: request, list, approve, reject, end"),
  Command.withSubcommands([request, list, approve, reject, end]),
  Command.withGlobalFlags(connectionFlags)
)
