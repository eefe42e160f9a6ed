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
  readonly onClose: () => void
}

/** Secrets, and keys that make keys, are asked for by whoever needs them. */
const first: ReadonlySet<Scope> = new Set(["read", "write"])

/** A new API key, a person's or the workspace's, shown once. */
const NewKeyDialog = ({ onClose, slug }: Props) => {
  const [name, setName] = useState("")
  const [role, setRole] = useState<KeyRole>("member")
  const [lifetime, setLifetime] = useState<Lifetime>("90")
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(first)
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
        <p className="text-muted">To try it:</p>
        <Command text={`curl -H "Authorization: Bearer ${secret}" ${serviceUrl}/v1/me`} />
      </ShownOnce>
    )
  }
  return (
    <FormDialog
      action="Make the key"
      description={
        slug === undefined
          ? "It acts as you, with your role in each workspace."
          : "It acts for this workspace alone. It goes on working when people leave, unless it was you who made it."
      }
      doing={make}
      fields={["name"]}
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
        value={name}
      />
      {slug !== undefined && <Select label="Role" onChange={setRole} options={keyRoles} value={role} />}
      <Scopes chosen={chosen} onChange={setChosen} />
      <LifetimeField onChange={setLifetime} value={lifetime} />
    </FormDialog>
  )
}

export default NewKeyDialog
