import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { Scope } from "@delivery/domain/Scope"
import { useState } from "react"
import { client, serviceUrl } from "../api/client.ts"
import { failureOf, issueAt, isUnconfirmed } from "../api/failures.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { Command } from "../ui/States.tsx"
import { apiKeysQuery } from "./queries.ts"
import { ConfirmLink } from "./ConfirmLink.tsx"

const scopes = [
  ["read", "Read everything but the vault"],
  ["write", "Change tickets, projects and what is alike"],
  ["publish", "Publish runs and their files"],
  ["vault", "Read and write secrets"],
  ["admin", "Manage the workspace, make keys"]
] as const

const lifetimes = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "Never", hint: "it works until it is revoked" }
] as const

type Lifetime = (typeof lifetimes)[number]["value"]

const dayMillis = 86_400_000

const endOf = (lifetime: Lifetime): string | null =>
  lifetime === "never" ? null : new Date(Date.now() + Number(lifetime) * dayMillis).toISOString()

const Scopes = ({
  chosen,
  onChange
}: {
  readonly chosen: ReadonlySet<Scope>
  readonly onChange: (chosen: ReadonlySet<Scope>) => void
}) => (
  <fieldset className="flex flex-col">
    <legend className="pb-1 font-medium">It may</legend>
    {scopes.map(([scope, meaning]) => (
      <label className="hover:bg-hover flex min-h-7 items-center gap-2 rounded-md px-1" key={scope}>
        <input
          checked={chosen.has(scope)}
          className="accent-accent-fill"
          onChange={({ target }) => {
            const next = new Set(chosen)
            if (target.checked) next.add(scope)
            else next.delete(scope)
            onChange(next)
          }}
          type="checkbox"
        />
        <span className="w-14 font-mono text-xs">{scope}</span>
        <span className="text-muted">{meaning}</span>
      </label>
    ))}
  </fieldset>
)

const Made = ({ onClose, secret }: { readonly secret: string; readonly onClose: () => void }) => (
  <Dialog
    actions={
      <Button look="primary" onClick={onClose}>
        I have copied it
      </Button>
    }
    description="Copy it now: it is shown this once, and nobody can read it again."
    isPersistent
    onClose={onClose}
    title="Your new API key"
  >
    <div className="flex flex-col gap-3">
      <Command text={secret} />
      <p className="text-muted">To try it:</p>
      <Command text={`curl -H "Authorization: Bearer ${secret}" ${serviceUrl}/v1/me`} />
    </div>
  </Dialog>
)

const NewKeyDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState("")
  const [lifetime, setLifetime] = useState<Lifetime>("90")
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set(scopes.map(([scope]) => scope)))
  const queries = useQueryClient()
  const make = useMutation({
    mutationFn: () =>
      client.apiKeys.create({
        payload: {
          name,
          ...(chosen.size === scopes.length ? {} : { scopes: [...chosen] }),
          expiresAt: endOf(lifetime)
        }
      }),
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: apiKeysQuery.queryKey })
  })
  if (make.data !== undefined) return <Made onClose={onClose} secret={make.data.secret} />
  const failure = make.error === null ? undefined : failureOf(make.error)
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {failure !== undefined && isUnconfirmed(failure) && <ConfirmLink />}
          <Button
            disabled={name.trim() === "" || chosen.size === 0}
            isBusy={make.isPending}
            look="primary"
            onClick={() => make.mutate()}
          >
            Make the key
          </Button>
        </>
      }
      description="It acts as you, with your role in each workspace."
      isPersistent
      onClose={onClose}
      title="New API key"
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== "" && chosen.size > 0) make.mutate()
        }}
      >
        <Input
          autoComplete="off"
          autoFocus
          issue={issueAt(make.error, "name") ?? failure?.message}
          label="Name"
          maxLength={80}
          onChange={(event) => setName(event.target.value)}
          placeholder="laptop"
          value={name}
        />
        <Scopes chosen={chosen} onChange={setChosen} />
        <Select label="It ends after" onChange={setLifetime} options={lifetimes} value={lifetime} />
      </form>
    </Dialog>
  )
}

export default NewKeyDialog
