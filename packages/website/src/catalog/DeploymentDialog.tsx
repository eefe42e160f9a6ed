import type { Product } from "@delivery/domain/catalog/Product"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import type { Column } from "./matrix.ts"
import { catalogKeys } from "./queries.ts"

interface Props {
  readonly slug: string
  readonly product: Pick<Product, "slug" | "name" | "type">
  readonly environment: Column
  readonly onClose: () => void
}

/** Says that a product runs in an environment. */
const DeploymentDialog = ({ environment, onClose, product, slug }: Props) => {
  const isNeeded = product.type === "website" || product.type === "api"
  const [baseUrl, setBaseUrl] = useState("")
  const [version, setVersion] = useState("")
  const add = useAction({
    act: () =>
      client.deployments.create({
        params: { slug },
        payload: {
          product: product.slug,
          environment: environment.slug,
          ...(baseUrl.trim() === "" ? {} : { baseUrl: baseUrl.trim() }),
          ...(version.trim() === "" ? {} : { version: version.trim() })
        }
      }),
    changes: catalogKeys(slug),
    done: () => ({ title: `${product.name} runs in ${environment.name}` }),
    onDone: onClose
  })
  return (
    <FormDialog
      action="Add deployment"
      description="This records that it runs there; it deploys nothing."
      doing={add}
      fields={["baseUrl", "version"]}
      isReady={!isNeeded || baseUrl.trim() !== ""}
      onClose={onClose}
      title={`${product.name} in ${environment.name}`}
    >
      <Input
        autoComplete="off"
        autoFocus
        hint={isNeeded ? "Where it answers" : "Where it answers; may be empty"}
        isMono
        issue={issueAt(add.error, "baseUrl")}
        label="Address"
        onChange={(event) => setBaseUrl(event.target.value)}
        placeholder={`https://${environment.slug}.example.com`}
        spellCheck={false}
        type="url"
        value={baseUrl}
      />
      <Input
        autoComplete="off"
        hint="What runs there now; may be empty"
        isMono
        issue={issueAt(add.error, "version")}
        label="Version"
        maxLength={200}
        onChange={(event) => setVersion(event.target.value)}
        spellCheck={false}
        value={version}
      />
    </FormDialog>
  )
}

export default DeploymentDialog
