import type { Environment, EnvironmentClass } from "@delivery/domain/catalog/Environment"
import { useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { ApprovalNote } from "./ApprovalNote.tsx"
import { NameAndSlug, useNameAndSlug } from "./NameAndSlug.tsx"
import { catalogKeys } from "./queries.ts"
import { isUnapproved } from "./unapproved.ts"

interface Props {
  readonly slug: string
  /** The one to change; without it, a new one is made. */
  readonly environment?: Environment | undefined
  readonly onClose: () => void
}

const classes = [
  { value: "non-production", label: "Non-production", hint: "members may read secrets" },
  { value: "production", label: "Production", hint: "nobody may read secrets" }
] as const

const writes = [
  { value: "free", label: "Whoever may write", hint: "members and up" },
  { value: "approved", label: "With the approval of another admin", hint: "for 5 minutes to 8 hours" }
] as const

/** Adds an environment, or changes one. */
const EnvironmentDialog = ({ environment, onClose, slug: workspace }: Props) => {
  const naming = useNameAndSlug(environment)
  const [chosen, setKind] = useState<EnvironmentClass | undefined>(environment?.class)
  const kind = chosen ?? (/^(?:prod|live)/.test(naming.slug) ? "production" : "non-production")
  const [emoji, setEmoji] = useState(environment?.emoji ?? "")
  const [approvals, setApprovals] = useState(environment?.approvals ?? false)
  const save = useAction({
    act: () => {
      const payload = {
        name: naming.name.trim(),
        slug: naming.slug,
        class: kind,
        emoji: emoji.trim() === "" ? null : emoji.trim()
      }
      return environment === undefined
        ? client.environments.create({ params: { slug: workspace }, payload })
        : client.environments.update({
            params: { slug: workspace, environment: environment.id },
            payload: { ...payload, ...(approvals === environment.approvals ? {} : { approvals }) }
          })
    },
    changes: catalogKeys(workspace),
    done: ({ name }) => ({ title: environment === undefined ? `${name} was added` : `${name} was changed` }),
    onDone: onClose
  })
  const isRefused = save.error !== null && isUnapproved(failureOf(save.error))
  const isGuarded = environment?.approvals === true && (!approvals || kind !== environment.class)
  return (
    <FormDialog
      action={environment === undefined ? "Add environment" : "Save"}
      doing={{ ...save, error: isRefused ? null : save.error }}
      fields={["name", "slug", "emoji"]}
      isReady={naming.name.trim() !== "" && naming.slug !== ""}
      onClose={onClose}
      title={environment === undefined ? "Add an environment" : "Change the environment"}
    >
      <NameAndSlug error={save.error} placeholder="Staging" value={naming} />
      <Select label="Class" onChange={setKind} options={classes} value={kind} />
      {environment !== undefined && (
        <Select
          label="Who writes secrets"
          onChange={(value) => setApprovals(value === "approved")}
          options={writes}
          value={approvals ? "approved" : "free"}
        />
      )}
      {approvals && environment?.approvals === false && (
        <p className="bg-warning-soft text-warning rounded-md px-3 py-2" role="status">
          One person alone cannot turn this off again, change the class or archive the environment: these need the
          approval of another admin, too.
        </p>
      )}
      {environment !== undefined && (isGuarded || isRefused) && (
        <ApprovalNote
          environment={environment.slug}
          isRefused={isRefused}
          refusal="Nothing was changed."
          slug={workspace}
          what={approvals ? "This change needs" : "Turning this off needs"}
        />
      )}
      <Input
        autoComplete="off"
        hint="Stands behind the name; may be empty"
        issue={issueAt(save.error, "emoji")}
        label="Emoji"
        maxLength={16}
        onChange={(event) => setEmoji(event.target.value)}
        value={emoji}
      />
    </FormDialog>
  )
}

export default EnvironmentDialog
