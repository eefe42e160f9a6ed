import type { Scope } from "@delivery/domain/Scope"
import { useState } from "react"
import { client, serviceUrl } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { ShownOnce } from "../ui/ShownOnce.tsx"
import Command from "../ui/Command.tsx"
import { endOf, type KeyRole, keyRoles, type Lifetime, LifetimeField, limitOf, Scopes } from "./KeyLimits.tsx"
import { accountKeysQuery, apiKeysQuery } from "./queries.ts"

interface Props {
  /** The workspace whose key it is to be; without one it is the person's own. */
  readonly slug?: string
  /** Whether it is for the commands of "The first minute". */
  readonly isForSteps: boolean
  readonly onClose: () => void
}

/** Secrets, and keys that make keys, are asked for by whoever needs them. */
const first: ReadonlySet<Scope> = new Set(["read", "write"])

/** What the commands of "The first minute" (app/FirstSteps.tsx) need: a product, its deployment, a run, secrets. */
const ofSteps: ReadonlySet<Scope> = new Set(["read", "write", "publish", "vault", "admin"])

const meaningOf = (isForSteps: boolean, slug: string | undefined): string => {
  if (isForSteps)
    return "It acts as you, and may do what the steps on Home need. Revoke it when you are done with them."
  return slug === undefined
    ? "It acts as you, with your role in each workspace."
    : "It acts for this workspace alone. It goes on working when people leave, unless it was you who made it."
}

/** A name that is proposed is gone with the first letter of another. */
const select = (input: HTMLInputElement | null) => input?.select()

/** A new API key, a person's or the workspace's, shown once. */
const NewKeyDialog = ({ isForSteps, onClose, slug }: Props) => {
  const [name, setName] = useState(isForSteps ? "first steps" : "")
  const [role, setRole] = useState<KeyRole>("member")
  const [lifetime, setLifetime] = useState<Lifetime>(isForSteps ? "30" : "90")
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(isForSteps ? ofSteps : first)
  const make = useAction({
    act: () => {
      const scopes = limitOf(chosen)
      const payload = { name, ...(scopes === undefined ? {} : { scopes }), expiresAt: endOf(lifetime) }
      return slug === undefined
        ? client.apiKeys.create({ payload })
        : client.accountApiKeys.create({ params: { slug }, payload: { ...payload, role } })
    },
    changes: [slug === undefined ? apiKeysQuery.queryKey : accountKeysQuery(slug).queryKey]
  })
  if (make.data !== undefined) {
    const { secret } = make.data
    return (
      <ShownOnce onClose={onClose} secret={secret} title="Your new API key">
        <p className="text-muted">{isForSteps ? "Before the commands on Home:" : "To try it:"}</p>
        <Command
          text={
            isForSteps
              ? `export DELIVERY_API_KEY=${secret}`
              : `curl -H "Authorization: Bearer ${secret}" ${serviceUrl}/v1/me`
          }
        />
      </ShownOnce>
    )
  }
  return (
    <FormDialog
      action="Create key"
      description={meaningOf(isForSteps, slug)}
      doing={make}
      fields={["name"]}
      isProofNeeded
      isReady={name.trim() !== "" && chosen.size > 0}
      onClose={onClose}
      title={slug === undefined ? "New API key" : "New key of the workspace"}
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(make.error, "name")}
        label="Name"
        maxLength={80}
        onChange={(event) => setName(event.target.value)}
        placeholder={slug === undefined ? "laptop" : "ci"}
        ref={select}
        value={name}
      />
      {slug !== undefined && <Select label="Role" onChange={setRole} options={keyRoles} value={role} />}
      <Scopes chosen={chosen} onChange={setChosen} />
      <LifetimeField onChange={setLifetime} value={lifetime} />
    </FormDialog>
  )
}

export default NewKeyDialog
