import type { CreateTicket } from "@delivery/domain/planning/Ticket"
import type { TicketCases } from "@delivery/domain/planning/TicketCases"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Fragment, useState } from "react"
import { client } from "../api/client.ts"
import { postCommand } from "../api/command.ts"
import { FailureView } from "../api/FailureView.tsx"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Begin } from "../api/Begin.tsx"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { ticketsAboutQuery } from "../flow/queries.ts"
import { Input } from "../ui/Field.tsx"
import Command from "../ui/Command.tsx"
import { keepTeam } from "./lastTeam.ts"
import type { Likely } from "./likely.ts"
import { MarkdownField } from "./MarkdownField.tsx"
import { ticketsKey } from "./queries.ts"
import { mostTitle, titleIsFull } from "./titles.ts"
import { TicketFieldsView } from "./TicketFieldsView.tsx"
import { useDraft } from "./useDraft.ts"
import { none, payloadOf, useTicketFields } from "./useTicketFields.ts"

interface Props {
  readonly slug: string
  /** What its fields say to begin with. */
  readonly title?: string
  readonly description?: string
  /** The name of what it is about, which a team may have as well. */
  readonly about?: string
  readonly likely?: Likely
  /** The tests that it is about. */
  readonly cases?: CreateTicket["cases"]
  /** Takes the lines that were pasted as the title: each of them is one. */
  readonly onList?: (lines: string) => void
  readonly onClose: () => void
}

/** The way on has the keyboard, not the command above it. */
const focusLink = (actions: HTMLElement | null) => actions?.querySelector("a")?.focus()

const NoTeam = ({ onClose, slug }: Pick<Props, "onClose" | "slug">) => (
  <Dialog
    actions={
      <span ref={focusLink}>
        <Begin label="Add a team" look="primary" onClick={onClose} slug={slug} />
      </span>
    }
    description="A ticket belongs to a team, and you see none."
    onClose={onClose}
    title="New ticket"
  >
    {mayAct(useRole(slug), "admin") ? (
      <Command text={postCommand(slug, "teams", '{"key": "ENG", "name": "Engineering"}')} />
    ) : (
      <p className="text-muted">Ask an admin of the workspace for one, or to be added to one of theirs.</p>
    )}
  </Dialog>
)

/** What somebody may be at work on already. */
const OpenTickets = ({ cases: { caseIds, product }, slug }: { readonly slug: string; readonly cases: TicketCases }) => {
  const { data = [] } = useQuery(ticketsAboutQuery(slug, product, caseIds))
  const tickets = data.flatMap((ticket) => ticket ?? [])
  if (tickets.length === 0) return null
  return (
    <p className="bg-warning-soft text-warning rounded-md px-3 py-2" role="status">
      {caseIds.length === 1 ? "This test has" : "These tests have"} a ticket that is open:{" "}
      {tickets.map(({ identifier, title }, index) => (
        <Fragment key={identifier}>
          {index > 0 && ", "}
          <Link className="underline" params={{ slug, ticket: identifier }} title={title} to="/w/$slug/tickets/$ticket">
            {identifier}
          </Link>
        </Fragment>
      ))}
      .
    </p>
  )
}

interface TitleProps {
  readonly title: string
  readonly issue: string | undefined
  readonly onChange: (title: string) => void
  readonly onList: ((lines: string) => void) | undefined
}

/** Lines that are pasted into it while it is empty are a list. */
const Title = ({ issue, onChange, onList, title }: TitleProps) => (
  <Input
    autoComplete="off"
    autoFocus
    data-missing={title.trim() === "" || undefined}
    hint={title.length < mostTitle ? undefined : titleIsFull}
    issue={issue}
    label="Title"
    maxLength={mostTitle}
    onChange={(event) => onChange(event.target.value)}
    onPaste={(event) => {
      const lines = event.clipboardData.getData("text")
      if (onList === undefined || title !== "" || !/\S[^]*\n[^]*\S/.test(lines)) return
      event.preventDefault()
      onList(lines)
    }}
    value={title}
  />
)

const nothing: Likely = {}

/** The title and the description, kept until the ticket is made or they are discarded. */
const useTexts = (slug: string, named: string, said: string) => {
  const name = `new-ticket ${slug} ${named}`
  const title = useDraft(name)
  const description = useDraft(`${name} description`)
  const [isBack, setBack] = useState(title.draft !== undefined || description.draft !== undefined)
  return {
    title: title.draft?.text ?? named,
    description: description.draft?.text ?? said,
    setTitle: (text: string) => title.setDraft({ base: named, text }),
    setDescription: (text: string) => description.setDraft({ base: said, text }),
    /** Whether they were typed before the dialog was opened. */
    isBack,
    forget: () => {
      setBack(false)
      title.setDraft(undefined)
      description.setDraft(undefined)
    }
  }
}

/** What a new ticket makes old. Tests tell which tickets are about them, too. */
const changedBy = (slug: string) => [ticketsKey(slug), workspaceKey(slug, "projects")]

const missingIn = (title: string, { isLoading, shown }: ReturnType<typeof useTicketFields>): ReadonlyArray<string> => [
  ...(title.trim() === "" ? ["a title"] : []),
  ...(shown.team === none && !isLoading ? ["a team"] : [])
]

/** Makes a ticket in one of the teams that the person sees. */
const NewTicketDialog = ({
  about = "",
  cases = null,
  description: said = "",
  likely = nothing,
  onClose,
  onList,
  slug,
  title: named = ""
}: Props) => {
  const fields = useTicketFields(slug, likely, about)
  const { query, shown, teams } = fields
  const { description, forget, isBack, setDescription, setTitle, title } = useTexts(slug, named, said)
  const create = useAction({
    act: () =>
      client.tickets.create({
        params: { slug },
        payload: { ...payloadOf(fields), title: title.trim(), description, ...(cases === null ? {} : { cases }) }
      }),
    changes: cases === null ? changedBy(slug) : [...changedBy(slug), workspaceKey(slug, "cases")],
    done: ({ identifier, url }) => ({
      title: `${identifier} was created`,
      tone: "success",
      link: { href: url, text: `Open ${identifier}` }
    }),
    onDone: () => {
      keepTeam(slug, shown.team)
      forget()
      onClose()
    }
  })
  if (teams?.length === 0) return <NoTeam onClose={onClose} slug={slug} />
  return (
    <FormDialog
      action="Create ticket"
      doing={create}
      fields={["title", "description"]}
      isWaiting={fields.isLoading}
      missing={missingIn(title, fields)}
      onClose={onClose}
      onDiscard={forget}
      title="New ticket"
    >
      {cases !== null && <OpenTickets cases={cases} slug={slug} />}
      {isBack && (
        <p className="text-muted flex flex-wrap items-center gap-2" role="status">
          What you typed before is here again.
          <Button look="quiet" onClick={forget}>
            Begin anew
          </Button>
        </p>
      )}
      <Title issue={issueAt(create.error, "title")} onChange={setTitle} onList={onList} title={title} />
      <MarkdownField
        isLabelShown
        issue={issueAt(create.error, "description")}
        label="Description"
        onChange={setDescription}
        rows={9}
        slug={slug}
        team={teams?.find(({ key }) => key === shown.team)}
        value={description}
      />
      <TicketFieldsView fields={fields} slug={slug} />
      {query.error !== null && create.error === null && (
        <FailureView error={query.error} onRetry={() => void query.refetch()} />
      )}
    </FormDialog>
  )
}

export default NewTicketDialog
