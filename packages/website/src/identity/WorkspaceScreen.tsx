import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import type { UpdateWorkspace, Workspace } from "@delivery/domain/identity/Workspace"
import { type FormEvent, useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, meQuery, useMe } from "../api/session.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { Discard } from "../ui/Discard.tsx"
import { Facts } from "../ui/Facts.tsx"
import { Input } from "../ui/Field.tsx"
import { Header } from "../ui/Header.tsx"
import { Section } from "../ui/Section.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/toast.ts"
import { useLeaving } from "../ui/useLeaving.ts"
import { KeepAccountKeys, keeping } from "./KeepAccountKeys.tsx"
import { membersQuery, workspaceQuery } from "./queries.ts"

/** The name of the workspace, its address, how long runs are kept, and leaving it. */

interface Props {
  readonly workspace: Workspace
}

const daysText = (days: number | null): string => (days === null ? "" : String(days))

/** What was changed of a workspace, as the form has it. A number that is none is for the server to refuse. */
const changeOf = (workspace: Workspace, form: FormData): UpdateWorkspace => {
  const text = (name: string) => String(form.get(name) ?? "").trim()
  const days = (name: "runDays" | "fileDays") => {
    const next = text(name)
    return next === daysText(workspace[name]) ? {} : { [name]: next === "" ? null : Number(next) }
  }
  return {
    ...(text("name") === workspace.name ? {} : { name: text("name") }),
    ...(text("slug") === workspace.slug ? {} : { slug: text("slug") }),
    ...days("runDays"),
    ...days("fileDays")
  }
}

const useSave = (workspace: Workspace) => {
  const navigate = useNavigate()
  return useAction({
    act: (payload: UpdateWorkspace) => client.workspaces.update({ params: { slug: workspace.slug }, payload }),
    changes: [meQuery.queryKey, workspaceKey(workspace.slug, "workspace")],
    done: ({ name }) => ({ title: `${name} is saved` }),
    onDone: ({ slug }) => {
      if (slug !== workspace.slug) void navigate({ to: "/w/$slug/settings", params: { slug }, replace: true })
    }
  })
}

const Form = ({ workspace }: Props) => {
  const save = useSave(workspace)
  const [isChanged, setChanged] = useState(false)
  const { isAsking, leave, stay } = useLeaving(isChanged && !save.isPending)
  const failure = save.error === null ? undefined : failureOf(save.error)
  const look = (event: FormEvent<HTMLFormElement>) =>
    setChanged(Object.keys(changeOf(workspace, new FormData(event.currentTarget))).length > 0)
  return (
    <form
      className="flex max-w-112 flex-col gap-3"
      onInput={look}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(changeOf(workspace, new FormData(event.currentTarget)), { onSuccess: () => setChanged(false) })
      }}
    >
      <Input
        autoComplete="off"
        defaultValue={workspace.name}
        issue={issueAt(save.error, "name")}
        label="Name"
        maxLength={100}
        name="name"
        required
      />
      <Input
        autoComplete="off"
        defaultValue={workspace.slug}
        hint="Part of every address of the workspace. Old links and programs that name the old one stop working."
        isMono
        issue={issueAt(save.error, "slug") ?? (failure?.reason === "slug_in_use" ? failure.message : undefined)}
        label="Slug"
        maxLength={60}
        name="slug"
        required
        spellCheck={false}
      />
      <Input
        defaultValue={daysText(workspace.runDays)}
        hint="Empty: as long as the server is set to, or for ever. Older runs are erased."
        inputMode="decimal"
        issue={issueAt(save.error, "runDays")}
        label="Days that runs are kept"
        name="runDays"
        placeholder="as the server"
      />
      <Input
        defaultValue={daysText(workspace.fileDays)}
        hint="Of screenshots, videos and traces. Empty: as long as the server is set to, or for ever."
        inputMode="decimal"
        issue={issueAt(save.error, "fileDays")}
        label="Days that files of runs are kept"
        name="fileDays"
        placeholder="as the server"
      />
      {failure !== undefined && failure.issues === undefined && failure.reason !== "slug_in_use" && (
        <p className="text-danger" role="alert">
          {failure.message}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {isAsking ? (
          <Discard onDiscard={leave} onKeep={stay} />
        ) : (
          <Button disabled={!isChanged} isBusy={save.isPending} look="primary" type="submit">
            Save
          </Button>
        )}
      </div>
    </form>
  )
}

const ForReaders = ({ workspace }: Props) => (
  <Facts
    facts={[
      ["Name", workspace.name],
      ["Slug", workspace.slug],
      ["Runs are kept", workspace.runDays === null ? "as the server is set" : `${workspace.runDays} days`],
      ["Files are kept", workspace.fileDays === null ? "as the server is set" : `${workspace.fileDays} days`],
      ["Your role", workspace.role],
      ["Made", <Time at={workspace.createdAt} key="made" />]
    ]}
  />
)

const Leave = ({ workspace }: Props) => {
  const me = useMe()
  const navigate = useNavigate()
  const name = workspace.name
  const [isKept, setKept] = useState(false)
  const leave = useAction({
    act: () =>
      client.members.deactivate({ params: { slug: workspace.slug, member: me!.id }, payload: keeping(isKept) }),
    changes: [meQuery.queryKey],
    onDone: () => {
      toast({ title: `You have left ${name}` })
      void navigate({ to: "/", replace: true })
    }
  })
  const { data } = useQuery({ ...membersQuery(workspace.slug), enabled: workspace.role === "owner" })
  const owners = data?.members.filter(({ active, role }) => active && role === "owner")
  if (workspace.role === "owner" && (owners === undefined || owners.length === 1)) {
    return (
      <Section title="Leave the workspace">
        <p className="text-muted max-w-112">You are its only owner. Make somebody else an owner before you leave.</p>
      </Section>
    )
  }
  return (
    <Section title="Leave the workspace">
      <p className="text-muted max-w-112 pb-2">You lose access at once. An admin can let you in again.</p>
      <Sure doing={leave} look="plain" subject={name} title={`Leave ${name}?`} verb="Leave">
        <p>
          Your keys stop working here, your agents leave its lists, and the runs that you publish are interrupted.
          {isKept ? " Invites" : " Account API keys that you made are revoked, and invites"} that you made and nobody
          has accepted end.
        </p>
        <p>What you did stays. An admin can give you access again, but what ended does not come back.</p>
        <KeepAccountKeys isKept={isKept} onChange={setKept} />
      </Sure>
    </Section>
  )
}

const WorkspaceScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/settings" })
  const query = useQuery(workspaceQuery(slug))
  return (
    <>
      <Header crumbs={[]} title="Workspace" />
      <Loaded query={query} rows={6}>
        {(workspace) => (
          <>
            {mayAct(workspace.role, "admin") ? (
              <Section title="How it is called, and what it keeps">
                <Form key={workspace.updatedAt} workspace={workspace} />
              </Section>
            ) : (
              <ForReaders workspace={workspace} />
            )}
            <Leave workspace={workspace} />
          </>
        )}
      </Loaded>
    </>
  )
}

export default WorkspaceScreen
