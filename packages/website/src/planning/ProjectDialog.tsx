import type { Project } from "@delivery/domain/planning/Project"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { NameAndSlug, useNameAndSlug } from "../catalog/NameAndSlug.tsx"
import { productsQuery } from "../catalog/queries.ts"
import { Input } from "../ui/Field.tsx"
import { teamsQuery } from "./queries.ts"

interface Props {
  readonly slug: string
  /** The one to change; without it, a new one is made. */
  readonly project?: Project | undefined
  readonly onClose: () => void
  /** Told of the slug that it has then. */
  readonly onDone?: (project: string) => void
}

interface ManyProps {
  /** Whether one must be chosen, and none is. */
  readonly isMissing?: boolean
  readonly label: string
  readonly issue: string | undefined
  readonly choices: ReadonlyArray<{ readonly value: string; readonly label: string }>
  readonly chosen: ReadonlyArray<string>
  readonly onChange: (chosen: ReadonlyArray<string>) => void
}

const Many = ({ choices, chosen, isMissing = false, issue, label, onChange }: ManyProps) => (
  <fieldset className="min-w-0">
    <legend className="pb-1 font-medium">{label}</legend>
    <div className="border-border max-h-36 overflow-y-auto rounded-md border px-2 py-1">
      {choices.length === 0 && <p className="text-muted">None yet.</p>}
      {choices.map(({ label: name, value }) => (
        <label className="flex min-h-7 items-center gap-2" key={value}>
          <input
            checked={chosen.includes(value)}
            data-missing={isMissing || undefined}
            onChange={() =>
              onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value])
            }
            type="checkbox"
          />
          <span className="foreign truncate">{name}</span>
        </label>
      ))}
    </div>
    {issue !== undefined && <p className="text-danger">{issue}</p>}
  </fieldset>
)

/** Makes a project, or changes what it is called, about and of. */
const ProjectDialog = ({ onClose, onDone, project, slug: workspace }: Props) => {
  const naming = useNameAndSlug(project)
  const { data: teams } = useQuery(teamsQuery(workspace))
  const { data: products } = useQuery(productsQuery(workspace))
  const [summary, setSummary] = useState(project?.summary ?? "")
  const [targetDate, setTargetDate] = useState(project?.targetDate ?? "")
  const [chosenTeams, setTeams] = useState<ReadonlyArray<string>>(project?.teams.map(({ key }) => key) ?? [])
  const [chosenProducts, setProducts] = useState<ReadonlyArray<string>>(project?.products.map(({ slug }) => slug) ?? [])
  const ofTeams = chosenTeams.length === 0 && teams?.teams.length === 1 ? [teams.teams[0]!.key] : chosenTeams
  const isOfNoTeam = teams !== undefined && ofTeams.length === 0
  const save = useAction({
    act: () => {
      const payload = {
        name: naming.name.trim(),
        slug: naming.slug,
        summary: summary.trim() === "" ? null : summary.trim(),
        targetDate: targetDate === "" ? null : targetDate,
        teams: [...ofTeams],
        products: [...chosenProducts]
      }
      return project === undefined
        ? client.projects.create({ params: { slug: workspace }, payload })
        : client.projects.update({ params: { slug: workspace, project: project.slug }, payload })
    },
    changes: [workspaceKey(workspace, "projects")],
    done: ({ name }) => ({ title: project === undefined ? `${name} was added` : `${name} was changed` }),
    onDone: (answer) => {
      onClose()
      onDone?.(answer.slug)
    }
  })
  return (
    <FormDialog
      action={project === undefined ? "Add project" : "Save"}
      doing={save}
      fields={["name", "slug", "summary", "targetDate", "teams", "products"]}
      isReady={naming.slug !== ""}
      missing={[...(naming.name.trim() === "" ? ["a name"] : []), ...(isOfNoTeam ? ["a team"] : [])]}
      onClose={onClose}
      title={project === undefined ? "Add a project" : "Change the project"}
    >
      <NameAndSlug error={save.error} placeholder="New checkout" value={naming} />
      <Input
        autoComplete="off"
        issue={issueAt(save.error, "summary")}
        label="Summary"
        maxLength={200}
        onChange={(event) => setSummary(event.target.value)}
        placeholder="One page, three fields."
        value={summary}
      />
      <Input
        issue={issueAt(save.error, "targetDate")}
        label="Target date"
        onChange={(event) => setTargetDate(event.target.value)}
        type="date"
        value={targetDate}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Many
          choices={(teams?.teams ?? []).map(({ key, name }) => ({ value: key, label: name }))}
          chosen={ofTeams}
          isMissing={isOfNoTeam}
          issue={issueAt(save.error, "teams")}
          label="Teams"
          onChange={setTeams}
        />
        <Many
          choices={(products?.products ?? []).map(({ name, slug }) => ({ value: slug, label: name }))}
          chosen={chosenProducts}
          issue={issueAt(save.error, "products")}
          label="Products"
          onChange={setProducts}
        />
      </div>
    </FormDialog>
  )
}

export default ProjectDialog
