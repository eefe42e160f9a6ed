import { useQuery } from "@tanstack/react-query"
import type { Team } from "@delivery/domain/planning/Team"
import { useState } from "react"
import { client } from "../api/client.ts"
import { FailureView } from "../api/FailureView.tsx"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { Input, TextArea } from "../ui/Field.tsx"
import { visible } from "../ui/format.ts"
import { Select } from "../ui/Select.tsx"
import Command from "../ui/Command.tsx"
import { useOwners } from "./owners.ts"
import { teamsQuery, ticketsKey } from "./queries.ts"

interface Props {
  readonly slug: string
  /** What its fields say to begin with. */
  readonly title: string
  readonly description: string
  /** The name of what it is about, which a team may have as well. */
  readonly about: string
  /** Of which it is, by key. */
  readonly team?: string
  readonly onClose: () => void
}

const nobody = ""

const lastTeamKey = (slug: string): string => `delivery-team-${slug}`

/** The team of that name, the only one, or the one of the last ticket; else none, and the person chooses. */
const likelyTeam = (slug: string, teams: ReadonlyArray<Pick<Team, "key" | "name">>, about: string): string => {
  const last = localStorage.getItem(lastTeamKey(slug))
  const found =
    teams.find(({ name }) => name.toLowerCase() === about.toLowerCase()) ??
    teams.find(({ key }) => key === last) ??
    (teams.length === 1 ? teams[0] : undefined)
  return found?.key ?? ""
}

const NoTeam = ({ onClose, slug }: Pick<Props, "onClose" | "slug">) => (
  <Dialog
    description="A ticket belongs to a team, and you see none. This makes one:"
    onClose={onClose}
    title="New ticket"
  >
    <Command
      text={`curl ${location.origin}/v1/workspaces/${slug}/teams -H "Authorization: Bearer $DELIVERY_API_KEY" --json '{"key": "ENG", "name": "Engineering"}'`}
    />
  </Dialog>
)

interface OwnerProps {
  readonly slug: string
  readonly value: string
  readonly onChange: (owner: string) => void
}

const OwnerSelect = ({ onChange, slug, value }: OwnerProps) => (
  <Select
    label="Owner"
    onChange={onChange}
    options={[
      { value: nobody, label: "Nobody" },
      ...useOwners(slug).map(({ hint, label, owner: { id } }) => ({
        value: id,
        label,
        ...(hint === undefined ? {} : { hint })
      }))
    ]}
    value={value}
  />
)

/** Makes a ticket in one of the teams that the person sees. */
const NewTicketDialog = ({ about, description: said, onClose, slug, team: given, title: named }: Props) => {
  const { data, error, refetch } = useQuery(teamsQuery(slug))
  const [title, setTitle] = useState(named)
  const [description, setDescription] = useState(said)
  const [chosen, setTeam] = useState(given)
  const [owner, setOwner] = useState<string>(nobody)
  const teams = data?.teams.filter(({ archivedAt }) => archivedAt === null)
  const team = chosen ?? likelyTeam(slug, teams ?? [], about)
  const create = useAction({
    act: () =>
      client.tickets.create({
        params: { slug },
        payload: { team, title: title.trim(), description, ...(owner === nobody ? {} : { owner }) }
      }),
    changes: [ticketsKey(slug)],
    done: ({ identifier, url }) => ({
      title: `${identifier} was created`,
      tone: "success",
      link: { href: url, text: `Open ${identifier}` }
    }),
    onDone: () => {
      localStorage.setItem(lastTeamKey(slug), team)
      onClose()
    }
  })
  if (teams?.length === 0) return <NoTeam onClose={onClose} slug={slug} />
  return (
    <FormDialog
      action="Create ticket"
      doing={create}
      fields={["title", "description"]}
      isReady={title.trim() !== "" && team !== ""}
      onClose={onClose}
      title="New ticket"
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(create.error, "title")}
        label="Title"
        maxLength={200}
        onChange={(event) => setTitle(event.target.value)}
        value={title}
      />
      <TextArea
        hint="Markdown"
        isMono
        issue={issueAt(create.error, "description")}
        label="Description"
        onChange={(event) => setDescription(event.target.value)}
        rows={9}
        value={description}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label="Team"
          onChange={setTeam}
          options={[
            ...(team === "" ? [{ value: "", label: "Choose a team" }] : []),
            ...(teams ?? []).map(({ key, name }) => ({ value: key, label: visible(name), hint: key }))
          ]}
          value={team}
        />
        <OwnerSelect onChange={setOwner} slug={slug} value={owner} />
      </div>
      {error !== null && <FailureView error={error} onRetry={() => void refetch()} />}
    </FormDialog>
  )
}

export default NewTicketDialog
