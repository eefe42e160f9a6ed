import type { DeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import { useState } from "react"
import { client } from "../api/client.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { type Overlap, OverlapField } from "../ui/Overlap.tsx"
import { tokensQuery } from "./queries.ts"
import TokenLines from "./TokenLines.tsx"

interface Props {
  readonly slug: string
  readonly product: string
  readonly environment: string
  readonly token: DeploymentToken
  readonly onClose: () => void
}

/** Replaces a token by another one, beside which it goes on for a while. */
const RotateToken = ({ environment, onClose, product, slug, token }: Props) => {
  const [overlap, setOverlap] = useState<Overlap>("86400")
  const rotate = useAction({
    act: () =>
      client.deploymentTokens.rotate({
        params: { slug, product, environment, token: token.id },
        payload: { overlapSeconds: Number(overlap) }
      }),
    changes: [tokensQuery(slug, product, environment).queryKey]
  })
  if (rotate.data !== undefined) return <TokenLines onClose={onClose} product={product} token={rotate.data.token} />
  return (
    <FormDialog
      action="Rotate token"
      description="The new token has the same name, networks and end. Give it to the product while the old one still works."
      doing={rotate}
      onClose={onClose}
      title={`Rotate ${token.name}`}
    >
      <OverlapField label="The old token goes on for" onChange={setOverlap} value={overlap} />
    </FormDialog>
  )
}

export default RotateToken
