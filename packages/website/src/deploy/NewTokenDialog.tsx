import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { endOf, type Lifetime, LifetimeField } from "../identity/KeyLimits.tsx"
import { Input, TextArea } from "../ui/Field.tsx"
import { tokensQuery } from "./queries.ts"
import TokenLines from "./TokenLines.tsx"

interface Props {
  readonly slug: string
  readonly product: string
  readonly environment: string
  readonly onClose: () => void
}

/** Networks as they are typed: one a line, or between commas. */
const networksOf = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((one) => one !== "")

const NewTokenDialog = ({ environment, onClose, product, slug }: Props) => {
  const [name, setName] = useState("")
  const [lifetime, setLifetime] = useState<Lifetime>("never")
  const [addresses, setAddresses] = useState("")
  const make = useAction({
    act: () => {
      const networks = networksOf(addresses)
      return client.deploymentTokens.create({
        params: { slug, product, environment },
        payload: {
          name,
          expiresAt: endOf(lifetime),
          ...(networks.length === 0 ? {} : { allowedAddresses: networks })
        }
      })
    },
    changes: [tokensQuery(slug, product, environment).queryKey]
  })
  if (make.data !== undefined) return <TokenLines onClose={onClose} product={product} token={make.data.token} />
  return (
    <FormDialog
      action="Create token"
      description="With it the product reads its secrets in this environment, and says which version of it runs. It does nothing else."
      doing={make}
      fields={["name", "allowedAddresses"]}
      isReady={name.trim() !== ""}
      onClose={onClose}
      title="New deployment token"
    >
      <Input
        autoComplete="off"
        autoFocus
        issue={issueAt(make.error, "name")}
        label="Name"
        maxLength={80}
        onChange={(event) => setName(event.target.value)}
        placeholder="kubernetes"
        value={name}
      />
      <LifetimeField onChange={setLifetime} value={lifetime} />
      <TextArea
        autoComplete="off"
        hint="One a line, such as 203.0.113.0/24. Empty: from everywhere."
        isMono
        issue={issueAt(make.error, "allowedAddresses")}
        label="Networks that may use it"
        onChange={(event) => setAddresses(event.target.value)}
        rows={2}
        spellCheck={false}
        value={addresses}
      />
    </FormDialog>
  )
}

export default NewTokenDialog
