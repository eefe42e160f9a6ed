import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { ApprovalNote } from "../catalog/ApprovalNote.tsx"
import { isUnapproved } from "../catalog/unapproved.ts"
import { Button } from "../ui/Button.tsx"
import { Cancel, Dialog } from "../ui/Dialog.tsx"
import { Input, TextArea } from "../ui/Field.tsx"
import { toast } from "../ui/toast.ts"
import { writing } from "./queries.ts"
import type { Preferred } from "./preferred.ts"
import { useTarget } from "./Target.tsx"

interface Props {
  readonly slug: string
  readonly preferred: Preferred
  readonly onClose: () => void
}

/** A new secret, with its first value. */
const AddDialog = ({ onClose, preferred, slug }: Props) => {
  const { environment, fields, product } = useTarget(slug, preferred)
  const [name, setName] = useState("")
  const [value, setValue] = useState("")
  const queries = useQueryClient()
  const add = useMutation({
    mutationFn: (target: { readonly product: string; readonly environment: string }) =>
      client.vault.create({
        params: { slug, productSlug: target.product },
        query: writing,
        payload: { name, ...(value === "" ? {} : { values: { [target.environment]: value } }) }
      }),
    gcTime: 0,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: workspaceKey(slug, "vault") })
      toast({ title: `${name} is added` })
      onClose()
    }
  })
  const failure = add.error === null ? undefined : failureOf(add.error)
  const [ofName, ofValue] = [issueAt(add.error, "name"), issueAt(add.error, "values")]
  const target =
    product === undefined || environment === undefined
      ? undefined
      : { product: product.slug, environment: environment.slug }
  const isReady = target !== undefined && name !== ""
  const submit = () => isReady && add.mutate(target)
  return (
    <Dialog
      actions={
        <>
          <Cancel />
          <Button disabled={!isReady} isBusy={add.isPending} look="primary" onClick={submit}>
            Add secret
          </Button>
        </>
      }
      isPersistent
      onClose={onClose}
      title="Add a secret"
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {fields}
        <Input
          autoComplete="off"
          autoFocus
          isMono
          issue={ofName ?? (ofValue === undefined && !isUnapproved(failure) ? failure?.message : undefined)}
          label="Name"
          maxLength={255}
          onChange={(event) => setName(event.target.value)}
          placeholder="DATABASE_URL"
          spellCheck={false}
          value={name}
        />
        <TextArea
          autoComplete="off"
          hint="Leave it empty to add the name alone."
          isMono
          issue={ofValue}
          label="Value"
          onChange={(event) => setValue(event.target.value)}
          rows={3}
          spellCheck={false}
          value={value}
        />
        {target !== undefined && (value !== "" || isUnapproved(failure)) && (
          <ApprovalNote environment={target.environment} isRefused={isUnapproved(failure)} slug={slug} />
        )}
      </form>
    </Dialog>
  )
}

export default AddDialog
