import type { ProjectSummary } from "@delivery/domain/planning/Project"
import { useQuery } from "@tanstack/react-query"
import { Loaded } from "../api/Loaded.tsx"
import { Facts } from "../ui/Facts.tsx"
import { later } from "../ui/later.tsx"
import { ProjectStatusMark } from "./ProjectStatusMark.tsx"
import { projectQuery } from "./queries.ts"
import { ProgressBar, progressText } from "./Progress.tsx"
import { TargetDate } from "./TargetDate.tsx"

const Markdown = later(() => import("./TicketMarkdown.tsx"))

interface Props {
  readonly slug: string
  readonly project: ProjectSummary
}

/** A project beside the list: how far it is, its steps, and its document. */
const ProjectPeek = ({ project: shown, slug }: Props) => {
  const { lead, name, progress, status, summary, targetDate } = shown
  return (
    <>
      <h2 className="text-md foreign py-3 pr-12 pl-4 font-semibold">{name}</h2>
      {summary !== null && <p className="foreign px-4 pb-3">{summary}</p>}
      <Facts
        facts={[
          ["Status", <ProjectStatusMark key="status" status={status} />],
          [
            "Progress",
            <span className="flex items-center gap-2" key="progress">
              <span className="w-16 shrink-0">
                <ProgressBar progress={progress} />
              </span>
              <span className="tabular">{progressText(progress)}</span>
            </span>
          ],
          ["Lead", lead === null ? "Nobody" : lead.name],
          ["Target date", targetDate === null ? "None" : <TargetDate day={targetDate} key="target" />]
        ]}
      />
      <Loaded query={useQuery(projectQuery(slug, shown.slug))} rows={4}>
        {({ document, milestones }) => (
          <>
            {milestones.length > 0 && (
              <section aria-label="Milestones" className="border-border border-t px-4 py-3">
                <h3 className="text-muted pb-1 text-xs font-medium">Milestones</h3>
                <ol>
                  {milestones.map((one) => (
                    <li className="foreign" key={one.id}>
                      <span className="text-muted tabular">{one.number}.</span> {one.name}
                    </li>
                  ))}
                </ol>
              </section>
            )}
            {document !== null && (
              <section aria-label="Document" className="border-border border-t px-4 py-3">
                <Markdown text={document} />
              </section>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

export default ProjectPeek
