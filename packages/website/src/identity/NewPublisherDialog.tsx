import type { Scope } from "@delivery/domain/Scope"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { type KeyRole, keyRoles, limitOf, Scopes } from "./KeyLimits.tsx"
import { publishersQuery } from "./queries.ts"
import { gitHub, issuerName } from "./workflowLines.ts"
import WorkflowLines from "./WorkflowLines.tsx"

interface Props {
  readonly slug: string
  /** Whose tokens the server takes. */
  readonly issuers: ReadonlyArray<string>
  readonly onClose: () => void
}

/** What the numbers are called there, and where they stand. */
const words = (isGitHub: boolean) =>
  isGitHub
    ? {
        repository: "Number of the repository",
        owner: "Number of its owner",
        where: "gh api repos/OWNER/REPOSITORY --jq '.id, .owner.id'",
        workflow: "e2e.yml",
        file: "The name of its file in .github/workflows."
      }
    : {
        repository: "ID of the project",
        owner: "ID of its namespace",
        where: "glab api projects/OWNER%2FPROJECT, at id and namespace.id",
        workflow: ".gitlab-ci.yml",
        file: "The path of the pipeline's file in the project."
      }

interface PullRequestsProps {
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
}

const PullRequests = ({ isChecked, onChange }: PullRequestsProps) => (
  <label className="flex items-start gap-2">
    <input
      checked={isChecked}
      className="accent-accent-fill mt-0.5"
      onChange={({ target }) => onChange(target.checked)}
      type="checkbox"
    />
    <span>
      Jobs of pull requests, too
      <span className="text-muted block text-xs">
        Whoever can open one can then do what the keys may: the code of a fork runs in such a job.
      </span>
    </span>
  </label>
)

const empty = { repositoryId: "", ownerId: "", workflow: "", ref: "refs/heads/main", environment: "" }
type Field = keyof typeof empty

const NewPublisherDialog = ({ issuers, onClose, slug }: Props) => {
  const [issuer, setIssuer] = useState(issuers[0] ?? gitHub)
  const [values, setValues] = useState(empty)
  const [role, setRole] = useState<KeyRole>("member")
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set(["read", "publish"]))
  const [allowPullRequests, setAllowed] = useState(false)
  const names = words(issuer === gitHub)
  const trust = useAction({
    act: () => {
      const { environment, ref, ...rest } = values
      return client.trustedPublishers.create({
        params: { slug },
        payload: {
          ...rest,
          workflow: values.workflow === "" ? names.workflow : values.workflow,
          issuer,
          ...(ref === "" ? {} : { ref }),
          ...(environment === "" ? {} : { environment }),
          allowPullRequests,
          role,
          scopes: limitOf(chosen) ?? null
        }
      })
    },
    changes: [publishersQuery(slug).queryKey]
  })
  if (trust.data !== undefined) return <WorkflowLines issuer={issuer} onClose={onClose} slug={slug} />
  const field = (name: Field) => ({
    autoComplete: "off",
    issue: issueAt(trust.error, name),
    onChange: ({ target }: { readonly target: HTMLInputElement }) =>
      setValues({ ...values, [name]: target.value.trim() }),
    spellCheck: false,
    value: values[name]
  })
  return (
    <FormDialog
      action="Trust it"
      description="Its jobs get keys of this workspace for 15 minutes. All that is filled in must hold."
      doing={trust}
      fields={Object.keys(empty)}
      isReady={values.repositoryId !== "" && values.ownerId !== "" && chosen.size > 0}
      onClose={onClose}
      title="Trust a workflow"
    >
      <Select
        label="Where it runs"
        onChange={setIssuer}
        options={issuers.map((value) => ({ value, label: issuerName(value) }))}
        value={issuer}
      />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Input {...field("repositoryId")} inputMode="numeric" isMono label={names.repository} placeholder="710093112" />
        <Input {...field("ownerId")} inputMode="numeric" isMono label={names.owner} placeholder="9919421" />
      </div>
      <p className="text-muted foreign -mt-2 text-xs">
        Names may change, numbers do not. Find them with <code className="font-mono">{names.where}</code>
      </p>
      <Input {...field("workflow")} hint={names.file} isMono label="Workflow" placeholder={names.workflow} />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Input {...field("ref")} hint="Empty: any." isMono label="Branch or tag, complete" />
        <Input {...field("environment")} hint="Empty: any, and none." label="Environment of the CI" />
      </div>
      <Select label="Role of the keys" onChange={setRole} options={keyRoles} value={role} />
      <Scopes chosen={chosen} onChange={setChosen} />
      <PullRequests isChecked={allowPullRequests} onChange={setAllowed} />
    </FormDialog>
  )
}

export default NewPublisherDialog
