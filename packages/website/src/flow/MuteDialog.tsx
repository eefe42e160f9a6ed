import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useRef, useState } from "react"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { readAgain } from "../api/readAgain.ts"
import { useMe } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { keepTeam } from "../planning/lastTeam.ts"
import { codeSpan } from "../planning/markdown.ts"
import { ticketQuery } from "../planning/queries.ts"
import { TicketFieldsView } from "../planning/TicketFieldsView.tsx"
import { none, payloadOf, useTicketFields } from "../planning/useTicketFields.ts"
import { Input } from "../ui/Field.tsx"
import { counted, visible } from "../ui/format.ts"
import { Select } from "../ui/Select.tsx"
import { changedByMutes } from "./changedByMutes.ts"
import { alreadyMuted, expectedOf, ticketOfAll } from "./mute.ts"
import { mutesQuery, ticketsAboutQuery } from "./queries.ts"
import { UntilField, useUntil } from "./UntilField.tsx"

/** Mutes tests by a ticket: one that there is, or a new one. */

export interface MutedCase {
  readonly caseId: string
  readonly title: string
}

interface Props {
  readonly slug: string
  readonly product: { readonly slug: string; readonly name: string }
  readonly cases: ReadonlyArray<MutedCase>
  readonly onClose: () => void
}

const newTicket = "new"

/** Of how many tests the tickets are looked for. */
const mostAsked = 10

const mine = { owner: "me" }

/** The open tickets about the tests, then those that mute others of the product. */
const useTicketChoices = ({ cases, product, slug }: Props) => {
  const ids = cases.slice(0, mostAsked).map(({ caseId }) => caseId)
  const { data: found = [], isPending } = useQuery(ticketsAboutQuery(slug, product.slug, ids))
  const { data } = useQuery(mutesQuery(slug, product.slug))
  const about = found.flatMap((ticket) => ticket ?? [])
  const muting = (data?.mutes ?? []).flatMap(({ ticket }) => ticket ?? [])
  return {
    // The choice is made of what is known: it does not change under the hand of who makes it.
    isKnown: !isPending && data !== undefined,
    ofAll: cases.length > mostAsked ? undefined : ticketOfAll(found),
    tickets: [...new Map([...about, ...muting].map((ticket) => [ticket.identifier, ticket])).values()]
  }
}

const titleOf = (cases: ReadonlyArray<MutedCase>): string =>
  cases.length === 1
    ? `Failing: ${visible(cases[0]!.title).replaceAll(/\s+/g, " ").trim()}`.slice(0, 200)
    : `${cases.length} tests fail`

const descriptionOf = (cases: ReadonlyArray<MutedCase>): string =>
  ["Muted until they pass again:", cases.map(({ caseId }) => `- ${codeSpan(visible(caseId))}`).join("\n")].join("\n\n")

const Chosen = ({
  cases,
  chosen,
  onChange
}: {
  readonly cases: ReadonlyArray<MutedCase>
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}) => (
  <fieldset className="flex min-w-0 flex-col gap-1">
    <legend className="pb-1 font-medium">Tests</legend>
    <ul className="max-h-48 overflow-y-auto">
      {cases.map(({ caseId, title }) => (
        <li key={caseId}>
          <label className="flex min-h-7 items-center gap-2">
            <input
              checked={chosen.has(caseId)}
              onChange={() => {
                const next = new Set(chosen)
                if (!next.delete(caseId)) next.add(caseId)
                onChange(next)
              }}
              type="checkbox"
            />
            <span className="foreign min-w-0 truncate">{title.slice(0, 500)}</span>
          </label>
        </li>
      ))}
    </ul>
  </fieldset>
)

interface Asked extends Pick<Props, "slug" | "product"> {
  readonly ids: ReadonlyArray<string>
  readonly me: string | undefined
}

interface Choice {
  /** What mutes the tests by now, beside the ticket. */
  readonly readMuted: () => Promise<ReadonlyArray<string>>
  /** What of it was said. */
  readonly told: ReadonlyArray<string>
  readonly makeTicket: () => Promise<string>
  readonly until: string
  /** It was said that the ticket will be the person's. */
  readonly isTaken: boolean
}

/** Who owns a ticket, as it is said before the tests are muted: one that nobody owns will be the person's. */
const useOwner = (slug: string, identifier: string, me: string | undefined) => {
  const isNew = identifier === newTicket
  const { data, isPending } = useQuery({ ...ticketQuery(slug, identifier), enabled: !isNew })
  const owner = isNew ? undefined : data?.owner
  return {
    isLoading: !isNew && isPending,
    isTaken: owner === null,
    text:
      owner === undefined
        ? undefined
        : owner === null
          ? `Nobody owns ${identifier}: you will.`
          : owner.id === me
            ? `You own ${identifier}.`
            : `${actorName(owner)} owns ${identifier}.`
  }
}

/**
 * Mutes the tests beside those that the ticket mutes already. It must have an owner: one that nobody owns is the person's then, if
 * that was said.
 */
const muteBy = async ({ ids, me, product, slug }: Asked, identifier: string, choice: Choice): Promise<Ticket> => {
  const params = { slug, ticket: identifier }
  const ticket = await client.tickets.get({ params })
  if (ticket.mute !== null && ticket.mute.product !== product.slug) {
    throw new Error(`${identifier} mutes tests of another product. Choose another ticket.`)
  }
  if (ticket.owner === null && me !== undefined) {
    if (!choice.isTaken)
      throw new Error(`Nobody owns ${identifier} any more. You will, if you mute by it all the same.`)
    await client.tickets.update({ params, payload: { owner: me } })
  }
  const cases = [...new Set([...(ticket.mute?.cases ?? []), ...ids])]
  const payload = { product: product.slug, cases, until: choice.until, expected: expectedOf(ticket.mute) }
  return client.mutes.set({ params, payload })
}

const useMute = (props: Props, chosen: ReadonlySet<string>) => {
  const { onClose, product, slug } = props
  const me = useMe()?.id
  const ids = props.cases.flatMap(({ caseId }) => (chosen.has(caseId) ? [caseId] : []))
  return useAction({
    act: async (choice: Choice) => {
      const muted = await choice.readMuted()
      if (muted.some((one) => !choice.told.includes(one))) {
        throw new Error("Somebody has muted it meanwhile: look at it, then mute it again if it is to be so.")
      }
      return muteBy({ ids, me, product, slug }, await choice.makeTicket(), choice)
    },
    changes: [...changedByMutes, "evidence"].map((kind) => workspaceKey(slug, kind)),
    done: ({ identifier, url }, { isTaken }) => ({
      title: `${ids.length === 1 ? "The test is" : `${counted(ids.length, "test")} are`} muted by ${identifier}`,
      detail: `${isTaken ? `You own ${identifier} now. ` : ""}Runs that start from now on do not count ${ids.length === 1 ? "its" : "their"} failures.`,
      tone: "success",
      link: { href: url, text: `Open ${identifier}` }
    }),
    onDone: onClose
  })
}

/** What mutes the tests already, as the workspace has it now. */
const useMuted = (slug: string, product: string, chosen: ReadonlySet<string>, identifier: string) => {
  const queries = useQueryClient()
  const query = mutesQuery(slug, product)
  const { data } = useQuery(query)
  const mutes = data?.mutes ?? []
  const toldOf = (list: typeof mutes) => alreadyMuted(list, [...chosen], identifier, Date.now())
  return {
    others: mutes
      .filter(({ overdue, ticket }) => !overdue && ticket?.identifier === identifier)
      .flatMap((mute) => mute.cases.filter((caseId) => !chosen.has(caseId))),
    told: toldOf(mutes),
    readMuted: async () => toldOf((await readAgain(queries, query)).mutes)
  }
}

/** Not in place of the mute of another ticket, but beside it. */
const MutedAlready = ({ told }: { readonly told: ReadonlyArray<string> }) =>
  told.length > 0 && (
    <div className="bg-warning-soft text-warning rounded-md px-3 py-2" role="alert">
      <p>Muted already; this adds to it:</p>
      <ul className="list-disc pl-5">
        {told.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </div>
  )

interface ByTicketProps {
  readonly identifier: string
  /** As many tests as it mutes beside these. */
  readonly others: number
  readonly owner: string | undefined
}

/** What is to be known of the ticket before tests are muted by it. */
const ByTicket = ({ identifier, others, owner }: ByTicketProps) => (
  <>
    {owner !== undefined && (
      <p aria-live="polite" className="foreign">
        {owner}
      </p>
    )}
    {others > 0 && (
      <p className="text-muted text-xs">
        {identifier} mutes {counted(others, "other test")}: they are muted for that long, too.
      </p>
    )}
  </>
)

interface KnownProps extends Props {
  readonly choices: ReturnType<typeof useTicketChoices>
}

const Known = (props: KnownProps) => {
  const { cases, choices, onClose, product, slug } = props
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(cases.map(({ caseId }) => caseId)))
  const [identifier, setIdentifier] = useState(choices.ofAll?.identifier ?? newTicket)
  const some = cases.filter(({ caseId }) => chosen.has(caseId))
  const [typed, setTitle] = useState<string>()
  const title = typed ?? titleOf(some)
  const fields = useTicketFields(slug, mine, product.name)
  const until = useUntil()
  const muted = useMuted(slug, product.slug, chosen, identifier)
  const mute = useMute(props, chosen)
  const owner = useOwner(slug, identifier, useMe()?.id)
  // Made once, also where muting by it is tried again.
  const made = useRef<string>(undefined)
  const makeTicket = async () => {
    if (identifier !== newTicket) return identifier
    if (made.current !== undefined) return made.current
    const about = { product: product.slug, caseIds: some.map(({ caseId }) => caseId) }
    const payload = { ...payloadOf(fields), title: title.trim(), description: descriptionOf(some), cases: about }
    const ticket = await client.tickets.create({ params: { slug }, payload })
    keepTeam(slug, fields.shown.team)
    made.current = ticket.identifier
    return ticket.identifier
  }
  const end = until.until()
  const isNew = identifier === newTicket
  const missing = [
    ...(some.length === 0 ? ["a test"] : []),
    ...(isNew && title.trim() === "" ? ["a title"] : []),
    ...(isNew && fields.shown.team === none ? ["a team"] : []),
    ...(isNew && fields.shown.owner === none ? ["an owner"] : []),
    ...(end === undefined ? ["a day to come"] : [])
  ]
  return (
    <FormDialog
      action={some.length === 1 ? "Mute the test" : `Mute ${counted(some.length, "test")}`}
      description={`${cases.length === 1 ? "It goes on running, but its failures do" : "They go on running, but their failures do"} not count in runs that start from now on. A ticket says why, and who looks after it.`}
      doing={{
        ...mute,
        mutate: () => end !== undefined && mute.mutate({ ...muted, makeTicket, until: end, isTaken: owner.isTaken })
      }}
      fields={["until"]}
      isWaiting={fields.isLoading || owner.isLoading}
      missing={missing}
      onClose={onClose}
      title={cases.length === 1 ? `Mute “${cases[0]!.title.slice(0, 100)}”` : "Mute tests"}
    >
      <MutedAlready told={muted.told} />
      {cases.length > 1 && <Chosen cases={cases} chosen={chosen} onChange={setChosen} />}
      <UntilField issue={issueAt(mute.error, "until")} value={until} />
      <Select
        label="By the ticket"
        onChange={setIdentifier}
        options={[
          ...choices.tickets.map((ticket) => ({
            value: ticket.identifier,
            label: `${ticket.identifier} ${ticket.title}`
          })),
          { value: newTicket, label: "A new ticket" }
        ]}
        value={identifier}
      />
      <ByTicket identifier={identifier} others={muted.others.length} owner={owner.text} />
      {isNew && (
        <>
          <Input
            autoComplete="off"
            issue={issueAt(mute.error, "title")}
            label="Title"
            maxLength={200}
            onChange={(event) => setTitle(event.target.value)}
            value={title}
          />
          <TicketFieldsView fields={fields} slug={slug} />
        </>
      )}
    </FormDialog>
  )
}

const MuteDialog = (props: Props) => {
  const choices = useTicketChoices(props)
  return choices.isKnown ? <Known {...props} choices={choices} /> : null
}

export default MuteDialog
