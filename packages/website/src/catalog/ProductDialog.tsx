import type { Product, ProductType } from "@delivery/domain/catalog/Product"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { NameAndSlug, useNameAndSlug } from "./NameAndSlug.tsx"
import { catalogKeys } from "./queries.ts"

interface Props {
  readonly slug: string
  /** The one to change; without it, a new one is made. */
  readonly product?: Product | undefined
  readonly onClose: () => void
}

const types = [
  { value: "website", label: "Website", hint: "deployments have an address" },
  { value: "api", label: "API", hint: "deployments have an address" },
  { value: "app", label: "App" },
  { value: "service", label: "Service" },
  { value: "library", label: "Library" }
] as const

/** Adds a product, or changes one. */
const ProductDialog = ({ onClose, product, slug: workspace }: Props) => {
  const naming = useNameAndSlug(product)
  const [type, setType] = useState<ProductType>(product?.type ?? "website")
  const [repository, setRepository] = useState(product?.repository ?? "")
  const [baseBranch, setBaseBranch] = useState(product?.baseBranch ?? "main")
  const save = useAction({
    act: () => {
      const payload = {
        name: naming.name.trim(),
        slug: naming.slug,
        type,
        repository: repository.trim() === "" ? null : repository.trim(),
        baseBranch: baseBranch.trim()
      }
      return product === undefined
        ? client.products.create({ params: { slug: workspace }, payload })
        : client.products.update({ params: { slug: workspace, product: product.id }, payload })
    },
    changes: catalogKeys(workspace),
    done: ({ name }) => ({ title: product === undefined ? `${name} was added` : `${name} was changed` }),
    onDone: onClose
  })
  return (
    <FormDialog
      action={product === undefined ? "Add product" : "Save"}
      doing={save}
      fields={["name", "slug", "repository", "baseBranch"]}
      isReady={naming.name.trim() !== "" && naming.slug !== ""}
      onClose={onClose}
      title={product === undefined ? "Add a product" : "Change the product"}
    >
      <NameAndSlug error={save.error} placeholder="Web shop" value={naming} />
      <Select label="Type" onChange={setType} options={types} value={type} />
      <Input
        autoComplete="off"
        hint="owner/name on the code host; may be empty"
        isMono
        issue={issueAt(save.error, "repository")}
        label="Repository"
        maxLength={200}
        onChange={(event) => setRepository(event.target.value)}
        spellCheck={false}
        value={repository}
      />
      <Input
        autoComplete="off"
        hint="The branch that others are merged into. A failure that it has is not news on another branch."
        isMono
        issue={issueAt(save.error, "baseBranch")}
        label="Base branch"
        maxLength={500}
        onChange={(event) => setBaseBranch(event.target.value)}
        spellCheck={false}
        value={baseBranch}
      />
    </FormDialog>
  )
}

export default ProductDialog
